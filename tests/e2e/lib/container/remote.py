"""A repository with a table, served over TLS on loopback until standard input ends.

Prints, one a line: the URL, with a host name that the caller must resolve, and the certificate
of the authority that issued its own. The table's link `version` leads to https://version.example/one.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "git"))

from scene import Scene, make_ca, table  # noqa: E402
from remotes import SmartHttp  # noqa: E402


def main():
    scene = Scene("remote", sys.argv[1])
    try:
        authority, certificate = make_ca(scene)
        remote = SmartHttp(scene, certificate=certificate).up()
        scene.push(table("one"))
        scene.let_others_in()
        print(remote.url(host="git.invalid"))
        print(authority, flush=True)
        sys.stdin.read()
    finally:
        scene.close()


main()
