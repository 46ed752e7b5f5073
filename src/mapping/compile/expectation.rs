//! Expectations: the tests written in a table, run through the engine that serves it.

use super::entries::{Document, TestItem};
use crate::mapping::packed::Table;
use crate::mapping::resolve::{AcceptFields, Outcome, Request};
use crate::mapping::value::{
    BaseUrl, Diagnostic, Place, Problems, Rule, Target, Timestamp, weighted_members,
};

/// One test of a table: a request and its expected result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    place: Place,
    host: String,
    path: String,
    query: Option<String>,
    /// The value of the field `Accept`.
    accept: Option<String>,
    expected: Expected,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expected {
    Target(String),
    Gone,
    NotFound,
}

impl Expectation {
    /// Reads the tests of a document.
    pub(crate) fn read_all(
        document: &Document<'_>,
        base_url: &BaseUrl,
        problems: &mut Problems,
    ) -> Vec<Self> {
        let at = |position| Place::new(&document.file, position);
        let mut expectations = Vec::new();
        for TestItem { from, to, accept } in &document.tests {
            if !from.value.starts_with('/') {
                let message = "\"from\" must be a path from the host's root";
                problems.push(
                    Diagnostic::new(Rule::TestFromInvalid, at(from.position), message)
                        .with_hint(format!("begin it with {:?}", base_url.path())),
                );
                continue;
            }
            let expected = match &*to.value {
                "gone" => Expected::Gone,
                "not-found" => Expected::NotFound,
                url => match Target::parse(url) {
                    Ok(target) => Expected::Target(target.into_string()),
                    Err(error) => {
                        let hint = "\"to\" is the expected URL, \"gone\" or \"not-found\"";
                        let (place, message) = (at(to.position), error.to_string());
                        let problem = Diagnostic::new(Rule::TestToInvalid, place, message);
                        problems.push(problem.with_hint(hint));
                        continue;
                    }
                },
            };
            if let Some(accept) = accept
                && !weighted_members(accept.value.as_bytes()).any(|(name, _)| name.contains('/'))
            {
                let message = "\"accept\" names no media type";
                let hint = "write it as a client sends it, as in \"text/turtle, */*;q=0.1\"";
                let problem =
                    Diagnostic::new(Rule::TestAcceptInvalid, at(accept.position), message);
                problems.push(problem.with_hint(hint));
                continue;
            }
            let (path, query) = match from.value.split_once('?') {
                Some((path, query)) => (path, Some(query.to_owned())),
                None => (&*from.value, None),
            };
            expectations.push(Self {
                place: at(to.position),
                host: base_url.host().to_owned(),
                path: path.to_owned(),
                query,
                accept: accept.as_ref().map(|it| it.value.to_string()),
                expected,
            });
        }
        expectations
    }

    /// Returns an error with the actual result, unless it is the expected one.
    pub fn check(&self, table: &Table, now: Timestamp) -> Option<Diagnostic> {
        let accept = self.accept.as_deref();
        let request = Request {
            host: Some(&self.host),
            path: &self.path,
            query: self.query.as_deref(),
            accept: accept.as_ref().map(|it| it as &dyn AcceptFields),
        };
        let outcome = table.resolve(&request, now);
        let is_met = match (&self.expected, &outcome) {
            (Expected::Gone, Outcome::Gone(_)) | (Expected::NotFound, Outcome::NotFound(_)) => true,
            (Expected::Target(url), Outcome::Redirect(redirect)) => {
                // A forwarded path is verbatim and an expected URL canonical, so both are made
                // canonical.
                let location = redirect.location.to_string();
                let got = Target::parse(&location);
                got.is_ok_and(|target| target.as_str() == url)
            }
            (Expected::Target(url), Outcome::SiteRedirect(redirect)) => {
                let got = Target::parse(&redirect.location);
                got.is_ok_and(|target| target.as_str() == url)
            }
            _ => false,
        };
        (!is_met).then(|| {
            let got = match &outcome {
                Outcome::Redirect(redirect) => redirect.location.to_string(),
                Outcome::SiteRedirect(redirect) => redirect.location.to_string(),
                Outcome::Gone(_) => "gone".to_owned(),
                Outcome::NotFound(_) | Outcome::Misdirected => "not-found".to_owned(),
                Outcome::Preview(_) => "a preview page".to_owned(),
                Outcome::Landing(_) => "the landing page".to_owned(),
            };
            let expected = match &self.expected {
                Expected::Target(url) => url,
                Expected::Gone => "gone",
                Expected::NotFound => "not-found",
            };
            let from = self.from();
            let accepting = accept
                .map(|it| format!(" that accepts {it:?}"))
                .unwrap_or_default();
            let message =
                format!("the test of {from:?}{accepting} fails: expected {expected}, got {got}");
            Diagnostic::new(Rule::TestFailed, self.place.clone(), message)
        })
    }

    /// Returns the place of the expectation.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the requested path, with its query if there is one.
    pub fn from(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }
}
