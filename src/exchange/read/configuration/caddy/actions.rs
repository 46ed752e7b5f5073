//! What a directive does with a request, as far as redirects depend on it; and Caddy's order of directives.

use super::expanded::Directive;
use crate::exchange::read::rows::RowError;

/// What a directive does.
pub(super) enum Action {
    /// It redirects.
    Redirect { to: String, status: String },
    /// It answers with a status, whatever the text.
    Respond { status: String },
    /// It answers something of which nothing is known.
    Nothing,
    /// It changes the path.
    Rewrite,
    /// It contains other directives.
    Group(GroupKind),
    /// It answers something that a table does not, or that is not known.
    Other(RowError),
}

/// The kinds of directives that contain others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupKind {
    /// Only the first that matches is applied.
    Handle,
    /// Like that, and the path loses its prefix.
    HandlePath,
    /// Its directives are in their own order.
    Route,
}

/// The directives with an effect on answers, as Caddy sorts them.
const ORDER: [&str; 24] = [
    "map",
    "header",
    "redir",
    "rewrite",
    "uri",
    "try_files",
    "basicauth",
    "basic_auth",
    "forward_auth",
    "request_header",
    "intercept",
    "invoke",
    "handle",
    "route",
    "abort",
    "error",
    "copy_response",
    "respond",
    "metrics",
    "reverse_proxy",
    "php_fastcgi",
    "file_server",
    "acme_server",
    "handle_errors",
];

/// The directives without an effect on redirects.
const HARMLESS: [&str; 18] = [
    "bind",
    "copy_response",
    "copy_response_headers",
    "encode",
    "fs",
    "handle_errors",
    "log",
    "log_append",
    "log_name",
    "log_skip",
    "map",
    "push",
    "request_body",
    "request_header",
    "root",
    "skip_log",
    "tls",
    "vars",
];

const UNKNOWN: RowError = RowError::NoLink("what this directive does to redirects is not known");

const NO_PAIR: RowError = RowError::NoLink("this is not a path and a URL");

const HTML: RowError = RowError::NoLink("a page that leads on (html) is not a redirect");

/// Returns the place of a directive in Caddy's order; unknown ones are first.
pub(super) fn rank(name: &str) -> usize {
    let name = if name == "handle_path" {
        "handle"
    } else {
        name
    };
    ORDER
        .iter()
        .position(|it| *it == name)
        .map_or(0, |it| it + 1)
}

/// Returns whether this is the name of a directive with a known effect on redirects, or none.
pub(super) fn is_known(name: &str) -> bool {
    rank(name) > 0 || HARMLESS.contains(&name)
}

impl Action {
    /// Returns what a directive does, whose arguments are these without its matcher; `None` if that has no effect
    /// on redirects.
    pub(super) fn of(
        directive: &Directive,
        arguments: &[&str],
        has_error_pages: bool,
    ) -> Option<Self> {
        let name = directive.name();
        Some(match (name, arguments) {
            ("redir", [to]) => Self::redirect(to, "302"),
            ("redir", [to, status]) => Self::redirect(to, status),
            ("redir", _) => Self::Other(NO_PAIR),
            ("error", _) if has_error_pages => {
                Self::Other(RowError::NoLink("handle_errors answers errors"))
            }
            ("respond" | "error", _) => Self::Respond {
                status: status(directive, arguments).to_owned(),
            },
            ("rewrite" | "uri" | "try_files", _) => Self::Rewrite,
            ("handle", _) => Self::Group(GroupKind::Handle),
            ("handle_path", _) => Self::Group(GroupKind::HandlePath),
            ("route", _) => Self::Group(GroupKind::Route),
            ("reverse_proxy" | "php_fastcgi" | "file_server" | "metrics" | "acme_server", _) => {
                Self::Nothing
            }
            ("header", _) if !directive.has_word(&is_location) => return None,
            ("templates" | "tracing" | "method", _) => return None,
            _ if HARMLESS.contains(&name) => return None,
            _ => Self::Other(UNKNOWN),
        })
    }

    fn redirect(to: &str, status: &str) -> Self {
        let status = match status {
            "permanent" => "301",
            "temporary" => "302",
            "html" => return Self::Other(HTML),
            other => other,
        };
        Self::Redirect {
            to: to.to_owned(),
            status: status.to_owned(),
        }
    }
}

/// Returns whether a word may be the name of the header field with the URL of a redirect.
fn is_location(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("location") || word.contains(['*', '{'])
}

/// Returns the status of `respond` or `error`.
fn status<'d>(directive: &'d Directive, arguments: &[&'d str]) -> &'d str {
    let of_block = directive.inner.iter().find_map(|it| {
        let words = it.words.iter().map(String::as_str).collect::<Vec<_>>();
        match words[..] {
            ["status", status] => Some(status),
            _ => None,
        }
    });
    let is_code = |text: &str| text.len() == 3 && text.bytes().all(|it| it.is_ascii_digit());
    let default = match directive.name() {
        "error" => "500",
        _ => "200",
    };
    match arguments {
        [_, status] => status,
        [status] if is_code(status) || status.starts_with('{') && of_block.is_none() => status,
        _ => of_block.unwrap_or(default),
    }
}
