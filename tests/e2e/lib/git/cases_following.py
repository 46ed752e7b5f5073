"""Following branches, tags, commits and tables, and how they move."""

import shutil

from scene import BAD_TABLE, GitDaemon, case, table, wait_until

SUCCESSFUL = "waypost_table_last_reload_successful"
LAST_SUCCESS = "waypost_git_last_fetch_success_timestamp_seconds"


@case("default branch")
def default_branch(scene):
    first = scene.push(table("one"))
    server = scene.server("--repo", scene.bare)
    assert server.version() == "one"
    assert server.status()["revision"]["commit"] == first
    assert server.remote()["seen_as"] == "refs/heads/main", server.remote()
    server.serves("two", commit=scene.push(table("two")))
    # A fetch without a new commit is counted as unchanged.
    updated = server.fetches("updated")
    server.after_fetches(2, "unchanged")
    assert server.fetches("updated") == updated == 2


@case("branch switch")
def branch_switch(scene):
    scene.push(table("main"))
    other = scene.push(table("other"), branch="other")
    state = scene.path / "state"
    server = scene.server("--repo", scene.bare, "--state-dir", state)
    assert server.version() == "main"
    server.stop()
    # The table of another branch is not used as a fallback.
    server = scene.server("--repo", scene.bare, "--state-dir", state, "--ref", "other")
    assert server.version() == "other"
    assert server.status()["revision"]["commit"] == other
    assert server.remote()["ref"] == "other"
    # The branch that is not followed does not matter.
    scene.push(table("main-two"))
    server.after_fetches(2)
    assert server.version() == "other"
    server.serves("other-two", commit=scene.push(table("other-two"), branch="other"))
    server.stop()
    server = scene.server("--repo", scene.bare, "--state-dir", state, "--ref", "refs/heads/main")
    assert server.version() == "main-two"


@case("head renamed")
def head_renamed(scene):
    scene.push(table("one"))
    server = scene.server("--repo", scene.bare)
    scene.git("branch", "-m", "main", "trunk", cwd=scene.bare)
    scene.git("symbolic-ref", "HEAD", "refs/heads/trunk", cwd=scene.bare)
    server.serves("two", commit=scene.push(table("two"), branch="trunk"))
    wait_until(lambda: server.remote()["seen_as"] == "refs/heads/trunk", "the new name is seen")
    # A branch of the old name may appear again and move elsewhere.
    scene.push(table("astray"), branch="main")
    server.after_fetches(2)
    assert server.version() == "two"


@case("tag")
def tag(scene):
    first = scene.push(table("one"))
    scene.tag("live")
    server = scene.server("--repo", scene.bare, "--ref", "live")
    second = scene.push(table("two"))
    server.after_fetches(2)
    assert server.status()["revision"]["commit"] == first
    scene.tag("live", second)
    server.serves("two", commit=second)


@case("annotated tag")
def annotated_tag(scene):
    first = scene.push(table("one"))
    scene.tag("live", annotated=True)
    server = scene.server("--repo", scene.bare, "--ref", "live")
    assert server.status()["revision"]["commit"] == first
    # The commit is served, not the tag.
    assert scene.git("rev-parse", "live") != first
    second = scene.push(table("two"))
    scene.tag("inner", second, annotated=True)
    scene.tag("live", "inner", annotated=True)
    server.serves("two", commit=second)


@case("commit id")
def commit_id(scene):
    scene.push(table("one"))
    wanted = scene.push(table("two"))
    scene.push(table("three"))
    for remote in (str(scene.bare), GitDaemon(scene).up().url()):
        server = scene.server("--repo", remote, "--ref", wanted)
        assert server.version() == "two"
        assert server.status()["revision"]["commit"] == wanted
        server.after_fetches(2, "unchanged")
        assert server.version() == "two"
        server.stop()
    status, said = scene.refusal("--repo", scene.bare, "--ref", "0123456789" * 4)
    assert status == 3, said
    assert "no branch or tag of the remote holds the commit 0123456789" in said, said


@case("no such branch")
def no_such_branch(scene):
    scene.push(table("one"))
    status, said = scene.refusal("--repo", scene.bare, "--ref", "mian")
    assert status == 3, said
    assert "the remote has no branch or tag mian; it has main" in said, said


@case("force push")
def force_push(scene):
    daemon = GitDaemon(scene).up()
    scene.push(table("one"))
    server = scene.server("--repo", daemon.url())
    for version in ("two", "three", "four"):
        server.serves(version, commit=scene.push(table(version), amend=True))
    # A history without a common ancestor.
    scene.git("checkout", "--quiet", "--orphan", "unrelated")
    server.serves("five", commit=scene.push(table("five")))


