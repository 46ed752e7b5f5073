//! SHA-256 digests: in signatures of hooks, and in the files of tokens.

/// A SHA-256 digest.
pub(crate) type Sha256Digest = [u8; 32];

/// Reads a digest in hexadecimal digits of either case.
pub(crate) fn digest(text: &str) -> Option<Sha256Digest> {
    let digits = text.as_bytes();
    let mut bytes = Sha256Digest::default();
    // The standard library would accept a sign before a digit.
    if digits.len() != 2 * bytes.len() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_digests_alone() {
        let mut bytes = [0xa5; 32];
        bytes[0] = 0x0f;
        assert_eq!(digest(&format!("0F{}", "a5".repeat(31))), Some(bytes));
        for text in [
            "",
            "a5",
            &"a5".repeat(33),
            &"+5".repeat(32),
            &"é".repeat(32),
        ] {
            assert_eq!(digest(text), None, "{text}");
        }
    }
}
