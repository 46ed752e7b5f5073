"""What a server that nobody uses costs: it looks at the files of its table, whether they have changed."""

import statistics
import time

from processes import SERVER_CORES, measure
from report import Section, count, ratio
from tables import split

# The default of `serve --poll-interval`, in seconds.
INTERVAL = 5
ENTRIES_IN_A_FILE = 10


def polls(bench):
    files = bench.scale.polled_files
    table = bench.table(files * ENTRIES_IN_A_FILE)
    directory = split(table, bench.home / "polled", files)
    section = Section(
        "Polls",
        f"A table of {count(files)} files that do not change, and no requests: the CPU time of one look at all "
        f"of them. Waypost takes one every {INTERVAL} s by default, and was measured over "
        f"{bench.scale.polled_seconds} s; `find` reads the directory and the metadata of each file once, too.",
        ["", "CPU of a look", "of a core", "to `find`"],
    )
    with bench.servers.waypost(table, path=directory) as server:
        # The first looks read files again that were written just before they were read.
        time.sleep(3 * INTERVAL)
        looks = bench.scale.polled_seconds / INTERVAL
        before = server.cpu_seconds()
        time.sleep(bench.scale.polled_seconds)
        waypost = (server.cpu_seconds() - before) / looks
    find = ["find", directory, "-newermt", "now"]
    find = statistics.median(measure(find, SERVER_CORES)[0] for _ in range(9))
    for name, look in ("waypost", waypost), ("find", find):
        share = f"{look / INTERVAL:.2%}"
        section.row(name, f"{look * 1000:.1f} ms", share, ratio(look, find))
    yield section
