//! The outcomes of registrations and edits, as answers to clients.

use hyper::StatusCode;
use tracing::error;

use super::existing_link::ExistingLink;
use super::problem_type::ProblemType;
use super::response::{ApiResponse, ProblemDetails, RequestError};
use crate::git::CommitId;
use crate::mapping::{Diagnostic, Target, Timestamp};
use crate::registry::{
    ChangeOutcome, CodeUnreachable, ControlCharacter, EditRefusal, Registered, RegistrationRefusal,
};
use crate::server::fleet::RegisteredLink;
use crate::server::links::LinkView;
use crate::server::state::Snapshot;

/// Returns the answer to a decided change: the link, which is live by now, or the refusal.
pub(super) fn answer(
    outcome: ChangeOutcome,
    existing: &ExistingLink,
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
    let registered = |site: String, code: String| {
        let mut answer = link(&site, &code, StatusCode::CREATED)?;
        answer.registered = Some(Box::new(RegisteredLink { site, code }));
        Some(answer)
    };
    let answer = match outcome {
        ChangeOutcome::Registration(Ok(Registered { site, code, .. })) => registered(site, code),
        ChangeOutcome::Registration(Err(RegistrationRefusal::AlreadyRegistered(holder)))
            if existing.is_registered(&holder) =>
        {
            registered(holder.site, holder.code)
        }
        ChangeOutcome::Registration(Err(RegistrationRefusal::AlreadyRegistered(holder)))
            if existing.get_or_create && !holder.is_gone =>
        {
            link(&holder.site, &holder.code, StatusCode::OK)
        }
        ChangeOutcome::Registration(Err(refusal)) => return refused(refusal),
        ChangeOutcome::Edit(Ok(entry)) => link(&entry.site, &entry.content.code, StatusCode::OK),
        ChangeOutcome::Edit(Err(refusal)) => return edit_refused(refusal),
    };
    answer.unwrap_or_else(|| {
        error!(%commit, "a change is not live");
        ProblemType::NotLive.answer()
    })
}

/// Returns the answer to a request that has already registered a link: the same again, if the link
/// is in the live table and leads to the requested target.
pub(super) fn repeated(
    registered: &RegisteredLink,
    url: &str,
    live: &Snapshot,
    now: Timestamp,
) -> Option<ApiResponse> {
    let mut sites = live.table.sites().iter();
    let site = sites.find(|it| it.base_url().as_str() == registered.site)?;
    let entry = site.lookup(&registered.code)?;
    let (target, asked) = (entry.target()?, Target::parse(url).ok()?);
    if entry.is_gone(now) || *target != *asked.as_str() {
        return None;
    }
    let link = LinkView::of(entry, live.revision.commit(), now);
    let mut answer = ApiResponse::link(StatusCode::CREATED, &link);
    answer.registered = Some(Box::new(registered.clone()));
    Some(answer)
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
        | RegistrationRefusal::CannotInsert { problems, .. } => unsound(message, problems),
        _ => {
            let (pointer, hint) = place(&refusal);
            ProblemDetails::invalid(None, vec![finding(pointer, message, hint)]).into()
        }
    }
}

/// Returns the answer for a change after which the table would have problems.
fn unsound(message: String, problems: Vec<Diagnostic>) -> ApiResponse {
    let findings = problems.into_iter();
    let findings = findings.map(|problem| finding("", problem.message, problem.hint));
    ProblemDetails::invalid(Some(message), findings.collect()).into()
}

/// Returns an error in the value that a JSON pointer names.
fn finding(pointer: &str, message: String, hint: Option<String>) -> RequestError {
    RequestError {
        pointer: pointer.to_owned(),
        message,
        hint,
    }
}

/// Returns the answer to a client for a refused edit.
fn edit_refused(refusal: EditRefusal) -> ApiResponse {
    let message = refusal.to_string();
    match refusal {
        EditRefusal::NoSuchLink { .. }
        | EditRefusal::SeveralSites { .. }
        | EditRefusal::UnknownSite(_) => ProblemType::NotFound.answer(),
        EditRefusal::NotOwned => ProblemType::NotOwned.answer(),
        EditRefusal::Changed { .. } => ProblemType::PreconditionFailed.answer(),
        EditRefusal::CodeTaken { holder, .. } => {
            ProblemDetails::with_holder(ProblemType::CodeTaken, Some(message), *holder).into()
        }
        EditRefusal::Shadows { holder, .. } => {
            ProblemDetails::with_holder(ProblemType::Shadowing, Some(message), *holder).into()
        }
        EditRefusal::AlreadyRegistered(holder) => {
            ProblemDetails::with_holder(ProblemType::AlreadyRegistered, None, *holder).into()
        }
        EditRefusal::OwnLink { key } | EditRefusal::TakenDown { key } => {
            ProblemDetails::invalid(None, vec![finding(pointer(key), message, None)]).into()
        }
        EditRefusal::Retired => {
            ProblemDetails::invalid(None, vec![finding("/url", message, None)]).into()
        }
        EditRefusal::AliasesLost { .. } => {
            let hint = Some("name them, too: a list replaces the one before".to_owned());
            ProblemDetails::invalid(None, vec![finding("/aliases", message, hint)]).into()
        }
        EditRefusal::CodeUnreachable(_) => {
            let hint = Some(CodeUnreachable::HINT.to_owned());
            ProblemDetails::invalid(None, vec![finding("/aliases", message, hint)]).into()
        }
        EditRefusal::CannotEdit(problem) => {
            let findings = vec![finding("", problem.message, problem.hint)];
            ProblemDetails::invalid(Some(message), findings).into()
        }
        EditRefusal::Unsound { problems } => unsound(message, problems),
        _ => ProblemDetails::invalid(None, vec![finding("", message, None)]).into(),
    }
}

/// Returns a pointer to the value of a key that has URLs.
fn pointer(key: &str) -> &'static str {
    match key {
        "below" => "/below",
        "variants" => "/variants",
        _ => "/url",
    }
}

/// Returns a pointer to the value that a refusal is about, and a hint.
fn place(refusal: &RegistrationRefusal) -> (&'static str, Option<String>) {
    let named = |key| Some(format!("name one as {key:?}"));
    match refusal {
        RegistrationRefusal::Target(_) => ("/url", refusal.hint()),
        RegistrationRefusal::OwnLink { key } => (pointer(key), refusal.hint()),
        RegistrationRefusal::Code(_) => ("/short_code", refusal.hint()),
        RegistrationRefusal::NameTooLong { .. } => ("/short_code", None),
        RegistrationRefusal::Expired => ("/expires", refusal.hint()),
        RegistrationRefusal::CodeUnreachable(_) => ("/short_code", refusal.hint()),
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
        RegistrationRefusal::UnknownSite(_) => ("/site", None),
        RegistrationRefusal::SeveralSites { .. } => ("/site", named("site")),
        RegistrationRefusal::UnknownFile { .. } => ("/file", None),
        RegistrationRefusal::SeveralFiles { .. } => ("/file", named("file")),
        _ => ("", None),
    }
}
