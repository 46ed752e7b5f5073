//! Inquiries against the farm: several requests, each over the session of its host.

use waypost::linkcheck::{Ending, Failure, Inquiry, RedirectProblem, WebUrl};

use crate::farm::{Farm, Page};
use crate::fixture::{client, follow};

fn page(url: &str) -> Inquiry {
    Inquiry::of_page(WebUrl::parse(url).unwrap())
}

#[tokio::test]
async fn wrong_answers_to_head_are_corrected_by_get() {
    let farm = Farm::start().await;
    farm.host("head", |request| match request.path.as_str() {
        "/refused" if request.is_head() => Page::status(405),
        "/missing" if request.is_head() => Page::status(404),
        "/reset" if request.is_head() => Page::Reset,
        "/gone" => Page::status(410),
        _ => Page::ok("page"),
    });
    let client = client(&farm);
    for (path, status, is_misled) in [
        ("right", 200, false),
        ("refused", 200, true),
        ("missing", 200, true),
        ("reset", 200, true),
        ("gone", 410, false),
    ] {
        let (finding, misled) =
            follow(&client, page(&format!("http://head.farm.example/{path}"))).await;
        let is_wall = false;
        assert_eq!(
            finding.ending,
            Ending::Answered { status, is_wall },
            "{path}"
        );
        assert_eq!(misled, is_misled, "{path}");
    }
}

#[tokio::test]
async fn redirects_cross_hosts_and_end() {
    let farm = Farm::start().await;
    farm.host("from", |request| match request.path.as_str() {
        "/old" => Page::to(301, "http://to.farm.example/new"),
        "/circle" => Page::to(302, "/circle"),
        "/wall" => Page::to(302, "/wall").with("Set-Cookie", "seen=1"),
        "/private" => Page::to(302, "http://169.254.169.254/latest/meta-data/"),
        "/file" => Page::to(302, "file:///etc/passwd"),
        path => {
            let number: usize = path[1..].parse().unwrap();
            Page::to(302, &format!("/{}", number + 1))
        }
    });
    let client = client(&farm);
    let follow = |path: &str| follow(&client, page(&format!("http://from.farm.example/{path}")));
    let (finding, _) = follow("old").await;
    assert_eq!(finding.url().as_str(), "http://to.farm.example/new");
    assert_eq!(farm.log.of("from"), ["HEAD /old"]);
    assert_eq!(farm.log.of("to"), ["HEAD /new"]);
    let (finding, _) = follow("private").await;
    assert_eq!(finding.ending, Ending::Failed(Failure::ForbiddenAddress));
    for (path, problem) in [
        ("circle", RedirectProblem::Loop),
        ("wall", RedirectProblem::WantsCookie),
        ("1", RedirectProblem::TooMany),
    ] {
        let (finding, _) = follow(path).await;
        assert_eq!(finding.ending, Ending::Astray(problem), "{path}");
    }
    let (finding, _) = follow("file").await;
    assert!(matches!(
        finding.ending,
        Ending::Astray(RedirectProblem::Url(_))
    ));
}

#[tokio::test]
async fn a_robots_txt_is_fetched_and_obeyed() {
    let farm = Farm::start().await;
    farm.host("strict", |request| match request.path.as_str() {
        "/robots.txt" => Page::to(301, "/the-robots"),
        "/the-robots" => Page::ok("User-agent: Waypost\nDisallow: /secret\nCrawl-delay: 7\n"),
        path => panic!("{path}"),
    });
    farm.host("broken", |_| Page::status(503));
    let client = client(&farm);
    let robots = async |name: &str| {
        let url = WebUrl::parse(&format!("http://{name}.farm.example/secret?x")).unwrap();
        let (finding, _) = follow(&client, Inquiry::of_robots(&url)).await;
        let robots = finding.robots().unwrap();
        (robots.allows(url.url()), robots.crawl_delay())
    };
    let delay = std::time::Duration::from_secs(7);
    assert_eq!(robots("strict").await, (false, Some(delay)));
    assert_eq!(robots("broken").await, (false, None));
    assert_eq!(robots("open").await, (true, None));
    assert_eq!(
        farm.log.of("strict"),
        ["GET /robots.txt", "GET /the-robots"]
    );
}
