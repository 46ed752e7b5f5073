"""Shared by all cases: a network, a farm in it, and an authority that programs trust."""

import os
import re
from pathlib import Path

from certificates import Authority
from farm import Farm
from kinds import Behaviour
from network import Names, enter
from program import Table

OBO = Path(__file__).parents[3] / "data/obo"


class Scene:
    def __init__(self, folder):
        self.folder = folder
        enter(folder)
        self.obo = sorted(set(re.findall(r'url: "?(https?://[^"\s]+)', "".join(it.read_text() for it in OBO.glob("*.yaml")))))
        secure = {re.match(r"https://([^/:]+)", target)[1] for target in self.obo if target.startswith("https")}
        self.authority = Authority(folder, sorted(secure))
        self.behaviour = Behaviour()
        self.farm = Farm(Names(), self.behaviour, self.authority.of)
        self.name = ""
        #: Of random instants.
        self.seed = int(os.environ["LINKCHECK_SEED"])
        print(f"seed: {self.seed}")

    def table(self, targets=(), **options):
        """Returns a table in a folder of its own."""
        folder = self.folder / f"{self.name.replace(' ', '-')}-{len(list(self.folder.iterdir()))}"
        return Table(folder, self.authority, targets, **options)
