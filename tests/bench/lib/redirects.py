"""What a redirect costs: against peers, by size of the table, missed, encrypted, on two threads."""

import contextlib

from load import Asking, compare
from processes import CORES
from report import Section, count, microseconds, spread, times


def servers(bench):
    large, small = bench.table(bench.scale.large), bench.table(bench.scale.small)
    begin = bench.servers
    askings = {}
    with contextlib.ExitStack() as stack:
        peers = begin.nginx, begin.nginx_with_huge_pages, begin.haproxy, begin.axum, begin.caddy
        for start in begin.floor, begin.waypost, *peers:
            server = stack.enter_context(start(small if start == begin.caddy else large))
            askings[server.name] = Asking(server)
        costs = compare(askings, bench.scale.rounds, bench.http1)
    section = Section(
        "CPU time per redirect",
        "Random codes of a table, 64 connections kept alive, HTTP/1.1 without TLS; "
        "server and load have a core each.\n"
        "The floor is an epoll loop that answers the same to everyone "
        "(`examples/epoll_floor.rs`).\n"
        "Waypost has the allocator's settings of its systemd unit, and so has the second nginx.\n"
        "Caddy has a smaller table, because its `map` searches the entries linearly.",
        ["server", "entries", "CPU per redirect", "spread", "to floor", "to nginx", "redirects/s"],
    )
    for name, cost in costs.items():
        section.row(
            name,
            count(askings[name].server.table.entries),
            microseconds(cost.median),
            spread(cost.rounds),
            times(cost.to(costs["floor"])),
            times(cost.to(costs["nginx"])),
            count(round(cost.rate)),
        )
    section.bars = {name: cost.median for name, cost in costs.items()}
    yield section


def sizes(bench):
    askings = {}
    with contextlib.ExitStack() as stack:
        for size in bench.scale.sizes:
            server = stack.enter_context(bench.servers.waypost(bench.table(size)))
            askings[size] = Asking(server)
        costs = compare(askings, bench.scale.rounds, bench.http1)
    section = Section(
        "Waypost by size of the table",
        "Random codes of tables of different sizes.",
        ["entries", "CPU per redirect", "spread", "to the smallest"],
    )
    least = costs[bench.scale.sizes[0]]
    for size, cost in costs.items():
        cells = microseconds(cost.median), spread(cost.rounds), times(cost.to(least))
        section.row(count(size), *cells)
    section.bars = {count(size): cost.median for size, cost in costs.items()}
    yield section


def misses(bench):
    table = bench.table(bench.scale.large)
    askings = {}
    with contextlib.ExitStack() as stack:
        for start in bench.servers.waypost, bench.servers.nginx:
            server = stack.enter_context(start(table))
            askings[server.name, "hits"] = Asking(server)
            askings[server.name, "misses"] = Asking(server, misses=True)
        costs = compare(askings, bench.scale.rounds, bench.http1)
    section = Section(
        "Misses",
        f"Random codes that a table of {count(table.entries)} entries does not have, "
        "so that the answer is 404.",
        ["server", "hit", "spread", "miss", "spread", "miss to hit"],
    )
    for name in "waypost", "nginx":
        hit, miss = costs[name, "hits"], costs[name, "misses"]
        cells = microseconds(hit.median), spread(hit.rounds)
        cells += microseconds(miss.median), spread(miss.rounds), times(miss.to(hit))
        section.row(name, *cells)
    yield section


def http2_over_tls(bench):
    large, small = bench.table(bench.scale.large), bench.table(bench.scale.small)
    begin = bench.servers
    askings = {}
    with contextlib.ExitStack() as stack:
        for start in begin.waypost, begin.nginx, begin.caddy:
            table = small if start == begin.caddy else large
            server = stack.enter_context(start(table, tls=True))
            askings[server.name] = Asking(server)
        costs = compare(askings, bench.scale.rounds, bench.http2)
    section = Section(
        "HTTP/2 over TLS",
        "Random codes, 16 connections with 8 requests at once on each.\n"
        "The handshakes of the connections are in the figure.",
        ["server", "entries", "CPU per redirect", "spread", "to nginx", "redirects/s"],
    )
    for name, cost in costs.items():
        section.row(
            name,
            count(askings[name].server.table.entries),
            microseconds(cost.median),
            spread(cost.rounds),
            times(cost.to(costs["nginx"])),
            count(round(cost.rate)),
        )
    yield section


def threads(bench):
    apart = len(CORES) >= 4
    cores, load = (CORES[:2], tuple(CORES[2:4])) if apart else (CORES, tuple(CORES))
    table = bench.table(bench.scale.large)
    askings = {}
    with contextlib.ExitStack() as stack:
        for number in 1, 2:
            server = bench.servers.waypost(table, threads=number, cores=cores)
            askings[number] = Asking(stack.enter_context(server), cores=load)
        costs = compare(askings, bench.scale.rounds, bench.http1)
    lead = "Server and load have two cores each."
    if not apart:
        lead = (
            f"Here server and load share {len(CORES)} cores, "
            "so that only the CPU time per redirect is meaningful, not the rate."
        )
    section = Section(
        "Two threads",
        lead,
        ["threads", "CPU per redirect", "spread", "to one thread"] + ["redirects/s"] * apart,
    )
    for number, cost in costs.items():
        cells = microseconds(cost.median), spread(cost.rounds), times(cost.to(costs[1]))
        section.row(number, *cells, *[count(round(cost.rate))] * apart)
    yield section
