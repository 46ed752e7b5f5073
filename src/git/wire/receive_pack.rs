//! The request to `receive-pack` to move a branch, and its report (gitprotocol-pack(5), "Pushing
//! Data To a Server"). Pure: the caller does the I/O.

use git2::Oid;

use super::advertisement::Advertisement;
use super::packets::{self, FLUSH, Packet};
use super::remote_messages::RemoteMessages;
use super::wire_error::WireError;

/// The capabilities without which nothing is sent.
const NEEDED: [&str; 2] = ["report-status", "side-band-64k"];

/// Without the progress of unpacking.
const QUIET: &str = "quiet";

/// The channel of the report; all others are of messages.
const REPORT: u8 = 1;

/// The limit for keeping a report, which is about one branch.
const MAX_REPORT: usize = 64 << 10;

/// A branch that is to be moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BranchMove<'m> {
    /// The full name.
    pub(crate) branch: &'m str,
    /// The commit that it is expected at; `None` if it is not to exist.
    pub(crate) from: Option<Oid>,
    pub(crate) to: Oid,
}

impl BranchMove<'_> {
    /// Returns the request to a repository, given what it advertises; the pack comes after it. `None`
    /// if the branch is elsewhere.
    ///
    /// # Errors
    ///
    /// If the repository cannot accept the request.
    pub(crate) fn request(&self, mut advertised: &[u8]) -> Result<Option<Vec<u8>>, WireError> {
        let there = Advertisement::read(&mut advertised)?;
        if !NEEDED.iter().all(|it| there.capabilities.have(it)) {
            return Err(WireError::Malformed("it does not report on a push"));
        }
        let mut branches = there.references.iter();
        let at = branches.find(|it| it.name == self.branch).map(|it| it.id);
        if at != self.from {
            return Ok(None);
        }
        let quiet = Some(QUIET).filter(|it| there.capabilities.have(it));
        let capabilities: Vec<_> = NEEDED.into_iter().chain(quiet).collect();
        let (from, to, branch) = (at.unwrap_or(Oid::ZERO_SHA1), self.to, self.branch);
        let mut request = Vec::new();
        let capabilities = capabilities.join(" ");
        packets::write(
            &mut request,
            &format!("{from} {to} {branch}\0 {capabilities}"),
        );
        request.extend_from_slice(FLUSH);
        Ok(Some(request))
    }
}

/// The response to a request: a report, and messages.
#[derive(Debug, Default)]
pub(crate) struct PushReport {
    lines: Vec<u8>,
    pub(crate) messages: RemoteMessages,
}

impl PushReport {
    /// Takes the next packet, with its length.
    pub(crate) fn add(&mut self, mut packet: &[u8]) {
        let Ok(Packet::Content(content)) = packets::read(&mut packet) else {
            return;
        };
        match content.split_first() {
            Some((&REPORT, bytes)) => {
                let room = MAX_REPORT.saturating_sub(self.lines.len());
                self.lines.extend(bytes.iter().take(room));
            }
            Some((_, bytes)) => self.messages.add(bytes),
            None => {}
        }
    }

