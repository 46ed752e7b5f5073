"""The instructions that a server takes for a whole request above the kernel, compared with a limit for each kind.

Runs the program of WAYPOST under callgrind: of two runs that differ only in the number of requests, the
difference is what so many requests take.
"""

import base64
import contextlib
import hashlib
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from serving import HOST, Serving

ENTRIES = 2000
CONNECTIONS = 40
# How many times each connection asks, in the two runs.
ROUNDS = 5, 35

# The kind of a request, how it is sent, and the most instructions that one may take: 4 % more than
# was counted when the limit was set. Two runs differ by at most 0.3 %, and how a compiler divides the
# program into units of code by about 2 %; one more copy or allocation for a request exceeds the rest.
LIMITS = [
    ("custom code", "http1", 4_780),
    ("auto code", "http1", 4_570),
    ("miss", "http1", 14_820),
    ("custom code", "hyper", 14_450),
    ("custom code", "http2", 31_010),
]


def target(number):
    return f"https://{number}.e.example/some/page"


def auto_code(number):
    digest = hashlib.sha256(target(number).encode()).digest()
    return base64.urlsafe_b64encode(digest[:6]).decode()


# The codes that are asked for in turn.
CODES = {
    "custom code": [f"code-{number}" for number in range(0, ENTRIES, 2)],
    "auto code": [auto_code(number) for number in range(1, ENTRIES, 2)],
    "miss": [f"none-{number}" for number in range(ENTRIES)],
}


def table():
    lines = [f"base_url: https://{HOST}/", "mapping:"]
    for number in range(ENTRIES):
        lines.append(f"- url: {target(number)}")
        if number % 2 == 0:
            lines.append(f"  short-code: code-{number}")
    return "\n".join(lines) + "\n"


def ask_with_http1(server, codes, rounds):
    """Asks on all connections at once, and then again. Meanwhile the server is stopped, so that it is
    always woken for all of them together."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        # All are accepted once they are answered.
        for number in range(rounds):
            os.kill(server.process.pid, signal.SIGSTOP)
            for at, client in enumerate(clients):
                code = codes[(number * CONNECTIONS + at) % len(codes)]
                client.sendall(f"GET /{code} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            os.kill(server.process.pid, signal.SIGCONT)
            for client in clients:
                yield whole_answer(client)


def whole_answer(client):
    """Returns the status of one answer that is read to its end."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += received(client)
    length = len(re.match(rb".*?\r\n\r\n", answer, re.DOTALL)[0])
    length += int(re.search(rb"\r\nContent-Length: (\d+)\r\n", answer)[1])
    while len(answer) < length:
        answer += received(client)
    return int(answer.split()[1])


def received(client):
    more = client.recv(1 << 16)
    assert more, "the server closed the connection"
    return more


def ask_with_http2(server, codes, rounds):
    uris = Path(server.process.args[0]).with_name("uris")
    port = server.public[1]
    uris.write_text("".join(f"https://127.0.0.1:{port}/{code}\n" for code in codes))
    command = ["h2load", "-c", "1", "-m", "8", "-n", str(CONNECTIONS * rounds), "-i", uris]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Application protocol: h2" in output, output
    yield from [302] * int(re.search(r" (\d+) 3xx,", output)[1])


def instructions(directory, kind, way, rounds):
    """Returns the instructions of a server's whole life."""
    arguments = ["--table", directory / "mapping.yaml", "--threads", 1]
    if way == "http2":
        arguments += ["--tls-cert", directory / "cert.pem", "--tls-key", directory / "key.pem"]
    if way == "hyper":
        arguments += ["--no-fast-path"]
    ask = ask_with_http2 if way == "http2" else ask_with_http1
    server = Serving(directory, *arguments)
    try:
        statuses = list(ask(server.serving(), CODES[kind], rounds))
        assert statuses == [404 if kind == "miss" else 302] * (rounds * CONNECTIONS), set(statuses)
        server.stop()
        return int(re.search(r"Collected : (\d+)", server.log_file.read_text())[1])
    finally:
        server.end()


def main():
    failed = False
    with tempfile.TemporaryDirectory(prefix="waypost-instructions.") as home:
        home = Path(home)
        counted = home / "counted"
        counted.write_text(
            "#!/bin/sh\nexec valgrind --tool=callgrind --callgrind-out-file=/dev/null "
            f"'{os.environ['WAYPOST']}' \"$@\"\n"
        )
        counted.chmod(counted.stat().st_mode | stat.S_IXUSR)
        os.environ["WAYPOST"] = str(counted)
        (home / "mapping.yaml").write_text(table())
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=w"
        command += " -keyout key.pem -out cert.pem"
        subprocess.run(command.split(), cwd=home, check=True, capture_output=True)
        for kind, way, limit in LIMITS:
            once, more = (instructions(home, kind, way, rounds) for rounds in ROUNDS)
            each = (more - once) // (CONNECTIONS * (ROUNDS[1] - ROUNDS[0]))
            print(f"{kind}, {way}: {each} instructions, at most {limit}", flush=True)
            failed |= not 0 < each <= limit
    sys.exit(failed)


main()
