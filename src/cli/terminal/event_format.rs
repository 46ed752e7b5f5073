//! The log of a server for a person at a terminal: the start and rejected tables in words, all
//! other events as in any log.
//!
//! Collectors and files get every event in one form; nothing here applies to them.

use std::fmt::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::counted::counted;
use super::legible::legible;

/// The form of events in a terminal.
pub(super) struct InTerminal(pub(super) Format);

impl<S, N> FormatEvent<S, N> for InTerminal
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        match fields.in_words() {
            Some(words) => writeln!(writer, "{words}"),
            None => self.0.format_event(context, writer, event),
        }
    }
}

/// The fields of an event that is written in words.
#[derive(Debug, Default)]
struct EventFields {
    message: String,
    public: String,
    tls: String,
    links: Option<u64>,
    errors: Option<u64>,
    place: String,
    severity: String,
    problem: String,
    hint: String,
}

impl EventFields {
    fn text(&mut self, name: &str) -> Option<&mut String> {
        Some(match name {
            "message" => &mut self.message,
            "public" => &mut self.public,
            "tls" => &mut self.tls,
            "place" => &mut self.place,
            "severity" => &mut self.severity,
            "problem" => &mut self.problem,
            "hint" => &mut self.hint,
            _ => return None,
        })
    }

    /// Returns the event in words, if it is one of those.
    fn in_words(&self) -> Option<String> {
        match self.message.as_str() {
            "serving" => {
                let url = clickable(&self.public, !self.tls.is_empty())?;
                let serving = match self.links {
                    Some(links) => format!("serving {} at {url}", links_of(links)),
                    None => format!("serving at {url} as soon as there is a table"),
                };
                Some(format!("{serving}; Ctrl-C stops"))
            }
            "table rejected" => {
                let errors = counted_u64(self.errors?, "error", "errors");
                Some(match self.links {
                    Some(links) => format!(
                        "the new table has {errors}: still serving the last good table ({})",
                        links_of(links)
                    ),
                    None => format!("the table has {errors}"),
                })
            }
            "in the rejected table" => {
                let mut words = format!("{}: {}: {}", self.place, self.severity, self.problem);
                if !self.hint.is_empty() {
                    write!(words, "\n  hint: {}", self.hint).ok()?;
                }
                let lines = words.lines().map(|line| legible(line).into_owned());
                Some(lines.collect::<Vec<_>>().join("\n"))
            }
            _ => None,
        }
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if let Some(text) = self.text(field.name()) {
            *text = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if let Some(text) = self.text(field.name()) {
            value.clone_into(text);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "links" => self.links = Some(value),
            "errors" => self.errors = Some(value),
            _ => {}
        }
    }
}

fn links_of(count: u64) -> String {
    counted_u64(count, "link", "links")
}

fn counted_u64(count: u64, one: &str, many: &str) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), one, many)
}

/// Returns the URL by which this machine reaches a listener.
fn clickable(listener: &str, is_tls: bool) -> Option<String> {
    let mut address: SocketAddr = listener.parse().ok()?;
    if address.ip().is_unspecified() {
        match address {
            SocketAddr::V4(_) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            SocketAddr::V6(_) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        }
    }
    let scheme = if is_tls { "https" } else { "http" };
    Some(format!("{scheme}://{address}/"))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing::{error, info};
    use tracing_subscriber::fmt::format;

    use super::*;

    #[derive(Clone, Default)]
    struct LogLines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for LogLines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns what is written while events are logged.
    fn written(log: impl FnOnce()) -> String {
        let lines = LogLines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .event_format(InTerminal(format()))
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_start_and_a_rejected_table_are_put_in_words() {
        let text = written(|| {
            let (public, none) = (Some("0.0.0.0:8080"), None::<&str>);
            info!(
                public,
                https_redirect = none,
                tls = none,
                links = Some(7_u64),
                "serving"
            );
            info!(
                public = "[::1]:443",
                tls = "public",
                links = None::<u64>,
                "serving"
            );
            error!(
                revision = "x",
                errors = 1_u64,
                links = 1_u64,
                "table rejected"
            );
            let hint = Some("remove\u{202e} it");
            error!(
                place = %"t.yaml:3:5", severity = "error", rule = "r", problem = "no \u{1b}", hint,
                "in the rejected table"
            );
        });
        assert_eq!(
            text,
            "serving 7 links at http://127.0.0.1:8080/; Ctrl-C stops\n\
             serving at https://[::1]:443/ as soon as there is a table; Ctrl-C stops\n\
             the new table has 1 error: still serving the last good table (1 link)\n\
             t.yaml:3:5: error: no \\u{1b}\n  hint: remove\\u{202e} it\n"
        );
    }

    #[test]
    fn other_events_keep_their_form() {
        let text = written(|| info!(links = 7, "table loaded"));
        assert!(
            text.ends_with("table loaded links=7\n") && text.contains(" INFO "),
            "{text}"
        );
    }
}
