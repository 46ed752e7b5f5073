//! Announcements: messages with which a replica makes the others check the source.
//!
//! A message is only a hint. Anyone who may write to the server can send one, so whatever it
//! contains, it causes at most a check of the source, or prevents an unneeded one.

use serde::{Deserialize, Serialize};

/// The longest message that is read; ours have at most 120 bytes.
const MAX_BYTES: usize = 256;

/// An announcement that there may be a new commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announcement {
    /// The replica that sends it.
    #[serde(default)]
    pub(super) from: String,
    /// The new commit, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
}

impl Announcement {
    /// Reads a message; one of an unknown form is taken as a hint, too.
    pub(super) fn read(message: &[u8]) -> Self {
        let is_short = message.len() <= MAX_BYTES;
        let read = is_short.then(|| serde_json::from_slice(message).ok());
        read.flatten().unwrap_or_default()
    }

    /// Returns the message.
    pub(super) fn message(&self) -> String {
        serde_json::to_string(self).expect("our own structures have string keys only")
    }

    /// Returns whether it may be news for a replica that serves this commit.
    pub(crate) fn is_news_to(&self, live: Option<&str>) -> bool {
        self.commit.is_none() || self.commit.as_deref() != live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_sent() {
        let sent = Announcement {
            from: "0123456789abcdef".to_owned(),
            commit: Some("a".repeat(64)),
        };
        assert!(sent.message().len() <= 120, "{}", sent.message());
        assert_eq!(Announcement::read(sent.message().as_bytes()), sent);
    }

    #[test]
    fn whatever_cannot_be_read_is_a_hint() {
        let long = format!(r#"{{"commit":"{}"}}"#, "a".repeat(MAX_BYTES));
        for message in [
            &b""[..],
            b"\xff",
            b"{",
            b"[]",
            b"{\"commit\":1}",
            long.as_bytes(),
        ] {
            let read = Announcement::read(message);
            assert_eq!(read, Announcement::default());
            assert!(read.is_news_to(Some("a")) && read.is_news_to(None));
        }
    }

    #[test]
    fn a_live_commit_is_no_news() {
        let commit =
            |commit: &str| Announcement::read(format!(r#"{{"commit":"{commit}"}}"#).as_bytes());
        assert!(!commit("a").is_news_to(Some("a")));
        assert!(commit("a").is_news_to(Some("b")));
        assert!(commit("a").is_news_to(None));
    }
}
