//! The live certificate, and its replacement when its files change.
//!
//! The files are read again whenever tables are checked, and compared by content, so it does not
//! matter how they were replaced.
//!
//! Invariant: a pair that cannot be used is never live; the last good one stays.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use prometheus::{IntGauge, Registry};
use serde::Serialize;
use tokio::task::spawn_blocking;
use tokio_rustls::rustls::ServerConfig;
use tracing::{error, info, warn};

use crate::git::chain;
use crate::mapping::Timestamp;

use super::pair::{CertificatePair, PairFiles, TlsError};

/// How long the files must contain the same pair before it goes live.
const REST: Duration = Duration::from_secs(2);

/// The public listener's TLS; copies share the certificate.
#[derive(Clone)]
pub struct Tls(Arc<TlsState>);

struct TlsState {
    files: PairFiles,
    live: ArcSwap<CertificatePair>,
    /// The reason why the files' pair is not live, if any.
    problem: Mutex<Option<TlsProblem>>,
    /// A valid pair that has not rested long enough, if there is one.
    resting: Mutex<Option<Resting>>,
    rest: Duration,
    expiry: IntGauge,
}

/// Why the files are read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Check {
    Periodic,
    Requested,
}

struct Resting {
    digest: [u8; 32],
    seen: Instant,
}

struct TlsProblem {
    since: Timestamp,
    message: String,
    logged: bool,
}

/// The status of TLS.
#[derive(Serialize)]
pub(crate) struct TlsView {
    certificate: String,
    expires: String,
    last_error: Option<ProblemView>,
}

#[derive(Serialize)]
struct ProblemView {
    since: String,
    message: String,
}

impl Tls {
    /// Reads a certificate chain and its private key, both in PEM form.
    ///
    /// # Errors
    ///
    /// Fails if either cannot be read or used, or if they do not belong together.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Self::load_resting(certificate, key, REST)
    }

    /// Reads a pair like [`load`](Self::load); a later pair must have rested for this time.
    ///
    /// # Errors
    ///
    /// Fails as `load` does.
    pub fn load_resting(certificate: &Path, key: &Path, rest: Duration) -> Result<Self, TlsError> {
        let files = PairFiles::new(certificate, key);
        let pair = files.read()?;
        remark(&files, &pair);
        let expiry = IntGauge::new(
            "waypost_tls_certificate_expiry_timestamp_seconds",
            "When the live certificate ends.",
        );
        let expiry = expiry.expect("the name is a literal");
        expiry.set(pair.expires.unix());
        Ok(Self(Arc::new(TlsState {
            files,
            live: ArcSwap::from_pointee(pair),
            problem: Mutex::new(None),
            resting: Mutex::new(None),
            rest,
            expiry,
        })))
    }

    pub(crate) fn register(&self, registry: &Registry) {
        let expiry = Box::new(self.0.expiry.clone());
        registry
            .register(expiry)
            .expect("the name is registered once");
    }

    /// Reads the files again, and if they contain a new and valid pair, makes it live.
    ///
    /// A bad pair is only reported at the second check: two files are replaced one after the other.
    /// Likewise a valid pair only goes live after a rest: a file that is written in place may contain
    /// the first certificate of a chain and not yet the others. Returns how long to wait before the
    /// next check, if a pair has not rested yet.
    pub(crate) async fn look(&self) -> Option<Duration> {
        self.check(Check::Periodic).await
    }

    /// Reads the files again on request, when they are known to be complete: does not wait for a
    /// rest or a second check.
    pub(crate) async fn reload(&self) -> Option<Duration> {
        self.check(Check::Requested).await
    }

    async fn check(&self, check: Check) -> Option<Duration> {
        let tls = self.clone();
        // Only a parser could panic in it; the live certificate stays.
        (spawn_blocking(move || tls.check_now(check)).await).unwrap_or_default()
    }

    fn check_now(&self, check: Check) -> Option<Duration> {
        let TlsState { files, live, .. } = &*self.0;
        let mut problem = self.problem();
        let mut resting = (self.0.resting.lock()).unwrap_or_else(PoisonError::into_inner);
        let before = resting.take();
        match files.read_unless(&live.load().digest) {
            Ok(None) => {
                if problem.take().is_some_and(|problem| problem.logged) {
                    info!("the files hold the live certificate again");
                }
            }
            Ok(Some(pair)) => {
                let before = before.filter(|before| before.digest == pair.digest);
                let seen = before.map_or_else(Instant::now, |before| before.seen);
                let left = self.0.rest.saturating_sub(seen.elapsed());
                if check == Check::Periodic && !left.is_zero() {
                    let digest = pair.digest;
                    *resting = Some(Resting { digest, seen });
                    return Some(left);
                }
                info!(expires = %pair.expires, "certificate replaced");
                remark(files, &pair);
                self.0.expiry.set(pair.expires.unix());
                live.store(Arc::new(pair));
                *problem = None;
            }
            Err(error) => {
                let message = chain(&error);
                let known = problem.take().filter(|known| known.message == message);
                let seen = known.is_some();
                let mut known = known.unwrap_or_else(|| TlsProblem {
                    since: Timestamp::from(SystemTime::now()),
                    message,
                    logged: false,
                });
                if !known.logged && (seen || check == Check::Requested) {
                    let error = &*known.message;
                    error!(error, "certificate rejected, keeping the previous one");
                    known.logged = true;
                }
                *problem = Some(known);
            }
        }
        None
    }

    /// Returns the status for operators.
    pub(crate) fn view(&self) -> TlsView {
        TlsView {
            certificate: self.0.files.certificate().display().to_string(),
            expires: self.0.live.load().expires.to_string(),
            last_error: self.problem().as_ref().map(|problem| ProblemView {
                since: problem.since.to_string(),
                message: problem.message.clone(),
            }),
        }
    }

    /// Returns the configuration for new handshakes.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.live.load().config)
    }

    fn problem(&self) -> MutexGuard<'_, Option<TlsProblem>> {
        (self.0.problem.lock()).unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.0.files).finish()
    }
}

/// Logs anything unusual about a pair that is going live.
fn remark(files: &PairFiles, pair: &CertificatePair) {
    if pair.expires < Timestamp::from(SystemTime::now()) {
        let certificate = files.certificate().display();
        warn!(%certificate, expired = %pair.expires, "the certificate has expired");
    }
    if pair.exposed {
        let key = files.key().display();
        warn!(%key, "everyone on this machine can read the private key: chmod o-r");
    }
}
