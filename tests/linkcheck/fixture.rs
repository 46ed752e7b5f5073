//! A client of a farm, and requests to it.

use std::sync::Arc;
use std::time::Duration;

use waypost::linkcheck::{
    Failure, Finding, Inquiry, Limits, MAX_PAGE_BYTES, Question, Reply, RequestClient, Scope, Step,
    Trust, UserAgent, WebUrl,
};

use crate::farm::{Farm, FarmResolver};

/// Longer than any answer of the farm takes.
pub(crate) const LONG: Limits = Limits {
    connect: Duration::from_secs(60),
    head: Duration::from_secs(60),
    whole: Duration::from_secs(60),
};

pub(crate) fn trust(farm: &Farm) -> Trust {
    #[cfg(feature = "tls")]
    return Trust::from_pem(farm.authority.pem.as_bytes()).unwrap();
    #[cfg(not(feature = "tls"))]
    Trust::system().unwrap_or_else(|error| panic!("{error}: {}", farm.plain))
}

pub(crate) fn client_of(farm: &Farm, resolver: FarmResolver) -> RequestClient {
    let agent = UserAgent::new(Some("https://links.example/")).unwrap();
    RequestClient::new(Arc::new(resolver), trust(farm), agent)
        .in_scope(Scope::Private)
        .within(LONG)
}

pub(crate) fn client(farm: &Farm) -> RequestClient {
    client_of(farm, farm.resolver())
}

pub(crate) fn question(url: &str, wants_body: bool) -> Question {
    Question {
        url: WebUrl::parse(url).unwrap(),
        wants_body,
        max_body_bytes: MAX_PAGE_BYTES,
        wants_fresh: false,
    }
}

pub(crate) fn head(url: &str) -> Question {
    question(url, false)
}

pub(crate) fn get(url: &str) -> Question {
    question(url, true)
}

pub(crate) async fn send(client: &RequestClient, question: Question) -> Result<Reply, Failure> {
    client.session().send(&question).await.result
}

/// Sends requests until the inquiry ends, and returns whether an answer to `HEAD` was misleading.
pub(crate) async fn follow(client: &RequestClient, mut inquiry: Inquiry) -> (Box<Finding>, bool) {
    let mut misled = false;
    loop {
        let question = inquiry.question();
        let round_trip = client.session().send(&question).await;
        misled |= inquiry.shows_misled_head(&question, &round_trip);
        match inquiry.next(&question, round_trip) {
            Step::Send(next) => inquiry = next,
            Step::Done(finding) => return (finding, misled),
        }
    }
}
