"""The proxies, each started as its package does, with its file from deploy/."""

import os
import shutil
import subprocess

DEPLOY = os.path.realpath(f"{os.path.dirname(__file__)}/../../../../deploy")


class Front:
    """A running proxy, with its output in /var/log, which is private to this test."""

    def __init__(self, name, command, authority, **environment):
        self.name = name
        self.authority = authority
        with open(f"/var/log/{name}.printed", "wb") as printed:
            self.process = subprocess.Popen(
                command, env={**os.environ, **environment}, stdout=printed, stderr=printed
            )

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def certificate(work):
    """Creates a self-signed certificate for both names; returns its file and that of its key."""
    chain, key = f"{work}/fullchain.pem", f"{work}/privkey.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=short.code", "-addext",
         "subjectAltName=DNS:short.code,DNS:go.example", "-keyout", key, "-out", chain],
        check=True, capture_output=True,
    )  # fmt: skip
    return chain, key


def nginx(work):
    """Debian's nginx.conf, which includes conf.d."""
    chain, key = certificate(work)
    os.mkdir("/etc/ssl/waypost")
    shutil.copy(chain, "/etc/ssl/waypost/fullchain.pem")
    shutil.copy(key, "/etc/ssl/waypost/privkey.pem")
    os.mkdir("/var/log/nginx")
    shutil.copy(f"{DEPLOY}/nginx/waypost.conf", "/etc/nginx/conf.d/waypost.conf")
    return Front("nginx", ["nginx", "-g", "daemon off;"], chain)


def haproxy(work):
    chain, key = certificate(work)
    os.mkdir("/etc/haproxy/certs")
    with open("/etc/haproxy/certs/short.code.pem", "wb") as both:
        for path in (chain, key):
            with open(path, "rb") as file:
                both.write(file.read())
    shutil.copy(f"{DEPLOY}/haproxy/haproxy.cfg", "/etc/haproxy/haproxy.cfg")
    return Front("haproxy", ["haproxy", "-W", "-f", "/etc/haproxy/haproxy.cfg"], chain)


def caddy(work):
    """With Caddy's own authority instead of the public one: the one change."""
    with open(f"{DEPLOY}/caddy/Caddyfile", encoding="utf-8") as file:
        text = file.read()
    changed = text.replace("\n{\n", "\n{\n\tlocal_certs\n\tskip_install_trust\n", 1)
    assert changed != text, "the Caddyfile has no global options"
    with open("/etc/caddy/Caddyfile", "w", encoding="utf-8") as file:
        file.write(changed)
    return Front(
        "caddy",
        ["caddy", "run", "--config", "/etc/caddy/Caddyfile"],
        f"{work}/caddy-data/caddy/pki/authorities/local/root.crt",
        XDG_DATA_HOME=f"{work}/caddy-data",
        XDG_CONFIG_HOME=f"{work}/caddy-config",
    )


FRONTS = {"nginx": nginx, "haproxy": haproxy, "caddy": caddy}
