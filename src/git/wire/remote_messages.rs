//! The messages of a remote and of its hooks, of which the beginning is kept.

/// The maximum number of bytes that are kept.
const MAX_BYTES: usize = 64 << 10;

/// Messages for people, as they were received.
#[derive(Debug, Default)]
pub(crate) struct RemoteMessages(Vec<u8>);

impl RemoteMessages {
    /// Takes the next bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let room = MAX_BYTES.saturating_sub(self.0.len());
        self.0.extend(bytes.iter().take(room));
    }

    /// Returns them as text, without a last word that may have been cut.
    pub(crate) fn text(&self) -> String {
        let end = match self.0.len() < MAX_BYTES {
            true => self.0.len(),
            false => {
                let space = self.0.iter().rposition(u8::is_ascii_whitespace);
                space.unwrap_or(0)
            }
        };
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_was_cut_is_not_kept() {
        let mut messages = RemoteMessages::default();
        messages.add(b"a b");
        messages.add(b"c");
        assert_eq!(messages.text(), "a bc");
        for _ in 0..MAX_BYTES {
            messages.add(b"dd");
        }
        assert_eq!(messages.text(), "a");
        assert_eq!(messages.0.len(), MAX_BYTES);
    }
}
