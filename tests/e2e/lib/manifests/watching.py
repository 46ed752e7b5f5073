"""Rules, their tests, and the dashboard: validated with promtool, and against the server's metrics."""

import json
import os
import re
import subprocess

import yaml
from cluster import ROOT

MONITORING = f"{ROOT}/deploy/monitoring"


def promtool(*arguments):
    done = subprocess.run(
        ["promtool", *arguments], cwd=MONITORING, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def alerts():
    with open(f"{MONITORING}/waypost.rules.yaml", encoding="utf-8") as file:
        groups = yaml.safe_load(file)["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard():
    """Returns the expressions of the dashboard, as Grafana would send them."""
    with open(f"{MONITORING}/waypost.dashboard.json", encoding="utf-8") as file:
        board = json.load(file)
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert all(panel["description"] and panel["targets"] for panel in panels)
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids)), "two panels have the same id"
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    asked += [note["expr"] for note in board["annotations"]["list"]]
    return [expr.replace("$__rate_interval", "1m") for expr in asked]


def read(work):
    """promtool accepts the configuration, the rules, their tests and the dashboard."""
    promtool("check", "config", "prometheus.yaml")
    promtool("check", "rules", "waypost.rules.yaml")
    promtool("test", "rules", "waypost.rules.test.yaml")
    rules = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(dashboard())]
    with open(f"{work}/dashboard.rules.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
    promtool("check", "rules", f"{work}/dashboard.rules.yaml")


def real(metrics):
    """Every queried metric and label value exists on the server."""
    names = set(re.findall(r"^(\w+)", metrics, re.MULTILINE))
    pairs = set(re.findall(r'(outcome|result|verdict|state)="([\w-]+)"', metrics))
    asked = [alert["expr"] for alert in alerts()] + dashboard()
    for expr in asked:
        for name in re.findall(r"\b(?:waypost|process)_\w+", expr):
            assert name in names, f"there is no metric {name}, which is queried in {expr}"
        for label, _, values in re.findall(r'(outcome|result|verdict|state)(=~?)"([^"]+)"', expr):
            assert {(label, value) for value in values.split("|")} <= pairs, expr


def documented():
    """Every alert says what to do, has its section in the runbook, and is tested firing."""
    with open(f"{ROOT}/docs/monitoring.md", encoding="utf-8") as file:
        sections = re.findall(r"^### (Waypost\w+)$", file.read(), re.MULTILINE)
    with open(f"{MONITORING}/waypost.rules.test.yaml", encoding="utf-8") as file:
        samples = re.findall(r'alertname="(\w+)"', file.read())
    # An alert that gets worse has a rule for each severity.
    names = list(dict.fromkeys(alert["alert"] for alert in alerts()))
    assert sections == names, f"the runbook has {sections}, the rules have {names}"
    for alert in alerts():
        name, notes = alert["alert"], alert["annotations"]
        assert name in samples, f"no test has {name} fire"
        assert alert["labels"]["severity"] in ("critical", "warning"), name
        assert notes.keys() == {"summary", "description", "runbook_url"}, name
        anchor = os.path.relpath(f"{ROOT}/docs/monitoring.md", ROOT) + f"#{name.lower()}"
        assert notes["runbook_url"].endswith(f"/{anchor}"), name
