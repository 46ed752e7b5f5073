"""The ways to a remote: git, HTTP, TLS, SSH, proxies; and what must not get through."""

from scene import GitDaemon, HttpProxy, SmartHttp, Sshd, case, make_ca, table, wait_until


def follows(scene, server, remote_url=None):
    """Sees that a server has the first table and takes up the next."""
    server.serves("one")
    server.serves("two", commit=scene.push(table("two")))


@case("git daemon")
def git_daemon(scene):
    scene.push(table("one"))
    follows(scene, scene.server("--repo", GitDaemon(scene).up().url()))


@case("smart http")
def smart_http(scene):
    scene.push(table("one"))
    follows(scene, scene.server("--repo", SmartHttp(scene).up().url()))


@case("ssh")
def ssh(scene):
    scene.push(table("one"))
    sshd = Sshd(scene).up()
    server = scene.server(
        "--repo", sshd.url(), "--ssh-key", sshd.key, "--known-hosts", sshd.known_hosts
    )
    follows(scene, server)


@case("tls with an own authority")
def tls(scene):
    scene.push(table("one"))
    authority, certificate = make_ca(scene)
    remote = SmartHttp(scene, users={"reader": "s3cret"}, certificate=certificate).up()
    env = {
        "SSL_CERT_FILE": str(authority),
        "WAYPOST_GIT_USERNAME": "reader",
        "WAYPOST_GIT_PASSWORD": "s3cret",
    }
    follows(scene, scene.server("--repo", remote.url(), env=env))
