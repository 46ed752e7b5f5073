//! The page of a base URL.

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::mapping::Site;

use super::context::PageContext;
use crate::server::http::Content;

#[derive(Template, Serialize)]
#[template(path = "landing.html")]
struct Landing<'p> {
    base_url: &'p str,
    entries: usize,
    revision: &'p str,
}

impl PageContext<'_> {
    /// Returns the page of a base URL.
    pub(crate) fn landing(&self, site: &Site) -> Response<Content> {
        let page = Landing {
            base_url: site.base_url().as_str(),
            entries: site.len(),
            revision: self.revision,
        };
        self.render(StatusCode::OK, &page)
    }
}
