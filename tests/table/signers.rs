//! Who may sign served commits: commits signed by real `git` and `ssh-keygen`.
//!
//! They are in `tests/data/signers`, with the script that makes them.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use git2::{ObjectType, Repository};
use waypost::git::{AllowedSigners, CommitId, Refusal, Signer, SignersError, Verify};
use waypost::mapping::Timestamp;

/// The keys that sign a commit of the same name.
const KEYS: [&str; 8] = [
    "ed25519", "other", "p256", "p384", "p521", "rsa", "sk", "sk-p256",
];

/// Between all times that the tests write, and the time of all commits.
const NOW: &str = "2026-11-20T12:00:00Z";

/// A repository, and a file of allowed signers next to it.
struct Fixture {
    dir: tempfile::TempDir,
    repository: Repository,
}

impl Fixture {
    /// Allows with the lines, in which `{NAME}` is a key.
    fn allowing(lines: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(dir.path().join("repository")).unwrap();
        let fixture = Self { dir, repository };
        fixture.allow(lines);
        fixture
    }

    fn allow(&self, lines: &str) {
        fs::write(self.file(), with_keys(lines)).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("allowed_signers")
    }

    fn signers(&self) -> AllowedSigners {
        AllowedSigners::read(self.file()).unwrap()
    }

    fn add(&self, commit: &[u8]) -> CommitId {
        let odb = self.repository.odb().unwrap();
        odb.write(ObjectType::Commit, commit).unwrap().into()
    }

    fn signer_at(&self, commit: &[u8], now: &str) -> Result<Signer, Refusal> {
        let now = Timestamp::parse_start(now).unwrap().unix();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now.try_into().unwrap());
        (self.signers()).signer(&self.repository, self.add(commit), now)
    }

    /// Returns the names of who signed, or the refusal without the id and with `FILE` for the file.
    fn judge_at(&self, commit: &[u8], now: &str) -> Result<String, String> {
        let id = self.add(commit).to_string();
        match self.signer_at(commit, now) {
            Ok(signer) => Ok(signer.principals),
            Err(Refusal(text)) => {
                let reason = text.strip_prefix(&format!("{} ", &id[..12])).unwrap();
                Err(reason.replace(self.file().to_str().unwrap(), "FILE"))
            }
        }
    }

    fn judge(&self, commit: &[u8]) -> Result<String, String> {
        self.judge_at(commit, NOW)
    }

    #[track_caller]
    fn refuses(&self, commit: &[u8], reason: &str) {
        let said = self.judge(commit).unwrap_err();
        assert!(said.contains(reason), "{said}");
    }
}

fn data(path: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/signers");
    fs::read(root.join(path)).unwrap()
}

fn commit(name: &str) -> Vec<u8> {
    data(&format!("commits/{name}"))
}

fn key(name: &str) -> String {
    String::from_utf8(data(&format!("keys/{name}.pub"))).unwrap()
}

fn with_keys(lines: &str) -> String {
    let mut text = lines.to_owned();
    for name in KEYS.iter().chain(&["authority"]) {
        text = text.replace(&format!("{{{name}}}"), key(name).trim());
    }
    text
}

fn changed(commit: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(commit.to_owned()).unwrap();
    assert!(text.contains(from), "no {from:?}");
    text.replacen(from, to, 1).into_bytes()
}

/// Returns the armored signature, as it is in the header.
fn field(commit: &str) -> &str {
    let start = commit.find("gpgsig ").unwrap();
    let end = commit.find(" -----END SSH SIGNATURE-----\n").unwrap();
    &commit[start..end + " -----END SSH SIGNATURE-----\n".len()]
}

#[test]
fn accepts_commits_signed_with_any_listed_kind_of_key() {
    let lines: Vec<String> = KEYS
        .iter()
        .map(|name| format!("{name}@example.org {{{name}}}\n"))
        .collect();
    let fixture = Fixture::allowing(&lines.concat());
    for name in KEYS {
        assert_eq!(
            fixture.judge(&commit(name)),
            Ok(format!("{name}@example.org"))
        );
    }
}

