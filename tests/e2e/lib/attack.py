"""Attacks on the real server, which it must survive without lasting effects.

Each attack is a function in a module of `attacks`, marked `@attack`. It gets an empty directory and
a way to start servers, and fails by raising.
"""

import importlib
import multiprocessing
import pkgutil
import shutil
import sys
import tempfile
import time
from pathlib import Path

import attacks
from attacks.scene import ATTACKS
from serving import Serving

for module in sorted(module.name for module in pkgutil.iter_modules(attacks.__path__)):
    importlib.import_module(f"attacks.{module}")


def run(name):
    directory = Path(tempfile.mkdtemp(prefix="waypost-attack."))
    servers = []

    def start(*arguments, **options):
        servers.append(Serving(directory, *arguments, **options))
        return servers[-1]

    try:
        ATTACKS[name](directory, start)
    except Exception:
        for server in servers:
            print("".join(server.log_file.read_text().splitlines(True)[-20:]))
        raise
    finally:
        for server in servers:
            server.end()
        shutil.rmtree(directory)


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(ATTACKS))
        return
    for name in names or ATTACKS:
        began = time.monotonic()
        # In a process of its own, so that the kernel's counters of children cover only this attack.
        process = multiprocessing.get_context("fork").Process(target=run, args=(name,))
        process.start()
        process.join()
        if process.exitcode != 0:
            sys.exit(f"FAILED: {name}")
        print(f"ok: {name} ({time.monotonic() - began:.0f} s)", flush=True)


main()
