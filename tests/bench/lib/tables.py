"""Tables to serve: the same entries for every server, the same on every machine.

Entry i follows from i alone, so a smaller table is the beginning of a larger one. A million entries
are about 84 MB of YAML: targets on 4,096 hosts, and every tenth with a custom code.
"""

import base64
import contextlib
import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

BASE_URL = "https://short.example/"

# The maximum number of requested codes: far more entries than fit in a processor's caches.
SAMPLE = 100_000

WORDS = [
    begin + end
    for begin in "b br ch d f gl h k l m n pl qu s st w".split()
    for end in "ade ain ale ama ent era est ice ida ind ine oak ole ona ore und".split()
]
ENDINGS = ("com", "org", "net", "info", "io", "co.uk", "de", "fr")
HOSTS = [
    f"{'www.' * (n % 3 == 0)}{WORDS[n % 256]}{WORDS[n * 7 // 16 % 256]}.{ENDINGS[n % 8]}"
    for n in range(4096)
]

# how each form of a table begins, the form of an entry, and how it ends. nginx's map gets twice
# as many buckets as there are entries, so that none is crowded.
FORMS = {
    "yaml": ("base_url: {base}\nmapping:\n", None, ""),
    "nginx": (
        "map_hash_max_size {buckets};\nmap_hash_bucket_size 512;\n"
        'map $uri $target {{\ndefault "";\n',
        '"/{code}" "{url}";\n',
        "}}\n",
    ),
    "haproxy": ("", "/{code} {url}\n", ""),
    "caddy": ("map {{path}} {{target}} {{\n", '/{code} "{url}"\n', 'default ""\n}}\n'),
}


@dataclass(frozen=True)
class Table:
    """A table as files, one a form, and a random sample of its paths with their targets."""

    entries: int
    files: dict
    targets: dict
    hits: Path
    misses: Path

    @property
    def bytes(self):
        return self.files["yaml"].stat().st_size


def entry(number):
    """Returns the target of an entry, and its custom code or none."""
    digest = hashlib.sha256(b"entry %d" % number).digest()
    host = HOSTS[int.from_bytes(digest[:2], "big") % len(HOSTS)]
    words = "-".join([WORDS[byte] for byte in digest[4 : 7 + digest[2] % 9]])
    custom = None
    if digest[3] * 10 < 256:
        custom = f"{WORDS[digest[22]]}-{WORDS[digest[23]]}-{digest[24:27].hex()}"
    return f"https://{host}/{words}/{digest[16:22].hex()}", custom


def auto_code(url):
    return base64.urlsafe_b64encode(hashlib.sha256(url.encode()).digest()[:6]).decode()


def entries(count):
    """Yields (code, custom code or none, target).

    No two codes differ by case alone: nginx's map could not distinguish them, and all servers
    shall serve the very same table. So the very few that do are left out.
    """
    taken = set()
    number = 0
    while len(taken) < count:
        url, custom = entry(number)
        number += 1
        code = custom or auto_code(url)
        folded = code.lower()
        if folded not in taken:
            taken.add(folded)
            yield code, custom, url


def write(directory, count, forms=("yaml",)):
    """Writes a table of so many entries in these forms, and returns it."""
    rng = random.Random(count)
    wanted = set(rng.sample(range(count), min(count, SAMPLE)))
    targets = []
    files = {form: directory / f"{count}.{form}" for form in forms}
    with contextlib.ExitStack() as stack:
        outputs = {form: stack.enter_context(path.open("w")) for form, path in files.items()}
        for form, output in outputs.items():
            output.write(FORMS[form][0].format(base=BASE_URL, buckets=2 * count))
        yaml = outputs.pop("yaml")
        others = [(output.write, FORMS[form][1].format) for form, output in outputs.items()]
        for position, (code, custom, url) in enumerate(entries(count)):
            yaml.write(f"- url: {url}\n")
            if custom:
                yaml.write(f"  short-code: {custom}\n")
            for put, form in others:
                put(form(code=code, url=url))
            if position in wanted:
                targets.append((f"/{code}", url))
        for form, output in outputs.items():
            output.write(FORMS[form][2].format())
    rng.shuffle(targets)
    hits, misses = directory / f"{count}.hits", directory / f"{count}.misses"
    hits.write_text("".join(f"{path}\n" for path, _ in targets))
    misses.write_text("".join(f"/{auto_code(f'no entry {n}')}\n" for n in range(len(targets))))
    return Table(count, files, dict(targets), hits, misses)


def write_changed(table, path):
    """Writes the table's YAML with one more entry, like a change of the table."""
    text = table.files["yaml"].read_bytes()
    path.write_bytes(text + b"- url: https://www.example.org/new\n  short-code: the-new-entry\n")


def split(table, directory, files):
    """Writes the table's YAML as so many files of about the same size, and returns the directory."""
    directory.mkdir()
    text = table.files["yaml"].read_text()
    head, first, rest = text.partition("- url:")
    entries = [f"- url:{entry}" for entry in rest.split("\n- url:")] if first else []
    for number in range(files):
        start, end = (len(entries) * at // files for at in (number, number + 1))
        own = "\n".join(entry.rstrip("\n") for entry in entries[start:end])
        (directory / f"{number:03}.yaml").write_text(f"{head}{own}\n")
    return directory
