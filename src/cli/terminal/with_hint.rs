//! A message and its hint as one text, for arguments that clap or a dialogue refuses.

use std::fmt::Display;

/// Returns a message, followed by a hint if there is one.
pub(crate) fn with_hint(message: impl Display, hint: Option<impl Display>) -> String {
    match hint {
        Some(hint) => format!("{message}: {hint}"),
        None => message.to_string(),
    }
}
