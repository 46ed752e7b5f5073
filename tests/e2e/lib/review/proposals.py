"""The branches of the story: the change of each, and its expected result.

Each is a plausible change to the tables of the OBO Foundry. A code is written
without the `obo/` that all of them begin with.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Callable


# The admins, and two teams that own entries.
ADMIN = "maintainer"
OWNERS = f"""\
admins: [{ADMIN}]
owners:
  chebi: [carla]
  go: [greta, carla]
"""


@dataclass(frozen=True)
class Refusal:
    """An expected error of the check: the message, and its file and line."""

    message: str
    file: str
    line: str


@dataclass(frozen=True)
class Proposal:
    """A branch: its name, how it edits the work tree, and the expected results."""

    name: str
    edit: Callable[[Path], None]
    # The error of the check of the branch alone, if it is refused.
    refusal: Refusal | None = None
    # A trailer of the commit.
    states: str | None = None
    # The account that proposes it.
    by: str = ADMIN
    # The proposals of one rivalry need the same code: the second one is not merged, ...
    rivalry: str | None = None
    # ... because of a merge conflict, or because of the check after the merge.
    conflicts: bool = False
    # The resulting links: the target of each code, or None if it is retired.
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
    """Adds lines after the line with a code."""
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
    """An addition at the end of a file, where others add entries too: git alone cannot merge it."""
    code = f"story/add-{number}"
    return Proposal(
        f"add-{number}",
        at_end("bfo.yaml", entry(code, target(code))),
        by=f"newcomer-{number}",
        links={code: target(code)},
    )


def others(name, file, code, edit, message, by):
    """A change to an entry that its author may not make, and that breaks no link."""
    url = {"chebi.json": f"{CHEBI}chebi.json", "go/go.owl": GO}[code]
    return Proposal(name, edit, Refusal(message, file, f'- url: "{url}"'), by=by)


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
CL = "cl/dev/cl-obo.owl"
CL_URL = '- url: "http://obo.cvs.sourceforge.net/viewvc/obo/obo/ontology/anatomy/cell_type/cell.edit2.owl"'
GO = "https://current.geneontology.org/ontology/go.owl"
OBSOLETE = "chebi/internal/chebi-disjoints.owl"


def proposals(formatted):
    """Returns all proposals; `formatted` formats files of a work tree."""
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
            by="carla",
            links={"chebi.json": None},
        ),
        others(
            "retire-of-others",
            "chebi.yaml",
            "chebi.json",
            behind("chebi.yaml", "chebi.json", "  retired: true\n"),
            '"greta" may not change it',
            by="greta",
        ),
        others(
            "take-over",
            "chebi.yaml",
            "chebi.json",
            replace("chebi.yaml", 'chebi.json"\n  owner: chebi\n', 'chebi.json"\n  owner: go\n'),
            '"greta" may not give it to "go"',
            by="greta",
        ),
        Proposal(
            "grant-oneself",
            replace("../owners.yaml", "[carla]", "[carla, greta]"),
            Refusal("only an admin may change this file", "../owners.yaml", "admins: [maintainer]"),
            by="greta",
        ),
        Proposal(
            "in-the-name-of-others",
            at_end("go.yaml", entry("story/go", target("go"), "  owner: go")),
            Refusal("may not add it", "go.yaml", f'- url: "{target("go")}"'),
            by="newcomer-7",
        ),
        Proposal(
            "unowned",
            behind("cl.yaml", CL, "  title: Cells\n"),
            Refusal("is an entry without an owner", "cl.yaml", CL_URL),
            by="carla",
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
            Refusal("gets another target", "chebi.yaml", f'- url: "{target("revived")}"'),
            states=f"retarget obo/{OBSOLETE}",
        ),
        Proposal(
            "taken",
            at_end("cl.yaml", entry("go/tracker", target("taken"))),
            # Reported at the second of the two: files are read in the order of their names.
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
        Proposal(
            "title",
            behind("go.yaml", "go/go.owl", "  title: The Gene Ontology\n"),
            by="greta",
            links={},
        ),
        Proposal(
            "tags", behind("go.yaml", "go/go.owl", "  tags: [gene, release]\n"), by="carla", links={}
        ),
        others(
            "title-of-others",
            "go.yaml",
            "go/go.owl",
            behind("go.yaml", "go/go.owl", "  title: Mine\n"),
            '"newcomer-7" may not change it',
            by="newcomer-7",
        ),
        Proposal(
            "move", lambda tree: (tree / "agro.yaml").rename(tree / "agronomy.yaml"), links={}
        ),
    ]


def prepare(tree):
    """Edits the tables as they are before the story begins: one link is retired, and two have owners."""
    behind("chebi.yaml", OBSOLETE, "  retired: true\n")(tree)
    behind("chebi.yaml", "chebi.json", "  owner: chebi\n")(tree)
    behind("go.yaml", "go/go.owl", "  owner: go\n")(tree)
    (tree.parent / "owners.yaml").write_text(OWNERS)
