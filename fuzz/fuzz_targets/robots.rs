//! An arbitrary robots.txt and path: each is read, and what it decides does not depend on how the
//! path is encoded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use url::Url;
use waypost_fuzz::polite::Robots;

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (path, body) = bytes.split_at(end.unwrap_or_default());
    let Ok(path) = str::from_utf8(path) else {
        return;
    };
    let Ok(url) = Url::parse(&format!("https://e.example/{path}")) else {
        return;
    };
    let robots = Robots::parse(body);
    let allows = robots.allows(&url);
    let mut encoded = url.clone();
    // No hexadecimal digits, which may be those of an octet that is encoded already.
    encoded.set_path(&url.path().replace('s', "%73").replace('~', "%7E"));
    // Only the file itself may always be read, and only by its plain name.
    if url.path() != "/robots.txt" {
        assert_eq!(robots.allows(&encoded), allows, "{url}");
    }
    let answered = Robots::answered(200, body);
    assert_eq!(answered.allows(&url), allows);
    assert_eq!(answered.crawl_delay(), robots.crawl_delay());
});