    /// Returns whether a branch was moved, or why not, once that is reported.
    pub(crate) fn of(&self, branch: &str) -> Option<Result<(), String>> {
        let mut lines = &self.lines[..];
        let mut unpacking = None;
        loop {
            let line = packets::read_text(&mut lines).ok()?;
            let (word, rest) = line.split_once(' ').unwrap_or_default();
            let (name, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "unpack" => unpacking = Some(rest.to_owned()).filter(|it| it != "ok"),
                "ok" if rest == branch => return Some(Ok(())),
                "ng" if name == branch => {
                    return Some(Err(match unpacking {
                        Some(error) => format!("{reason}: {error}"),
                        None => reason.to_owned(),
                    }));
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "refs/heads/main";

    fn id(digit: &str) -> Oid {
        Oid::from_str(&digit.repeat(40)).unwrap()
    }

    fn packed(lines: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for line in lines {
            packets::write(&mut bytes, line);
        }
        [&bytes[..], FLUSH].concat()
    }

    fn request(from: Option<Oid>, lines: &[&str]) -> Result<Option<String>, WireError> {
        let wanted = BranchMove {
            branch: MAIN,
            from,
            to: id("3"),
        };
        let request = wanted.request(&packed(lines))?;
        Ok(request.map(|it| String::from_utf8(it).unwrap()))
    }

    #[test]
    fn a_request_names_both_commits() {
        let other = format!(
            "{} refs/heads/a\0report-status side-band-64k quiet atomic\n",
            id("1")
        );
        let main = format!("{} {MAIN}\n", id("2"));
        let command = format!(
            "{} {} {MAIN}\0 report-status side-band-64k quiet",
            id("2"),
            id("3")
        );
        let expected = format!("{:04x}{command}0000", command.len() + 4);
        let there = [&*other, &*main];
        assert_eq!(request(Some(id("2")), &there).unwrap(), Some(expected));
        assert_eq!(request(Some(id("1")), &there).unwrap(), None);
        assert_eq!(request(None, &there).unwrap(), None);
    }

    #[test]
    fn a_branch_that_is_not_there_can_be_made() {
        let none = format!(
            "{} capabilities^{{}}\0report-status side-band-64k\n",
            id("0")
        );
        let made = request(None, &[&none]).unwrap().unwrap();
        assert!(made[4..].starts_with(&format!("{} {} {MAIN}\0 ", id("0"), id("3"))));
        assert!(!made.contains("quiet"));
        assert_eq!(request(Some(id("1")), &[&none]).unwrap(), None);
    }

    #[test]
    fn a_repository_that_cannot_report_is_not_sent_to() {
        for capabilities in ["", "report-status", "side-band-64k ofs-delta"] {
            let line = format!("{} {MAIN}\0{capabilities}", id("1"));
            assert!(request(Some(id("1")), &[&line]).is_err(), "{capabilities}");
        }
        assert!(request(None, &["ERR no such thing\n"]).is_err());
        let sha256 = format!("{} {MAIN}\0report-status side-band-64k", "1".repeat(64));
        assert!(request(None, &[&sha256]).is_err());
    }

    fn reported(lines: &[&str]) -> Option<Result<(), String>> {
        let mut report = PushReport::default();
        // In any parts.
        for part in packed(lines).chunks(7) {
            let mut packet = format!("{:04x}\u{1}", part.len() + 5).into_bytes();
            packet.extend_from_slice(part);
            report.add(&packet);
        }
        report.of(MAIN)
    }

    #[test]
    fn a_report_is_about_the_branch() {
        let ok = format!("ok {MAIN}\n");
        assert_eq!(reported(&["unpack ok\n", &ok]), Some(Ok(())));
        assert_eq!(reported(&["unpack ok\n", "ok refs/heads/other\n"]), None);
        assert_eq!(reported(&["unpack ok\n"]), None);
        let refused = format!("ng {MAIN} hook declined\n");
        let reason = "hook declined".to_owned();
        assert_eq!(reported(&["unpack ok\n", &refused]), Some(Err(reason)));
        let full = format!("ng {MAIN} unpacker error\n");
        let reason = "unpacker error: no space".to_owned();
        assert_eq!(reported(&["unpack no space\n", &full]), Some(Err(reason)));
    }

    #[test]
    fn messages_are_kept_apart() {
        let mut report = PushReport::default();
        for packet in [
            "000e\u{2}no links ",
            "0010\u{2}on Sundays\n",
            "0004",
            "0000",
            "junk",
        ] {
            report.add(packet.as_bytes());
        }
        assert_eq!(report.messages.text(), "no links on Sundays\n");
        assert_eq!(report.of(MAIN), None);
    }
}
