//! What lookups report about the targets of links, on a server that checks them.

use std::sync::Arc;

use waypost::linkcheck::Requester;
use waypost::server::{Config, LinkChecking, LinkStore};

use crate::fixture::Fixture;
use crate::schema::{Description, fields_of};
use crate::support::{quiet, until};
use crate::web::{Web, in_memory, options, page, status, usual};

const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                     - {url: 'https://a.example/', short-code: works}\n\
                     - {url: 'https://a.example/gone', short-code: gone}\n";

#[tokio::test]
async fn a_lookup_has_the_verdict() {
    let web = Web::new(|url, _| match url {
        "https://a.example/gone" => status(410),
        url => usual(url).unwrap_or_else(|| page("x")),
    });
    let (clock, state) = in_memory();
    let checking = LinkChecking {
        store: LinkStore::Open(state, Arc::new(clock)),
        requester: web as Arc<dyn Requester>,
        options: options(),
        members: Vec::new(),
    };
    let config = Config {
        link_checking: Some(checking),
        ..quiet()
    };
    let fixture = Fixture::configured(config, TABLE).await;
    // Each answer is validated by the description of the service.
    let check = async |rest: &str| fixture.look_up(rest).await.json()["link_check"].clone();
    until(async || check("/gone").await["verdict"] == "gone").await;
    assert_eq!(check("/gone").await["last_ok"].as_str(), None);
    let works = "?url=https%3A%2F%2Fa.example%2F";
    until(async || check(works).await["verdict"] == "ok").await;
    assert!(check(works).await["last_ok"].is_string());
    let description = Description::new(fixture.server.get("/-/api/openapi.json").await.json());
    let mut seen = Vec::new();
    fields_of(&fixture.look_up(works).await.json(), "", &mut seen);
    let mut described = description.fields("Link");
    described.retain(|field| field.starts_with("/link_check"));
    assert!(!described.is_empty());
    for field in described {
        assert!(seen.contains(&field), "{field} was not seen");
    }
}

#[tokio::test]
async fn without_checks_there_is_no_verdict() {
    let fixture = Fixture::with_table(TABLE).await;
    let link = fixture.look_up("/works").await.json();
    assert_eq!(link.get("link_check"), None);
}
