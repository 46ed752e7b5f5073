"""The restricted pod security profile, rule by rule, and Waypost's own requirements on pods.

The rules are those of https://kubernetes.io/docs/concepts/security/pod-security-standards/.
"""

# The kinds of volumes that a restricted pod may mount.
VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}


def restricted(pod):
    """Returns how a pod violates the restricted profile."""
    broken = []

    def rule(holds, text):
        if not holds:
            broken.append(text)

    whole = pod.get("securityContext", {})
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        rule(not pod.get(name), name)
    rule(not whole.get("sysctls"), "sysctls")
    for volume in pod.get("volumes", []):
        rule(set(volume) - {"name"} <= VOLUMES, f"volume {volume['name']}")
    containers = (
        pod["containers"] + pod.get("initContainers", []) + pod.get("ephemeralContainers", [])
    )
    for container in containers:
        own = container.get("securityContext", {})
        both = {**whole, **own}
        rule(not own.get("privileged"), "privileged")
        rule(own.get("allowPrivilegeEscalation") is False, "allowPrivilegeEscalation")
        rule(both.get("runAsNonRoot") is True, "runAsNonRoot")
        rule(both.get("runAsUser") != 0, "runAsUser")
        kind = both.get("seccompProfile", {}).get("type")
        rule(kind in ("RuntimeDefault", "Localhost"), "seccompProfile")
        kind = both.get("appArmorProfile", {}).get("type", "RuntimeDefault")
        rule(kind in ("RuntimeDefault", "Localhost"), "appArmorProfile")
        rule(both.get("procMount", "Default") == "Default", "procMount")
        rule(not both.get("windowsOptions", {}).get("hostProcess"), "hostProcess")
        linux = both.get("seLinuxOptions", {})
        rule(not linux.get("user") and not linux.get("role"), "seLinuxOptions")
        capabilities = own.get("capabilities", {})
        rule("ALL" in capabilities.get("drop", []), "capabilities: drop")
        rule(set(capabilities.get("add", [])) <= {"NET_BIND_SERVICE"}, "capabilities: add")
        rule(not any(port.get("hostPort") for port in container.get("ports", [])), "hostPort")
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            rule("host" not in container.get(probe, {}).get("httpGet", {}), f"{probe}: host")
    return broken


def seconds(interval):
    """Parses the server's intervals, as far as manifests need it."""
    assert interval.endswith("s") and interval[:-1].isdigit(), interval
    return int(interval[:-1])


def closed(pod):
    """It writes nothing to its file system, has no token, and cannot take all memory of its node."""
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    for container in pod["containers"]:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def sound(deployment):
    """The pod meets the restricted profile, is isolated, and has time to drain."""
    spec = deployment["spec"]
    pod = spec["template"]["spec"]
    broken = restricted(pod)
    assert not broken, f"not restricted: {broken}"
    closed(pod)
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert pod["securityContext"]["runAsUser"] == 65532, "the user of the image"
    for container in pod["containers"]:
        env = {variable["name"]: variable["value"] for variable in container["env"]}
        drain = seconds(env["WAYPOST_DRAIN_DELAY"]) + seconds(env["WAYPOST_DRAIN_TIMEOUT"])
        assert pod["terminationGracePeriodSeconds"] > drain, "killed before it has drained"
        probe = container["readinessProbe"]
        noticed = probe["periodSeconds"] * probe["failureThreshold"]
        assert seconds(env["WAYPOST_DRAIN_DELAY"]) > noticed, "stops before probes have noticed"
