//! A proposal that is sent with a token: its request, and the page with the result.

use hyper::Response;
use hyper::header::CACHE_CONTROL;

use super::form::PostedProposal;
use super::page::{ProposalSource, SentProposal, request_of};
use super::refusal::ProposalRefusal;
use crate::mapping::RepositoryPages;
use crate::registry::RegistrationRequest;
use crate::server::http::{Content, response};
use crate::server::pages::context::PageContext;
use crate::server::registrations::{NotSent, SentLink};

impl PageContext<'_> {
    /// Returns the request of a form that is sent.
    ///
    /// # Errors
    ///
    /// If the link is not possible: returns the page that explains why.
    pub(crate) fn posted(
        &self,
        source: &ProposalSource<'_>,
        posted: &PostedProposal,
    ) -> Result<RegistrationRequest, Box<Response<Content>>> {
        let request = request_of(source, &posted.form);
        let decided = request.and_then(|request| {
            self.decide(source, &request)?;
            Ok(request)
        });
        decided.map_err(|refusal| Box::new(self.page_after(source, posted, Err(refusal))))
    }

    /// Returns the page of a proposal after it was sent, or not.
    pub(crate) fn sent(
        &self,
        source: &ProposalSource<'_>,
        posted: &PostedProposal,
        result: Result<SentLink, NotSent>,
    ) -> Response<Content> {
        let sent = result.map(|SentLink { branch, owner }| {
            let pages = source.site.about().repository();
            let pages = pages.and_then(RepositoryPages::of);
            let comparison = || pages?.comparison(&branch.base, &branch.name);
            SentProposal {
                review: branch.address.clone().or_else(comparison),
                is_known: branch.is_known,
                owner,
                branch: branch.name,
            }
        });
        self.page_after(source, posted, sent.map_err(ProposalRefusal::from))
    }

    fn page_after(
        &self,
        source: &ProposalSource<'_>,
        posted: &PostedProposal,
        result: Result<SentProposal, ProposalRefusal>,
    ) -> Response<Content> {
        let form = posted.form.clone();
        let owner = result.as_ref().ok().map(|sent| sent.owner.clone());
        let mut state = self.state_of(source, &form, owner);
        match result {
            Ok(sent) => state.sent = Some(sent),
            Err(refusal) => {
                // The repository may already have entries that this table lacks.
                if !refusal.is_about_sending() {
                    state.link = None;
                }
                state.refusal = Some(refusal);
            }
        }
        let page = self.proposal_page(source, form, state);
        response::with(page, CACHE_CONTROL, "no-store")
    }
}
