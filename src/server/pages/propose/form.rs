//! The form: the input of a person, from the query.

use url::form_urlencoded;
use zeroize::Zeroizing;

use crate::mapping::{Site, WrittenDate, WrittenDateError, direction_control};
use crate::registry::{Destination, RegistrationRequest, RequestedCode};
use crate::server::registrations::MAX_TEXT;

/// The most tags of a link: the page shows each on a line of its own.
pub(super) const MAX_TAGS: usize = 50;

/// The input of a person, or of a link that fills in the form.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ProposalForm {
    pub(super) url: String,
    pub(super) code: String,
    pub(super) title: String,
    /// Separated by commas.
    pub(super) tags: String,
    pub(super) expires: String,
}

/// Why a form is not a valid request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormError {
    /// The end of its validity is not a date.
    Expires(WrittenDateError),
    /// A title or tag is too long.
    TooLong,
    /// There are more tags than [`MAX_TAGS`].
    TooManyTags,
    /// A title or tag changes the direction of writing.
    Direction,
}

/// A form that is sent with a token, which appears in no address, page or log.
pub(crate) struct PostedProposal {
    pub(super) form: ProposalForm,
    token: Zeroizing<String>,
}

impl PostedProposal {
    /// Reads the content of a request.
    pub(crate) fn read(content: &[u8]) -> Self {
        let tokens = form_urlencoded::parse(content).filter(|(key, _)| key == "token");
        let token = tokens.last().map(|(_, token)| token.trim().to_owned());
        Self {
            form: ProposalForm::parse(content),
            token: token.unwrap_or_default().into(),
        }
    }

    /// Returns the token.
    pub(crate) fn token(&self) -> &[u8] {
        self.token.as_bytes()
    }
}

impl ProposalForm {
    /// Reads a query. Other keys are ignored, and of a key that is repeated the last value counts.
    pub(super) fn read(query: &str) -> Self {
        Self::parse(query.as_bytes())
    }

    fn parse(encoded: &[u8]) -> Self {
        let mut form = Self::default();
        for (key, value) in form_urlencoded::parse(encoded) {
            let place = match &*key {
                "url" => &mut form.url,
                "code" => &mut form.code,
                "title" => &mut form.title,
                "tags" => &mut form.tags,
                "expires" => &mut form.expires,
                _ => continue,
            };
            value.trim().clone_into(place);
        }
        form
    }

    /// Returns whether a link is to be decided on: without a URL the form is still empty.
    pub(super) fn is_filled(&self) -> bool {
        !self.url.is_empty()
    }

    /// Returns the request for a link of a site.
    pub(super) fn request(
        &self,
        site: &Site,
        destination: Destination,
    ) -> Result<RegistrationRequest, FormError> {
        let tags = self.tags.split(',').map(str::trim);
        let tags: Vec<_> = tags.filter(|tag| !tag.is_empty()).collect();
        if tags.len() > MAX_TAGS {
            return Err(FormError::TooManyTags);
        }
        for text in tags.iter().copied().chain([&*self.title]) {
            if text.chars().count() > MAX_TEXT {
                return Err(FormError::TooLong);
            }
            if direction_control(text).is_some() {
                return Err(FormError::Direction);
            }
        }
        let expires = match &*self.expires {
            "" => None,
            text => Some(text.parse::<WrittenDate>().map_err(FormError::Expires)?),
        };
        Ok(RegistrationRequest {
            url: self.url.clone(),
            code: match &*self.code {
                "" => RequestedCode::Any,
                code => RequestedCode::Custom(code.to_owned()),
            },
            title: Some(self.title.clone()).filter(|title| !title.is_empty()),
            tags: tags.into_iter().map(str::to_owned).collect(),
            expires,
            site: Some(site.base_url().as_str().to_owned()),
            destination,
            ..RegistrationRequest::default()
        })
    }

    /// Returns whether the end of validity fits into a field for dates.
    pub(super) fn has_plain_day(&self) -> bool {
        let is_of_a_day = |byte: u8| byte.is_ascii_digit() || byte == b'-';
        self.expires.is_empty()
            || (self.expires.len() == 10 && self.expires.bytes().all(is_of_a_day))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{SourceFile, Table, compile};

    fn table() -> Table {
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: b"base_url: https://s.code/\nmapping: []\n".to_vec(),
        };
        compile(&[file]).table.unwrap()
    }

    fn request(query: &str) -> Result<RegistrationRequest, FormError> {
        let table = table();
        ProposalForm::read(query).request(&table.sites()[0], Destination::default())
    }

    #[test]
    fn a_query_is_a_request() {
        let asked = "url=https%3A%2F%2Fe.org%2F%3Fa%3Db&code=+a+&title=T%26T&tags=x,+y,,&\
                     expires=2030-12-31&other=1&code=b";
        let request = request(asked).unwrap();
        assert_eq!(request.url, "https://e.org/?a=b");
        assert_eq!(request.code, RequestedCode::Custom("b".to_owned()));
        assert_eq!(request.title.as_deref(), Some("T&T"));
        assert_eq!(request.tags, ["x", "y"]);
        assert_eq!(request.expires.unwrap().to_string(), "2030-12-31");
        assert_eq!(request.site.as_deref(), Some("https://s.code/"));
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let request = request("url=x&code=&title=++&tags=,+,&expires=").unwrap();
        assert_eq!(request.code, RequestedCode::Any);
        assert_eq!((request.title, request.tags.len()), (None, 0));
        assert!(request.expires.is_none());
        assert!(!ProposalForm::read("url=++&code=a").is_filled());
    }

    #[test]
    fn says_what_is_no_request() {
        let wrong = |query: &str| request(query).unwrap_err();
        assert!(matches!(wrong("expires=tomorrow"), FormError::Expires(_)));
        assert_eq!(
            wrong(&format!("title={}", "t".repeat(1001))),
            FormError::TooLong
        );
        assert_eq!(
            wrong(&format!("tags=a,{}", "t".repeat(1001))),
            FormError::TooLong
        );
        assert_eq!(wrong("title=%E2%80%AEx"), FormError::Direction);
        let tags = |count| format!("tags={}", "t,".repeat(count));
        assert_eq!(wrong(&tags(MAX_TAGS + 1)), FormError::TooManyTags);
        assert!(request(&tags(MAX_TAGS)).is_ok());
    }

    #[test]
    fn a_token_is_apart_from_the_form() {
        let posted =
            PostedProposal::read(b"url=https://e.org/&token=old&code=a&token=+s%2Bx%0D%0A");
        assert_eq!(posted.token(), b"s+x");
        assert_eq!(posted.form, ProposalForm::read("url=https://e.org/&code=a"));
        assert_eq!(PostedProposal::read(b"\xff=%ff").token(), b"");
    }

    #[test]
    fn only_a_day_fits_into_a_field_for_dates() {
        for (expires, fits) in [
            ("", true),
            ("2030-12-31", true),
            ("2030-12-31T12:00:00Z", false),
            ("tomorrow!!", false),
        ] {
            let form = ProposalForm::read(&format!("expires={expires}"));
            assert_eq!(form.has_plain_day(), fits, "{expires}");
        }
    }
}
