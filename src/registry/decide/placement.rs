//! Placement: the site and the file in which an entry is written.
//!
//! There is no guessing: if several are possible, one must be named.

use std::path::Path;

use super::refusal::RegistrationRefusal;
use super::request::Destination;
use crate::mapping::{Site, Table};

/// Returns the site that a request names, or the only one.
pub(crate) fn site<'t>(
    table: &'t Table,
    named: Option<&str>,
    destination: &Destination,
) -> Result<&'t Site, RegistrationRefusal> {
    if let Some(named) = named {
        return Ok(table.site_named(named)?);
    }
    let sites = table.sites();
    let several = || RegistrationRefusal::SeveralSites {
        sites: table.base_urls(),
    };
    if let [only] = sites {
        return Ok(only);
    }
    let Destination::Document(Some(name)) = destination else {
        return Err(several());
    };
    let mut with_file = sites.iter().filter(|site| find(site, name).is_some());
    match (with_file.next(), with_file.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(several()),
    }
}

/// Returns the path of the document of a site that a request names, or of the only one.
pub(crate) fn document<'s>(
    site: &'s Site,
    named: Option<&str>,
) -> Result<&'s str, RegistrationRefusal> {
    let paths = || site.files().map(str::to_owned).collect();
    if let Some(name) = named {
        return find(site, name).ok_or_else(|| RegistrationRefusal::UnknownFile {
            file: name.to_owned(),
            files: paths(),
        });
    }
    let mut files = site.files();
    match (files.next(), files.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(RegistrationRefusal::SeveralFiles { files: paths() }),
    }
}

/// Returns the document with that path, or else the only one with that file name.
fn find<'s>(site: &'s Site, name: &str) -> Option<&'s str> {
    if let Some(path) = site.files().find(|path| *path == name) {
        return Some(path);
    }
    let has_name = |path: &&str| Path::new(path).file_name() == Some(name.as_ref());
    let mut files = site.files().filter(has_name);
    files.next().filter(|_| files.next().is_none())
}

/// The maximum length of a file name in bytes (NAME_MAX of Linux and macOS).
const MAX_NAME_BYTES: usize = 255;

/// Returns a file name for the entry of a code, unique to the code, unless it would be too long.
///
/// ASCII letters, digits, `-`, `_`, `~` and `.` are literal, all else is percent-encoded, and so is
/// a character that would make a name hidden or look like a flag.
pub(super) fn fragment_name(code: &str) -> Option<String> {
    let mut name = String::new();
    for (at, byte) in code.bytes().enumerate() {
        let is_safe = byte.is_ascii_alphanumeric() || b"_~".contains(&byte);
        if is_safe || at > 0 && b"-.".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name.push_str(".yaml");
    (name.len() <= MAX_NAME_BYTES).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_has_a_name_that_every_system_takes() {
        for (code, name) in [
            ("t0P0JMya", "t0P0JMya.yaml"),
            ("-5_a.b~", "%2D5_a.b~.yaml"),
            (".a", "%2Ea.yaml"),
            ("a/b-c", "a%2Fb-c.yaml"),
            ("é", "%C3%A9.yaml"),
        ] {
            assert_eq!(fragment_name(code).as_deref(), Some(name));
        }
    }
    #[test]
    fn no_fragment_has_a_name_that_is_too_long() {
        let longest = fragment_name(&"é".repeat(41)).map(|name| name.len());
        assert_eq!(longest, Some(41 * 6 + 5));
        assert_eq!(fragment_name(&"é".repeat(42)), None);
    }
}
