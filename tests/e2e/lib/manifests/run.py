"""Checks deploy/: Kubernetes, Prometheus and Grafana, Compose."""

import os
import sys

import checking
import cluster
import composed
import pods
import rehearsal
import watching

WORK = os.environ["WORK"]


def said(text):
    print(f"  ok {text}", flush=True)


def main():
    # Build results by name: each overlay as it is, and one with every component.
    built = {"base": cluster.kustomize(f"{cluster.KUBERNETES}/base")}
    for overlay in cluster.OVERLAYS:
        built[overlay] = cluster.kustomize(f"{cluster.KUBERNETES}/overlays/{overlay}")
    for component in cluster.COMPONENTS:
        repository = ("fleet", "hook", "git-password", "git-ssh")
        overlay = "repository" if component in repository else "baked"
        built[f"{overlay} with {component}"] = cluster.with_component(overlay, component, WORK)
    assert cluster.OVERLAYS == ["baked", "configmap", "linkcheck", "repository"]

    for name, things in built.items():
        cluster.valid(things)
        cluster.fitting(things)
        pods.sound(cluster.one(things, "Deployment"))
        rehearsal.rehearse(things, f"{WORK}/pod-{name.replace(' ', '-')}")
        said(f"kubernetes, {name}: {len(things)} objects valid, the pod restricted and serving")

    checked = [name for name in built if "linkcheck" in name]
    assert checked == ["linkcheck", "baked with linkcheck"]
    for name in checked:
        checking.fitting(built[name])
    checking.rehearse(built["linkcheck"], f"{WORK}/linkcheck")
    said("kubernetes: workers that check links share their work through a Valkey of their own")

    cluster.valid(cluster.documented(WORK))
    said("kubernetes: the overlay that the documentation shows is built and valid")

    watching.read(WORK)
    said(
        f"monitoring: {len(watching.alerts())} alerts, {len(watching.dashboard())} panels' queries"
    )
    deployment = cluster.one(built["baked"], "Deployment")
    watching.real(rehearsal.metrics(deployment, f"{WORK}/pod-metrics"))
    said("monitoring: every queried metric and label exists")
    watching.documented()
    said("monitoring: every alert says what to do, and has a section in the runbook")

    composed.read(WORK)
    with rehearsal.Pod(deployment, {}, f"{WORK}/pod-health") as pod:
        composed.health(pod)
    said("compose: the file and its variants are valid, the health check passes")
    checking.composed(f"{WORK}/compose-linkcheck")
    said("compose: workers that check links share their work, and nothing else reaches their Valkey")
    print("deploy/ passed")


sys.exit(main())
