//! The description of the service (OpenAPI 3.1), for generating clients.
//!
//! Its problems are generated from the problem types; a test checks that its schemas match real
//! answers.

use std::collections::BTreeMap;

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use crate::mapping::{Forward, MAX_TARGET_BYTES};

use super::answer::Answer;
use super::problem_type::ProblemType;
use super::request::MAX_TEXT;

/// The problem types of lookups.
const OF_LOOKUPS: [ProblemType; 5] = [
    ProblemType::BadQuery,
    ProblemType::Unauthorized,
    ProblemType::NotFound,
    ProblemType::Invalid,
    ProblemType::NoTable,
];

/// The problem types of lookups only.
const NOT_OF_REGISTRATIONS: [ProblemType; 2] = [ProblemType::BadQuery, ProblemType::NotFound];

/// The problem types of any other method.
const OF_METHODS: [ProblemType; 1] = [ProblemType::MethodNotAllowed];

/// Returns the description.
pub(super) fn answer() -> Answer {
    Answer::document(&document())
}

fn document() -> Value {
    let is_of_registrations =
        |kind: &ProblemType| !NOT_OF_REGISTRATIONS.contains(kind) && !OF_METHODS.contains(kind);
    let of_registrations: Vec<_> = ProblemType::ALL
        .into_iter()
        .filter(is_of_registrations)
        .collect();
    let lookup = |more: Value, summary: &str| {
        let mut parameters = vec![json!({"$ref": "#/components/parameters/site"})];
        parameters.push(more);
        json!({
            "summary": summary,
            "parameters": parameters,
            "security": [{}, {"token": []}],
            "responses": responses(&OF_LOOKUPS, &[(StatusCode::OK, "The link")]),
        })
    };
    let by_url = json!({
        "name": "url", "in": "query", "required": true, "schema": {"type": "string"},
        "description": "Where the link leads, in any spelling of the same URL",
    });
    let by_code = json!({
        "name": "code", "in": "path", "required": true, "schema": {"type": "string"},
        "description": "The code; slashes in it may stand as they are",
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Waypost registrations",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Registers short links in the Git repository that the server follows. \
                Pages of other origins may not: no answer carries CORS headers.",
        },
        "servers": [{"url": "/"}],
        "paths": {
            "/-/api/links": {
                "get": lookup(by_url, "Look up a link by where it leads"),
                "post": {
                    "summary": "Register a link",
                    "description": "Answered once the link is in the repository and live here.",
                    "security": [{"token": []}],
                    "parameters": [{
                        "name": "Idempotency-Key", "in": "header",
                        "schema": {"type": "string", "minLength": 1, "maxLength": 255},
                        "description": "The same key with the same body gets the same answer again, \
                            for a day, unless the server was restarted",
                    }],
                    "requestBody": {
                        "required": true,
                        "content": {"application/json": {
                            "schema": {"$ref": "#/components/schemas/Registration"},
                        }},
                    },
                    "responses": responses(&of_registrations, &[
                        (StatusCode::OK, "The link that there is already, with get_or_create"),
                        (StatusCode::CREATED, "The new link"),
                    ]),
                },
            },
            "/-/api/links/{code}": {"get": lookup(by_code, "Look up a link by its code")},
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": {"site": {
                "name": "site", "in": "query", "schema": {"type": "string"},
                "description": "The base URL of the site; else the host that is asked decides",
            }},
            "schemas": {
                "Registration": registration(),
                "Link": link(),
                "Problem": problem(),
            },
        },
    })
}

/// Returns the possible answers, by status.
fn responses(kinds: &[ProblemType], links: &[(StatusCode, &str)]) -> Value {
    let mut responses = Map::new();
    for (status, description) in links {
        let mut response = json!({
            "description": description,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Link"}}},
        });
        if *status == StatusCode::CREATED {
            response["headers"] = json!({"Location": {
                "description": "The short link", "required": true, "schema": {"type": "string"},
            }});
        }
        responses.insert(status.as_str().to_owned(), response);
    }
    let mut by_status: BTreeMap<u16, Vec<ProblemType>> = BTreeMap::new();
    for &kind in kinds {
        by_status
            .entry(kind.status().as_u16())
            .or_default()
            .push(kind);
    }
    for (status, kinds) in by_status {
        let titles: Vec<_> = kinds.iter().map(|kind| kind.parts().2).collect();
        let mut response = json!({
            "description": titles.join("; or "),
            "content": {"application/problem+json": {
                "schema": {"$ref": "#/components/schemas/Problem"},
            }},
        });
        if kinds.iter().any(|kind| kind.retry_after().is_some()) {
            response["headers"] = json!({"Retry-After": {
                "description": "When to try again, in seconds",
                "schema": {"type": "integer"},
            }});
        }
        responses.insert(status.to_string(), response);
    }
    Value::Object(responses)
}

