"""Commands on tables of two sizes, and the instructions that each run takes."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

WAYPOST = os.environ.get("WAYPOST")
# Linear growth gives 2.0, sorting little more, quadratic growth 4.
MOST = 2.3
# Seconds after which the metadata of a file show whether it has changed. Before that, it is read again.
RACY = 3
CASES = {}


def case(size):
    def add(function):
        CASES[function.__name__.replace("_", "-")] = (function, size)
        return function

    return add


def table(entries, rest=""):
    return f"base_url: https://s.example/\nmapping:{entries}\n{rest}"


def block(entries):
    return table("\n" + "".join(f"- {it}\n" for it in entries))


def one_line(entries):
    return table(" [" + ", ".join(f"{{{it}}}" for it in entries) + "]")


def urls(size, host="e.example"):
    return (f'"url": "https://{host}/{it}"' for it in range(size))


def merge(directory, *versions):
    paths = []
    for name, text in zip(("base", "ours", "theirs"), versions):
        paths.append(directory / name)
        paths[-1].write_text(text)
    return "merge-driver", *paths, "mapping.yaml"


def write(directory, text):
    path = directory / "mapping.yaml"
    path.write_text(text)
    return path


@case(8000)
def outline_of_one_line(directory, size):
    # `add` and `merge-driver` read it the same way. Without spaces, which JSON does not need.
    text = ",".join('{"url":"http://e/%d"}' % it for it in range(size))
    return "fmt", "--check", write(directory, table(f" [{text}]"))


@case(4000)
def format_of_many_sections(directory, size):
    # In descending order, under comments, and each third one in a section of its own.
    above = ["# one\n\n", "\n# above\n\n  # deep\n# below\n", "\n  # deep\n"]
    entries = [f"{above[it % 3]}- url: http://e/{it}\n  short-code: {it:08}\n" for it in range(size, 0, -1)]
    return "fmt", write(directory, table("\n" + "".join(entries).rstrip("\n")))


@case(400)
def excerpts_of_one_line(directory, size):
    return "check", write(directory, one_line(urls(size, "E.example")))


@case(400)
def fingerprints_of_one_line(directory, size):
    return "check", "--format", "sarif", write(directory, one_line(urls(size, "E.example")))


def crc64(data):
    crc = (1 << 64) - 1
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xC96C5795D7870F42 if crc & 1 else 0)
    return crc


def urls_of_one_code(size, width=84):
    """URLs with one CRC-64/XZ. Changing a `0` to a `1` changes the CRC independently of the other bytes."""
    url = b"https://e.example/" + b"0" * width
    free, sums = [], {}
    for at in range(width):
        turned = 1 << at
        change = crc64(url[: 18 + at] + b"1" + url[19 + at :]) ^ crc64(url)
        while change and change.bit_length() in sums:
            other, of_other = sums[change.bit_length()]
            change, turned = change ^ other, turned ^ of_other
        if change:
            sums[change.bit_length()] = (change, turned)
        else:
            # Changed together, these leave the CRC as it is.
            free.append(turned)
    for number in range(size):
        turned = 0
        for bit, some in enumerate(free):
            turned ^= some if number >> bit & 1 else 0
        yield "https://e.example/" + "".join(str(turned >> at & 1) for at in range(width))


@case(400)
def hints_at_free_codes(directory, size):
    entries = "".join(f"- url: {url}\n" for url in urls_of_one_code(size))
    return "check", "--format", "json", write(directory, table("\n" + entries, "code-scheme: crc64-xz\n"))


@case(2000)
def many_files(directory, size):
    for it in range(size):
        (directory / f"{it}.yaml").write_text("base_url: https://s.example/\nmapping: [{url: x}]\n")
    return "check", "--format", "junit", directory


@case(1000)
def many_sites(directory, size):
    for it in range(size):
        site = f"base_url: https://s{it}.example/\nmapping:\n- url: https://e.example/{it}\n  short-code: c\n"
        (directory / f"{it}.yaml").write_text(site)
    return "check", directory


@case(1000)
def many_sites_of_one_host(directory, size):
    for it in range(size):
        site = f"base_url: https://s.example/{it}/\nmapping:\n- url: https://e.example/{it}\n  short-code: c\n"
        (directory / f"{it}.yaml").write_text(site)
    return "check", directory


@case(1000)
def entry_for_one_of_many_sites(directory, size):
    many_sites(directory, size)
    time.sleep(RACY)
    return "add", "https://new.example/", "--table", directory, "--site", "https://s0.example/"


@case(1000)
def edit_for_one_of_many_sites(directory, size):
    many_sites(directory, size)
    time.sleep(RACY)
    return "set", "https://s0.example/c", "--title", "t", "--table", directory


@case(4000)
def edit_of_many_aliases(directory, size):
    aliases = ", ".join(f"a{it}" for it in range(size))
    path = write(directory, block([f"url: https://e.example/\n  short-code: e\n  aliases: [{aliases}]"]))
    return "set", "e", "--alias", "new", "--table", path


@case(1000)
def list_of_many_sites(directory, size):
    many_sites(directory, size)
    return "list", "c", "--table", directory


@case(500)
def problems_of_many_files(directory, size):
    for it in range(size):
        (directory / f"{it}.yaml").write_text("base_url: https://s.example/\nmapping: [{url: x}]\n")
    return "check", "--format", "json", directory


@case(2000)
def conflict_of_targets(directory, size):
    return merge(directory, *(block(f"url: https://{it}.example/{n}" for n in range(size)) for it in "oab"))


@case(1000)
def conflict_of_aliases(directory, size):
    aliases = ", ".join(f"a{it}" for it in range(size))
    with_aliases = (f"url: https://e.example/{it}\n  short-code: {it}\n  aliases: [{aliases}]" for it in "ab")
    return merge(directory, block(["url: https://o.example/"]), *(block([it]) for it in with_aliases))


@case(1000)
def conflict_of_tags(directory, size):
    tags = (", ".join(f"{side}{it}" for it in range(size)) for side in "oab")
    return merge(directory, *(block([f"url: https://e.example/\n  tags: [{it}]"]) for it in tags))


@case(1000)
def conflict_of_tests(directory, size):
    def tests(*sides):
        of_side = ("".join(f"- {{from: /{side}{it}, to: gone}}\n" for it in range(size)) for side in sides)
        return table("\n- url: https://e.example/", "tests:\n" + "".join(of_side))

    return merge(directory, tests("o"), tests("a", "o"), tests("b"))


@case(500)
def entries_of_other_owners(directory, size):
    # One proposal changes or removes all, and each has an owner of its own.
    entries = [f"url: https://e.example/{it}\n  short-code: {it}\n  owner: o{it}" for it in range(size)]
    owners = "".join(f"  o{it}: [a{it}]\n" for it in range(size))
    (directory / "owners.yaml").write_text(f"admins: [root]\nowners:\n{owners}")
    path = write(directory, block(entries))
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", directory]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "links"]):
        subprocess.run([*git, *command], check=True)
    write(directory, block(f"{it}\n  title: T" for it in entries[::2]))
    return "check", path, "--base", "HEAD", "--author", "mallory", "--format", "json"


def count(name, size):
    function, _ = CASES[name]
    with tempfile.TemporaryDirectory() as directory:
        arguments = function(pathlib.Path(directory), size)
        log = pathlib.Path(directory) / "log"
        run = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        run += [f"--log-file={log}", WAYPOST, *arguments]
        ended = subprocess.run(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert ended.returncode in (0, 1), ended.stderr
        return int(re.search(r"I\s+refs:\s+([\d,]+)", log.read_text())[1].replace(",", ""))


def in_proportion(name, counts):
    once, twice = (it.result() for it in counts)
    size, ratio = CASES[name][1], twice / once
    print(f"{name}: {once:,} instructions for {size}, {ratio:.2f} times as many for twice that", flush=True)
    # With fewer, the instructions are not spent on the table.
    return 1.4 < ratio < MOST


def main(names):
    if names == ["--list"]:
        print(*CASES, sep="\n")
        return 0
    names = names or list(CASES)
    # Counts do not depend on load, so one runs on each core.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = [[pool.submit(count, name, times * CASES[name][1]) for times in (1, 2)] for name in names]
        failed = [name for name, both in zip(names, counts) if not in_proportion(name, both)]
    if failed:
        print(f"not linear: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
