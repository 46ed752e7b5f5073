"""The Compose file, and each of the variants that its comments describe, read by docker-compose."""

import re
import subprocess

import yaml
from cluster import IMAGE, ROOT
from pods import seconds
from rehearsal import WAYPOST, known

FILE = f"{ROOT}/deploy/compose.yaml"


def variants():
    """Returns the alternatives in the comments, each as a document of its own."""
    with open(FILE, encoding="utf-8") as file:
        comment = file.read().split("\n\n# A table on this machine.")[1]
    comment, ends = comment.split("\n# and at the end of the file:\n#\n")
    top = yaml.safe_load(re.sub("^# ?", "", ends, flags=re.MULTILINE))
    for block in re.findall(r"(?:^#     .*\n)+", comment, re.MULTILINE):
        service = yaml.safe_load(re.sub("^#     ", "", block, flags=re.MULTILINE))
        yield {"services": {"waypost": service}, **(top if "secrets" in service else {})}


def config(*files):
    arguments = [argument for file in files for argument in ("-f", file)]
    printed = subprocess.run(
        ["docker-compose", *arguments, "config"], capture_output=True, text=True, check=False
    )
    assert printed.returncode == 0, printed.stderr
    return yaml.safe_load(printed.stdout)["services"]["waypost"]


def read(work):
    """docker-compose accepts it, and the server knows every variable in it."""
    services = [config(FILE)]
    for number, variant in enumerate(variants()):
        path = f"{work}/variant-{number}.yaml"
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump({"version": "3.8", **variant}, file)
        services.append(config(FILE, path))
        assert services[-1] != services[0]
    assert len(services) == 4, "a table on this machine, a repository, and a fleet"
    for service in services:
        env = service["environment"]
        known(env)
        assert service["image"] == IMAGE
        assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        drain = seconds(env["WAYPOST_DRAIN_DELAY"]) + seconds(env["WAYPOST_DRAIN_TIMEOUT"])
        assert seconds(service["stop_grace_period"]) > drain
        for port in service["ports"]:
            # Newer versions print a mapping where older ones print a line.
            text = port if isinstance(port, str) else f"{port.get('host_ip')}:{port['target']}"
            admin = text.removesuffix("/tcp").endswith(":8081")
            local = text.startswith("127.0.0.1:")
            assert admin == local, port


def health(pod):
    """Its health check passes on a server."""
    kind, program, *arguments = config(FILE)["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "waypost")
    there = [argument.replace("127.0.0.1:8081", pod.addresses["admin"]) for argument in arguments]
    assert there != arguments
    subprocess.run([WAYPOST, *there], check=True, capture_output=True)
