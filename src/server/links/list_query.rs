//! The parameters of lists of links: `q`, `tag`, `owner`, `state` and `after`.

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;
use url::form_urlencoded;

use crate::mapping::{Filter, LinkState, MAX_CODE_BYTES};

/// The maximum length of a searched text, in characters.
pub(crate) const MAX_TEXT: usize = 200;

/// The parameters of a list of links. An empty text does not restrict it: forms send those.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListQuery {
    pub(crate) text: String,
    pub(crate) tag: String,
    pub(crate) owner: String,
    pub(crate) state: Option<LinkState>,
    /// The code after which the list begins.
    pub(crate) after: String,
}

/// Why a parameter cannot be part of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum BadListQuery {
    #[error("there is no such parameter")]
    UnknownKey,
    #[error("a parameter is repeated")]
    Repeated,
    #[error("a parameter is too long")]
    TooLong,
    #[error("there is no such state: it is live, retired or expired")]
    UnknownState,
}

impl ListQuery {
    /// Reads the query of a page; other parameters, as trackers add them to addresses, are ignored.
    ///
    /// # Errors
    ///
    /// Fails if a parameter is invalid.
    pub(crate) fn of_page(query: Option<&str>) -> Result<Self, BadListQuery> {
        let mut read = Self::default();
        for (key, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match read.set(&key, &value) {
                Ok(()) | Err(BadListQuery::UnknownKey) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// Sets a parameter.
    ///
    /// # Errors
    ///
    /// Fails if there is no such parameter, or if its value is invalid.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), BadListQuery> {
        let (place, is_too_long) = match key {
            "q" => (&mut self.text, value.chars().count() > MAX_TEXT),
            "tag" => (&mut self.tag, value.chars().count() > MAX_TEXT),
            "owner" => (&mut self.owner, value.chars().count() > MAX_TEXT),
            "after" => (&mut self.after, value.len() > MAX_CODE_BYTES),
            "state" if value.is_empty() => return Ok(()),
            "state" => {
                let state = LinkState::from_name(value).ok_or(BadListQuery::UnknownState)?;
                return match self.state.replace(state) {
                    None => Ok(()),
                    Some(_) => Err(BadListQuery::Repeated),
                };
            }
            _ => return Err(BadListQuery::UnknownKey),
        };
        if !place.is_empty() {
            return Err(BadListQuery::Repeated);
        }
        if is_too_long {
            return Err(BadListQuery::TooLong);
        }
        // Codes are composed, and a text is shown as it was entered.
        *place = match key {
            "after" => value.nfc().collect(),
            _ => value.trim().to_owned(),
        };
        Ok(())
    }

    /// Returns the query for links with a text, or with its beginning if it is too long.
    pub(crate) fn of_text(text: &str) -> Self {
        Self {
            text: text.trim().chars().take(MAX_TEXT).collect(),
            ..Self::default()
        }
    }

    /// Returns the query for links with a tag.
    pub(crate) fn of_tag(tag: &str) -> Self {
        Self {
            tag: tag.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the filter that selects its links.
    pub(crate) fn filter(&self) -> Filter {
        let mut filter = Filter::default().text(&self.text);
        if !self.tag.is_empty() {
            filter = filter.tag(&self.tag);
        }
        if !self.owner.is_empty() {
            filter = filter.owner(&self.owner);
        }
        if let Some(state) = self.state {
            filter = filter.state(state);
        }
        filter
    }

    /// Returns whether it selects all links.
    pub(crate) fn is_of_all(&self) -> bool {
        self.filter().is_empty()
    }

    /// Returns it as the query of a URL: ASCII, and fit for a header.
    pub(crate) fn to_query(&self) -> String {
        self.to_query_after(&self.after)
    }

    /// Returns the query of the page after a code; of the first page, if that is empty.
    pub(crate) fn to_query_after(&self, after: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let state = self.state.map_or("", LinkState::name);
        for (key, value) in [
            ("q", &*self.text),
            ("tag", &self.tag),
            ("owner", &self.owner),
            ("state", state),
            ("after", after),
        ] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        query.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_one_meaning() {
        let text = "q=+gnu+%26+%22caf%C3%A9%22&tag=&owner=Docs&state=expired&after=e%CC%81&utm=1";
        let query = ListQuery::of_page(Some(text)).unwrap();
        let expected = ListQuery {
            text: "gnu & \"café\"".to_owned(),
            owner: "Docs".to_owned(),
            state: Some(LinkState::Expired),
            after: "é".to_owned(),
            ..ListQuery::default()
        };
        assert_eq!(query, expected);
        assert_eq!(
            query.to_query(),
            "q=gnu+%26+%22caf%C3%A9%22&owner=Docs&state=expired&after=%C3%A9"
        );
        assert_eq!(ListQuery::of_page(Some(&query.to_query())), Ok(query));
        assert!(ListQuery::of_page(None).unwrap().is_of_all());
        assert!(
            ListQuery::of_page(Some("q=+&state=&after=x"))
                .unwrap()
                .is_of_all()
        );
    }

    #[test]
    fn what_is_too_long_or_means_nothing_is_refused() {
        let long = |key: &str, length: usize| format!("{key}={}", "%C3%A4".repeat(length));
        use BadListQuery::{Repeated, TooLong, UnknownState};
        for (query, expected) in [
            (long("q", MAX_TEXT), None),
            (long("q", MAX_TEXT + 1), Some(TooLong)),
            (long("tag", MAX_TEXT + 1), Some(TooLong)),
            (long("owner", MAX_TEXT + 1), Some(TooLong)),
            (long("after", MAX_CODE_BYTES / 2), None),
            (long("after", MAX_CODE_BYTES / 2 + 1), Some(TooLong)),
            ("state=Live".to_owned(), Some(UnknownState)),
            ("state=live&state=live".to_owned(), Some(Repeated)),
            ("q=a&q=b".to_owned(), Some(Repeated)),
        ] {
            let error = ListQuery::of_page(Some(&query)).err();
            assert_eq!(error, expected, "{query}");
        }
    }
}
