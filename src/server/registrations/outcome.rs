//! The outcomes of registrations, as answers to clients.

use hyper::StatusCode;
use tracing::error;

use super::problem_type::ProblemType;
use super::response::{ApiResponse, ProblemDetails, RequestError};
use crate::git::CommitId;
use crate::mapping::Timestamp;
use crate::registry::{ControlCharacter, Registered, RegistrationRefusal};
use crate::server::links::LinkView;
use crate::server::state::Snapshot;

/// Returns the answer to a decided registration: the link, which is live by now, or the refusal.
pub(super) fn answer(
    outcome: Result<Registered, RegistrationRefusal>,
    get_or_create: bool,
    live: Option<&Snapshot>,
    commit: CommitId,
    now: Timestamp,
) -> ApiResponse {
    let link = |site: &str, code: &str, status| {
        let mut sites = live?.table.sites().iter();
        let site = sites.find(|it| it.base_url().as_str() == site)?;
        let link = LinkView::of(site.lookup(code)?, Some(commit), now);
        Some(ApiResponse::link(status, &link))
    };
    let answer = match outcome {
        Ok(Registered { site, code, .. }) => link(&site, &code, StatusCode::CREATED),
        Err(RegistrationRefusal::AlreadyRegistered(holder)) if get_or_create && !holder.is_gone => {
            link(&holder.site, &holder.code, StatusCode::OK)
        }
        Err(refusal) => return refused(refusal),
    };
    answer.unwrap_or_else(|| {
        error!(%commit, "what is registered is not live");
        ProblemType::NotLive.answer()
    })
}

/// Returns the answer to a client for a refusal.
fn refused(refusal: RegistrationRefusal) -> ApiResponse {
    let message = refusal.to_string();
    match refusal {
        RegistrationRefusal::AlreadyRegistered(holder) => {
            ProblemDetails::with_holder(ProblemType::AlreadyRegistered, None, *holder).into()
        }
        RegistrationRefusal::CodeTaken { holder, .. } => {
            ProblemDetails::with_holder(ProblemType::CodeTaken, Some(message), *holder).into()
        }
        RegistrationRefusal::Shadows { holder, .. } => {
            ProblemDetails::with_holder(ProblemType::Shadowing, Some(message), *holder).into()
        }
        RegistrationRefusal::Unsound { problems }
        | RegistrationRefusal::CannotInsert { problems, .. } => {
            let findings = problems.into_iter().map(|problem| RequestError {
                pointer: String::new(),
                message: problem.message,
                hint: problem.hint,
            });
            ProblemDetails::invalid(Some(message), findings.collect()).into()
        }
        _ => {
            let (pointer, hint) = place(&refusal);
            let finding = RequestError {
                pointer: pointer.to_owned(),
                message,
                hint,
            };
            ProblemDetails::invalid(None, vec![finding]).into()
        }
    }
}

/// Returns a pointer to the value that a refusal is about, and a hint.
fn place(refusal: &RegistrationRefusal) -> (&'static str, Option<String>) {
    let named = |key| Some(format!("name one as {key:?}"));
    match refusal {
        RegistrationRefusal::Target(_) | RegistrationRefusal::OwnLink => ("/url", refusal.hint()),
        RegistrationRefusal::Code(_) => ("/short_code", refusal.hint()),
        RegistrationRefusal::NameTooLong { .. } => ("/short_code", None),
        RegistrationRefusal::CodeRepeated { .. } => ("/aliases", None),
        RegistrationRefusal::NoNumberLeft => ("/number", None),
        RegistrationRefusal::ControlCharacter(ControlCharacter { what, .. }) => (
            match *what {
                "title" => "/title",
                "owner" => "/owner",
                _ => "/tags",
            },
            None,
        ),
        RegistrationRefusal::UnknownSite { .. } => ("/site", None),
        RegistrationRefusal::SeveralSites { .. } => ("/site", named("site")),
        RegistrationRefusal::UnknownFile { .. } => ("/file", None),
        RegistrationRefusal::SeveralFiles { .. } => ("/file", named("file")),
        _ => ("", None),
    }
}
