//! Tokens: a file that lists who may register.
//!
//! Each line has the owner's name and the SHA-256 of the token in hexadecimal; `admin` after them lets
//! it change the entries of others. A token is random, so a fast hash is as good as a slow one: it
//! cannot be guessed. The file is checked every second; if it has an error, the last good contents
//! stay in force. A missing file revokes all tokens, but only after a while, so that it can be
//! replaced.
//!
//! Invariants: no token is kept, shown or logged; the time of a comparison reveals nothing about
//! it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::git::{is_exposed, read_regular};

use crate::server::http::{Sha256Digest, digest};
use crate::server::reload::in_background;

/// How often the file is checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long the file may be missing before that revokes all tokens.
const ABSENCE: Duration = Duration::from_secs(10);

/// The maximum number of tokens in a file: each is compared with the one that a client sends.
const MAX_TOKENS: usize = 10_000;

/// The maximum size of a file, in bytes: more than that many lines take.
const MAX_BYTES: u64 = 16 << 20;

/// The longest name of an owner, in characters.
const MAX_OWNER: usize = 100;

/// Why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file cannot be read.
    #[error("cannot read the tokens in {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A line is malformed.
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// What is wrong with it. It contains nothing from the line, which may be a token itself.
        problem: &'static str,
    },
    /// The file has no lines.
    #[error("{}: the file contains no token, so no one could register", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file has too many lines.
    #[error("{}: more than {MAX_TOKENS} tokens", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
    },
}

/// A token file, and its contents when last read.
pub struct TokenFile {
    path: PathBuf,
    tokens: ArcSwap<Vec<Token>>,
    seen: Mutex<TokenFileState>,
}

/// The owner of a token that was presented.
#[derive(Debug, Clone)]
pub(super) struct Bearer {
    pub(super) owner: Arc<str>,
    /// Whether it may change entries of any owner, and of none.
    pub(super) is_admin: bool,
    /// Distinguishes tokens of one owner.
    pub(super) token: Sha256Digest,
}

#[derive(Debug)]
struct Token {
    owner: Arc<str>,
    is_admin: bool,
    fingerprint: Sha256Digest,
}

/// The last observed state of the file.
struct TokenFileState {
    /// Its contents, if it could be read.
    bytes: Option<Vec<u8>>,
    /// When the file was first found missing.
    missing_since: Option<Instant>,
    /// Why it could not be read, if the last check failed.
    unreadable: Option<String>,
}

impl TokenFile {
    /// Reads a token file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, has an invalid line, or has no token.
    pub fn read(path: &Path) -> Result<Self, TokensError> {
        let (bytes, tokens) = load(path)?;
        if tokens.is_empty() {
            let path = path.to_owned();
            return Err(TokensError::Empty { path });
        }
        warn_if_exposed(path);
        Ok(Self {
            path: path.to_owned(),
            tokens: ArcSwap::from_pointee(tokens),
            seen: Mutex::new(TokenFileState {
                bytes: Some(bytes),
                missing_since: None,
                unreadable: None,
            }),
        })
    }

    /// Returns the bearer of a token, if it is known. Always compares it with all tokens.
    pub(super) fn bearer(&self, token: &[u8]) -> Option<Bearer> {
        let token: Sha256Digest = Sha256::digest(token).into();
        let mut bearer = None;
        for known in self.tokens.load().iter() {
            if bool::from(known.fingerprint.ct_eq(&token)) {
                bearer = Some(Bearer {
                    owner: Arc::clone(&known.owner),
                    is_admin: known.is_admin,
                    token,
                });
            }
        }
        bearer
    }

    /// Follows the file's changes, forever.
    pub(super) async fn follow(self: Arc<Self>) {
        loop {
            sleep(INTERVAL).await;
            let file = Arc::clone(&self);
            // A panic in it leaves the tokens unchanged.
            let _ = in_background(move || file.look(Instant::now())).await;
        }
    }

