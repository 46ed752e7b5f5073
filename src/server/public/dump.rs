//! Dumps: the whole live table of a site, for anyone who asks.

use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

use hyper::header::HeaderValue;
use hyper::{Method, Request, Response, StatusCode};

use crate::exchange::ExportFormat;
use crate::mapping::{self, Timestamp};

use super::download::Download;
use crate::server::http::{Answered, Content, only_read, response};
use crate::server::state::{DumpSlots, Snapshot};

/// Returns the answer to a request for a dump, and how it is counted; `None` if the request is for
/// something else. Must be called within a runtime.
pub(crate) fn answer<B>(
    slots: &DumpSlots,
    snapshot: &Arc<Snapshot>,
    asked: &mapping::Request<'_>,
    request: &Request<B>,
) -> Option<(Option<Answered>, Response<Content>)> {
    // Nearly all requests are for something else, and end here.
    let (folder, name) = asked.path.rsplit_once('/')?;
    let (format, media_type) = form(name)?;
    let site = snapshot.table.site_of(asked.host, asked.path);
    let base = site.map_or("/", |site| site.base_url().path());
    let is_ours = folder == "/-" || folder.strip_prefix(base) == Some("-");
    if !is_ours {
        return None;
    }
    let Some(site) = site else {
        let response = response::line(StatusCode::MISDIRECTED_REQUEST);
        return Some((Some(Answered::Misdirected), response));
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(only_read());
    }
    let sites = snapshot.table.sites();
    let number = sites.iter().position(|other| std::ptr::eq(other, site));
    let written = Arc::clone(snapshot);
    let download = Download {
        media_type,
        tag: tag(snapshot),
        write: move |out: &mut dyn Write| {
            let site = &written.table.sites()[number.unwrap_or_default()];
            format.write(site, Timestamp::from(SystemTime::now()), out)
        },
    };
    Some((Some(Answered::Page), download.answer(slots, request)))
}

/// Returns the form with that name.
fn form(name: &str) -> Option<(ExportFormat, HeaderValue)> {
    Some(match name {
        "mapping.yaml" => (
            ExportFormat::Yaml,
            HeaderValue::from_static("application/yaml"),
        ),
        "mapping.jsonl" => (
            ExportFormat::JsonLines,
            HeaderValue::from_static("application/jsonl"),
        ),
        "mapping.beacon" => (ExportFormat::Beacon, response::TEXT),
        _ => return None,
    })
}

/// Returns the entity tag of all dumps of a snapshot. It is weak: compressed and uncompressed dumps
/// share it.
fn tag(snapshot: &Snapshot) -> HeaderValue {
    let revision = &snapshot.revision;
    let tag = match revision.is_dirty() {
        // The commit's tag would stay the same while the files change.
        true => format!("W/\"sha256:{}\"", revision.hash()),
        false => format!("W/\"{revision}\""),
    };
    HeaderValue::try_from(tag).expect("hexadecimal digits are fit for a header")
}
