//! The references and capabilities that a remote advertises.

use std::collections::HashMap;
use std::io::Read;

use git2::Oid;

use super::packets::{self, Packet};
use super::wire_error::WireError;

/// The maximum number of bytes of an advertisement: enough for more than a million references.
pub(crate) const MAX_ADVERTISED: usize = 128 << 20;

/// A reference of a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AdvertisedRef {
    pub(crate) name: String,
    pub(crate) id: Oid,
    /// The branch, if this is a symbolic reference.
    pub(crate) leads_to: Option<String>,
}

/// The advertisement of a remote.
#[derive(Debug, Default)]
pub(super) struct Advertisement {
    /// Its references, except those whose names are not UTF-8.
    pub(super) references: Vec<AdvertisedRef>,
    pub(super) capabilities: Capabilities,
}

/// The capabilities of a remote.
#[derive(Debug, Default)]
pub(super) struct Capabilities(Vec<String>);

impl Capabilities {
    /// Returns whether there is a capability of this name, which has no value.
    pub(super) fn have(&self, name: &str) -> bool {
        self.0.iter().any(|it| it == name)
    }

    /// Checks that ids use SHA-1, the default if a remote names no other format.
    fn check_format(&self) -> Result<(), WireError> {
        match self
            .values("object-format")
            .find(|format| *format != "sha1")
        {
            Some(format) => Err(WireError::ObjectFormat(format.to_owned())),
            None => Ok(()),
        }
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        (self.0.iter()).filter_map(move |it| it.strip_prefix(name)?.strip_prefix('='))
    }
}

impl Advertisement {
    /// Reads an advertisement up to its end.
    pub(super) fn read(input: &mut impl Read) -> Result<Self, WireError> {
        let mut advertisement = Self::default();
        let mut total = 0;
        let mut first = true;
        while let Packet::Content(content) = packets::read(input)? {
            total += content.len();
            if total > MAX_ADVERTISED {
                return Err(WireError::TooManyReferences);
            }
            let mut line = content.strip_suffix(b"\n").unwrap_or(&content);
            if std::mem::take(&mut first) {
                let end = line.iter().position(|byte| *byte == 0);
                let (reference, capabilities) = line.split_at(end.unwrap_or(line.len()));
                advertisement.capabilities = capabilities_of(capabilities);
                advertisement.capabilities.check_format()?;
                line = reference;
            }
            advertisement.add(line)?;
        }
        advertisement.resolve();
        Ok(advertisement)
    }

    fn add(&mut self, line: &[u8]) -> Result<(), WireError> {
        if line.starts_with(b"shallow ") {
            return Ok(());
        }
        let malformed = || WireError::Malformed("a reference without an id");
        let Some(at) = line.iter().position(|byte| *byte == b' ') else {
            return Err(malformed());
        };
        let id = std::str::from_utf8(&line[..at]).map_err(|_| malformed())?;
        let id = packets::id(id).ok_or_else(malformed)?;
        // Git allows any bytes in a name. Such a reference cannot be requested here.
        if let Ok(name) = std::str::from_utf8(&line[at + 1..])
            && !name.starts_with("capabilities^{}")
        {
            self.references.push(AdvertisedRef {
                name: name.to_owned(),
                id,
                leads_to: None,
            });
        }
        Ok(())
    }

    /// Adds where symbolic references lead.
    fn resolve(&mut self) {
        let targets: HashMap<&str, &str> = (self.capabilities.values("symref"))
            .filter_map(|it| it.split_once(':'))
            .collect();
        for reference in &mut self.references {
            let target = targets.get(&*reference.name);
            reference.leads_to = target.map(|it| (*it).to_owned());
        }
    }
}

fn capabilities_of(bytes: &[u8]) -> Capabilities {
    let text = String::from_utf8_lossy(bytes);
    let words = text.trim_start_matches('\0').split_whitespace();
    // Anything that is not UTF-8 here is the name of a branch that cannot be followed.
    let readable = words.filter(|word| !word.contains(char::REPLACEMENT_CHARACTER));
    Capabilities(readable.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advertised(lines: &[&[u8]]) -> Result<Advertisement, WireError> {
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend(format!("{:04x}", line.len() + 4).bytes());
            bytes.extend_from_slice(line);
        }
        bytes.extend_from_slice(packets::FLUSH);
        Advertisement::read(&mut &bytes[..])
    }

    const ID: &str = "1111111111111111111111111111111111111111";

    #[test]
    fn reads_references_and_capabilities() {
        let lines = [
            format!("{ID} HEAD\0ofs-delta symref=HEAD:refs/heads/main agent=git/2\n"),
            format!("{ID} refs/heads/main\n"),
        ];
        let lines: Vec<&[u8]> = lines.iter().map(|it| it.as_bytes()).collect();
        let latin_1 = [ID.as_bytes(), b" refs/heads/caf\xE9\n"].concat();
        let read = advertised(&[lines[0], lines[1], &latin_1]).unwrap();
        let names: Vec<&str> = read.references.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["HEAD", "refs/heads/main"]);
        assert_eq!(
            read.references[0].leads_to.as_deref(),
            Some("refs/heads/main")
        );
        assert!(read.capabilities.have("ofs-delta") && !read.capabilities.have("thin-pack"));
    }

    #[test]
    fn an_empty_repository_has_no_references() {
        let zeros = "0".repeat(40);
        let line = format!("{zeros} capabilities^{{}}\0shallow\n");
        let read = advertised(&[line.as_bytes()]).unwrap();
        assert!(read.references.is_empty() && read.capabilities.have("shallow"));
        assert!(advertised(&[]).unwrap().references.is_empty());
    }

    #[test]
    fn names_an_object_format_that_is_not_known() {
        let line = format!("{} HEAD\0object-format=sha256\n", "1".repeat(64));
        let error = advertised(&[line.as_bytes()]).unwrap_err().to_string();
        assert_eq!(error, "unknown object format 'sha256'");
    }

    #[test]
    fn refuses_what_is_no_reference() {
        for line in ["main", "11 main", "x"] {
            assert!(advertised(&[line.as_bytes()]).is_err(), "{line}");
        }
    }
}
