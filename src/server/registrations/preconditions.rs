//! Preconditions of edits: `If-Match` (RFC 9110 section 13.1.1), so that a client only overwrites
//! content that it has read.

use hyper::HeaderMap;
use hyper::header::{HeaderValue, IF_MATCH};

use crate::registry::{EntryTag, ExpectedContent};

use super::problem_type::ProblemType;

/// Returns the entity tag of an entry.
pub(super) fn entity_tag(tag: EntryTag) -> HeaderValue {
    HeaderValue::try_from(format!("\"{tag}\"")).expect("hexadecimal digits are visible")
}

/// Returns the content that an entry must have for a request to change it.
///
/// # Errors
///
/// Fails if the request has no `If-Match`.
pub(super) fn expected(headers: &HeaderMap) -> Result<ExpectedContent, ProblemType> {
    let mut fields = headers.get_all(IF_MATCH).iter().peekable();
    if fields.peek().is_none() {
        return Err(ProblemType::PreconditionRequired);
    }
    let mut tags = Vec::new();
    for member in fields
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
    {
        let member = member.trim();
        if member == "*" {
            return Ok(ExpectedContent::Any);
        }
        // A tag of another form is not one of ours, and a weak one never matches.
        let opaque = member.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        tags.extend(opaque.and_then(EntryTag::parse));
    }
    Ok(ExpectedContent::Tagged(tags))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[&'static str]) -> Result<ExpectedContent, ProblemType> {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(IF_MATCH, HeaderValue::from_static(field));
        }
        expected(&headers)
    }

    #[test]
    fn reads_the_tags_of_all_fields() {
        let (one, two) = (
            "0123456789abcdef0123456789abcdef",
            "ffffffffffffffffffffffffffffffff",
        );
        let tags = [one, two].map(|it| EntryTag::parse(it).unwrap());
        let fields = [
            "\"0123456789abcdef0123456789abcdef\" , W/\"00000000000000000000000000000000\"",
            "\"other\", \"ffffffffffffffffffffffffffffffff\"",
        ];
        assert_eq!(of(&fields), Ok(ExpectedContent::Tagged(tags.to_vec())));
        assert_eq!(of(&["*"]), Ok(ExpectedContent::Any));
        assert_eq!(of(&["x"]), Ok(ExpectedContent::Tagged(Vec::new())));
        assert_eq!(of(&[]), Err(ProblemType::PreconditionRequired));
        assert_eq!(entity_tag(tags[0]), format!("\"{one}\""));
    }
}
