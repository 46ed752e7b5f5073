//! The description of the service (OpenAPI 3.1), for generating clients.
//!
//! It is the file `openapi.json`. The tests here compare it with the types of answers; those in
//! `tests/registrations/` validate real answers against it.

use serde_json::Value;

use super::response::ApiResponse;

/// The description, without the version of this program.
const DOCUMENT: &str = include_str!("openapi.json");

/// Returns the description.
pub(super) fn answer() -> ApiResponse {
    ApiResponse::document(&document())
}

fn document() -> Value {
    let mut document: Value = serde_json::from_str(DOCUMENT).expect("a test reads this file");
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    document
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::body::MAX_TEXT;
    use super::super::edit_body;
    use super::super::problem_type::ProblemType;
    use super::super::request::KEYS;
    use super::*;
    use crate::linkcheck::Verdict;
    use crate::mapping::{Forward, MAX_TARGET_BYTES};

    /// The problem types of lookups.
    const OF_LOOKUPS: [ProblemType; 5] = [
        ProblemType::BadQuery,
        ProblemType::Unauthorized,
        ProblemType::NotFound,
        ProblemType::Invalid,
        ProblemType::NoTable,
    ];

    /// The problem types that no registration has: of lookups and lists only, or of other methods.
    const NOT_OF_REGISTRATIONS: [ProblemType; 7] = [
        ProblemType::BadQuery,
        ProblemType::Busy,
        ProblemType::NotFound,
        ProblemType::NotOwned,
        ProblemType::MethodNotAllowed,
        ProblemType::PreconditionFailed,
        ProblemType::PreconditionRequired,
    ];

    /// The problem types that no edit has.
    const NOT_OF_EDITS: [ProblemType; 5] = [
        ProblemType::BadKey,
        ProblemType::UnderWay,
        ProblemType::KeyReused,
        ProblemType::MethodNotAllowed,
        ProblemType::Busy,
    ];

    /// The problem types of bodies, new targets and new codes, which a retirement does not have either.
    const NOT_OF_RETIREMENTS: [ProblemType; 6] = [
        ProblemType::AlreadyRegistered,
        ProblemType::CodeTaken,
        ProblemType::Malformed,
        ProblemType::TooSlow,
        ProblemType::TooLarge,
        ProblemType::MediaType,
    ];

    /// Returns the text and whether there is a `Retry-After`, by the status of problems.
    fn problems(kinds: impl IntoIterator<Item = ProblemType>) -> BTreeMap<String, (String, bool)> {
        let mut problems = BTreeMap::<_, (String, bool)>::new();
        for kind in kinds {
            let (text, is_retried) = problems
                .entry(kind.status().as_str().to_owned())
                .or_default();
            if !text.is_empty() {
                text.push_str("; or ");
            }
            text.push_str(kind.title());
            *is_retried |= kind.retry_after().is_some();
        }
        problems
    }

    /// Returns the same from the description of an operation.
    fn described(operation: &Value) -> BTreeMap<String, (String, bool)> {
        let responses = operation["responses"].as_object().unwrap().iter();
        let problems = responses.filter(|(_, it)| {
            it["content"]["application/problem+json"]["schema"]["$ref"]
                == "#/components/schemas/Problem"
        });
        let parts = problems.map(|(status, it)| {
            let text = it["description"].as_str().unwrap().to_owned();
            let is_retried = it["headers"]["Retry-After"].is_object();
            (status.clone(), (text, is_retried))
        });
        parts.collect()
    }

    #[test]
    fn describes_the_problems_of_each_operation() {
        let paths = &document()["paths"];
        let lookups = problems(OF_LOOKUPS);
        assert_eq!(described(&paths["/-/api/links/{code}"]["get"]), lookups);
        let lists = problems(OF_LOOKUPS.into_iter().chain([ProblemType::Busy]));
        assert_eq!(described(&paths["/-/api/links"]["get"]), lists);
        let mut kinds = Vec::from(ProblemType::ALL);
        kinds.retain(|kind| !NOT_OF_REGISTRATIONS.contains(kind));
        assert_eq!(described(&paths["/-/api/links"]["post"]), problems(kinds));
        let link = &paths["/-/api/links/{code}"];
        let mut kinds = Vec::from(ProblemType::ALL);
        kinds.retain(|kind| !NOT_OF_EDITS.contains(kind));
        assert_eq!(described(&link["patch"]), problems(kinds.clone()));
        kinds.retain(|kind| !NOT_OF_RETIREMENTS.contains(kind));
        assert_eq!(described(&link["delete"]), problems(kinds));
    }

    #[test]
    fn describes_each_key_that_is_read() {
        let document = document();
        for (schema, keys) in [("Registration", KEYS), ("Edit", edit_body::KEYS)] {
            let described = &document["components"]["schemas"][schema]["properties"];
            let mut described: Vec<_> = described.as_object().unwrap().keys().collect();
            let mut keys = Vec::from(keys);
            keys.sort();
            described.sort();
            assert_eq!(described, keys);
        }
    }

    #[test]
    fn describes_every_value_and_limit() {
        let schemas = &document()["components"]["schemas"];
        let types = ProblemType::ALL.map(ProblemType::uri);
        assert_eq!(
            schemas["Problem"]["properties"]["type"]["enum"],
            json!(types)
        );
        let mut forwards = Vec::from(Forward::ALL.map(|it| Some(it.name())));
        assert_eq!(
            schemas["Link"]["properties"]["forward"]["enum"],
            json!(forwards)
        );
        let verdicts = Verdict::ALL.map(Verdict::name);
        let described = &schemas["LinkCheck"]["properties"]["verdict"]["enum"];
        assert_eq!(*described, json!(verdicts));
        let keys = &schemas["Registration"]["properties"];
        forwards.push(None);
        assert_eq!(keys["forward"]["enum"], json!(forwards));
        assert_eq!(keys["url"]["maxLength"], MAX_TARGET_BYTES);
        for text in [&keys["title"], &keys["owner"], &keys["tags"]["items"]] {
            assert_eq!(text["maxLength"], MAX_TEXT);
        }
    }

    #[test]
    fn names_this_version() {
        assert_eq!(
            document()["info"]["version"],
            json!(env!("CARGO_PKG_VERSION"))
        );
    }
}
