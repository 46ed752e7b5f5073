"""What is followed: branches, tags, commits, tables; and how they move."""

from scene import BAD_TABLE, case, table, wait_until


@case("default branch")
def default_branch(scene):
    first = scene.push(table("one"))
    server = scene.server("--repo", scene.bare)
    assert server.version() == "one"
    assert server.status()["revision"]["commit"] == first
    assert server.remote()["seen_as"] == "refs/heads/main", server.remote()
    server.serves("two", commit=scene.push(table("two")))
    # No news is no fetch that counts as one.
    updated = server.fetches("updated")
    server.after_fetches(2, "unchanged")
    assert server.fetches("updated") == updated == 2
