"""What one more commit costs while a table grows, in CPU time, at several sizes of the table.

`check --history` of a commit is compared with that of an earlier one: what both take for the table itself
is subtracted, the rest is divided by the number of commits in between. A server that follows the
repository gets some commits one after the other, and each must be served before the next; with `--live`
one server gets all of them.
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

# How many commits a server gets at each size, and over how many of all it is measured.
SERVED, MEASURED_OF_ALL = 5, 100
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


class Follower:
    """A server that follows the repository, which begins with a commit."""

    def __init__(self, directory, repository, commit):
        self.repository = repository
        git(repository, "update-ref", "refs/heads/main", commit)
        self.state = directory / f"state-{commit}"
        options = ["--repo", f"file://{repository}", "--path", "links", "--state-dir", self.state]
        self.server = Serving(directory, *options, "--pull-interval", "1h").serving()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.end()

    def follow(self, commit):
        """Pushes a commit, and waits until it is served."""
        git(self.repository, "update-ref", "refs/heads/main", commit)
        self.server.operate("/-/reload", "POST")
        wait_until(
            lambda: self.server.status()["revision"]["commit"] == commit, f"{commit} is served"
        )

    def seconds(self):
        """Returns the CPU time so far, its processes included."""
        stat = Path(f"/proc/{self.server.process.pid}/stat").read_text()
        return sum(map(int, stat.rsplit(")", 1)[1].split()[11:15])) / TICKS

    def memory(self):
        """Returns what is resident and what was at most, in bytes."""
        status = Path(f"/proc/{self.server.process.pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return [int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")]


def serving(directory, repository, commits):
    """Returns the CPU time that a server takes for each of some commits, its fetches included."""
    with Follower(directory, repository, commits[0]) as follower:
        before = follower.seconds()
        for commit in commits[1:]:
            follower.follow(commit)
        return (follower.seconds() - before) / (len(commits) - 1)


def serving_all(directory, repository, commits, ends, first_entry):
    """Serves all commits, and yields the same for the last commits before each of some numbers of them.

    A link of each commit is followed; `first_entry` returns the number of the first entry of a commit.
    """
    with Follower(directory, repository, commits[0]) as follower:
        before = None
        for number, commit in enumerate(commits[1:], 1):
            follower.follow(commit)
            code = -(-first_entry(number) // 10) * 10
            answer = follower.server.follow(f"/link-{code}")
            assert answer == (302, f"https://example.org/pages/{code}/about-something"), answer
            if number + MEASURED_OF_ALL in ends:
                before = follower.seconds()
            if number in ends:
                yield (follower.seconds() - before) / MEASURED_OF_ALL
        resident, peak = follower.memory()
        size = sum(it.stat().st_size for it in follower.state.rglob("*") if it.is_file())
        print(
            f"After {number:,} commits: {resident / 1e6:.0f} MB resident, {peak / 1e6:.0f} MB at most, "
            f"and {size / 1e6:.1f} MB in the state directory."
        )


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
    parser.add_argument("--live", action="store_true", help="serve every commit, one after the other")
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
        lives = None
        if options.live:
            assert options.commits // options.sizes > MEASURED_OF_ALL, "too few commits for each size"

            def first_entry(commit):
                return options.files + (commit - 1) * options.entries

            lives = serving_all(directory, repository, commits, ends[1:], first_entry)
        rows = []
        for step in range(1, len(ends)):
            end = ends[step]
            history = (extra[step] - extra[step - 1]) / (end - ends[step - 1])
            if lives:
                served = next(lives)
            else:
                served = serving(directory, repository, commits[end - SERVED : end + 1])
            entries = options.files + end * options.entries
            rows.append((entries, history * 1000, served * 1000))
        if lives:
            next(lives, None)
    print("| entries | `check --history` | `serve --repo` |\n| ---: | ---: | ---: |")
    for entries, history, served in rows:
        print(f"| {entries:,} | {history:.2f} ms | {served:.0f} ms |")
    if options.chart:
        options.chart.write_text(draw(rows))


main()