#[test]
fn reports_who_signed_with_which_key() {
    let fixture =
        Fixture::allowing("# The team\n\nbob {other}\nalice@example.org,alice {ed25519} laptop\n");
    let signer = fixture.signer_at(&commit("ed25519"), NOW).unwrap();
    assert_eq!(signer.principals, "alice@example.org,alice");
    assert!(signer.fingerprint.starts_with("SHA256:"), "{signer:?}");
}

#[test]
fn verifies_at_the_present_time() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let verifier: Box<dyn Verify> = Box::new(fixture.signers());
    let signed = fixture.add(&commit("ed25519"));
    verifier.verify(&fixture.repository, signed).unwrap();
    fixture.allow("alice valid-before=\"20200101\" {ed25519}\n");
    verifier.verify(&fixture.repository, signed).unwrap_err();
}

#[test]
fn refuses_what_is_not_signed() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    assert_eq!(
        fixture.judge(&commit("unsigned")).unwrap_err(),
        "is not signed: sign it with an allowed SSH key (git commit -S, with gpg.format=ssh)"
    );
}

#[test]
fn refuses_a_key_that_is_not_listed() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    fixture.refuses(&commit("other"), "is signed with the key SHA256:");
    fixture.refuses(
        &commit("other"),
        "which is not in FILE: have an allowed signer sign it",
    );
}

#[test]
fn refuses_a_key_that_expired() {
    let fixture = Fixture::allowing("alice valid-before=\"20261120\" {ed25519}\n");
    assert_eq!(
        fixture.judge(&commit("ed25519")).unwrap_err(),
        "is signed by alice with a key that was valid before 2026-11-20T00:00:00Z, \
         while it is 2026-11-20T12:00:00Z: sign it with a valid key (FILE:1)"
    );
}

#[test]
fn refuses_an_expired_key_though_the_commit_is_dated_back() {
    let fixture = Fixture::allowing("alice valid-before=\"20261121\" {ed25519}\n");
    assert_eq!(fixture.judge(&commit("ed25519")), Ok("alice".to_owned()));
    let later = fixture.judge_at(&commit("ed25519"), "2026-11-21T00:00:00Z");
    assert!(
        later
            .unwrap_err()
            .contains("while it is 2026-11-21T00:00:00Z")
    );
}

#[test]
fn refuses_a_key_that_is_not_valid_yet() {
    let fixture = Fixture::allowing("alice valid-after=\"20261121\" {ed25519}\n");
    fixture.refuses(
        &commit("ed25519"),
        "is valid from 2026-11-21T00:00:00Z, while it is",
    );
    // Nor does waiting make the commit valid.
    let later = fixture.judge_at(&commit("ed25519"), "2026-11-22T00:00:00Z");
    assert!(
        later
            .unwrap_err()
            .contains("while the commit is of 2026-11-20T12:00:00Z")
    );
}

#[test]
fn takes_any_line_of_a_key_that_counts() {
    let fixture = Fixture::allowing(
        "old valid-before=\"20200101\" {ed25519}\n\
         files namespaces=\"file\" {ed25519}\n\
         new {ed25519}\n",
    );
    assert_eq!(fixture.judge(&commit("ed25519")), Ok("new".to_owned()));
}

#[test]
fn refuses_a_commit_that_was_changed_after_signing() {
    let lines: Vec<String> = KEYS.iter().map(|name| format!("a {{{name}}}\n")).collect();
    let fixture = Fixture::allowing(&lines.concat());
    for name in KEYS {
        let signed = commit(name);
        for (from, to) in [
            ("tree 6", "tree 7"),
            ("author Alice", "author Malory"),
            (
                "committer Alice <alice@example.org> 1795176000",
                "committer Alice <alice@example.org> 1795176001",
            ),
            ("Add ", "Drop "),
            ("second paragraph.\n", "second paragraph.\n\n"),
            ("\n\nAdd", "\nencoding latin1\n\nAdd"),
        ] {
            fixture.refuses(&changed(&signed, from, to), "does not match its signature");
        }
    }
}

