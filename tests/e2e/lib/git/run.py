"""Runs cases: all of them, or those that are named."""

import argparse
import concurrent.futures
import importlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

from scene import CASES, Scene

# Cases mostly wait, so more of them run at a time than there are cores.
JOBS = 4


def load():
    for file in sorted(Path(__file__).parent.glob("cases_*.py")):
        importlib.import_module(file.stem)


def left_behind(path):
    """Returns the processes whose environment has the mark of a scene there or below."""
    mark = f"WAYPOST_E2E_SCENE={path}".encode()
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                if mark in (process / "environ").read_bytes():
                    found.append((int(process.name), (process / "comm").read_text().strip()))
            except OSError:
                pass
    return found


def end(processes):
    for pid, _ in processes:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run(name, parent):
    """Runs one case and returns why it failed, or None."""
    scene = Scene(name, parent)
    why = None
    try:
        CASES[name](scene)
        scene.check()
    except Exception as error:  # noqa: BLE001
        place = traceback.extract_tb(error.__traceback__)
        here = next((it for it in reversed(place) if "cases_" in it.filename), place[-1])
        said = str(error) or here.line
        why = f"{Path(here.filename).name}:{here.lineno}: {type(error).__name__}: {said}"
        why += f"\n{scene.logs()}"
    finally:
        scene.close()
    # A killed process takes a moment to disappear.
    deadline = time.monotonic() + 5
    while (left := left_behind(scene.path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    end(left)
    if left and not why:
        why = f"left over: {left}"
    return why


def main():
    parser = argparse.ArgumentParser(prog="tests/e2e/git")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("E2E_JOBS", JOBS)))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    load()
    if arguments.list:
        print("\n".join(CASES))
        return 0
    unknown = [name for name in arguments.names if name not in CASES]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}")
    lock = threading.Lock()
    parent = Path(tempfile.mkdtemp(prefix="waypost-git-")).resolve()

    def interrupted(*_):
        # Cases run in threads, which cannot be stopped; the processes that they started can.
        lock.acquire()
        while (left := left_behind(parent)) or parent.exists():
            end(left)
            shutil.rmtree(parent, ignore_errors=True)
        os._exit(130)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    failed = []

    def one(name):
        began = time.monotonic()
        why = run(name, parent)
        took = f"({time.monotonic() - began:.1f} s)"
        with lock:
            if why:
                failed.append(name)
                print(f"FAILED: {name}: {why}", flush=True)
            else:
                print(f"ok: {name} {took}", flush=True)

    names = list(dict.fromkeys(arguments.names)) or list(CASES)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(one, names))
    shutil.rmtree(parent, ignore_errors=True)
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
