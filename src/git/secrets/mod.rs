//! Secrets: given or read from files, and redacted wherever a text might show one.

mod encodings;
mod redact;
mod secret;

pub(crate) use redact::{HIDDEN, Secrets, masked, may_hold_login};
pub use redact::{redact, secrets_in_address};
pub use secret::{CredentialsError, Secret, SecretText, is_exposed};
