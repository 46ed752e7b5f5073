//! The OpenSearch description of a site (<https://github.com/dewitt/opensearch>), by which a browser's
//! address bar leads to its links and searches them.

use askama::Template;
use hyper::header::{CACHE_CONTROL, HeaderValue, VARY};
use hyper::{Response, StatusCode};

use crate::html::Frame;
use crate::mapping::Site;

use super::context::PageContext;
use crate::server::http::{Content, response};

const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/opensearchdescription+xml");

/// The most characters of a `ShortName` and of a `LongName`.
const SHORT_NAME: usize = 16;
const LONG_NAME: usize = 48;

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearch<'p> {
    frame: Frame<'p>,
    short_name: &'p str,
    long_name: &'p str,
    /// Not the host of the request, which anyone may choose: the browser keeps this address.
    base_url: &'p str,
}

impl PageContext<'_> {
    /// Returns the OpenSearch description of a site.
    pub(crate) fn opensearch(&self, site: &Site) -> Response<Content> {
        let frame = self.frame(Some(site));
        let description = OpenSearch {
            short_name: beginning(frame.name, SHORT_NAME),
            long_name: beginning(frame.name, LONG_NAME),
            base_url: site.base_url().as_str(),
            frame,
        };
        let xml = description
            .render()
            .expect("rendering to memory does not fail, nor do our templates");
        let response = response::body(StatusCode::OK, MEDIA_TYPE, xml);
        let response = response::with(response, VARY, "Accept-Language");
        response::with(response, CACHE_CONTROL, "no-cache")
    }
}

/// Returns up to so many characters of a text.
fn beginning(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    text[..end.map_or(text.len(), |(end, _)| end)].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(beginning("Kürzel der Straße", 16), "Kürzel der Straß");
        assert_eq!(beginning("Kürzel der Straße", 7), "Kürzel");
        assert_eq!(beginning("äö", 16), "äö");
    }
}