    /// Applies the file's current contents. A file without tokens is valid: all were revoked.
    fn look(&self, now: Instant) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = match read_regular(&self.path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.look_for_it(&mut seen, now);
                return;
            }
            Err(error) => {
                seen.missing_since = None;
                let error = error.to_string();
                if seen.unreadable.as_ref() != Some(&error) {
                    let file = self.path.display();
                    warn!(%file, error, "cannot read the tokens, keeping the previous ones");
                }
                seen.unreadable = Some(error);
                return;
            }
        };
        seen.missing_since = None;
        seen.unreadable = None;
        if seen.bytes.as_ref() == Some(&bytes) {
            return;
        }
        match parse(&self.path, &bytes) {
            Ok(tokens) => {
                info!(tokens = tokens.len(), "tokens read");
                warn_if_exposed(&self.path);
                self.tokens.store(Arc::new(tokens));
            }
            Err(error) => {
                let error = error.to_string();
                warn!(error, "cannot use the tokens, keeping the previous ones");
            }
        }
        seen.bytes = Some(bytes);
    }

    /// Revokes all tokens if their file has been missing for long enough.
    fn look_for_it(&self, seen: &mut TokenFileState, now: Instant) {
        let file = self.path.display();
        let Some(since) = seen.missing_since else {
            seen.missing_since = Some(now);
            if seen.bytes.is_some() {
                let seconds = ABSENCE.as_secs();
                warn!(%file, seconds, "the token file is missing, all tokens are revoked if it does not return");
            }
            return;
        };
        if seen.bytes.is_some() && now.duration_since(since) >= ABSENCE {
            warn!(%file, "the token file is missing, all tokens are revoked");
            self.tokens.store(Arc::default());
            // When the file comes back, any contents are new.
            seen.bytes = None;
        }
    }
}

/// Warns if everyone can read the file. It has only hashes, but it reveals who may register, and
/// allows guesses to be tested offline.
fn warn_if_exposed(path: &Path) {
    if is_exposed(path) {
        let file = path.display();
        warn!(%file, "everyone on this machine can read the token file: chmod 600");
    }
}

/// Shows only the path.
impl std::fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenFile({})", self.path.display())
    }
}

