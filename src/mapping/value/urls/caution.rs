//! Texts and targets that are allowed in a table but worth a warning: texts that change the
//! direction of writing, and targets with a literal address that only some networks reach.
//!
//! A registration over HTTP may be refused for the same reasons. Names are not looked up: all
//! decisions are made from the text alone.

use memchr::memchr;
use url::{Host, Url};

use super::reach::Reach;

/// Returns the first character of a text that embeds, overrides or isolates a direction of writing
/// (UAX #9, sections 2.1, 2.2 and 2.4): with it, a text can read as another.
///
/// The marks of section 2.6 are not among them: they are needed where scripts meet.
pub fn direction_control(text: &str) -> Option<char> {
    if text.is_ascii() {
        return None;
    }
    let is_control = |c: &char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().find(is_control)
}

/// Returns whether the host of a canonical URL is `localhost` or a literal address that is not
/// globally reachable: private, shared, loopback, link-local or unspecified.
pub(crate) fn is_private(url: &str) -> bool {
    let colon = memchr(b':', url.as_bytes());
    let Some(rest) = colon.and_then(|colon| url[colon + 1..].strip_prefix("//")) else {
        return false;
    };
    let ends_host = |byte| matches!(byte, b'/' | b':' | b'?' | b'#');
    let end = rest.bytes().position(ends_host).unwrap_or(rest.len());
    let name = rest[..end].strip_suffix('.').unwrap_or(&rest[..end]);
    // Most hosts are ruled out quickly: an address ends in a digit or begins with a bracket.
    if !rest.starts_with('[') && !name.ends_with(|c: char| c.is_ascii_digit()) {
        return name == "localhost" || name.ends_with(".localhost");
    }
    let url = Url::parse(url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(address)) => is_confined(Reach::of_v4(address)),
        Some(Host::Ipv6(address)) => is_confined(Reach::of_v6(address)),
        _ => false,
    }
}

/// Returns whether only some networks reach an address, or none does because it means "this network".
///
/// Reserved addresses are not among them: documentation and examples use them.
fn is_confined(reach: Reach) -> bool {
    match reach {
        Reach::Private | Reach::LinkLocal | Reach::Metadata | Reach::Unspecified => true,
        Reach::Global | Reach::Reserved => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::Target;
    use super::*;

    #[test]
    fn knows_what_turns_the_direction_of_writing() {
        for text in ["\u{202e}gro", "a\u{202a}", "é\u{2066}b\u{2069}", "\u{2069}"] {
            assert!(direction_control(text).is_some(), "{text:?}");
        }
        // Left-to-right, right-to-left and Arabic letter marks.
        for text in ["", "a b", "שלום", "a\u{200e}b\u{200f}c\u{61c}", "\u{200b}"] {
            assert_eq!(direction_control(text), None, "{text:?}");
        }
    }

    #[test]
    fn knows_addresses_that_not_everyone_reaches() {
        for host in [
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.0.1",
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "0",
            "0.1.2.3",
            "017700000001",
            "100.64.0.1",
            "100.127.255.255",
            "169.254.169.254",
            "127.0.0.1.",
            "[::]",
            "[::1]",
            "[fd00::1]",
            "[fc00::1]",
            "[fe80::1]",
            "[febf::1]",
            "[::ffff:10.0.0.1]",
            "[64:ff9b::a9fe:a9fe]",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "loc%61lhost",
            "１２７.0.0.1",
        ] {
            for rest in ["/", ":8080/x", "?q", "#f"] {
                let url = format!("http://{host}{rest}");
                let target = Target::parse(&url).unwrap();
                assert!(target.is_private(), "{url}");
            }
        }
        for host in [
            "9.255.255.255",
            "11.0.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "169.253.0.1",
            "8.8.8.8",
            "[2001:db8::1]",
            "[::ffff:8.8.8.8]",
            "[64:ff9b::808:808]",
            "[ff02::1]",
            "localhost.example",
            "mylocalhost",
            "10.0.0.1.example",
            "e.example",
        ] {
            let url = format!("https://{host}/localhost?127.0.0.1");
            let target = Target::parse(&url).unwrap();
            assert!(!target.is_private(), "{url}");
        }
    }
}
