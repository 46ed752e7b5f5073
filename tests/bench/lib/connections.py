"""Memory of idle connections, while redirects continue."""

import contextlib
import resource
import socket

from load import Asking
from processes import Failure
from report import Section, count, microseconds


def idle(bench):
    table = bench.table(bench.scale.small)
    wanted = bench.scale.idle
    allow_descriptors(wanted + 1000)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(bench.servers.waypost(table))
        asking = Asking(server)
        alone = bench.cost(asking)
        # The load has reached its memory: further growth is due to the connections.
        before = server.memory()
        path = next(iter(table.targets))
        held = [stack.enter_context(open_and_ask(server.port, path)) for _ in range(wanted)]
        after = server.memory()
        beside = bench.cost(asking)
        still = server.metric("waypost_connections")
        if still < len(held):
            raise Failure(f"of {len(held)} connections only {still:.0f} are open")
    section = Section(
        "Idle connections",
        "Each has sent one request, and stays open; redirects on 64 others continue.\n"
        "Memory is the server's own, without the kernel's buffers.",
        ["idle connections", "memory before", "with them", "per connection", "CPU per redirect"],
    )
    section.row(0, f"{before / 1e6:.1f} MB", "", "", microseconds(alone))
    section.row(
        count(len(held)),
        f"{before / 1e6:.1f} MB",
        f"{after / 1e6:.1f} MB",
        f"{(after - before) / len(held) / 1024:.1f} KiB",
        microseconds(beside),
    )
    yield section


def allow_descriptors(number):
    """Raises the limit of open files of this process and of its children."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    number = max(soft, number)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, max(hard, number)))
    except ValueError as error:
        raise Failure(f"no {number} open files are allowed, only {hard}") from error


def open_and_ask(port, path):
    """Returns a connection after one answer."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: short.example\r\n\r\n".encode())
    if not connection.recv(4096).startswith(b"HTTP/1.1 302 "):
        raise Failure("an idle connection was not answered")
    return connection