fn load(path: &Path) -> Result<(Vec<u8>, Vec<Token>), TokensError> {
    let bytes = read_regular(path, MAX_BYTES).map_err(|source| TokensError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let tokens = parse(path, &bytes)?;
    Ok((bytes, tokens))
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Token>, TokensError> {
    let mut tokens = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let problem = |problem| TokensError::Line {
            path: path.to_owned(),
            line: number + 1,
            problem,
        };
        let line = std::str::from_utf8(line).map_err(|_| problem("is not UTF-8"))?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<_> = line.split_whitespace().collect();
        let (owner, digits, is_admin) = match words[..] {
            [owner, digits] => (owner, digits, false),
            [owner, digits, "admin"] => (owner, digits, true),
            _ => return Err(problem("is not of the form OWNER SHA256 [admin]")),
        };
        if owner.chars().count() > MAX_OWNER || owner.contains(char::is_control) {
            return Err(problem(
                "the owner's name is too long, or holds a control character",
            ));
        }
        let fingerprint = digest(digits)
            .ok_or_else(|| problem("what follows the owner is not 64 hexadecimal digits"))?;
        tokens.push(Token {
            owner: owner.into(),
            is_admin,
            fingerprint,
        });
    }
    match tokens.len() > MAX_TOKENS {
        true => Err(TokensError::TooMany {
            path: path.to_owned(),
        }),
        false => Ok(tokens),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// `printf %s correct-horse | openssl dgst -sha256`
    const TOKEN: &str = "correct-horse";
    const HASH: &str = "9dca666eb54730714630d1519264a7bf1eeaad00b8f2edc90d3ecbfad928d163";

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens");
        fs::write(&path, text).unwrap();
        (directory, path)
    }

    fn owner(tokens: &TokenFile) -> Option<String> {
        Some(tokens.bearer(TOKEN.as_bytes())?.owner.to_string())
    }

    #[test]
    fn finds_the_owner_of_a_token() {
        let text = format!("# who may\n\nbob {:064}\n  ada\t{HASH}  \r\n", 0);
        let (_directory, path) = file(&text);
        let tokens = TokenFile::read(&path).unwrap();
        assert_eq!(owner(&tokens).as_deref(), Some("ada"));
        assert!(tokens.bearer(b"correct-horsf").is_none());
        assert!(tokens.bearer(b"").is_none());
        assert!(!format!("{tokens:?}").contains(HASH));
    }

    #[test]
    fn knows_which_tokens_are_of_admins() {
        for (line, expected) in [
            (format!("ada {HASH}"), false),
            (format!("ada {HASH} admin"), true),
        ] {
            let (_directory, path) = file(&line);
            let bearer = TokenFile::read(&path).unwrap().bearer(TOKEN.as_bytes());
            assert_eq!(bearer.unwrap().is_admin, expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_line_is_reported_without_showing_it() {
        for (text, reported) in [
            (format!("ada {HASH}\nada"), ":2: is not of the form"),
            (format!("ada {HASH} x"), ":1: is not of the form"),
            (format!("ada {HASH} admin x"), ":1: is not of the form"),
            (format!("ada {TOKEN}"), ":1: what follows the owner"),
            (format!("ada +{}", &HASH[1..]), ":1: what follows the owner"),
            (format!("a\u{7}da {HASH}"), ":1: the owner's name"),
            ("# nobody\n".to_owned(), "contains no token"),
        ] {
            let (_directory, path) = file(&text);
            let error = TokenFile::read(&path).unwrap_err().to_string();
            assert!(error.contains(reported), "{error}");
            assert!(!error.contains(TOKEN), "{error}");
        }
        let (_directory, path) = file("");
        let nowhere = path.with_file_name("nowhere");
        let error = TokenFile::read(&nowhere).unwrap_err();
        assert!(matches!(error, TokensError::Unreadable { .. }));
    }

    #[test]
    fn the_last_good_file_stays_and_an_empty_one_revokes_all() {
        let (_directory, path) = file(&format!("ada {HASH}"));
        let tokens = TokenFile::read(&path).unwrap();
        let after = |text: &str| {
            fs::write(&path, text).unwrap();
            tokens.look(Instant::now());
            owner(&tokens)
        };
        assert_eq!(after("ada"), Some("ada".to_owned()));
        assert_eq!(after(&format!("eve {HASH}")), Some("eve".to_owned()));
        assert_eq!(after("# all gone"), None);
        assert_eq!(after(&format!("ada {HASH}")), Some("ada".to_owned()));
    }

    #[test]
    fn a_file_that_is_gone_for_long_revokes_all_until_it_is_back() {
        let text = format!("ada {HASH}");
        let (_directory, path) = file(&text);
        let tokens = TokenFile::read(&path).unwrap();
        let start = Instant::now();
        let at = |seconds: u64| {
            tokens.look(start + Duration::from_secs(seconds));
            owner(&tokens).is_some()
        };
        // Missing for a while, twice.
        for begun in [0, 100] {
            fs::remove_file(&path).unwrap();
            assert!(at(begun) && at(begun + 9));
            fs::write(&path, &text).unwrap();
            assert!(at(begun + 10) && at(begun + 99));
        }
        // Missing permanently.
        fs::remove_file(&path).unwrap();
        assert!(at(200) && at(209));
        assert!(!at(210) && !at(1000));
        // Present again, with the same text.
        fs::write(&path, &text).unwrap();
        assert!(at(1001));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_gone() {
        let (directory, path) = file(&format!("ada {HASH}"));
        let tokens = TokenFile::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let start = Instant::now();
        for seconds in [0, 10, 1000] {
            tokens.look(start + Duration::from_secs(seconds));
            assert_eq!(owner(&tokens).as_deref(), Some("ada"));
        }
        drop(directory);
    }
}
