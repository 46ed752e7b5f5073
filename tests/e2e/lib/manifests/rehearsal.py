"""Starts the real server as a Deployment defines it, with directories instead of its volumes."""

import hashlib
import hmac
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

WAYPOST = os.environ["WAYPOST"]
HELP = subprocess.run(
    [WAYPOST, "serve", "--help"], check=True, capture_output=True, text=True
).stdout
VARIABLES = set(re.findall(r"\bWAYPOST_[A-Z_]+\b", HELP))
SECRETS = {f"{name}_FILE" for name in VARIABLES if re.search("USERNAME|PASSWORD|SECRET", name)}
SECRET = b"a secret"
TABLE = """base_url: https://short.code/
mapping:
- {url: "https://www.gnu.org/", short-code: gnu-home}
"""


def wait_for(condition, what, seconds=30):
    """Polls until a condition holds; on a timeout, reports the condition."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"timed out after {seconds} s: {what}")
        time.sleep(0.05)
    return value


def get(url, data=None, headers=None):
    """Returns the status and the text of an answer; does not follow redirects."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


def known(environment):
    """Every variable is one that the server reads."""
    unknown = set(environment) - VARIABLES - SECRETS
    assert not unknown, f"the server knows no {unknown}"


def mount_map(directory, data):
    """Lays out a ConfigMap as the kubelet does: links into a directory that is swapped."""
    fresh = f"{directory}/..{len(os.listdir(directory))}"
    os.mkdir(fresh)
    for name, text in data.items():
        with open(f"{fresh}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
        if not os.path.lexists(f"{directory}/{name}"):
            os.symlink(f"..data/{name}", f"{directory}/{name}")
    os.symlink(os.path.basename(fresh), f"{directory}/..data_tmp")
    os.rename(f"{directory}/..data_tmp", f"{directory}/..data")


def repository(work):
    """Makes a repository with a table; returns its path."""
    path = f"{work}/links"
    os.mkdir(path)
    with open(f"{path}/mapping.yaml", "w", encoding="utf-8") as file:
        file.write(TABLE)
    git = ["git", "-C", path, "-c", "user.name=A", "-c", "user.email=a@b.example"]
    for step in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "links: begin"]):
        subprocess.run([*git, *step], check=True)
    return path


class Pod:
    """A server with the environment, the ports and the volumes of a Deployment's container."""

    def __init__(self, deployment, maps, work):
        spec = deployment["spec"]["template"]["spec"]
        [self.container] = spec["containers"]
        self.ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        self.mounted = {}
        os.makedirs(f"{work}/srv")
        with open(f"{work}/srv/mapping.yaml", "w", encoding="utf-8") as file:
            file.write(TABLE)
        volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
        for mount in self.container.get("volumeMounts", []):
            here = f"{work}/{mount['name']}"
            os.mkdir(here)
            self.mounted[mount["mountPath"]] = here
            volume = volumes[mount["name"]]
            if "configMap" in volume:
                mount_map(here, maps[volume["configMap"]["name"]])
            elif "secret" in volume:
                for key in ("username", "password", "secret", "key", "known_hosts"):
                    with open(f"{here}/{key}", "wb") as file:
                        file.write(SECRET)
        self.environment = self._environment(work)
        self.work = work

    def _environment(self, work):
        env = {variable["name"]: variable["value"] for variable in self.container["env"]}
        known(env)
        assert env["WAYPOST_LISTEN"] == f"0.0.0.0:{self.ports['http']}"
        assert env["WAYPOST_ADMIN_LISTEN"] == f"0.0.0.0:{self.ports['admin']}"
        # Free ports, local paths instead of mounts, and a local repository.
        env |= {"WAYPOST_LISTEN": "127.0.0.1:0", "WAYPOST_ADMIN_LISTEN": "127.0.0.1:0"}
        if "WAYPOST_REPO" in env:
            env["WAYPOST_REPO"] = repository(work)
        for name, value in env.items():
            for path, here in self.mounted.items():
                if value == path or value.startswith(f"{path}/"):
                    env[name] = here + value[len(path) :]
            assert not name.endswith("_FILE") or os.path.exists(env[name]), f"{name} is not mounted"
        return env

    def __enter__(self):
        self.log = open(f"{self.work}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [WAYPOST, "serve"], cwd=f"{self.work}/srv",
            env={"PATH": os.environ["PATH"], **self.environment},
            stdout=self.log, stderr=self.log,
        )  # fmt: skip
        serving = wait_for(self._serving, "the server to listen")
        self.addresses = {"http": serving["public"], "admin": serving["admin"]}
        return self

    def _serving(self):
        with open(f"{self.work}/log", encoding="utf-8") as log:
            text = log.read()
        assert self.process.poll() is None, text
        # The manifests choose the format of the log; a half-written line has no end yet.
        lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        fields = [line.get("fields", line) for line in lines]
        return next((line for line in fields if "public" in line and "admin" in line), None)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            # The second signal ends the drain delay.
            wait_for(lambda: self.ask("admin", "/readyz")[0] == 503, "the server to drain")
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(30) == 0
        finally:
            self.process.kill()
            self.log.close()

    def ask(self, port, path, **more):
        return get(f"http://{self.addresses[port]}{path}", **more)

    def passes(self, probe):
        get_ = self.container[probe]["httpGet"]
        return self.ask(get_["port"], get_["path"])[0] == 200


