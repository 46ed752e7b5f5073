"""Runs the cases; the program is in WAYPOST."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fleet import cases, twenty  # noqa: E402
from fleet.scene import Scene  # noqa: E402

CASES = [cases.hints, cases.reconnections, cases.keys, cases.limits, cases.floods, cases.outages]
SLOW = [cases.refusals, cases.race, twenty.twenty]


def figures():
    """The tables in the documentation are those that are calculated."""
    root = Path(__file__).parents[4]
    calculated = subprocess.run([root / "tests/bench/scaling"], check=True, capture_output=True, text=True)
    document = (root / "docs/scaling.md").read_text()
    for table in calculated.stdout.strip().split("\n\n"):
        assert table in document, table


def main():
    figures()
    words = sys.argv[1:]
    every = CASES + (SLOW if words or os.environ.get("E2E_ALL") == "1" else [])
    chosen = [it for it in every if not words or any(word in it.__name__ for word in words)]
    with tempfile.TemporaryDirectory(prefix="waypost-fleet-") as path:
        scene = Scene(Path(path).resolve())
        try:
            for case in chosen:
                began = time.monotonic()
                if case not in (cases.race, twenty.twenty) and not scene.servers:
                    scene.replicas(5, cases.NEVER)
                case(scene)
                print(f"{case.__name__}: passed ({time.monotonic() - began:.1f} s)", flush=True)
        except BaseException:
            for log in sorted(Path(path).glob("replica-*/*.log")):
                print(f"--- {log.parent.name}", *log.read_text().splitlines()[-15:], sep="\n")
            raise
        finally:
            scene.end()


if __name__ == "__main__":
    main()