#[test]
fn refuses_text_that_is_hidden_after_a_nul() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let mut longer = commit("ed25519");
    longer.extend_from_slice(b"\0more\n");
    fixture.refuses(&longer, "does not match its signature");
}

#[test]
fn refuses_a_signature_in_the_message() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let signed = String::from_utf8(commit("ed25519")).unwrap();
    let field = field(&signed);
    let moved = signed
        .replace(field, "")
        .replace("\n\nAdd", &format!("\n\n{field}Add"));
    fixture.refuses(moved.as_bytes(), "is not signed");
}

#[test]
fn refuses_a_signature_of_another_commit() {
    let fixture = Fixture::allowing("alice {ed25519}\nbob {other}\n");
    let signed = String::from_utf8(commit("ed25519")).unwrap();
    let other = String::from_utf8(commit("other")).unwrap();
    let mixed = signed.replace(field(&signed), field(&other));
    fixture.refuses(mixed.as_bytes(), "does not match its signature");
}

#[test]
fn refuses_two_signatures() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let signed = String::from_utf8(commit("ed25519")).unwrap();
    let twice = signed.replace(field(&signed), &field(&signed).repeat(2));
    fixture.refuses(twice.as_bytes(), "has an SSH signature that cannot be read");
}

#[test]
fn refuses_a_signature_with_data_that_is_not_signed() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let signed = String::from_utf8(commit("ed25519")).unwrap();
    let lines: Vec<&str> = field(&signed).lines().collect();
    let base64 = lines[1..lines.len() - 1].concat().replace(' ', "");
    let mut blob = STANDARD.decode(base64).unwrap();
    // The field that is reserved comes after the namespace.
    let namespace = b"\0\0\0\x03git";
    let found = blob.windows(namespace.len()).position(|it| it == namespace);
    let at = found.unwrap() + namespace.len();
    assert_eq!(blob[at..at + 4], [0; 4]);
    blob.splice(at..at + 4, *b"\0\0\0\x01x");
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    let armor = format!("{first}\n {}\n{last}\n", STANDARD.encode(blob));
    let changed = signed.replace(field(&signed), &armor);
    fixture.refuses(
        changed.as_bytes(),
        "has an SSH signature that cannot be read",
    );
}

#[test]
fn reads_signatures_whatever_the_length_of_their_lines() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let signed = String::from_utf8(commit("ed25519")).unwrap();
    let lines: Vec<&str> = field(&signed).lines().collect();
    let base64: String = lines[1..lines.len() - 1].concat().replace(' ', "");
    for width in [64, 76, 10_000] {
        let mut wrapped = format!("{}\n", lines[0]);
        for line in base64.as_bytes().chunks(width) {
            wrapped += &format!(" {}\n", str::from_utf8(line).unwrap());
        }
        wrapped += &format!("{}\n", lines[lines.len() - 1]);
        let signed = signed.replace(field(&signed), &wrapped);
        assert_eq!(
            fixture.judge(signed.as_bytes()),
            Ok("alice".to_owned()),
            "{width}"
        );
    }
}

#[test]
fn survives_signatures_with_any_byte_changed() {
    let lines: Vec<String> = KEYS.iter().map(|name| format!("a {{{name}}}\n")).collect();
    let fixture = Fixture::allowing(&lines.concat());
    for name in ["ed25519", "p384", "rsa", "sk", "sk-p256"] {
        let signed = String::from_utf8(commit(name)).unwrap();
        let armor = field(&signed);
        // Of the last digit before padding, the low bits may say nothing.
        let start = armor.find('\n').unwrap() + 2;
        let end = armor.trim_end().rfind('\n').unwrap();
        for at in (start..end).filter(|at| at - start < 64 || at % 11 == 0) {
            let mut broken = armor.as_bytes().to_owned();
            if broken[at].is_ascii_alphanumeric() {
                broken[at] = if broken[at] == b'A' { b'B' } else { b'A' };
                let broken = signed.replace(armor, &String::from_utf8(broken).unwrap());
                let said = fixture.judge(broken.as_bytes());
                assert!(said.is_err(), "{name}, at {at}: {broken}");
            }
        }
    }
}

