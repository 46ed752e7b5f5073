"""The link checker's workers and their Valkey: permissions, network access, and cooperation."""

import json
import os
import re
import shutil
import subprocess

import pods
import yaml
from cluster import IMAGE, ROOT, one
from farm import Farm
from rehearsal import WAYPOST, wait_for

COMPOSE = f"{ROOT}/deploy/compose.linkcheck.yaml"
SECRETS = "/run/secrets/"
WORKERS, VALKEY = "waypost-linkcheck", "waypost-valkey"
NAMES = re.compile(r"\bWAYPOST_[A-Z_]+\b")
PASSWORD = "a password"


def known(environment):
    """Every variable is one that `linkcheck` reads."""
    help_ = subprocess.run([WAYPOST, "linkcheck", "--help"], check=True, capture_output=True, text=True).stdout
    names = set(NAMES.findall(help_))
    names |= {f"{name}_FILE" for name in names if re.search("USERNAME|PASSWORD", name)}
    unknown = set(environment) - names
    assert not unknown, f"linkcheck knows no {unknown}"


def durable(arguments):
    """Valkey persists what it has answered, and admits only the users of its file."""
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert options.keys() == {"--dir", "--aclfile", "--appendonly", "--appendfsync", "--save"}, options
    assert (options["--appendonly"], options["--appendfsync"]) == ("yes", "always")
    return options


def fitting(things):
    """Objects of Kubernetes: restricted pods, a Valkey that only workers reach, and ports that exist."""
    workers, valkey = one(things, "Deployment", WORKERS), one(things, "StatefulSet", VALKEY)
    assert workers["spec"]["replicas"] == 3 and valkey["spec"]["replicas"] == 1
    for thing in (workers, valkey):
        pod = thing["spec"]["template"]
        labels = thing["spec"]["selector"]["matchLabels"]
        assert labels.items() <= pod["metadata"]["labels"].items()
        broken = pods.restricted(pod["spec"])
        assert not broken, f"not restricted: {broken}"
        pods.closed(pod["spec"])
        policy = one(things, "NetworkPolicy", thing["metadata"]["name"])["spec"]
        assert policy["podSelector"]["matchLabels"] == labels
        assert policy["policyTypes"] == ["Ingress", "Egress"]
        [container] = pod["spec"]["containers"]
        claims = thing["spec"].get("volumeClaimTemplates", [])
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in claims}
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes

    [container] = workers["spec"]["template"]["spec"]["containers"]
    assert container["image"] == IMAGE and container["args"] == ["linkcheck", "--watch"]
    known(variable["name"] for variable in container["env"])
    [valkey_container] = valkey["spec"]["template"]["spec"]["containers"]
    durable(valkey_container["args"])
    service = one(things, "Service", VALKEY)["spec"]
    assert service["clusterIP"] == "None" and service["selector"].items() <= labels.items()
    [port] = service["ports"]
    [inside] = valkey_container["ports"]
    assert port["targetPort"] == inside["name"] and port["port"] == inside["containerPort"]
    env = {variable["name"]: variable["value"] for variable in container["env"]}
    assert env["WAYPOST_LINKCHECK_STORE"] == f"redis://{VALKEY}:{port['port']}"

    policies = {name: one(things, "NetworkPolicy", name)["spec"] for name in (WORKERS, VALKEY)}
    assert policies[WORKERS]["ingress"] == [] and policies[VALKEY]["egress"] == []
    [rule] = policies[VALKEY]["ingress"]
    worker_labels = workers["spec"]["selector"]["matchLabels"]
    assert rule == {
        "from": [{"podSelector": {"matchLabels": worker_labels}}],
        "ports": [{"port": inside["name"], "protocol": "TCP"}],
    }
    out = {(port["port"], port["protocol"]) for rule in policies[WORKERS]["egress"] for port in rule["ports"]}
    assert out == {(53, "UDP"), (53, "TCP"), (80, "TCP"), (443, "TCP"), (inside["name"], "TCP")}, out
    assert all(rule["to"] for rule in policies[WORKERS]["egress"])


