//! Why a line of a file of allowed signers cannot be used.

/// The error in a key, from its parser.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KeyError(pub(crate) ssh_key::Error);

/// The error in a line.
#[derive(Debug, thiserror::Error)]
pub enum SignerLineError {
    /// It ends too early.
    #[error("no key: write PRINCIPALS, then options if any, then the key as in its .pub file")]
    NoKey,
    /// A quote is opened and not closed.
    #[error("a quote is not closed")]
    Quote,
    /// An option is unknown, to OpenSSH too.
    #[error("unknown option {0:?}: there are namespaces, valid-after and valid-before")]
    UnknownOption(String),
    /// An option appears twice.
    #[error("the option {0} is given twice")]
    Twice(&'static str),
    /// An option has no value in quotes.
    #[error("the option {0} needs a value in double quotes: {0}=\"…\"")]
    Value(&'static str),
    /// A time is invalid.
    #[error("{0:?} is not a time: write YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, and Z for UTC")]
    Time(String),
    /// No time is between the two times.
    #[error("valid-before is not later than valid-after")]
    Never,
    /// Certificates are not checked.
    #[error("cert-authority is not supported: list each key itself")]
    CertAuthority,
    /// The key cannot be read.
    #[error("the key cannot be read: copy its .pub file")]
    Key(#[source] KeyError),
    /// Signatures by such keys are not checked.
    #[error("a key of the kind {0} is not supported: use ssh-ed25519")]
    KeyKind(String),
    /// An RSA key is too short or too long.
    #[error("an RSA key of {0} bits is not supported: use 2048 to 4096 bits, or ssh-ed25519")]
    RsaSize(usize),
}