#[test]
fn refuses_a_signature_that_is_not_for_git() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    assert_eq!(
        fixture.judge(&commit("namespace")).unwrap_err(),
        "has a signature for \"file\" instead of \"git\": sign it with git"
    );
}

#[test]
fn refuses_a_key_that_may_not_sign_for_git() {
    let fixture = Fixture::allowing("bob {other}\nalice namespaces=\"file,mail\" {ed25519}\n");
    assert_eq!(
        fixture.judge(&commit("ed25519")).unwrap_err(),
        "is signed by alice with a key that may not sign for git: add \"git\" to its namespaces (FILE:2)"
    );
    fixture.allow("alice namespaces=\"file,g*\" {ed25519}\n");
    assert_eq!(fixture.judge(&commit("ed25519")), Ok("alice".to_owned()));
}

#[test]
fn refuses_other_kinds_of_signatures_by_name() {
    let fixture = Fixture::allowing("alice {ed25519}\nauthority {authority}\n");
    fixture.refuses(&commit("pgp"), "has a PGP signature,");
    fixture.refuses(&commit("x509"), "has an X.509 signature,");
    fixture.refuses(&commit("certificate"), "is signed with a certificate,");
}

#[test]
fn a_removed_signer_stops_counting() {
    let fixture = Fixture::allowing("alice {ed25519}\nbob {other}\n");
    let signers = fixture.signers();
    let id = fixture.add(&commit("ed25519"));
    signers.verify(&fixture.repository, id).unwrap();
    fixture.allow("bob {other}\n");
    let refusal = signers.verify(&fixture.repository, id).unwrap_err();
    assert!(refusal.0.contains("which is not in "), "{refusal}");
}

#[test]
fn nothing_is_trusted_while_the_file_cannot_be_used() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let signers = fixture.signers();
    let id = fixture.add(&commit("ed25519"));
    let said = || signers.verify(&fixture.repository, id).unwrap_err().0;
    fixture.allow("alice {ed25519}\nbob\n");
    assert!(said().contains("allowed_signers:2: no key"), "{}", said());
    fixture.allow("# nobody\n");
    assert!(said().contains("allows no signer"), "{}", said());
    fs::remove_file(fixture.file()).unwrap();
    assert!(
        said().contains("cannot be trusted: cannot read the allowed signers"),
        "{}",
        said()
    );
}

#[test]
fn names_the_line_that_is_wrong() {
    let fixture = Fixture::allowing(
        "alice {ed25519}\n# a comment\n\n*@example.org cert-authority {authority}\n",
    );
    let error = AllowedSigners::read(fixture.file()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}:4", fixture.file().display()));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        cause,
        "cert-authority is not supported: list each key itself"
    );
}

#[test]
fn reads_no_more_than_a_file_of_signers_can_be() {
    let fixture = Fixture::allowing(&"#".repeat((1 << 20) + 1));
    let read = |path: &Path| AllowedSigners::read(path).unwrap_err();
    assert!(matches!(
        read(&fixture.file()),
        SignersError::TooLarge { .. }
    ));
    assert!(matches!(
        read(Path::new("/dev/zero")),
        SignersError::Read { .. }
    ));
    assert!(matches!(
        read(fixture.dir.path()),
        SignersError::Read { .. }
    ));
}

#[test]
fn refuses_a_commit_that_is_not_there() {
    let fixture = Fixture::allowing("alice {ed25519}\n");
    let missing = "0123456789012345678901234567890123456789".parse().unwrap();
    let refusal = fixture
        .signers()
        .verify(&fixture.repository, missing)
        .unwrap_err();
    assert!(
        refusal.0.starts_with("012345678901 cannot be read: "),
        "{refusal}"
    );
}