def rehearse(things, work):
    """The server starts with the configuration, passes its probes and answers."""
    [deployment] = [
        thing for thing in things
        if thing["kind"] == "Deployment" and thing["metadata"]["name"] == "waypost"
    ]  # fmt: skip
    maps = {
        thing["metadata"]["name"]: thing["data"] for thing in things if thing["kind"] == "ConfigMap"
    }
    pod = Pod(deployment, maps, work)
    with pod:
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            wait_for(lambda p=probe: pod.passes(p), f"the {probe} to pass")
        assert pod.ask("http", "/gnu-home")[0] == 302
        if table := pod.environment.get("WAYPOST_TABLE"):
            assert pod.ask("http", "/new")[0] == 404
            changed = TABLE + '- {url: "https://new.example/", short-code: new}\n'
            mount_map(table, {"mapping.yaml": changed})
            wait_for(lambda: pod.ask("http", "/new")[0] == 302, "the changed ConfigMap to be live")
        if "WAYPOST_HOOK_SECRET_FILE" in pod.environment:
            sign = hmac.new(SECRET, b"{}", hashlib.sha256).hexdigest()
            for signature, status in ((sign, 202), ("0" * 64, 403)):
                headers = {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Event": "push"}
                assert pod.ask("http", "/-/hook", data=b"{}", headers=headers)[0] == status
        for monitor in (thing for thing in things if thing["kind"] == "ServiceMonitor"):
            [endpoint] = monitor["spec"]["endpoints"]
            assert pod.ask(endpoint["port"], endpoint["path"])[0] == 200


def certificate(work):
    """Creates a certificate and its key; returns the variables that name them."""
    paths = {"WAYPOST_TLS_CERT": f"{work}/cert.pem", "WAYPOST_TLS_KEY": f"{work}/key.pem"}
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "30", "-subj", "/CN=short.code",
         "-out", paths["WAYPOST_TLS_CERT"], "-keyout", paths["WAYPOST_TLS_KEY"]],
        check=True, capture_output=True,
    )  # fmt: skip
    return paths


def metrics(deployment, work):
    """Returns the metrics of a server with all of them, including those of certificates, links and a fleet."""
    pod = Pod(deployment, {}, work)
    pod.environment |= certificate(work)
    pod.environment |= {"WAYPOST_LINKCHECK": "true", "WAYPOST_STATE_DIR": f"{work}/state"}
    # Metrics of a fleet do not depend on whether its server can be reached: nothing listens on port 1.
    pod.environment |= {"WAYPOST_FLEET": "redis://127.0.0.1:1", "WAYPOST_FLEET_NAME": "links"}
    with open(f"{work}/srv/mapping.yaml", "w", encoding="utf-8") as file:
        # A name that never resolves, so that no host is requested.
        file.write(TABLE.replace("www.gnu.org", "nobody.invalid"))
    with pod:
        return pod.ask("admin", "/metrics")[1]
