"""The report of a run, its exit status, and the requests of a run that checks only a change."""

import subprocess

from cases import case
from program import links
from proof import assert_polite


@case
def what_is_known_is_reported_again_and_not_asked(scene):
    targets = [f"http://{word}-1.farm.example/page-1" for word in ("plain", "missing", "removed", "status301", "busyhours")]
    targets += ["http://busyhours-1.farm.example/page-2", "https://short.example/c0"]
    table = scene.table(targets)
    mark = len(scene.farm.log)
    first = links(table.check())
    verdicts = [first[target]["verdict"] for target in targets]
    # Either link of the host that sends Retry-After may be the one that was requested.
    verdicts[4:6] = sorted(verdicts[4:6])
    assert verdicts == ["ok", "failing", "gone", "moved", "blocked", "unchecked", "ok"], first
    asked = len(scene.farm.log)
    assert links(table.check()) == first
    refused = table.check("--deny", "gone", "--format", "github", status=1)
    assert "::warning" in refused.stdout or "::error" in refused.stdout, refused.stdout
    table.check("--deny", "dead")
    report = table.check("--format", "markdown").stdout
    assert report.startswith("<!-- waypost linkcheck -->") and "#### gone: 1" in report, report
    # Nor is a host that sends Retry-After, for that time.
    assert len(scene.farm.log) == asked, "a link was requested again immediately"
    links(table.check(time="+90m"))
    assert not any("busyhours" in visit.host for visit in scene.farm.since(asked))
    links(table.check(time="+130m"))
    assert any("busyhours" in visit.host for visit in scene.farm.since(asked))
    print(f"  {assert_polite(scene.farm.since(mark)[:asked - mark], table.delay)}")


@case
def only_what_a_change_added_is_asked(scene):
    old, new = "http://plain-1.farm.example/page-old", "http://missing-1.farm.example/page-new"
    table = scene.table([old])
    git = ["git", "-C", table.folder, "-c", "user.name=a", "-c", "user.email=a@a.example"]

    def commit(message):
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", message], check=True)

    def asks_the_new_one_only():
        table.write([old, new])
        mark = len(scene.farm.log)
        run = table.check("--base", "HEAD", "--deny", "dead")
        assert {target: link["verdict"] for target, link in links(run).items()} == {new: "failing"}
        assert not any("old" in visit.path for visit in scene.farm.since(mark))
        assert_polite(scene.farm.since(mark), table.delay)
        return run

    subprocess.run([*git, "init", "--quiet"], check=True)
    commit("links")
    asks_the_new_one_only()
    # If the table at the base has errors, the table served at that time is used.
    table.path.write_text("mapping: 1\n")
    commit("errors")
    assert "the table has errors at the base" in asks_the_new_one_only().stderr
