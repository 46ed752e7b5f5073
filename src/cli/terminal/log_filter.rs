//! Log filters: Waypost's own events are logged, and those of libraries only if a filter requests
//! them.
//!
//! Libraries log client input, as often as clients send it. Waypost's own events are written so
//! that clients control neither their number nor their content.

use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// The prefix of the targets of Waypost's own events.
const OWN: &str = "waypost";

/// A filter of log events.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogFilter(Targets);

/// Why a text is not a filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}; a filter is LEVEL or TARGET=LEVEL, several separated by commas, as in `waypost=debug,h2=warn`; \
     levels are off, error, warn, info, debug and trace"
)]
pub(crate) struct LogFilterError(String);

impl FromStr for LogFilter {
    type Err = LogFilterError;

    /// Parses directives of tracing's `EnvFilter`, without those for spans.
    ///
    /// Waypost's own events stay at `info` unless a directive is for them or for everything.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let directives = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        let directives = directives.collect::<Vec<_>>();
        if let Some(directive) = directives.iter().find(|it| !names_a_target(it)) {
            return Err(LogFilterError(format!("'{directive}' names no target")));
        }
        let directives = directives.join(",");
        let targets = match directives.as_str() {
            // Parsed, it would be a target that is a prefix of all others.
            "" => Targets::new(),
            some => (some.parse()).map_err(|error| LogFilterError(format!("{error}")))?,
        };
        let is_for_all = targets.default_level().is_some();
        if is_for_all || targets.iter().any(|(target, _)| target == OWN) {
            return Ok(Self(targets));
        }
        Ok(Self(targets.with_target(OWN, LevelFilter::INFO)))
    }
}

/// Returns whether the part of a directive before the level may be a target, which is the path of a
/// module. [`Targets`] accepts any text, even a directive for spans, and would then log nothing for
/// it.
fn names_a_target(directive: &str) -> bool {
    let target = directive.split('=').next().unwrap_or_default();
    let is_of_a_path = |it: char| it.is_alphanumeric() || "_:-.".contains(it);
    !target.is_empty() && target.chars().all(is_of_a_path)
}

impl LogFilter {
    /// Returns whether events of libraries may be logged, so that lines should name their origin.
    pub(super) fn admits_libraries(&self) -> bool {
        let is_on = |level: LevelFilter| level != LevelFilter::OFF;
        let mut directives = self.0.iter();
        self.0.default_level().is_some_and(is_on)
            || directives.any(|(target, level)| !target.starts_with(OWN) && is_on(level))
    }

    /// Returns the filter that decides on each event.
    pub(super) fn into_targets(self) -> Targets {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn filter(text: &str) -> LogFilter {
        text.parse().unwrap()
    }

    fn logs(text: &str, target: &str, level: Level) -> bool {
        filter(text).into_targets().would_enable(target, &level)
    }

    #[test]
    fn libraries_are_logged_only_where_a_directive_asks() {
        for text in [
            "",
            " , ",
            "waypost=info",
            "waypost=trace",
            "waypost::server=debug",
        ] {
            assert!(logs(text, "waypost::server::reload", Level::INFO), "{text}");
            assert!(!logs(text, "h2::proto::ping_pong", Level::ERROR), "{text}");
            assert!(!filter(text).admits_libraries(), "{text}");
        }
        for text in ["h2=warn", " h2=warn , hyper=info,", "warn", "h2"] {
            assert!(logs(text, "h2::proto::ping_pong", Level::WARN), "{text}");
            assert!(filter(text).admits_libraries(), "{text}");
        }
    }

    #[test]
    fn own_events_stay_at_info_unless_a_directive_is_for_them() {
        assert!(logs("h2=warn", "waypost::server", Level::INFO));
        assert!(!logs("h2=warn", "waypost::server", Level::DEBUG));
        assert!(logs("debug", "waypost::server", Level::DEBUG));
        assert!(!logs("error,h2=warn", "waypost::server", Level::WARN));
        assert!(!logs(
            "waypost=error,h2=warn",
            "waypost::server",
            Level::WARN
        ));
        assert!(!logs("off", "waypost::server", Level::ERROR));
        assert!(!filter("off").admits_libraries());
    }

    #[test]
    fn a_text_that_is_no_filter_is_refused() {
        for text in ["h2=loud", "h2=warn=info", "[{x]=info", "h2=warn,waypost=-"] {
            let error = text.parse::<LogFilter>().unwrap_err().to_string();
            assert!(error.contains("TARGET=LEVEL"), "{text}: {error}");
        }
    }

    #[test]
    fn what_can_be_no_target_is_refused() {
        for text in [
            "=",
            "=info",
            "waypost[span]=info",
            "[span]",
            "info;h2",
            "a b=info",
        ] {
            assert!(text.parse::<LogFilter>().is_err(), "{text}");
        }
        for text in ["h2::proto=debug", "tokio-rustls=warn", "info,,h2=warn", "3"] {
            assert!(text.parse::<LogFilter>().is_ok(), "{text}");
        }
    }
}
