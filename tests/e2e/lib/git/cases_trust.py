"""Trust: commits signed by real git and ssh-keygen, and unsigned ones."""

from scene import case, table, wait_until


class Keys:
    """Keys of several people, and the file of allowed signers."""

    def __init__(self, scene):
        self.scene = scene
        self.file = scene.path / "allowed_signers"

    def make(self, name):
        """Creates a key, and returns the arguments with which git signs with it."""
        key = self.scene.path / f"key-{name}"
        done = self.scene.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", key)
        assert done.returncode == 0, done.stderr
        settings = ("gpg.format=ssh", f"user.signingKey={key}", "commit.gpgSign=true")
        return tuple(it for setting in settings for it in ("-c", setting))

    def allow(self, *names, options=""):
        """Allows only these signers, in one step."""
        keys = [(name, (self.scene.path / f"key-{name}.pub").read_text()) for name in names]
        aside = self.file.with_suffix(".new")
        aside.write_text("".join(f"{name}@example.org {options} {key}" for name, key in keys))
        aside.rename(self.file)


def trusting(scene, keys):
    return scene.server("--repo", scene.bare, "--allowed-signers", keys.file)


def refuses(server, commit, *words):
    """Waits until a commit is refused for a reason, and checks that the last good one stays."""
    live = server.status()["revision"]["commit"]
    before = server.fetches("refused")
    error = server.fails_to_fetch(commit, "not trusted", *words)
    server.after_fetches(1, "refused")
    remote = server.remote()
    assert remote["last_fetch"]["result"] == "refused", remote
    assert remote["tip"] == commit, remote
    assert remote["served"]["commit"] == live != commit, remote
    assert server.fetches("refused") > before
    assert error in [line.get("error") for line in server.log()], "the log does not name the reason"
    assert server.ready()


@case("signed by an allowed signer")
def signed(scene):
    keys = Keys(scene)
    ann, bob = keys.make("ann"), keys.make("bob")
    keys.allow("ann", "bob")
    first = scene.push(table("one"), sign=ann)
    server = trusting(scene, keys)
    server.serves("one", first)
    server.serves("two", scene.push(table("two"), sign=bob))
    assert server.fetches("refused") == 0


@case("unsigned commit")
def unsigned(scene):
    keys = Keys(scene)
    ann = keys.make("ann")
    keys.allow("ann")
    scene.push(table("one"), sign=ann)
    server = trusting(scene, keys)
    refuses(server, scene.push(table("two")), "not signed")
    assert server.version() == "one"
    # A signed commit on top of it vouches for it.
    server.serves("three", scene.push(table("three"), sign=ann))
    assert server.fetch_error() is None


@case("unsigned commit at start")
def unsigned_at_start(scene):
    keys = Keys(scene)
    ann = keys.make("ann")
    keys.allow("ann")
    commit = scene.push(table("one"))
    status, said = scene.refusal("--repo", scene.bare, "--allowed-signers", keys.file)
    assert status == 3 and commit in said and "not signed" in said, (status, said)
    server = scene.server("--repo", scene.bare, "--allowed-signers", keys.file, "--wait", live=False)
    server.fails_to_fetch("not signed")
    assert not server.ready() and server.version() is None
    server.serves("two", scene.push(table("two"), sign=ann))


@case("signed with a wrong key")
def wrong_key(scene):
    keys = Keys(scene)
    ann, eve = keys.make("ann"), keys.make("eve")
    keys.allow("ann")
    scene.push(table("one"), sign=ann)
    server = trusting(scene, keys)
    shown = scene.run("ssh-keygen", "-l", "-f", scene.path / "key-eve.pub").stdout.split()[1]
    refuses(server, scene.push(table("two"), sign=eve), shown)
    assert server.version() == "one"


@case("signer's key has expired")
def expired(scene):
    keys = Keys(scene)
    ann, bob = keys.make("ann"), keys.make("bob")
    keys.allow("ann")
    scene.push(table("one"), sign=ann)
    server = trusting(scene, keys)
    keys.allow("bob", options='valid-before="20200101Z"')
    old = scene.push(table("two"), sign=bob)
    refuses(server, old, "valid")
    # Anyone with the key can backdate a commit.
    long_ago = "2019-06-01T00:00:00Z"
    scene.env.update(GIT_COMMITTER_DATE=long_ago, GIT_AUTHOR_DATE=long_ago)
    refuses(server, scene.push(table("three"), sign=bob), "valid")
    assert server.version() == "one"
    del scene.env["GIT_COMMITTER_DATE"], scene.env["GIT_AUTHOR_DATE"]
    keys.allow("bob", options='valid-before="29990101Z"')
    server.serves("four", scene.push(table("four"), sign=bob))


@case("tampered commit")
def tampered(scene):
    keys = Keys(scene)
    ann = keys.make("ann")
    keys.allow("ann")
    scene.push(table("one"), sign=ann)
    server = trusting(scene, keys)
    # The signature of a good commit, on an unsigned tree.
    evil = scene.commit(table("evil"))
    signed = scene.commit(table("two"), sign=ann)
    raw = scene.run("git", "cat-file", "commit", signed, cwd=scene.work).stdout
    assert "BEGIN SSH SIGNATURE" in raw
    tree, evil_tree = (scene.git("rev-parse", f"{it}^{{tree}}") for it in (signed, evil))
    forged = scene.run(
        "git", "hash-object", "-t", "commit", "-w", "--stdin", cwd=scene.work,
        input=raw.replace(tree, evil_tree, 1),
    ).stdout.strip()  # fmt: skip
    assert forged not in ("", signed)
    scene.push_commit(forged)
    refuses(server, forged, "does not match its signature")
    assert server.version() == "one"
    scene.push_commit(signed)
    server.serves("two", signed)


@case("signer removed")
def removed(scene):
    keys = Keys(scene)
    ann, bob = keys.make("ann"), keys.make("bob")
    keys.allow("ann", "bob")
    scene.push(table("one"), sign=bob)
    server = trusting(scene, keys)
    keys.allow("ann")
    # The served commit was accepted earlier.
    server.after_fetches(2, "unchanged")
    assert server.version() == "one"
    refuses(server, scene.push(table("two"), sign=bob))
    server.serves("three", scene.push(table("three"), sign=ann))


@case("allowed signers cannot be read")
def no_signers(scene):
    keys = Keys(scene)
    ann = keys.make("ann")
    keys.allow("ann")
    scene.push(table("one"), sign=ann)
    server = trusting(scene, keys)
    keys.file.rename(scene.path / "away")
    commit = scene.push(table("two"), sign=ann)
    refuses(server, commit, str(keys.file))
    (scene.path / "away").rename(keys.file)
    server.serves("two", commit)


@case("pull of an unsigned commit")
def pull_unsigned(scene):
    keys = Keys(scene)
    ann = keys.make("ann")
    keys.allow("ann")
    first = scene.push(table("one"), sign=ann)
    checkout = scene.path / "checkout"
    scene.git("clone", "--quiet", scene.bare, checkout)
    server = scene.server(
        "--table", checkout / "mapping.yaml", "--pull", "200ms", "--allowed-signers", keys.file
    )
    second = scene.push(table("two"))
    server.fails_to_fetch(second, "not signed")
    wait_until(lambda: server.fetches("refused"), "the pull is refused")
    assert server.version() == "one" and scene.head(checkout) == first
    server.serves("three", scene.push(table("three"), sign=ann))
