//! The page itself.

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::{Frame, Sentence};
use crate::mapping::{MAX_CODE_BYTES, MAX_TARGET_BYTES, Site};
use crate::registry::{Destination, ProposedLink, propose};

use super::form::ProposalForm;
use super::refusal::ProposalRefusal;
use super::ways::{Sending, Way, WayKind};
use crate::server::http::Content;
use crate::server::pages::context::{FormAction, PageContext};
use crate::server::registrations::MAX_TEXT;
use crate::server::state::Snapshot;

/// What proposals are decided on.
pub(crate) struct ProposalSource<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) site: &'s Site,
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
    bookmarklet: Option<String>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    link: Option<ShownLink>,
    #[serde(skip)]
    way: Option<Way>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    problem: Option<Sentence>,
    /// The short link of the entry in the way, if the client may know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<String>,
    revision: &'p str,
}

/// What the proposal would become.
#[derive(Serialize)]
struct ShownLink {
    code: String,
    short_url: String,
    target: String,
    /// In the repository.
    path: String,
    text: String,
}

impl PageContext<'_> {
    /// Returns the form for a proposal, and what the one in the query would become.
    pub(crate) fn propose(
        &self,
        source: &ProposalSource<'_>,
        query: Option<&str>,
    ) -> Response<Content> {
        let form = ProposalForm::read(query.unwrap_or_default());
        let decided = form.is_filled().then(|| self.decide(source, &form));
        let (proposal, refusal) = match decided {
            None => (None, None),
            Some(Ok(proposal)) => (Some(proposal), None),
            Some(Err(refusal)) => (None, Some(refusal)),
        };
        let (site, place) = (source.site, &source.snapshot.place);
        let frame = self.frame(Some(site));
        let holder = refusal.as_ref().and_then(|refusal| {
            let is_known = self.is_public || !refusal.discloses_code();
            refusal.holder().filter(|_| is_known)
        });
        let page = ProposePage {
            action: format!("{}-/propose", site.base_url().path()),
            bookmarklet: bookmarklet(site.base_url().as_str()),
            way: (proposal.as_ref()).and_then(|proposal| {
                let revision = &source.snapshot.revision;
                let sending = Sending {
                    about: site.about(),
                    place,
                    proposal,
                    may_replace: self.is_public
                        && revision.commit().is_some()
                        && !revision.is_dirty(),
                };
                sending.way()
            }),
            problem: refusal.as_ref().map(|it| it.sentence(&frame)),
            error: refusal.as_ref().map(ProposalRefusal::in_english),
            existing: holder.map(|holder| holder.short_url.clone()),
            link: proposal.map(|proposal| ShownLink {
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
        let status = match refusal {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        self.render(status, FormAction::Own, &page)
    }

    fn decide(
        &self,
        source: &ProposalSource<'_>,
        form: &ProposalForm,
    ) -> Result<ProposedLink, ProposalRefusal> {
        let (snapshot, site) = (source.snapshot, source.site);
        let proposals = &snapshot.proposals;
        let destination = match snapshot.place.directory(|path| proposals.has_file(path)) {
            Some(directory) => Destination::Fragment(directory.to_owned()),
            // Of several files, the first: a reviewer can move the entry.
            None => Destination::Document(site.files().next().map(str::to_owned)),
        };
        let request = form
            .request(site, destination)
            .map_err(ProposalRefusal::Form)?;
        propose(proposals, &request, self.now).map_err(ProposalRefusal::Registry)
    }
}

/// Returns a bookmark that opens the form for the page that is shown, if the base URL can be a part
/// of it as it is.
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
