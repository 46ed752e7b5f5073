//! Dumps: the whole live table of a site, and its links that do not simply work, for everyone.

use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

use hyper::header::HeaderValue;
use hyper::{Method, Request, StatusCode};

use crate::exchange::ExportFormat;
use crate::mapping::Timestamp;

use super::download::Download;
use super::link_report;
use super::own_path::OwnPath;
use crate::server::http::{Answered, CountedResponse, misdirected, only_read, response};
use crate::server::state::{DumpSlots, LinkChecks, Shared, Snapshot};

const JSON_LINES: HeaderValue = HeaderValue::from_static("application/jsonl");

/// The content of a dump.
enum Dump<'s> {
    /// The table of a site.
    Table(ExportFormat, HeaderValue),
    /// The links of a site that do not simply work.
    Links(&'s Arc<LinkChecks>),
}

/// Returns the answer to a request for a dump, and how it is counted; `None` if the request is for
/// something else. Must be called within a runtime.
pub(super) fn answer<B>(
    slots: &DumpSlots,
    shared: &Shared,
    snapshot: &Arc<Snapshot>,
    own: &OwnPath<'_, '_>,
    request: &Request<B>,
) -> Option<CountedResponse> {
    let dump = match own.rest {
        "linkcheck.jsonl" => Dump::Links(shared.link_checks.as_ref()?),
        name => Dump::table(name)?,
    };
    let Some(site) = own.site else {
        return Some(misdirected());
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(only_read());
    }
    let sites = snapshot.table.sites().iter();
    let number = sites
        .take_while(|other| !std::ptr::eq(*other, site))
        .count();
    let written = Arc::clone(snapshot);
    let response = match dump {
        Dump::Table(format, media_type) => Download {
            media_type,
            tag: tag(snapshot, ""),
            write: move |out: &mut dyn Write| {
                let site = &written.table.sites()[number];
                format.write(site, Timestamp::from(SystemTime::now()), out)
            },
        }
        .answer(slots, request),
        // It would occupy a slot until its reading times out.
        Dump::Links(checks) if !checks.is_reachable() => response::unavailable(),
        Dump::Links(checks) => Download {
            media_type: JSON_LINES,
            tag: tag(snapshot, &link_report::version(shared, checks)),
            write: link_report::writer(checks, written, number),
        }
        .answer(slots, request),
    };
    // An unavailable dump is not counted as a page, as before the first table.
    let is_page = response.status() != StatusCode::SERVICE_UNAVAILABLE;
    Some((is_page.then_some(Answered::Page), response))
}

impl Dump<'_> {
    /// Returns the dump of a table with that name.
    fn table(name: &str) -> Option<Self> {
        Some(match name {
            "mapping.yaml" => Self::Table(
                ExportFormat::Yaml,
                HeaderValue::from_static("application/yaml"),
            ),
            "mapping.jsonl" => Self::Table(ExportFormat::JsonLines, JSON_LINES),
            "mapping.beacon" => Self::Table(ExportFormat::Beacon, response::TEXT),
            _ => return None,
        })
    }
}

/// Returns the entity tag of all dumps of a snapshot, or of a version of their other content. It is
/// weak: compressed and uncompressed dumps share it.
fn tag(snapshot: &Snapshot, version: &str) -> HeaderValue {
    let revision = &snapshot.revision;
    let tag = match revision.is_dirty() {
        // The commit's tag would stay the same while the files change.
        true => format!("W/\"sha256:{}{version}\"", revision.hash()),
        false => format!("W/\"{revision}{version}\""),
    };
    HeaderValue::try_from(tag).expect("letters, digits and signs are fit for a header")
}
