//! The page of a base URL.

use askama::Template;
use hyper::{Response, StatusCode};
use serde::Serialize;

use crate::html::Frame;
use crate::mapping::Site;

use super::context::{FormAction, PageContext};
use crate::server::http::Content;

#[derive(Template, Serialize)]
#[template(path = "landing.html")]
struct Landing<'p> {
    #[serde(skip)]
    frame: Frame<'p>,
    base_url: &'p str,
    entries: usize,
    revision: &'p str,
}

impl PageContext<'_> {
    /// Returns the page of a base URL.
    pub(crate) fn landing(&self, site: &Site) -> Response<Content> {
        let page = Landing {
            frame: self.frame(Some(site)),
            base_url: site.base_url().as_str(),
            entries: site.len(),
            revision: self.revision,
        };
        self.render(StatusCode::OK, FormAction::None, &page)
    }
}
