//! A certificate chain and its private key, read from two files.
//!
//! A pair that is read here can be served: the key belongs to the first certificate. Whether the
//! chain is trusted, or the name in it is right, is decided by clients.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openssl::asn1::Asn1Time;
use openssl::error::ErrorStack;
use openssl::x509::X509;
use sha2::{Digest as _, Sha256};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, InconsistentKeys, ServerConfig};

use crate::git::{is_exposed, open_regular};
use crate::mapping::Timestamp;

/// The maximum size of a file in bytes, more than any chain or key has: a wrong path must not fill
/// the memory.
const MAX_BYTES: u64 = 1 << 20;

/// The name of HTTP/2 over TLS (RFC 9113 section 3.2).
pub(super) const H2: &[u8] = b"h2";

/// The supported protocols, the preferred one first (RFC 7301).
const PROTOCOLS: [&[u8]; 2] = [H2, b"http/1.1"];

/// The files of a pair.
#[derive(Debug)]
pub(super) struct PairFiles {
    certificate: PathBuf,
    key: PathBuf,
}

/// A pair that can be served.
pub(super) struct CertificatePair {
    pub(super) config: Arc<ServerConfig>,
    pub(super) expires: Timestamp,
    /// The hash of both files, which distinguishes pairs without keeping the key.
    pub(super) digest: [u8; 32],
    /// Whether every user of this machine can read the key.
    pub(super) exposed: bool,
}

/// Why a certificate and its key cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no certificate in its file.
    #[error(
        "{} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----): \
         give the whole chain, the server's own first", path.display()
    )]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// There is no key in its file.
    #[error(
        "{} contains no private key in PEM format (-----BEGIN PRIVATE KEY-----); \
         decrypt an encrypted key first, for example with openssl pkey", path.display()
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A certificate is invalid.
    #[error("the certificate in {} is invalid", path.display())]
    BrokenCertificate {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        source: ErrorStack,
    },
    /// The key belongs to another certificate.
    #[error(
        "the key in {} does not match the first certificate in {}: name a key and a certificate \
         that belong together", key.display(), certificate.display()
    )]
    Mismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The pair is of an unsupported kind.
    #[error("cannot use the certificate in {} with the key in {}", certificate.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The error from rustls.
        source: rustls::Error,
    },
}

impl TlsError {
    /// Returns whether the system is at fault, and not the contents of the files.
    pub fn is_io(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }
}

impl PairFiles {
    pub(super) fn new(certificate: &Path, key: &Path) -> Self {
        Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        }
    }

    pub(super) fn certificate(&self) -> &Path {
        &self.certificate
    }

    pub(super) fn key(&self) -> &Path {
        &self.key
    }

    /// Reads the pair.
    pub(super) fn read(&self) -> Result<CertificatePair, TlsError> {
        let (certificate, key) = (contents(&self.certificate)?, contents(&self.key)?);
        self.parse(&certificate, &key)
    }

    /// Reads the pair, unless it is the known one.
    pub(super) fn read_unless(
        &self,
        known: &[u8; 32],
    ) -> Result<Option<CertificatePair>, TlsError> {
        let (certificate, key) = (contents(&self.certificate)?, contents(&self.key)?);
        if digest(&certificate, &key) == *known {
            return Ok(None);
        }
        self.parse(&certificate, &key).map(Some)
    }

    fn parse(&self, certificate: &[u8], key: &[u8]) -> Result<CertificatePair, TlsError> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
            .collect::<Result<_, _>>()
            .map_err(|_| self.no_certificate())?;
        let own = chain.first().ok_or_else(|| self.no_certificate())?;
        let expires = expiry(own).map_err(|source| TlsError::BrokenCertificate {
            path: self.certificate.clone(),
            source,
        })?;
        let private = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey {
            path: self.key.clone(),
        })?;
        let config = config(chain, private).map_err(|source| self.refused(source))?;
        Ok(CertificatePair {
            config: Arc::new(config),
            expires,
            digest: digest(certificate, key),
            exposed: is_exposed(&self.key),
        })
    }

    fn no_certificate(&self) -> TlsError {
        TlsError::NoCertificate {
            path: self.certificate.clone(),
        }
    }

    fn refused(&self, source: rustls::Error) -> TlsError {
        let (certificate, key) = (self.certificate.clone(), self.key.clone());
        if matches!(
            source,
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)
        ) {
            return TlsError::Mismatch { certificate, key };
        }
        TlsError::Unusable {
            certificate,
            key,
            source,
        }
    }
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    // Named, because another crate may install a different default provider for the process.
    let provider = Arc::new(ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13, &TLS12])?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = PROTOCOLS.map(Vec::from).into();
    Ok(config)
}

/// Returns when a certificate expires.
fn expiry(certificate: &[u8]) -> Result<Timestamp, ErrorStack> {
    let certificate = X509::from_der(certificate)?;
    let since_epoch = Asn1Time::from_unix(0)?.diff(certificate.not_after())?;
    let seconds = i64::from(since_epoch.days) * 86_400 + i64::from(since_epoch.secs);
    Ok(Timestamp::from_unix(seconds))
}

fn contents(path: &Path) -> Result<Vec<u8>, TlsError> {
    let read = || {
        // A pipe could be read only once.
        let mut bytes = Vec::new();
        (open_regular(path)?.take(MAX_BYTES)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|source| TlsError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn digest(certificate: &[u8], key: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    // The length separates the two files.
    hash.update(certificate.len().to_le_bytes());
    hash.update(certificate);
    hash.update(key);
    hash.finalize().into()
}
