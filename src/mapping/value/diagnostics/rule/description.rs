//! Descriptions: everything that is known about a rule, for people.

use std::borrow::Cow;

use super::severity::Severity;

/// The description of a rule.
///
/// Its texts are plain sentences; an explanation and a remedy may have several, each on a line.
#[derive(Debug)]
pub struct Description {
    /// The name, which never changes once it is released.
    pub name: &'static str,
    /// The severity of each diagnostic of the rule.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub meaning: &'static str,
    /// Why it matters, and when it is reported.
    pub explanation: &'static str,
    /// A table that breaks the rule, and no other.
    pub wrong: Example,
    /// The same table without any problem.
    pub right: Example,
    /// What to do about it.
    pub remedy: &'static str,
}

/// A table, as far as an example needs to show it.
#[derive(Debug)]
pub enum Example {
    /// The entries of a table whose other keys do not matter; see [`Example::document`].
    Entries(&'static str),
    /// A whole document.
    Document(&'static str),
    /// A whole document with bytes that cannot be shown.
    Bytes(&'static [u8]),
    /// Several documents, each with its file name.
    Files(&'static [(&'static str, &'static str)]),
    /// The entries of a published table, and of the table proposed to follow it, or whole documents.
    Change {
        /// The published entries.
        published: &'static str,
        /// The proposed entries.
        proposed: &'static str,
    },
    /// An owners file, and the entries of a published table and of the table that an author
    /// proposes.
    Proposal {
        /// The owners file.
        owners: &'static str,
        /// The author of the proposal.
        author: &'static str,
        /// The published entries.
        published: &'static str,
        /// The proposed entries.
        proposed: &'static str,
    },
    /// A description in words of a table that cannot be shown.
    Words(&'static str),
}

/// The keys that precede the entries of an example.
const HEAD: &str = "base_url: https://short.code/\nmapping:\n";

impl Example {
    /// Returns the document that has these entries; a whole document is returned as it is.
    pub fn document(entries: &str) -> String {
        match entries.starts_with("base_url:") {
            true => entries.to_owned(),
            false => format!("{HEAD}{entries}"),
        }
    }

    /// Returns the example for display: lines of YAML, with comments between several tables.
    pub fn text(&self) -> Cow<'static, str> {
        match self {
            Self::Entries(text) | Self::Document(text) | Self::Words(text) => (*text).into(),
            Self::Bytes(bytes) => visible(bytes).into(),
            Self::Files(files) => {
                let files = files.iter();
                let parts: Vec<_> = files
                    .map(|(name, text)| format!("# {name}\n{text}"))
                    .collect();
                parts.concat().into()
            }
            Self::Change {
                published,
                proposed,
            } => format!("# published\n{published}# proposed\n{proposed}").into(),
            Self::Proposal {
                owners,
                author,
                published,
                proposed,
            } => format!(
                "# owners.yaml\n{owners}# published\n{published}# proposed by {author}\n{proposed}"
            )
            .into(),
        }
    }
}

/// Returns bytes as text, with escapes for all that are no line feed and no printable ASCII.
fn visible(bytes: &[u8]) -> String {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    let lines = lines.map(|line| match line.split_last() {
        Some((b'\n', line)) => format!("{}\n", line.escape_ascii()),
        _ => line.escape_ascii().to_string(),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_line_by_line() {
        let example = Example::Bytes(b"a: b\r\nc: \xe9\0");
        assert_eq!(example.text(), "a: b\\r\nc: \\xe9\\x00");
    }
}