@case("rewind")
def rewind(scene):
    daemon = GitDaemon(scene).up()
    first = scene.push(table("one"))
    scene.push(table("two"))
    third = scene.push(table("three"))
    server = scene.server("--repo", daemon.url())
    assert server.version() == "three"
    scene.push_commit(first)
    server.serves("one", commit=first)
    scene.push_commit(third)
    server.serves("three", commit=third)


@case("branch deleted and restored")
def branch_deleted(scene):
    scene.push(table("main"))
    first = scene.push(table("one"), branch="live")
    server = scene.server("--repo", scene.bare, "--ref", "live")
    scene.delete_branch("live")
    server.fails_to_fetch("the remote has no branch or tag live; it has main")
    assert server.version() == "one" and server.ready()
    # The fetched table is valid; the metrics of fetches report that it may be old.
    assert server.metrics()[SUCCESSFUL] == 1
    assert server.fetches("failed") >= 1
    last = server.metrics()[LAST_SUCCESS]
    scene.push_commit(first, "live")
    wait_until(lambda: server.fetch_error() is None, "the branch is found again")
    wait_until(lambda: server.metrics()[LAST_SUCCESS] >= last, "the fetch is counted")
    server.serves("two", commit=scene.push(table("two"), branch="live"))


@case("default branch deleted and restored")
def default_branch_deleted(scene):
    scene.push(table("one"))
    server = scene.server("--repo", scene.bare)
    scene.delete_branch("main")
    server.fails_to_fetch("empty")
    assert server.version() == "one" and server.ready()
    server.serves("two", commit=scene.push(table("two")))


@case("repository replaced by another")
def repository_replaced(scene):
    daemon = GitDaemon(scene).up()
    scene.push(table("one"))
    server = scene.server("--repo", daemon.url())
    other = scene.repos / "other.git"
    work = scene.path / "other"
    scene.make_repository(other, work)
    commit = scene.push(table("another"), work=work)
    old = scene.repos / "old.git"
    scene.bare.rename(old)
    # For a while there is no repository.
    server.after_fetches(1, "failed")
    other.rename(scene.bare)
    server.serves("another", commit=commit)
    # And the old one is restored.
    shutil.rmtree(scene.bare)
    old.rename(scene.bare)
    server.serves("one", commit=scene.head())


@case("table missing then appearing")
def table_missing(scene):
    scene.push("no table", path="README")
    status, said = scene.refusal("--repo", scene.bare)
    assert status == 3, said
    assert "mapping.yaml" in said, said
    server = scene.server("--repo", scene.bare, "--wait", live=False)
    server.after_fetches(2)
    assert not server.ready()
    assert server.get("/known")[0] == 503, server.get("/known")
    server.serves("one", commit=scene.push(table("one")))
    assert server.ready()
    # And it is removed again.
    scene.git("rm", "--quiet", "mapping.yaml")
    scene.push()
    wait_until(lambda: server.metrics()[SUCCESSFUL] == 0, "the missing table is reported")
    assert "mapping.yaml" in str(server.status()), server.status()
    assert server.version() == "one" and server.ready()
    server.serves("two", commit=scene.push(table("two")))
    wait_until(lambda: server.metrics()[SUCCESSFUL] == 1, "the source has recovered")


@case("bad table then good")
def bad_table(scene):
    first = scene.push(table("one"))
    state = scene.path / "state"
    server = scene.server("--repo", scene.bare, "--state-dir", state)
    assert server.metrics()[SUCCESSFUL] == 1
    bad = scene.push(BAD_TABLE)
    wait_until(lambda: server.metrics()[SUCCESSFUL] == 0, "the bad table is reported")
    status = server.status()
    assert status["revision"]["commit"] == first, status
    assert status["last_error"]["revision"]["commit"] == bad, status
    assert status["last_error"]["diagnostics"][0]["line"] == 3, status
    assert status["remote"]["tip"] == bad, status
    assert status["remote"]["served"]["commit"] == first, status
    assert server.version() == "one" and server.ready()
    server.stop()
    # The last good table is served after a restart, too.
    server = scene.server("--repo", scene.bare, "--state-dir", state)
    assert server.version() == "one"
    server.serves("two", commit=scene.push(table("two")))
    wait_until(lambda: server.metrics()[SUCCESSFUL] == 1, "the source has recovered")
    assert server.status()["last_error"] is None


