//! TLS of a farm: an authority, its certificates, and handshakes that go wrong.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{Acceptor, WebPkiClientVerifier};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use super::hosts::Hosts;
use super::log::Log;
use super::serve::{Stream, connection};

/// How the handshake of a host goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Handshake {
    Good,
    /// Its certificate was valid until 2001.
    Expired,
    /// Its certificate is for another name.
    WrongName,
    /// Its certificate is from an untrusted authority.
    Untrusted,
    /// It speaks only TLS 1.2 with no protocol of the client.
    Incompatible,
    /// It requires a certificate of the client.
    WantsCertificate,
    /// It answers with bytes that are no TLS.
    Garbage,
    /// It closes the connection.
    Closed,
    /// It sends nothing.
    Hangs,
}

impl Stream for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Issues the certificates of a farm.
pub(crate) struct Authority {
    /// Its own certificate, in PEM form.
    pub(crate) pem: String,
    handshakes: RwLock<HashMap<String, Handshake>>,
    configs: HashMap<Handshake, Arc<ServerConfig>>,
}

impl Authority {
    pub(super) fn new() -> Self {
        let (trusted, pem) = issuer("trusted");
        let (untrusted, _) = issuer("untrusted");
        let farm = ["*.farm.example", "farm.example"];
        let mut incompatible = config(&trusted, &farm, 2096);
        incompatible.alpn_protocols = vec![b"h2".to_vec()];
        let configs = [
            (Handshake::Good, config(&trusted, &farm, 2096)),
            (Handshake::Expired, config(&trusted, &farm, 2001)),
            (
                Handshake::WrongName,
                config(&trusted, &["other.example"], 2096),
            ),
            (Handshake::Untrusted, config(&untrusted, &farm, 2096)),
            (Handshake::Incompatible, incompatible),
            (
                Handshake::WantsCertificate,
                config_with(&trusted, &farm, 2096, client_verifier(&pem)),
            ),
        ];
        Self {
            pem,
            handshakes: RwLock::default(),
            configs: configs
                .into_iter()
                .map(|(handshake, config)| (handshake, Arc::new(config)))
                .collect(),
        }
    }

    /// Makes the handshakes of a host go wrong.
    pub(crate) fn breaks(&self, name: &str, handshake: Handshake) {
        let mut handshakes = self.handshakes.write().unwrap();
        handshakes.insert(format!("{name}.farm.example"), handshake);
    }

    fn handshake(&self, host: &str) -> Handshake {
        let handshakes = self.handshakes.read().unwrap();
        handshakes.get(host).copied().unwrap_or(Handshake::Good)
    }
}

pub(super) async fn serve(
    listener: TcpListener,
    authority: Arc<Authority>,
    (hosts, log): (Arc<Hosts>, Arc<Log>),
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (hosts, log) = (Arc::clone(&hosts), Arc::clone(&log));
        let authority = Arc::clone(&authority);
        tokio::spawn(async move {
            if let Some(stream) = secure(stream, &authority).await {
                connection(stream, &hosts, &log).await;
            }
        });
    }
}

async fn secure(stream: TcpStream, authority: &Authority) -> Option<TlsStream<TcpStream>> {
    let acceptor = LazyConfigAcceptor::new(Acceptor::default(), stream);
    let mut start = acceptor.await.ok()?;
    let name = start
        .client_hello()
        .server_name()
        .unwrap_or_default()
        .to_owned();
    let handshake = authority.handshake(&name);
    match handshake {
        Handshake::Garbage => start
            .io
            .write_all(b"220 mail.example ESMTP\r\n")
            .await
            .ok()?,
        Handshake::Hangs => std::future::pending().await,
        _ => (),
    }
    let config = authority.configs.get(&handshake)?;
    start.into_stream(Arc::clone(config)).await.ok()
}

fn issuer(name: &str) -> (Issuer<'static, KeyPair>, String) {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    (Issuer::new(params, key), pem)
}

/// Returns a verifier of clients that admits those with a certificate of an authority.
fn client_verifier(pem: &str) -> Arc<dyn ClientCertVerifier> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_slice_iter(pem.as_bytes());
    roots.add_parsable_certificates(certificates.map(Result::unwrap));
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    verifier.build().unwrap()
}

/// Returns a configuration with a certificate for some names, valid until a year.
fn config(issuer: &Issuer<'static, KeyPair>, names: &[&str], until: i32) -> ServerConfig {
    config_with(issuer, names, until, WebPkiClientVerifier::no_client_auth())
}

fn config_with(
    issuer: &Issuer<'static, KeyPair>,
    names: &[&str],
    until: i32,
    clients: Arc<dyn ClientCertVerifier>,
) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    let certificate = params.signed_by(&key, issuer).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .unwrap()
        .with_client_cert_verifier(clients)
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}
