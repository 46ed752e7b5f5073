//! Texts on which all ways to cut a file must agree, for tests.

/// Calls `check` with variants of a text that is cut into pieces, valid or not, and texts that are
/// not, and with the lengths of the steps in which each is read.
pub(super) fn each(whole: &str, check: impl Fn(&[u8], usize)) {
    for text in [
        whole.to_owned(),
        whole.to_owned() + "tests: []\n",
        whole.to_owned() + "tests: []",
        whole.to_owned() + "- url: https://e.org/last",
        whole.replace('\n', "\r\n"),
        format!("\u{feff}{whole}"),
        "\u{feff}mapping:\n- url: a".to_owned(),
        "mapping:\n# c\n".to_owned(),
        "mapping:\n- url: a".to_owned(),
        "mapping:\nbase_url: b\n".to_owned(),
        "mapping: []".to_owned(),
        "mapping:".to_owned(),
        "a".repeat(2_000),
        String::new(),
    ] {
        for step in [1, 7, 64, 100_000] {
            check(text.as_bytes(), step);
        }
    }
    for (at, byte) in [(3, 0xff), (60, 0xff), (whole.len() + 3, 0xff), (1, 0)] {
        let mut bytes = (whole.to_owned() + "tests: []\n").into_bytes();
        bytes[at] = byte;
        check(&bytes, 100);
    }
}
