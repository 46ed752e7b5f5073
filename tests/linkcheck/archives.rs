//! Looking up links in an archive, which is one more host with a robots.txt, pauses and blocks.

use std::sync::Arc;
use std::time::Duration;

use waypost::linkcheck::{
    Archive, ArchiveAnswer, ArchiveProblem, CheckState, Checker, Reply, Requester, Seen,
};

use crate::web::{DAY, Forward, Web, in_memory, links, options, page, status, usual};

const TARGETS: [&str; 3] = [
    "https://a.example/copy",
    "https://a.example/none",
    "https://a.example/refused",
];

fn checker(state: &Arc<dyn CheckState>, clock: &Forward, web: &Arc<Web>) -> Arc<Checker> {
    let requester: Arc<dyn Requester> = Arc::clone(web) as _;
    let (state, clock) = (Arc::clone(state), Arc::new(clock.clone()));
    Arc::new(Checker::new(
        state,
        requester,
        clock,
        links(&TARGETS),
        options(),
    ))
}

fn archive() -> Archive {
    "https://archive.example/find".parse().unwrap()
}

fn copy() -> String {
    "{\"archived_snapshots\": {\"closest\": {\"status\": \"200\", \"available\": true, \
     \"url\": \"https://web.archive.example/1\"}}}"
        .to_owned()
}

/// Returns which links were looked up in the archive, by their last letters.
fn looked_up(web: &Web) -> Vec<String> {
    let asked = web.asked().into_iter();
    let names = asked.filter_map(|it| Some(it.split_once("/find?url=")?.1.to_owned()));
    let mut names: Vec<_> = names
        .map(|it| it.rsplit("%2F").next().unwrap().to_owned())
        .collect();
    names.sort();
    web.log.lock().unwrap().clear();
    names
}

#[tokio::test]
async fn an_archive_is_queried_slowly_and_not_again_soon() {
    let web = Web::new(|url, _| match url {
        _ if url.ends_with("%2Fcopy") => page(&copy()),
        _ if url.ends_with("%2Fnone") => page("{\"archived_snapshots\": {}}"),
        _ if url.ends_with("%2Frefused") => status(500),
        _ => usual(url).unwrap_or_else(|| page(url)),
    });
    let (clock, state) = in_memory();
    let checker = checker(&state, &clock, &web);
    checker.run().await.unwrap();
    assert!(looked_up(&web).is_empty());
    checker.look_up(&archive(), &TARGETS, None).await.unwrap();
    let answers = checker.archived(&archive(), &TARGETS).await.unwrap();
    let expected = [
        ArchiveAnswer::Copy("https://web.archive.example/1".to_owned()),
        ArchiveAnswer::NoCopy,
        ArchiveAnswer::Failed(ArchiveProblem::Status(500)),
    ];
    assert_eq!(answers, expected.map(Some));
    web.assert_polite(str::to_owned);
    assert_eq!(web.asked()[0], "GET https://archive.example/robots.txt");
    assert_eq!(looked_up(&web), ["copy", "none", "refused"]);
    // The contents of another archive are not known from that.
    let other: Archive = "https://archive.example/search".parse().unwrap();
    let answers = checker.archived(&other, &TARGETS).await.unwrap();
    assert_eq!(answers, [None, None, None]);
    checker.look_up(&other, &TARGETS[..1], None).await.unwrap();
    let asked = web.asked();
    let question = "GET https://archive.example/search?url=";
    assert!(asked.last().unwrap().starts_with(question), "{asked:?}");
    looked_up(&web);
    // What it has is known for a month, and only what it did not say is asked again.
    clock.pass(29 * DAY);
    checker.look_up(&archive(), &TARGETS, None).await.unwrap();
    assert_eq!(looked_up(&web), ["refused"]);
    clock.pass(2 * DAY);
    checker.look_up(&archive(), &TARGETS, None).await.unwrap();
    assert_eq!(looked_up(&web), ["copy", "none", "refused"]);
}

#[tokio::test]
async fn the_robots_txt_of_an_archive_is_honoured() {
    let web = Web::new(|url, _| match url {
        "https://archive.example/robots.txt" => page("User-agent: *\nDisallow: /find"),
        _ => usual(url).unwrap_or_else(|| page(url)),
    });
    let (clock, state) = in_memory();
    let checker = checker(&state, &clock, &web);
    checker
        .look_up(&archive(), &TARGETS[..1], None)
        .await
        .unwrap();
    let answers = checker.archived(&archive(), &TARGETS[..1]).await.unwrap();
    let refused = ArchiveAnswer::Failed(ArchiveProblem::NotContacted(Seen::Disallowed));
    assert_eq!(answers, [Some(refused)]);
    assert!(looked_up(&web).is_empty());
}

#[tokio::test]
async fn a_deferred_lookup_is_open_to_any_worker_for_an_hour() {
    let web = Web::new(|url, _| match url {
        _ if url.contains("/find?url=") => Ok(Reply {
            status: 429,
            retry_after: Some(Duration::from_secs(1800)),
            is_whole: true,
            ..Reply::default()
        }),
        _ => usual(url).unwrap_or_else(|| page(url)),
    });
    let (clock, state) = in_memory();
    let asking = checker(&state, &clock, &web);
    asking.look_up(&archive(), &TARGETS, None).await.unwrap();
    // The first answer blocks the host for half an hour, and the others wait.
    assert_eq!(looked_up(&web).len(), 1);
    let answers = asking.archived(&archive(), &TARGETS).await.unwrap();
    assert_eq!(answers.iter().flatten().count(), 1);
    let other = checker(&state, &clock, &web);
    clock.pass(Duration::from_secs(1860));
    other.run().await.unwrap();
    assert_eq!(looked_up(&web).len(), 1);
    // By then, the look-ups are no longer needed.
    clock.pass(Duration::from_secs(3600));
    other.run().await.unwrap();
    assert!(looked_up(&web).is_empty());
}
