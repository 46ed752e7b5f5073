"""Checks a bill of materials: check_sbom.py FILE, with `NAME VERSION` of each required crate on stdin.

It must be valid by CycloneDX's own schema, name nothing of the machine that built it, contain every
crate of the list with a checksum and a licence, and be refused once it is damaged.
"""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = Path(sys.argv[1]).read_text()
bom = json.loads(text)
validator = JsonStrictValidator(SchemaVersion.V1_5)

problem = validator.validate_str(text)
assert problem is None, f"not valid: {problem}"
damaged = dict(bom, components=[{"name": "no type"}])
assert validator.validate_str(json.dumps(damaged)) is not None, "the schema accepts anything"

assert "path+file" not in text, "it names the directory of the build"
assert "serialNumber" not in bom, "it has a random number, and is not reproducible"

components = {(part["name"], part["version"]): part for part in bom["components"]}
wanted = {tuple(line.split()) for line in sys.stdin if line.strip()}
assert len(wanted) > 100, f"only {len(wanted)} crates to look for"
missing = sorted(wanted - components.keys())
assert not missing, f"missing: {missing}"
for crate in sorted(wanted):
    part = components[crate]
    assert part.get("hashes"), f"{crate} has no checksum"
    assert part.get("licenses"), f"{crate} has no licence"
print(f"{len(components)} components, {len(wanted)} of them in the program or its build")
