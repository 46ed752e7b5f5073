//! TLS to hosts, and the trusted authorities: those of the system, or of `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`, as for Git.

use std::collections::HashSet;
use std::error::Error as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, AlertDescription, CertificateError, ClientConfig, RootCertStore};
use url::{Host, Url};

use super::Failure;
use super::failure::CertificateProblem;

/// The maximum size of a file of certificates, in bytes; that of a usual system has 220 kB.
const MAX_BYTES: u64 = 16 << 20;

/// The maximum number of files that are read in a directory of certificates.
const MAX_FILES: usize = 4096;

/// The trusted authorities.
#[derive(Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

/// Why there are no trusted authorities.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// A file or a directory cannot be read.
    #[error("cannot read the trusted certificates in {}", path.display())]
    Unreadable {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There are no certificates.
    #[error(
        "there are no trusted certificates: install ca-certificates, or name a file of certificates in \
         SSL_CERT_FILE"
    )]
    None,
    /// This version of TLS cannot be used.
    #[error("cannot use TLS")]
    Unusable {
        /// The error from rustls.
        source: rustls::Error,
    },
}

impl Trust {
    /// Whether this program supports TLS.
    pub(super) const AVAILABLE: bool = true;

    /// Trusts the authorities that the system trusts.
    ///
    /// # Errors
    ///
    /// Fails if there are no certificates, or they cannot be read.
    pub fn system() -> Result<Self, TrustError> {
        let found = openssl_probe::probe();
        let directory = found.cert_dir.filter(|_| {
            // The usual directory holds the same certificates as the usual file.
            found.cert_file.is_none() || std::env::var_os(openssl_probe::ENV_CERT_DIR).is_some()
        });
        let mut pem = Vec::new();
        if let Some(path) = found.cert_file {
            append(&path, &mut pem).map_err(|source| TrustError::Unreadable { path, source })?;
        }
        if let Some(path) = directory {
            append_all(&path, &mut pem)
                .map_err(|source| TrustError::Unreadable { path, source })?;
        }
        Self::from_pem(&pem)
    }

    /// Trusts the authorities in a text of certificates in PEM form. Damaged ones are skipped,
    /// because old collections contain some.
    ///
    /// # Errors
    ///
    /// Fails if there are none.
    pub fn from_pem(pem: &[u8]) -> Result<Self, TrustError> {
        let roots = roots(pem);
        if roots.is_empty() {
            return Err(TrustError::None);
        }
        // Named, because another crate may install a different default provider for the process.
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|source| TrustError::Unusable { source })?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
        })
    }

    /// Establishes TLS with the host of a URL.
    pub(super) async fn secure(
        &self,
        url: &Url,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let name = match url.host() {
            Some(Host::Ipv4(address)) => ServerName::from(address),
            Some(Host::Ipv6(address)) => ServerName::from(address),
            Some(Host::Domain(name)) => {
                let name = name.strip_suffix('.').unwrap_or(name);
                ServerName::try_from(name.to_owned()).map_err(|_| Failure::NoSuchName)?
            }
            None => return Err(Failure::NoSuchName),
        };
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let secured = connector.connect(name, stream).await;
        secured.map_err(|error| classify(&error))
    }
}

/// Reads certificates, each once: a directory holds the same ones under several names.
fn roots(pem: &[u8]) -> RootCertStore {
    let certificates: HashSet<_> = CertificateDer::pem_slice_iter(pem)
        .filter_map(Result::ok)
        .collect();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    roots
}

/// Classifies an error of a handshake.
fn classify(error: &io::Error) -> Failure {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(rustls::Error::InvalidCertificate(problem)) => Failure::Certificate(match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                CertificateProblem::Expired
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                CertificateProblem::NotYetValid
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                CertificateProblem::WrongName
            }
            CertificateError::UnknownIssuer => CertificateProblem::UnknownIssuer,
            CertificateError::Revoked => CertificateProblem::Revoked,
            _ => CertificateProblem::Invalid,
        }),
        // Browsers still support some versions and ciphers that rustls does not.
        Some(
            rustls::Error::PeerIncompatible(_)
            | rustls::Error::AlertReceived(
                AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity
                | AlertDescription::NoApplicationProtocol
                | AlertDescription::ProtocolVersion,
            ),
        ) => Failure::TlsIncompatible,
        _ => Failure::Tls,
    }
}

/// Returns whether the other side has refused a connection without a client certificate. In TLS 1.3
/// that arrives after the handshake, when an answer is awaited (RFC 8446, section 4.4.2.4); in
/// earlier versions it is a handshake that fails, like many others.
pub(super) fn wants_certificate(error: &hyper::Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref());
    let cause = cause.and_then(io::Error::get_ref);
    let cause = cause.and_then(|cause| cause.downcast_ref());
    let alert = rustls::Error::AlertReceived(AlertDescription::CertificateRequired);
    cause == Some(&alert)
}

/// Appends the contents of a file.
fn append(path: &Path, pem: &mut Vec<u8>) -> io::Result<()> {
    // Reading a pipe would block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(path)?.take(MAX_BYTES).read_to_end(pem)?;
    pem.push(b'\n');
    Ok(())
}

/// Appends the contents of the files of a directory; unreadable ones are skipped.
fn append_all(directory: &Path, pem: &mut Vec<u8>) -> io::Result<()> {
    for item in fs::read_dir(directory)?.take(MAX_FILES) {
        let path = item?.path();
        let is_room = u64::try_from(pem.len()).is_ok_and(|length| length < MAX_BYTES);
        if is_room && path.is_file() {
            append(&path, pem).ok();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_server_is_trusted_without_certificates() {
        for pem in [
            "",
            "nonsense",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            let trust = Trust::from_pem(pem.as_bytes());
            assert!(matches!(trust.err(), Some(TrustError::None)), "{pem}");
        }
    }

    #[test]
    fn a_directory_is_read_as_its_files_are() {
        let dir = tempfile::tempdir().unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::default();
        let certificate = params.self_signed(&key).unwrap().pem();
        fs::write(dir.path().join("a.pem"), &certificate).unwrap();
        fs::write(dir.path().join("b.pem"), certificate.repeat(2)).unwrap();
        fs::write(dir.path().join("README"), "nonsense").unwrap();
        fs::create_dir(dir.path().join("directory")).unwrap();
        let mut pem = Vec::new();
        append_all(dir.path(), &mut pem).unwrap();
        assert_eq!(roots(&pem).len(), 1);
        assert!(Trust::from_pem(&pem).is_ok());
        assert!(append(dir.path(), &mut pem).is_err());
    }
}
