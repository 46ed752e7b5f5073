"""The branches of the story: what each changes, and what must come of it.

Every one is a change that somebody may propose to the tables of the OBO Foundry. A code is written
without the `obo/` that all of them begin with.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Refusal:
    """What the check says of a proposal: the message, and the line of a file that it is at."""

    message: str
    file: str
    line: str


@dataclass(frozen=True)
class Proposal:
    """A branch: its name, how it edits the work tree, and what is expected of it."""

    name: str
    edit: Callable[[Path], None]
    # What the check of the branch alone says, if it refuses it.
    refusal: Refusal | None = None
    # A trailer of the commit.
    states: str | None = None
    # The proposals of one rivalry want the same code: whichever comes second is not merged, ...
    rivalry: str | None = None
    # ... by a conflict of the merge, or else by the check of what was merged.
    conflicts: bool = False
    # What becomes of the links: a code to its target, or to None if it is retired.
    links: dict | None = None


def target(name):
    return f"https://example.org/story/{name}"


def entry(code, url, *more):
    lines = (f'- url: "{url}"', f'  short-code: "obo/{code}"', *more)
    return "".join(f"{line}\n" for line in lines)


def at_end(file, text):
    """Appends entries to the list of a file, above its tests."""

    def edit(tree):
        path = tree / file
        head, tests, rest = path.read_text().partition("tests:\n")
        path.write_text(head + text + tests + rest)

    return edit


def behind(file, code, text):
    """Adds lines behind the line that states a code."""
    return replace(file, f'"obo/{code}"\n', f'"obo/{code}"\n{text}')


def replace(file, old, new):
    def edit(tree):
        path = tree / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old, text.count(old))
        path.write_text(text.replace(old, new))

    return edit


def all_of(*edits):
    def edit(tree):
        for each in edits:
            each(tree)

    return edit


def add(number):
    """An addition at the end of a file to whose end others add: git alone cannot merge it."""
    code = f"story/add-{number}"
    return Proposal(
        f"add-{number}",
        at_end("bfo.yaml", entry(code, target(code))),
        links={code: target(code)},
    )


def same(number):
    code = "story/same"
    return Proposal(
        f"same-{number}",
        at_end("uberon.yaml", entry(code, target(code))),
        links={code: target(code)},
    )


def rival(name, file, rivalry, conflicts):
    code = f"story/{rivalry}"
    return Proposal(
        name,
        at_end(file, entry(code, target(name))),
        rivalry=rivalry,
        conflicts=conflicts,
        links={code: target(name)},
    )


UBERON = "https://github.com/obophenotype/uberon/releases/latest/download/"
CHEBI = "http://ftp.ebi.ac.uk/pub/databases/chebi/ontology/"
OBSOLETE = "chebi/internal/chebi-disjoints.owl"


def proposals(formatted):
    """Returns all of them; `formatted` brings files of a work tree into canonical form."""
    return [
        *(add(number) for number in range(1, 7)),
        Proposal("format", lambda tree: formatted(tree / "bfo.yaml"), links={}),
        same(1),
        same(2),
        Proposal(
            "retarget",
            replace("chebi.yaml", "https://github.com/ebi-chebi/ChEBI/issues", target("moved")),
            states="retarget obo/chebi/tracker",
            links={"chebi/tracker": target("moved")},
        ),
        Proposal(
            "retarget-silently",
            replace("chebi.yaml", "searchId.do?chebiId=CHEBI%3A24431", "elsewhere"),
            Refusal(
                "leads elsewhere",
                "chebi.yaml",
                '- url: "http://www.ebi.ac.uk/chebi/elsewhere"',
            ),
        ),
        Proposal(
            "retire",
            behind("chebi.yaml", "chebi.json", "  retired: true\n"),
            links={"chebi.json": None},
        ),
        Proposal(
            "remove",
            replace("chebi.yaml", entry("chebi.obo.gz", f"{CHEBI}chebi.obo.gz"), ""),
            Refusal('" is gone', "chebi.yaml", f'- url: "{CHEBI}chebi.json.gz"'),
        ),
        Proposal(
            "rename",
            replace("uberon.yaml", '"obo/uberon/composite-vertebrate.obo"', '"obo/uberon-new"'),
            Refusal('" is gone', "uberon.yaml", f'- url: "{UBERON}composite-vertebrate.obo"'),
        ),
        Proposal(
            "revive",
            all_of(
                replace("chebi.yaml", f"{CHEBI}chebi-disjoints.owl", target("revived")),
                replace("chebi.yaml", f'{OBSOLETE}"\n  retired: true\n', f'{OBSOLETE}"\n'),
            ),
            Refusal("is given to another target", "chebi.yaml", f'- url: "{target("revived")}"'),
            states=f"retarget obo/{OBSOLETE}",
        ),
        Proposal(
            "taken",
            at_end("cl.yaml", entry("go/tracker", target("taken"))),
            # Reported at the second of the two: files are read by their names.
            Refusal("is taken by the entry at", "go.yaml", '  short-code: "obo/go/tracker"'),
        ),
        Proposal(
            "loop",
            at_end("cl.yaml", entry("story/loop", "http://purl.obolibrary.org/obo/story/loop")),
            Refusal("loop", "cl.yaml", '- url: "http://purl.obolibrary.org/obo/story/loop"'),
        ),
        Proposal(
            "misspelt",
            at_end("cl.yaml", entry("story/misspelt", target("misspelt"), "  tilte: Cells")),
            Refusal('unknown key "tilte"', "cl.yaml", "  tilte: Cells"),
        ),
        rival("clash-1", "uberon.yaml", "clash", conflicts=True),
        rival("clash-2", "uberon.yaml", "clash", conflicts=True),
        rival("apart-1", "ro.yaml", "apart", conflicts=False),
        rival("apart-2", "pato.yaml", "apart", conflicts=False),
        Proposal("title", behind("go.yaml", "go/go.owl", "  title: The Gene Ontology\n"), links={}),
        Proposal("tags", behind("go.yaml", "go/go.owl", "  tags: [gene, release]\n"), links={}),
        Proposal(
            "move", lambda tree: (tree / "agro.yaml").rename(tree / "agronomy.yaml"), links={}
        ),
    ]


def prepare(tree):
    """Edits the tables as they are before the story begins: one link is retired."""
    behind("chebi.yaml", OBSOLETE, "  retired: true\n")(tree)
