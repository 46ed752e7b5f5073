"""Runs all cases, or the named ones. Each is a function that is marked `@case`.

A case gets the [`Scene`], and fails by raising.
"""

import importlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from cases import CASES
from scene import Scene

for module in sorted(Path(__file__).parent.glob("cases_*.py")):
    importlib.import_module(module.stem)


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(CASES))
        return
    folder = Path(tempfile.mkdtemp(prefix="waypost-linkcheck-"))
    try:
        scene = Scene(folder)
        every = [name for name, case in CASES.items() if os.environ.get("E2E_ALL") == "1" or not case.nightly]
        for name in names or every:
            began = time.monotonic()
            scene.name = name
            CASES[name](scene)
            print(f"ok: {name} ({time.monotonic() - began:.1f} s)", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
