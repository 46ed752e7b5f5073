"""Tables that are written in place by a writer that pauses in the middle."""

import contextlib
import os
import threading
import time

from serving import HOST, wait_until

from .scene import attack

OLD = (302, "https://e.example/old")
NEW = (308, "https://pay.example.org.evil-suffix.example/x")
INSIDE_URL = b"url: https://pay.example.org"
INSIDE_ENTRY = b".evil-suffix.example/x\n"


def text(target, status):
    entry = f"- short-code: x\n  url: {target}\n  status: {status}\n"
    return f"base_url: https://{HOST}/\nmapping:\n{entry}"


TABLES = {OLD: text(OLD[1], OLD[0]), NEW: text(NEW[1], NEW[0])}


def write(path, answer, rests):
    """Overwrites a table with that of another answer, pausing after each of some texts in it."""
    whole, at = TABLES[answer].encode(), 0
    file = os.open(path, os.O_WRONLY | os.O_TRUNC)
    try:
        for after, rest in rests:
            end = whole.index(after) + len(after)
            os.write(file, whole[at:end])
            at = end
            time.sleep(rest)
        os.write(file, whole[at:])
    finally:
        os.close(file)


@contextlib.contextmanager
def followed(server):
    """Follows the link continuously meanwhile, and fails if it ever leads elsewhere."""
    over, answers = threading.Event(), set()

    def follow():
        while not over.is_set():
            answers.add(server.follow())
            time.sleep(0.02)

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        yield answers
    finally:
        over.set()
        thread.join()
    assert answers <= {OLD, NEW}, answers


@attack
def torn_in_place(directory, start):
    """A file that is written in place is loaded only after it is closed, wherever its writer pauses."""
    path = directory / "mapping.yaml"
    path.write_text(TABLES[OLD])
    server = start("--table", path, "--poll-interval", "200ms").serving()
    for rests in (
        [(INSIDE_URL, 1)],
        [(INSIDE_URL, 3)],
        [(INSIDE_URL, 0.5), (INSIDE_ENTRY, 3)],
        [(b"url:", 1), (INSIDE_URL, 1), (INSIDE_ENTRY, 1)],
    ):
        with followed(server) as answers:
            write(path, NEW, rests)
            wait_until(lambda: server.follow() == NEW, "the whole table is live")
        assert OLD in answers, answers
        with followed(server):
            path.write_text(TABLES[OLD])
            wait_until(lambda: server.follow() == OLD, "the old table is back")
    # Waiting is not a failure, and is not reported as one.
    assert not [line for line in server.log() if line["level"] == "ERROR"], server.log()
    server.stop()


@attack
def torn_at_the_start(directory, start):
    """A server that starts while a URL is half written waits for its end."""
    path = directory / "mapping.yaml"
    whole = TABLES[NEW].encode()
    end = whole.index(INSIDE_URL) + len(INSIDE_URL)
    path.write_bytes(whole[:end])
    server = start("--table", path, "--poll-interval", "200ms")
    time.sleep(3)
    assert not server.lines("serving"), server.log()
    with path.open("ab") as file:
        file.write(whole[end:])
    server.serving()
    assert server.follow() == NEW
    server.stop()


@attack
def torn_without_events(directory, start):
    """If no event reports writes, a file must be unchanged for a while, longer in the middle of a line."""
    (directory / "served").mkdir()
    path, elsewhere = directory / "served" / "mapping.yaml", directory / "elsewhere.yaml"
    path.write_text(TABLES[OLD])
    # A write through a link in another directory causes no event in the watched one.
    elsewhere.hardlink_to(path)
    server = start("--table", path, "--poll-interval", "200ms").serving()
    for rests in ([(INSIDE_URL, 1)], [(INSIDE_ENTRY, 1)], [(b"url:", 1), (INSIDE_URL, 3), (INSIDE_ENTRY, 1)]):
        with followed(server) as answers:
            write(elsewhere, NEW, rests)
            wait_until(lambda: server.follow() == NEW, "the whole table is live")
            write(elsewhere, OLD, [])
            wait_until(lambda: server.follow() == OLD, "the old table is back")
        assert answers == {OLD, NEW}, answers
    assert not [line for line in server.log() if line["level"] == "ERROR"], server.log()
    server.stop()
