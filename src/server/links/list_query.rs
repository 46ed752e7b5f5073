//! What lists of links are asked for: `q`, `tag`, `owner`, `state` and `after`.

use unicode_normalization::UnicodeNormalization as _;
use url::form_urlencoded;

use crate::mapping::{Filter, LinkState, MAX_CODE_BYTES};

/// The most characters of a text that is searched for.
pub(crate) const MAX_TEXT: usize = 200;

/// What a list of links is asked for. An empty text selects nothing: forms send those.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadListQuery {
    /// There is no such parameter.
    Unknown,
    /// Its value is too long or means nothing, or the parameter is there twice.
    Invalid,
}

impl ListQuery {
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
                let state = LinkState::from_name(value).ok_or(BadListQuery::Invalid)?;
                return match self.state.replace(state) {
                    None => Ok(()),
                    Some(_) => Err(BadListQuery::Invalid),
                };
            }
            _ => return Err(BadListQuery::Unknown),
        };
        if is_too_long || !place.is_empty() {
            return Err(BadListQuery::Invalid);
        }
        // Codes are composed, and a text is shown as it was entered.
        *place = match key {
            "after" => value.nfc().collect(),
            _ => value.trim().to_owned(),
        };
        Ok(())
    }

    /// Returns the filter that selects what it asks for.
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

    /// Returns it as the query of a URL: ASCII, and fit for a header.
    pub(crate) fn to_query(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let state = self.state.map_or("", LinkState::name);
        for (key, value) in [
            ("q", &*self.text),
            ("tag", &self.tag),
            ("owner", &self.owner),
            ("state", state),
            ("after", &self.after),
        ] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        query.finish()
    }
}
