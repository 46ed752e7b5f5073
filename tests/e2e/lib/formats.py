"""Checks every table under tests/tables in each format, and compares the formats."""

import json
import os
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree
from pathlib import Path

import jsonschema


def check(table, form):
    command = [os.environ["WAYPOST"], "check", "--format", form, table]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout.decode()


def validator(path):
    schema = json.loads(Path(path).read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def compare(table, ours, sarif):
    status, text = check(table, "json")
    document = json.loads(text)
    ours.validate(document)
    assert status == (1 if document["summary"]["errors"] else 0), status
    diagnostics = document["diagnostics"]

    status_too, text = check(table, "sarif")
    log = json.loads(text)
    sarif.validate(log)
    assert status_too == status
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for one, other in zip(diagnostics, run["results"], strict=True):
        (location,) = other["locations"]
        location = location["physicalLocation"]
        region = location["region"]
        assert urllib.parse.unquote(location["artifactLocation"]["uri"]) == one["file"]
        assert (region["startLine"], region["startColumn"]) == (one["line"], one["column"])
        assert (other["ruleId"], other["level"]) == (one["rule"], one["severity"])
        assert rules[other["ruleIndex"]] == one["rule"]

    issues = json.loads(check(table, "gitlab")[1])
    for one, other in zip(diagnostics, issues, strict=True):
        assert other["location"] == {"path": one["file"], "lines": {"begin": one["line"]}}
        assert other["check_name"] == one["rule"]
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)

    (suite,) = xml.etree.ElementTree.fromstring(check(table, "junit")[1])
    ended = {kind: len(suite.findall(f"testcase/{kind}")) for kind in ("failure", "skipped")}
    assert suite.get("tests") == str(len(suite))
    assert (suite.get("failures"), suite.get("skipped")) == tuple(map(str, ended.values()))
    assert (status == 1) == (ended["failure"] > 0)

    for form in ("human", "github"):
        lines = check(table, form)[1].splitlines()
        first = [line for line in lines if not line.startswith((" ", "::notice"))]
        assert len(first) == len(diagnostics), form
        if form == "github":
            for one, line in zip(diagnostics, first, strict=True):
                assert f",title=waypost check ({one['rule']})::" in line
    return len(diagnostics)


def main():
    ours = validator("docs/check.schema.json")
    sarif = validator(os.environ["SARIF_SCHEMA"])
    # The validator does reject invalid logs: a log needs its version.
    assert not sarif.is_valid({"runs": []})
    tables = [path for path in Path("tests/tables").glob("*/*") if path.suffix != ".expected"]
    problems = 0
    for table in sorted(tables):
        try:
            problems += compare(str(table), ours, sarif)
        except Exception:
            print(f"{table}:", file=sys.stderr)
            raise
    assert problems > 100, problems
    print(f"{len(tables)} tables, {problems} problems: the same in every format")


main()