@case("bad table at start")
def bad_table_at_start(scene):
    scene.push(BAD_TABLE)
    status, said = scene.refusal("--repo", scene.bare)
    assert status == 1, (status, said)
    assert "mapping.yaml:3" in said, said


@case("directory of tables")
def directory(scene):
    scene.write(table("one"), "links/a.yaml")
    scene.write("base_url: http://w.example/\nmapping: [{url: 'https://b.example/', short-code: b}]\n",
                "links/b.yaml")  # fmt: skip
    scene.write("not: a: table", "elsewhere.yaml")
    scene.push()
    server = scene.server("--repo", scene.bare, "--path", "links")
    assert server.get("/b") == (302, "https://b.example/")
    (scene.work / "links/b.yaml").unlink()
    server.serves("two", commit=scene.push(table("two"), path="links/a.yaml"))
    assert server.get("/b")[0] == 404
    # A directory may become a file.
    shutil.rmtree(scene.work / "links")
    server.serves("three", commit=scene.push(table("three"), path="links"))


@case("empty repository then a first push")
def empty_repository(scene):
    status, said = scene.refusal("--repo", scene.bare)
    assert status == 3, (status, said)
    assert "the remote repository is empty" in said, said
    server = scene.server("--repo", scene.bare, "--wait", live=False)
    server.fails_to_fetch("empty")
    server.serves("one", commit=scene.push(table("one")))


@case("head detached or astray")
def head_astray(scene):
    first = scene.push(table("one"))
    server = scene.server("--repo", scene.bare)
    second = scene.push(table("two"))
    server.serves("two", commit=second)
    scene.git("update-ref", "--no-deref", "HEAD", first, cwd=scene.bare)
    server.serves("one", commit=first)
    scene.git("symbolic-ref", "HEAD", "refs/heads/nowhere", cwd=scene.bare)
    server.fails_to_fetch("HEAD does not point to a branch", "name a branch to follow", "main")
    assert server.version() == "one" and server.ready()
    scene.git("symbolic-ref", "HEAD", "refs/heads/main", cwd=scene.bare)
    server.serves("two", commit=second)


@case("table that is no file of text")
def no_file(scene):
    scene.push(table("one"))
    server = scene.server("--repo", scene.bare)
    file = scene.work / "mapping.yaml"

    def refused(*words):
        commit = scene.push()

        def reported():
            status = server.status()
            text = str(status["last_error"]) + str(status["remote"]["last_error"])
            return all(word in text for word in words) and status["remote"]["tip"] == commit

        wait_until(reported, f"the status reports {words}")
        assert server.version() == "one" and server.ready()

    scene.write(table("linked"), "real.yaml")
    file.unlink()
    file.symlink_to("real.yaml")
    refused("mapping.yaml", "link")
    file.unlink()
    scene.write(
        "version https://git-lfs.github.com/spec/v1\n"
        "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
        "size 12345\n"
    )
    refused("mapping.yaml", "LFS")
    file.unlink()
    scene.git("update-index", "--add", "--cacheinfo", f"160000,{scene.head()},mapping.yaml")
    file.mkdir()
    refused("mapping.yaml", "submodule")
    file.rmdir()
    server.serves("two", commit=scene.push(table("two")))
    wait_until(lambda: server.metrics()[SUCCESSFUL] == 1, "the source has recovered")


@case("table too large")
def too_large(scene):
    scene.push(table("one"))
    server = scene.server("--repo", scene.bare, "--max-table-bytes", "4096")
    scene.push(table("two") + "#" * 5000 + "\n")
    wait_until(lambda: server.metrics()[SUCCESSFUL] == 0, "the table is refused")
    assert "--max-table-bytes" in str(server.status()), server.status()
    assert server.version() == "one" and server.ready()
    server.serves("three", commit=scene.push(table("three")))


@case("repository of sha-256")
def sha256(scene):
    bare, work = scene.repos / "new.git", scene.path / "new"
    for options in (("--bare", bare), (work,)):
        scene.git("init", "--quiet", "--object-format=sha256", *options, cwd=scene.path)
    scene.commit(table("one"), work=work)
    scene.git("push", "--quiet", bare, "HEAD:refs/heads/main", cwd=work)
    daemon = GitDaemon(scene).up()
    for remote in (bare, daemon.url("new.git")):
        # libgit2 cannot read it; nor may it hang, or crash.
        status, said = scene.refusal("--repo", remote, "--git-timeout", "10s", "--ref", "main")
        assert status == 3, (status, said)
        assert "unknown" in said and "sha256" in said, said