fn registration() -> Value {
    json!({
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {
            "url": {
                "type": "string", "maxLength": MAX_TARGET_BYTES,
                "description": "Where the link shall lead: an absolute http or https URL",
            },
            "short_code": {
                "type": ["string", "null"],
                "description": "The code; else one is made as the site makes them",
            },
            "number": {
                "enum": ["next", null],
                "description": "Whether its code shall be of the next number; without short_code",
            },
            "aliases": {"type": ["array", "null"], "items": {"type": "string"}},
            "title": {"type": ["string", "null"], "maxLength": MAX_TEXT},
            "owner": {
                "type": ["string", "null"], "maxLength": MAX_TEXT,
                "description": "Who answers for it; else whom the token belongs to",
            },
            "tags": {
                "type": ["array", "null"], "items": {"type": "string", "maxLength": MAX_TEXT},
            },
            "status": {"enum": [301, 302, 303, 307, 308, null]},
            "forward": {"enum": forwards().chain([Value::Null]).collect::<Vec<_>>()},
            "expires": {
                "type": ["string", "null"],
                "description": "Until when it holds: a date or a date-time (RFC 3339)",
            },
            "site": {
                "type": ["string", "null"],
                "description": "The base URL of the site; else the host that is asked decides",
            },
            "file": {
                "type": ["string", "null"],
                "description": "The file of the table, if the site is written in several",
            },
            "get_or_create": {
                "type": ["boolean", "null"],
                "description": "Whether a link that there is already will do",
            },
        },
    })
}

fn forwards() -> impl Iterator<Item = Value> {
    Forward::ALL
        .into_iter()
        .map(|forward| forward.name().into())
}

fn link() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "required": ["short_url", "code", "status", "forward", "gone"],
        "additionalProperties": false,
        "properties": {
            "short_url": {"type": "string", "format": "uri"},
            "code": {"type": "string"},
            "url": {
                "type": "string", "format": "uri",
                "description": "Where it leads; a retired link may have dropped it",
            },
            "aliases": texts,
            "title": {"type": "string"},
            "owner": {"type": "string"},
            "tags": texts,
            "status": {"enum": [301, 302, 303, 307, 308]},
            "forward": {"enum": forwards().collect::<Vec<_>>()},
            "gone": {"type": "boolean", "description": "Whether it is retired or expired"},
            "commit": {
                "type": "string",
                "description": "The commit that was looked at, or in which it is registered",
            },
        },
    })
}

fn problem() -> Value {
    let types = ProblemType::ALL.map(ProblemType::uri);
    json!({
        "type": "object",
        "required": ["type", "title", "status"],
        "additionalProperties": false,
        "properties": {
            "type": {"enum": types},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "existing": {
                "description": "The link that stands in the way",
                "type": "object",
                "required": ["short_url", "code", "gone"],
                "additionalProperties": false,
                "properties": {
                    "short_url": {"type": "string", "format": "uri"},
                    "code": {"type": "string"},
                    "url": {"type": "string", "format": "uri"},
                    "gone": {"type": "boolean"},
                },
            },
            "errors": {
                "description": "All that is wrong with the request",
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["pointer", "message"],
                    "additionalProperties": false,
                    "properties": {
                        "pointer": {
                            "type": "string",
                            "description": "Where in the body (RFC 6901); empty for all of it",
                        },
                        "message": {"type": "string"},
                        "hint": {"type": "string"},
                    },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::request::KEYS;
    use super::*;

    #[test]
    fn describes_each_key_that_is_read() {
        let described = registration();
        let described = described["properties"].as_object().unwrap().keys();
        let mut keys = KEYS.map(str::to_owned);
        keys.sort();
        let mut described: Vec<_> = described.cloned().collect();
        described.sort();
        assert_eq!(described, keys);
    }
}
