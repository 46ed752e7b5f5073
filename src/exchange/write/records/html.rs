//! A static site, for hosts that only serve files: one page per code, which redirects on its own.
//!
//! The segments of a code are directories, and its page is the `index.html` of the last. Next to
//! them are a page for the base URL, a `404.html`, which such hosts show for all other paths, and
//! an empty file that makes them serve every name unchanged.

use askama::Template;

use crate::html::{Frame, Language};
use crate::mapping::{Site, Timestamp};

use crate::exchange::write::rows::SortedEntries;
use crate::exchange::write::rows::{Feature, Losses};

/// The file name of a directory's page on such hosts.
const INDEX: &str = "index.html";

/// The file name of the page for missing paths on such hosts.
const NOT_FOUND: &str = "404.html";

/// The name of an empty file without which GitHub Pages would omit names that begin with `_`.
const AS_IT_IS: &str = ".nojekyll";

/// A file of the site.
#[derive(Debug)]
pub struct ExportedPage {
    /// Its path: names joined by `/`, none of which leads outside.
    pub path: String,
    /// Its content.
    pub html: String,
}

/// A code that has no page because a file of the site itself has that name.
#[derive(Debug, PartialEq, Eq)]
pub struct PageWithoutPlace(pub String);

#[derive(Template)]
#[template(path = "export_link.html")]
struct LinkPage<'p> {
    frame: &'p Frame<'p>,
    title: &'p str,
    target: &'p str,
}

#[derive(Template)]
#[template(path = "export_gone.html")]
struct GoneLinkPage<'p> {
    frame: &'p Frame<'p>,
    title: &'p str,
    archive: Option<&'p str>,
}

#[derive(Template)]
#[template(path = "export_about.html")]
struct AboutPage<'p> {
    frame: &'p Frame<'p>,
    heading: String,
    text: &'p str,
}

/// Returns the pages of a site as it is at `now`.
pub fn pages(
    site: &Site,
    now: Timestamp,
) -> impl Iterator<Item = Result<ExportedPage, PageWithoutPlace>> + use<'_> {
    let frame = Frame::of(Language::DEFAULT, Some(site));
    let about = AboutPage {
        frame: &frame,
        heading: frame.plain("exported-links", "host", site.base_url().host()),
        text: frame.text("exported-purpose"),
    };
    let not_found = AboutPage {
        frame: &frame,
        heading: frame.text("not-found-title").to_owned(),
        text: frame.text("not-found-hint"),
    };
    let own = [(INDEX, about.render()), (NOT_FOUND, not_found.render())];
    let own = own.map(|(path, html)| page(path.to_owned(), html));
    let as_it_is = ExportedPage {
        path: AS_IT_IS.to_owned(),
        html: String::new(),
    };
    let rows = SortedEntries::of(site)
        .rows()
        .collect::<Vec<_>>()
        .into_iter();
    let links = rows.map(move |row| {
        let is_ours = |name| [INDEX, NOT_FOUND, AS_IT_IS].contains(&name);
        if row.code.split('/').any(is_ours) {
            return Err(PageWithoutPlace(row.code.into_owned()));
        }
        let title = row.entry.title();
        let html = match row.target(now) {
            Some(target) => LinkPage {
                frame: &frame,
                title: title.unwrap_or(&row.code),
                target: &target,
            }
            .render(),
            None => GoneLinkPage {
                frame: &frame,
                title: title.unwrap_or(&row.code),
                archive: row.entry.archive(),
            }
            .render(),
        };
        page(format!("{}/{INDEX}", row.code), html)
    });
    own.into_iter().chain([Ok(as_it_is)]).chain(links)
}

fn page(path: String, html: askama::Result<String>) -> Result<ExportedPage, PageWithoutPlace> {
    let mut html = html.expect("writing to a string does not fail");
    html.push('\n');
    Ok(ExportedPage { path, html })
}

/// Counts the features that the pages of a site cannot represent, as it is at `now`.
pub fn page_losses(site: &Site, now: Timestamp) -> Losses {
    let carries = |feature| matches!(feature, Feature::Title | Feature::Length);
    Losses::count(site, now, carries, |_| true)
}
