//! The page itself.

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::{Frame, Sentence};
use crate::mapping::{MAX_CODE_BYTES, MAX_TARGET_BYTES, Site};
use crate::registry::{Destination, ProposedLink, RegistrationRequest, propose};

use super::form::ProposalForm;
use super::refusal::ProposalRefusal;
use super::ways::{Sending, Way, WayKind};
use crate::server::http::Content;
use crate::server::pages::context::{FormAction, PageContext};
use crate::server::registrations::MAX_TEXT;
use crate::server::state::Snapshot;

/// The data that decide about proposals.
pub(crate) struct ProposalSource<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) site: &'s Site,
    /// Whether anyone with a token can send a proposal.
    pub(crate) takes_tokens: bool,
}

#[derive(Template, Serialize)]
#[template(path = "propose.html")]
struct ProposePage<'p> {
    #[serde(skip)]
    frame: Frame<'p>,
    #[serde(skip)]
    form: ProposalForm,
    #[serde(skip)]
    action: String,
    #[serde(skip)]
    takes_tokens: bool,
    #[serde(skip)]
    bookmarklet: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    link: Option<ShownLink>,
    #[serde(skip)]
    way: Option<Way>,
    /// The address of the repository's issue form.
    #[serde(skip)]
    issue_form: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    sent: Option<SentProposal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    problem: Option<Sentence>,
    /// The short link of the entry in the way, if the client may know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<String>,
    revision: &'p str,
}

/// The result of the proposal.
#[derive(Serialize)]
struct ShownLink {
    code: String,
    short_url: String,
    target: String,
    /// In the repository.
    path: String,
    text: String,
}

/// A proposal that was sent with a token.
#[derive(Serialize)]
pub(super) struct SentProposal {
    pub(super) branch: String,
    /// The page where a pull request is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) review: Option<String>,
    /// The owner of the link, whose token it was sent with.
    #[serde(skip)]
    pub(super) owner: String,
    /// Whether it was sent before.
    #[serde(skip)]
    pub(super) is_known: bool,
}

/// The state of a proposal: its result, whether it was sent, and its errors.
#[derive(Default)]
pub(super) struct ProposalState {
    pub(super) link: Option<ProposedLink>,
    pub(super) sent: Option<SentProposal>,
    pub(super) refusal: Option<ProposalRefusal>,
}

impl PageContext<'_> {
    /// Returns the form for a proposal, and the result of the one in the query.
    pub(crate) fn propose(
        &self,
        source: &ProposalSource<'_>,
        query: Option<&str>,
    ) -> Response<Content> {
        let form = ProposalForm::read(query.unwrap_or_default());
        let state = match form.is_filled() {
            true => self.state_of(source, &form, None),
            false => ProposalState::default(),
        };
        self.proposal_page(source, form, state)
    }

    /// Returns the page of a form and the state of its proposal.
    pub(super) fn proposal_page(
        &self,
        source: &ProposalSource<'_>,
        form: ProposalForm,
        state: ProposalState,
    ) -> Response<Content> {
        let (site, place) = (source.site, &source.snapshot.place);
        let frame = self.frame(Some(site));
        let refusal = state.refusal;
        let status = match &refusal {
            Some(refusal) => refusal.status(),
            None if state.sent.is_some() => StatusCode::CREATED,
            None => StatusCode::OK,
        };
        let holder = refusal.as_ref().and_then(|refusal| {
            let is_known = self.is_public || !refusal.discloses_code();
            refusal.holder().filter(|_| is_known)
        });
        let revision = &source.snapshot.revision;
        let sending = state.link.as_ref().map(|proposal| Sending {
            about: site.about(),
            place,
            proposal,
            may_replace: self.is_public && revision.commit().is_some() && !revision.is_dirty(),
        });
        let page = ProposePage {
            action: format!("{}-/propose", site.base_url().path()),
            takes_tokens: source.takes_tokens,
            bookmarklet: bookmarklet(site.base_url().as_str()),
            way: sending.as_ref().and_then(Sending::way),
            issue_form: sending.and_then(|it| it.issue_form(&form)),
            problem: refusal.as_ref().map(|it| it.sentence(&frame)),
            error: refusal.as_ref().map(ProposalRefusal::in_english),
            existing: holder.map(|holder| holder.short_url.clone()),
            sent: state.sent,
            link: state.link.map(|proposal| ShownLink {
                path: place.path_of(&proposal.path),
                text: proposal.new_file.unwrap_or(proposal.entry),
                code: proposal.code,
                short_url: proposal.short_url,
                target: proposal.target,
            }),
            form,
            revision: self.revision,
            frame,
        };
        self.render(status, FormAction::Own, &page)
    }

    /// Returns the state of a form's proposal, with an owner once it is known.
    pub(super) fn state_of(
        &self,
        source: &ProposalSource<'_>,
        form: &ProposalForm,
        owner: Option<String>,
    ) -> ProposalState {
        let decided = request_of(source, form).and_then(|request| {
            let request = RegistrationRequest { owner, ..request };
            self.decide(source, &request)
        });
        match decided {
            Ok(link) => ProposalState {
                link: Some(link),
                ..ProposalState::default()
            },
            Err(refusal) => ProposalState {
                refusal: Some(refusal),
                ..ProposalState::default()
            },
        }
    }

    /// Decides the result of a request.
    pub(super) fn decide(
        &self,
        source: &ProposalSource<'_>,
        request: &RegistrationRequest,
    ) -> Result<ProposedLink, ProposalRefusal> {
        let proposals = &source.snapshot.proposals;
        propose(proposals, request, self.now).map_err(ProposalRefusal::Registry)
    }
}

/// Returns the request of a form, for the place where its entry belongs.
pub(super) fn request_of(
    source: &ProposalSource<'_>,
    form: &ProposalForm,
) -> Result<RegistrationRequest, ProposalRefusal> {
    let (snapshot, site) = (source.snapshot, source.site);
    let is_file = |path: &str| snapshot.proposals.has_file(path);
    let destination = match snapshot.place.directory(is_file) {
        Some(directory) => Destination::Fragment(directory.to_owned()),
        // With several files, the first: a reviewer can move the entry.
        None => Destination::Document(site.files().next().map(str::to_owned)),
    };
    form.request(site, destination)
        .map_err(ProposalRefusal::Form)
}

/// Returns a bookmark that opens the form for the current page, if the base URL can be included
/// unchanged.
fn bookmarklet(base_url: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":/.-_~[]".contains(&byte);
    base_url.bytes().all(is_plain).then(|| {
        format!(
            "javascript:location.href='{base_url}-/propose?url='+encodeURIComponent(location.href)\
             +'&title='+encodeURIComponent(document.title)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_base_url_is_in_the_bookmark() {
        let there = bookmarklet("https://short.code/go/").unwrap();
        assert!(
            there.starts_with("javascript:location.href='https://short.code/go/-/propose?url='")
        );
        for base_url in ["https://s.code/'-alert(1)-'/", "https://s.code/%27/"] {
            assert_eq!(bookmarklet(base_url), None);
        }
    }
}
