"""What one more commit costs while a table grows, in CPU time, at several sizes of the table.

`check --history` of a commit is compared with that of an earlier one: what both take for the table itself
is subtracted, the rest is divided by the number of commits in between. A server that follows the
repository gets some commits one after the other, and each must be served before the next.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e/lib"))
from serving import Serving, wait_until  # noqa: E402

# How many commits a server gets at each size.
SERVED = 5
TICKS = os.sysconf("SC_CLK_TCK")
WIDTH, HEIGHT, LEFT, TOP = 720, 300, 60, 50

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"
    role="img" aria-labelledby="t d">
<title id="t">CPU time of one more commit, by the size of the table</title>
<desc id="d">{description}</desc>
<style>
svg {{ color: #1f2328; font: 14px system-ui, sans-serif; }}
text {{ fill: currentColor; }}
.head {{ font-weight: 600; }}
polyline {{ fill: none; stroke: #0969da; stroke-width: 2; }}
path {{ stroke: #8c959f; }}
@media (prefers-color-scheme: dark) {{
    svg {{ color: #e6edf3; }}
    polyline {{ stroke: #4493f8; }}
}}
</style>
"""


def git(directory, *arguments):
    command = ["git", "-C", str(directory), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write_history(repository, commits, each, files):
    """Writes a commit with one entry in each file, and commits that each add entries to one of them."""
    git(repository.parent, "init", "--quiet", "--bare", "--initial-branch=main", repository)
    importer = subprocess.Popen(
        ["git", "-C", str(repository), "fast-import", "--quiet"], stdin=subprocess.PIPE
    )
    out = importer.stdin
    texts = [bytearray(b"base_url: https://short.example/\nmapping:\n") for _ in range(files)]
    number = 0

    def add(text, count):
        nonlocal number
        for _ in range(count):
            text += b"- url: https://example.org/pages/%d/about-something\n" % number
            if number % 10 == 0:
                text += b"  short-code: link-%d\n" % number
            number += 1

    for commit in range(commits + 1):
        changed = range(files) if commit == 0 else [commit % files]
        for file in changed:
            add(texts[file], 1 if commit == 0 else each)
        time = 1_600_000_000 + commit
        out.write(b"commit refs/heads/all\ncommitter A <a@example.org> %d +0000\ndata 3\nAdd\n" % time)
        for file in changed:
            out.write(b"M 100644 inline links/%05d.yaml\n" % file)
            out.write(b"data %d\n%s\n" % (len(texts[file]), texts[file]))
    out.close()
    assert importer.wait() == 0
    return git(repository, "rev-list", "--reverse", "refs/heads/all").split()


def checking(repository, commit, *options):
    """Returns the CPU time of a check, in seconds: the least of three."""
    took = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [os.environ["WAYPOST"], "check", *options, "--rev", f"{commit}:links"]
        subprocess.run(command, cwd=repository, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took)


def serving(directory, repository, commits):
    """Returns the CPU time that a server takes for each of some commits, its fetches included."""
    git(repository, "update-ref", "refs/heads/main", commits[0])
    state = directory / f"state-{commits[0]}"
    options = ["--repo", f"file://{repository}", "--path", "links", "--state-dir", state]
    server = Serving(directory, *options, "--pull-interval", "1h").serving()

    def seconds():
        fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15])) / TICKS

    try:
        before = seconds()
        for commit in commits[1:]:
            git(repository, "update-ref", "refs/heads/main", commit)
            server.operate("/-/reload", "POST")
            wait_until(
                lambda: server.status()["revision"]["commit"] == commit, "the commit is served"
            )
        return (seconds() - before) / (len(commits) - 1)
    finally:
        server.process.terminate()
        server.process.wait()


def line(title, top, points, largest):
    """Draws one figure by the number of entries."""
    highest = max(value for _, value in points)
    base, width = top + HEIGHT / 2 - TOP, WIDTH - LEFT - 90
    place = [
        (LEFT + width * entries / largest, base - (base - top - 30) * value / highest)
        for entries, value in points
    ]
    drawn = [
        f'<text class="head" x="0" y="{top}">{title}</text>',
        f'<path d="M {LEFT} {base:.0f} H {WIDTH - 90}"/>',
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in place)}"/>',
    ]
    for (x, y), (entries, value) in zip(place, points, strict=True):
        drawn.append(f'<text x="{x:.0f}" y="{y - 8:.0f}" text-anchor="middle">{value:.2f} ms</text>')
        drawn.append(f'<text x="{x:.0f}" y="{base + 18:.0f}" text-anchor="middle">{entries:,}</text>')
    return drawn


def draw(rows):
    largest = rows[-1][0]
    titles = ("check --history", "serve --repo, with the fetch")
    lines, described = [], []
    for number, title in enumerate(titles):
        points = [(row[0], row[number + 1]) for row in rows]
        lines += line(title, 20 + number * HEIGHT / 2, points, largest)
        values = ", ".join(f"{value:.2f} ms with {entries:,} entries" for entries, value in points)
        described.append(f"{title}: {values}")
    head = HEAD.format(width=WIDTH, height=HEIGHT, description="; ".join(described))
    return head + "\n".join(lines) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=2000)
    parser.add_argument("--entries", type=int, default=100, help="the number that each commit adds")
    parser.add_argument("--files", type=int, default=256)
    parser.add_argument("--sizes", type=int, default=5, help="at how many sizes to measure")
    parser.add_argument("--chart", type=Path, help="where to write the figures as an SVG")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        repository = directory / "links.git"
        commits = write_history(repository, options.commits, options.entries, options.files)
        ends = [options.commits * step // options.sizes for step in range(options.sizes + 1)]
        extra = []
        for end in ends:
            whole = checking(repository, commits[end], "--history")
            extra.append(whole - checking(repository, commits[end]))
        rows = []
        for step in range(1, len(ends)):
            end = ends[step]
            history = (extra[step] - extra[step - 1]) / (end - ends[step - 1])
            served = serving(directory, repository, commits[end - SERVED : end + 1])
            entries = options.files + end * options.entries
            rows.append((entries, history * 1000, served * 1000))
    print("| entries | `check --history` | `serve --repo` |\n| ---: | ---: | ---: |")
    for entries, history, served in rows:
        print(f"| {entries:,} | {history:.2f} ms | {served:.0f} ms |")
    if options.chart:
        options.chart.write_text(draw(rows))


main()
