//! A server that speaks TLS, and clients that trust it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, IsCa, Issuer, KeyPair, date_time_ymd,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use waypost::server::{Config, Files, Tls};

use crate::support::{Running, soon};

pub(crate) const TABLE: &str = "base_url: https://short.code/\nmapping:\n\
                                - {url: 'https://e.example/', short-code: x}\n";

/// The authority that the clients trust.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

/// A certificate for `short.code` and its key, in PEM form.
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
    pub(crate) der: CertificateDer<'static>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap().der().clone();
        Self {
            issuer: Issuer::new(params, key),
            root,
        }
    }

    pub(crate) fn issue(&self) -> Issued {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["short.code".to_owned()]).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.not_after = date_time_ymd(2096, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Issued {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
            der: certificate.der().clone(),
        }
    }

    /// Returns a client that offers these protocols.
    pub(crate) fn connector(&self, protocols: &[&[u8]]) -> TlsConnector {
        TlsConnector::from(Arc::new(self.client(protocols)))
    }

    pub(crate) fn client(&self, protocols: &[&[u8]]) -> ClientConfig {
        self.client_of(&[&TLS13, &TLS12], protocols)
    }

    /// Returns a client that speaks these versions of TLS.
    pub(crate) fn client_of(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.root.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        config
    }
}

impl Issued {
    /// Writes both files into a directory.
    pub(crate) fn write(&self, directory: &Path) {
        std::fs::write(directory.join("cert.pem"), &self.certificate).unwrap();
        std::fs::write(directory.join("key.pem"), &self.key).unwrap();
    }
}

/// A server that runs, and what its clients need.
pub(crate) struct Secure {
    pub(crate) server: Running,
    pub(crate) authority: Authority,
    /// The first certificate.
    pub(crate) issued: Issued,
    pub(crate) pair: tempfile::TempDir,
}

impl Secure {
    pub(crate) async fn start(config: Config) -> Self {
        Self::with_tables(config, &[TABLE]).await
    }

    pub(crate) async fn with_tables(config: Config, tables: &[&str]) -> Self {
        let authority = Authority::new();
        let issued = authority.issue();
        let pair = tempfile::tempdir().unwrap();
        issued.write(pair.path());
        let tls = load(pair.path());
        let config = Config {
            tls: Some(tls),
            ..config
        };
        let directory = tempfile::tempdir().unwrap();
        for (number, table) in tables.iter().enumerate() {
            std::fs::write(directory.path().join(format!("{number}.yaml")), table).unwrap();
        }
        let source = Files::polled(vec![directory.path().to_owned()], 1 << 20);
        Self {
            server: Running::on(config, directory, source).await,
            authority,
            issued,
            pair,
        }
    }

    pub(crate) async fn connect(&self, protocols: &[&[u8]]) -> TlsStream<TcpStream> {
        let stream = self.server.connect().await;
        let connector = self.authority.connector(protocols);
        soon(connector.connect(name(), stream)).await.unwrap()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.pair.path().join(file)
    }
}

/// Reads the pair that is in a directory.
pub(crate) fn load(directory: &Path) -> Tls {
    Tls::load(&directory.join("cert.pem"), &directory.join("key.pem")).unwrap()
}

pub(crate) fn name() -> ServerName<'static> {
    ServerName::try_from("short.code").unwrap()
}
