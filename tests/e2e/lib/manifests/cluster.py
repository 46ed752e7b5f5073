"""The output of kustomize: its objects are valid and consistent."""

import glob
import json
import os
import re
import subprocess
import tomllib

import kubernetes_validate
import yaml

ROOT = os.path.realpath(f"{os.path.dirname(__file__)}/../../../..")
KUBERNETES = f"{ROOT}/deploy/kubernetes"
OVERLAYS = sorted(map(os.path.basename, glob.glob(f"{KUBERNETES}/overlays/*")))
COMPONENTS = sorted(map(os.path.basename, glob.glob(f"{KUBERNETES}/components/*")))
# The oldest maintained version of Kubernetes, and the newest with known schemas.
VERSIONS = ("1.34", "1.37")
with open(f"{ROOT}/Cargo.toml", "rb") as manifest:
    WAYPOST_VERSION = tomllib.load(manifest)["package"]["version"]
IMAGE = f"ghcr.io/waypost/waypost:{WAYPOST_VERSION}"


def kustomize(directory):
    printed = subprocess.run(
        ["kubectl", "kustomize", directory], check=True, capture_output=True, text=True
    )
    assert not printed.stderr, f"{directory}: {printed.stderr}"
    return list(yaml.safe_load_all(printed.stdout))


def with_component(overlay, component, work):
    """Builds an overlay with a component added, as a user's own overlay would."""
    directory = f"{work}/{overlay}-{component}"
    os.mkdir(directory)
    above = os.path.relpath(KUBERNETES, os.path.realpath(directory))
    with open(f"{directory}/kustomization.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(
            {"resources": [f"{above}/overlays/{overlay}"],
             "components": [f"{above}/components/{component}"]}, file,
        )  # fmt: skip
    return kustomize(directory)


def documented(work):
    """Builds the overlay in the documentation, from local files instead of the network."""
    with open(f"{ROOT}/docs/kubernetes.md", encoding="utf-8") as file:
        [example] = re.findall(
            r"^```yaml\n# kustomization.yaml\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL
        )
    directory = f"{work}/documented"
    os.mkdir(directory)
    release = rf"\?ref=v{re.escape(WAYPOST_VERSION)}$"
    remote = r"https://github.com/\S+?//(deploy/kubernetes/\S+)" + release
    root = os.path.relpath(ROOT, os.path.realpath(directory))
    local, times = re.subn(remote, rf"{root}/\1", example, flags=re.MULTILINE)
    assert times == 2, "an overlay and a component"
    with open(f"{directory}/kustomization.yaml", "w", encoding="utf-8") as file:
        file.write(local)
    things = kustomize(directory)
    [container] = one(things, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example/links:42"
    repositories = [v["value"] for v in container["env"] if v["name"] == "WAYPOST_REPO"]
    assert repositories == ["https://git.example/our/links.git"]
    assert {thing["metadata"]["namespace"] for thing in things} == {"links"}
    ingress = one(things, "Ingress")["spec"]
    assert ingress["rules"][0]["host"] == "our.example"
    assert ingress["tls"][0]["hosts"] == ["our.example"]
    assert ingress["ingressClassName"] == "nginx"
    return things


def is_custom(thing):
    return thing["apiVersion"].split("/")[0] in (
        "gateway.networking.k8s.io",
        "monitoring.coreos.com",
    )


def valid(things):
    """Every object matches the schema of its API, without unknown keys."""
    for thing in things:
        for version in () if is_custom(thing) else VERSIONS:
            kubernetes_validate.validate(thing, version, strict=True)
    custom = [thing for thing in things if is_custom(thing)]
    if custom:
        subprocess.run(
            ["node", f"{os.path.dirname(__file__)}/custom.mjs"],
            input=json.dumps(custom), text=True, check=True,
        )  # fmt: skip


def of(things, kind):
    return [thing for thing in things if thing["kind"] == kind]


def one(things, kind, name="waypost"):
    """Returns the object of a kind with a name, by default the server's."""
    [thing] = [thing for thing in of(things, kind) if thing["metadata"]["name"] == name]
    return thing


def chosen(labels, selector):
    return selector.items() <= labels.items()


def fitting(things):
    """Every reference resolves: labels, services, ports, volumes."""
    pod = one(things, "Deployment")["spec"]["template"]
    labels = pod["metadata"]["labels"]
    [container] = pod["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    assert container["image"] == IMAGE, container["image"]

    services = {}
    for service in of(things, "Service"):
        if not chosen(labels, service["spec"]["selector"]):
            assert service["metadata"]["name"] in ("waypost-valkey", "waypost-fleet")
            continue
        services[service["metadata"]["name"]] = service["spec"]["ports"]
        assert all(port["targetPort"] in ports for port in service["spec"]["ports"])
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in ports

    selectors = [
        one(things, "Deployment")["spec"]["selector"]["matchLabels"],
        one(things, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        one(things, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        *(c["labelSelector"]["matchLabels"] for c in pod["spec"]["topologySpreadConstraints"]),
    ]
    assert all(chosen(labels, selector) for selector in selectors)
    scaler = one(things, "HorizontalPodAutoscaler")["spec"]
    assert scaler["scaleTargetRef"]["name"] == one(things, "Deployment")["metadata"]["name"]
    assert scaler["minReplicas"] >= 2
    rules = one(things, "NetworkPolicy")["spec"]["ingress"]
    assert {port["port"] for rule in rules for port in rule["ports"]} == ports
    assert all(
        "from" in rule for rule in rules if {"port": "admin", "protocol": "TCP"} in rule["ports"]
    )

    assert not (of(things, "Ingress") and of(things, "HTTPRoute")), "two ways to the same host"
    for ingress in of(things, "Ingress"):
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                to = path["backend"]["service"]
                assert to["port"]["name"] in {port["name"] for port in services[to["name"]]}
                assert to["name"] == "waypost", "only short links may be public"
    for route in of(things, "HTTPRoute"):
        for to in (to for rule in route["spec"]["rules"] for to in rule.get("backendRefs", [])):
            assert to["port"] in {port["port"] for port in services[to["name"]]}
            assert to["name"] == "waypost", "only short links may be public"
    for monitor in of(things, "ServiceMonitor"):
        [service] = [
            service for service in of(things, "Service")
            if chosen(service["metadata"]["labels"], monitor["spec"]["selector"]["matchLabels"])
        ]  # fmt: skip
        names = {port["name"] for port in service["spec"]["ports"]}
        assert all(endpoint["port"] in names for endpoint in monitor["spec"]["endpoints"])
        assert service["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "waypost"

    volumes = {volume["name"] for volume in pod["spec"].get("volumes", [])}
    mounts = container.get("volumeMounts", [])
    assert {mount["name"] for mount in mounts} == volumes
    assert not any("subPath" in mount for mount in mounts), "a subPath mount never changes"
    maps = {thing["metadata"]["name"] for thing in of(things, "ConfigMap")}
    for volume in pod["spec"].get("volumes", []):
        assert "configMap" not in volume or volume["configMap"]["name"] in maps