def users():
    """Returns the users of Valkey from the documentation, with a known password."""
    with open(f"{ROOT}/docs/linkcheck.md", encoding="utf-8") as file:
        [recipe] = re.findall(r"^```sh\n# A password, .*?\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    return recipe


class Together:
    """A real server of the same kind and workers, as a manifest defines them, with links to check."""

    def __init__(self, work, server_arguments, worker_arguments, environment):
        os.makedirs(f"{work}/data")
        subprocess.run(["bash", "-euo", "pipefail", "-c", users()], cwd=work, check=True)
        options = durable(server_arguments)
        options |= {"--dir": f"{work}/data", "--aclfile": f"{work}/users.acl"}
        self.socket = f"{work}/valkey"
        self.server = [
            shutil.which("redis-server"), "--port", "0", "--unixsocket", self.socket,
            *(word for option in options.items() for word in option),
        ]  # fmt: skip
        env = {name: value for name, value in environment.items() if name != "WAYPOST_TABLE"}
        env["WAYPOST_LINKCHECK_STORE"] = f"unix://{self.socket}"
        for name, value in env.items():
            if name.endswith("_FILE"):
                assert value.startswith(SECRETS), value
                env[name] = f"{work}/valkey-password"
        self.env = {"PATH": os.environ["PATH"], **env}
        self.work, self.arguments, self.processes = work, worker_arguments, []

    def start(self, arguments):
        with open(f"{self.work}/log", "a", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen(arguments, env=self.env, cwd=self.work, stdout=log, stderr=log))
        return self.processes[-1]

    def check(self, links):
        """Three workers check every link once; a fourth that only reports finds all verdicts."""
        with Farm() as farm:
            lines = "".join(f"- url: http://127.0.1.{n}:{farm.port}/\n" for n in range(1, links + 1))
            with open(f"{self.work}/mapping.yaml", "w", encoding="utf-8") as table:
                table.write(f"base_url: https://short.code/\nmapping:\n{lines}")
            self.env |= {"WAYPOST_LINKCHECK_ALLOW_PRIVATE": "true"}
            self.start(self.server)
            wait_for(lambda: os.path.exists(self.socket), "the server to listen")
            workers = [self.start([WAYPOST, *self.arguments]) for _ in range(3)]
            wait_for(lambda: len(farm.homes()) == links, "each link to be checked", 60)
            for worker in workers:
                worker.terminate()
                assert worker.wait(30) == 0, self.log()
            report = subprocess.run(
                [WAYPOST, "linkcheck", "--format", "json"], env=self.env, cwd=self.work,
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            verdicts = [link["verdict"] for link in json.loads(report.stdout)["links"]]
            assert verdicts == ["ok"] * links, report.stdout
            assert len(farm.homes()) == links, "a link was checked twice"

    def log(self):
        with open(f"{self.work}/log", encoding="utf-8") as log:
            return log.read()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for process in self.processes:
            process.kill()
            process.wait()
        if kind:
            print(self.log())


def rehearse(things, work):
    """Workers and their server cooperate as the Kubernetes objects define."""
    [worker] = one(things, "Deployment", WORKERS)["spec"]["template"]["spec"]["containers"]
    [valkey] = one(things, "StatefulSet", VALKEY)["spec"]["template"]["spec"]["containers"]
    env = {variable["name"]: variable["value"] for variable in worker["env"]}
    with Together(work, valkey["args"], worker["args"], env) as together:
        together.check(30)


def composed(work):
    """docker-compose accepts the file, only workers reach its Valkey, and its services cooperate."""
    printed = subprocess.run(
        ["docker-compose", "-f", COMPOSE, "config"], capture_output=True, text=True, check=True
    )
    config = yaml.safe_load(printed.stdout)
    worker, valkey = config["services"]["linkcheck"], config["services"]["valkey"]
    for service in (worker, valkey):
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "ports" not in service
    assert worker["image"] == IMAGE and worker["deploy"]["replicas"] == 3
    known(worker["environment"])
    assert valkey["networks"].keys() == {"store"} and config["networks"]["store"]["internal"] is True
    program, *arguments = valkey["command"]
    assert program == "valkey-server"
    with Together(work, arguments, worker["command"], worker["environment"]) as together:
        together.check(3)
