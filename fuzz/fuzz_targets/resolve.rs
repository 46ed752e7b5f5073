//! Arbitrary requests to a rich table: whatever is requested, a redirect leads where its entry says.

#![no_main]

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use url::Url;
use waypost_fuzz::mapping::{
    AcceptFields, Forward, Outcome, Redirect, Request, Site, SourceFile, Table, Timestamp, Via,
    compile,
};

/// Two tables: one site that answers for any host, and two under one host and another.
static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    [
        table(&[include_str!("../tables/one-site.yaml")]),
        table(&[
            include_str!("../tables/first-site.yaml"),
            include_str!("../tables/second-site.yaml"),
        ]),
    ]
});

fn table(files: &[&str]) -> Table {
    let files: Vec<_> = files
        .iter()
        .enumerate()
        .map(|(index, text)| SourceFile {
            path: Arc::from(format!("{index}.yaml")),
            bytes: text.as_bytes().to_vec(),
        })
        .collect();
    let compilation = compile(&files);
    let problems: Vec<_> = compilation
        .diagnostics
        .iter()
        .map(ToString::to_string)
        .collect();
    compilation
        .table
        .unwrap_or_else(|| panic!("the tables must compile:\n{}", problems.join("\n")))
}

fuzz_target!(|text: &str| {
    // A host, a path, a query and the accepted media types, each on its own line; an empty host is none.
    let mut lines = text.splitn(4, '\n');
    let host = lines.next().filter(|host| !host.is_empty());
    let Some(path) = lines.next() else { return };
    let query = lines.next();
    let accept = lines.next();
    let request = Request {
        host,
        path,
        query,
        accept: accept.as_ref().map(|it| it as &dyn AcceptFields),
    };
    // Some entries of the tables expired before this moment, some expire after it.
    let now = Timestamp::from_unix(1_800_000_000);

    for table in &*TABLES {
        match table.resolve(&request, now) {
            Outcome::Redirect(redirect) => assert_goes_to_its_target(&redirect),
            Outcome::SiteRedirect(redirect) => {
                let location = &*redirect.location;
                assert!(location.bytes().all(|byte| byte.is_ascii_graphic()));
                assert!(location.starts_with(redirect.target.url()), "{location:?}");
            }
            Outcome::NotFound(site) => assert_suggests_what_leads_somewhere(table, site, path, now),
            _ => {}
        }
    }
});

/// Fails if a request could choose a destination other than the entry's, or break the header.
fn assert_goes_to_its_target(redirect: &Redirect<'_>) {
    let location = &*redirect.location.to_string();
    let before_fragment = |target: &str| target.split('#').next().unwrap_or(target).len();
    let below = redirect.entry.below();
    let belows = redirect.entry.variants().filter_map(|it| it.below());
    let belows = belows.chain(below).filter(|_| redirect.via == Via::Forward);
    let targets = redirect.entry.targets().chain(belows.map(Cow::Borrowed));
    let target = targets
        .filter(|target| location.starts_with(&target[..before_fragment(target)]))
        .max_by_key(|target| target.len())
        .unwrap_or_else(|| panic!("{location} is under no target of its entry"));
    let target = &*target;
    assert!(
        location.bytes().all(|byte| byte.is_ascii_graphic()),
        "unsafe in a header: {location:?}"
    );
    if redirect.entry.forward() == Forward::None && below.is_none() {
        assert_eq!(location, target);
    }

    let parsed = Url::parse(location).unwrap_or_else(|error| panic!("{location}: {error}"));
    let expected = Url::parse(target).unwrap_or_else(|error| panic!("{target}: {error}"));
    let authority = |url: &Url| {
        (
            url.scheme().to_owned(),
            url.username().to_owned(),
            url.password().map(str::to_owned),
            url.host_str().map(str::to_owned),
            url.port(),
        )
    };
    assert_eq!(
        authority(&parsed),
        authority(&expected),
        "{location} leaves {target}"
    );
    assert!(
        parsed.path().starts_with(expected.path()),
        "{location} climbs out of {target}"
    );
}

/// Fails if a suggested code does not lead anywhere.
fn assert_suggests_what_leads_somewhere(table: &Table, site: &Site, path: &str, now: Timestamp) {
    let codes = site.suggestions(path, 3, now);
    assert!(codes.len() <= 3, "{codes:?}");
    for code in codes {
        let short = site.short_url(&code);
        let url = Url::parse(&short).unwrap_or_else(|error| panic!("{short}: {error}"));
        let request = Request {
            host: url.host_str(),
            path: url.path(),
            query: None,
            accept: None,
        };
        assert!(
            matches!(table.resolve(&request, now), Outcome::Redirect(_)),
            "{short} is suggested but leads nowhere"
        );
    }
}
