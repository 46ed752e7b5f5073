//! The server: the public and the admin listener, and the live table that they serve.
//!
//! A server is loaded ([`Server::load`]), then run on the listeners passed to it ([`Server::run`]).
//! The caller also passes the signals it obeys, so that a test can bind port 0 and stop the server
//! without signalling a process.
//!
//! A folder imports only those before it in this order: `fleet`, `http`, `net`, `tls`, `state`,
//! `reload`, `linkcheck`, `links`, `registrations`, `ops`, `pages`, `public`; the files beside them tie
//! everything together. `no_tls` replaces `tls` without the feature of that name, and `no_fleet`
//! replaces `fleet` without `valkey`.
//!
//! # Invariants
//!
//! - A request never waits for a reload, for a lock that a reload holds, for a log, or for I/O
//!   other than its own connection. Only clients are served on the serving threads.
//! - A request writes nothing that another serving thread reads or writes: each thread has its own
//!   counters.
//! - A table with an error is never live.
//! - A link that was reported as created is in the remote, and live here.
//! - No client sees internal text; nothing a client sends becomes a metric label or a log line.
//! - Clients never take the last file descriptor.
//! - A service manager that does not read its notifications delays no request and no reload.
//! - A search runs on a background thread, one of a few at a time; the first one computes the order of
//!   codes there, which delays no reload.
//! - Neither a request nor a reload waits for a link check or its store; the link status that pages
//!   and metrics show is in memory.

mod config;
#[cfg_attr(not(feature = "valkey"), path = "no_fleet.rs")]
mod fleet;
mod http;
mod linkcheck;
mod links;
mod net;
mod ops;
mod pages;
mod public;
mod registrations;
mod reload;
mod serving;
mod shutdown;
mod state;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use tokio::time::timeout;
use tracing::info;

use crate::mapping::Timestamp;

use self::linkcheck::CheckThread;
use self::net::{Lifecycle, Threads};
use self::ops::ServiceManager;
use self::public::HookPace;
use self::reload::Reloader;
use self::serving::Serving;
use self::state::{DumpSlots, LinkChecks, Live, Metrics, PictureSlots, SearchSlots, Shared};

pub use self::config::Config;
pub use self::fleet::Fleet;
#[cfg(feature = "valkey")]
pub use self::fleet::{FleetName, FleetNameError};
pub use self::http::{AdminHost, AdminHostError, shows_itself};
pub(crate) use self::links::LinkView;
pub use self::net::{
    Inherited, InheritedError, Listener, Pace, SERVING_THREAD, Timeouts, bind, room_for,
};
pub use self::public::HookSecret;
pub use self::registrations::{PrivateUrls, Registrations, TokenFile, TokensError};
pub use self::reload::{Files, RemoteSource};
pub use self::shutdown::{Signal, signals, stop_requested};
pub use self::state::{
    FetchMetrics, Fetching, LinkChecking, LinkStore, LoadError, LogDrops, OpeningState, Source,
};
pub use self::tls::Tls;
#[cfg(feature = "tls")]
pub use self::tls::TlsError;

/// How long clients wait for the table of a server that may start without one. A first fetch may
/// take much longer, and health checks must not wait for that.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The sockets a server answers on.
#[derive(Debug)]
pub struct Listeners {
    /// For following short links.
    pub public: Listener,
    /// For operators and orchestrators.
    pub admin: Listener,
    /// For redirecting clients without TLS to HTTPS.
    pub https_redirect: Option<Listener>,
}

/// A server that has loaded its table, or may start without one.
pub struct Server {
    config: Config,
    shared: Arc<Shared>,
    reloader: Reloader,
    registrations: Option<Registrations>,
}

impl Server {
    /// Loads the table for the first time, unless the configuration says to wait for it: then it is
    /// loaded while the server runs.
    ///
    /// # Errors
    ///
    /// Fails if the table has errors or cannot be read.
    pub async fn load(mut config: Config, source: impl Source) -> Result<Self, LoadError> {
        let metrics = Metrics::new(&config.fetches, &config.log_drops, config.max_connections);
        if let Some(tls) = &config.tls {
            metrics.include(tls);
        }
        if let Some(fleet) = &config.fleet {
            metrics.include_fleet(fleet);
        }
        let link_checks = config.link_checking.take().map(LinkChecks::new);
        let link_checks = link_checks.map(Arc::new);
        if let Some(checks) = &link_checks {
            metrics.include_links(checks);
        }
        let shared = Arc::new(Shared {
            live: Live::default(),
            metrics,
            lifecycle: Lifecycle::default(),
            source: Arc::new(source),
            dumps: config.public_table.then(|| DumpSlots::at(config.dump_pace)),
            searches: SearchSlots::default(),
            pictures: PictureSlots::default(),
            link_checks,
            tls: config.tls.clone(),
            fleet: config.fleet.clone(),
            admin_hosts: config.admin_hosts.clone(),
            max_staleness: config.max_staleness,
            table_limit: Arc::clone(&config.table_limit),
            started: Timestamp::from(SystemTime::now()),
        });
        let mut reloader = Reloader::new(Arc::clone(&shared));
        if !config.wait {
            reloader.load_first().await?;
        }
        Ok(Self {
            config,
            shared,
            reloader,
            registrations: None,
        })
    }

    /// Enables or disables registration over HTTP.
    #[must_use]
    pub fn registering(self, registrations: Option<Registrations>) -> Self {
        Self {
            registrations,
            ..self
        }
    }

    /// Serves until `signals` requests a stop and the requests in flight are finished.
    ///
    /// A closed signal channel is no reason to stop: such a server runs until it is dropped.
    ///
    /// # Errors
    ///
    /// Fails immediately if the serving threads cannot be started.
    pub async fn run(
        self,
        listeners: Listeners,
        signals: mpsc::Receiver<Signal>,
    ) -> io::Result<()> {
        let Self {
            config,
            shared,
            reloader,
            registrations,
        } = self;
        let threads = Arc::new(Threads::start(config.threads, || shared.metrics.counts())?);
        let checks = shared.link_checks.as_ref();
        let checking = checks.map(|checks| CheckThread::start(checks, &shared));
        let checking = checking.transpose()?;
        let port = log_serving(&listeners, &config, &shared);
        let (reloads, asked) = reload::channel(config.fleet.clone());
        let manager = Arc::new(ServiceManager::from_env());
        let _beat = manager.beat(&threads);
        let informed = manager.inform(&shared, reloads.clone());
        let serving = Serving {
            shared: &shared,
            config: &config,
            threads: &threads,
        };
        let begin = |it: Registrations| it.begin(Arc::clone(&shared), reloads.clone());
        let (service, registering) = registrations.map(begin).unzip();
        let service = service.map(Arc::new);
        let hooks = HookPace::default();
        let fleet = config.fleet.clone();
        let passing_on = (hooks.clone()).pass_on(reloads.clone(), public::INTERVAL, fleet);
        let announced = hooks.clone();
        let sharing = join_fleet(&shared, &announced);
        let public = serving.short_links(listeners.public, hooks, service);
        let admin = serving.operators(listeners.admin, reloads);
        let redirects = serving.https_redirects(listeners.https_redirect, port);
        let reloading = reloader.run(config.poll_interval, asked);
        let working = async {
            let registering = async {
                if let Some(registering) = registering {
                    registering.await;
                }
            };
            tokio::join!(reloading, registering, passing_on, sharing)
        };
        let all = async {
            wait_at_once(&config, &shared).await;
            tokio::join!(public, admin, redirects, informed)
        };
        tokio::select! {
            _ = all => {}
            () = shutdown::conduct(&shared.lifecycle, &config, signals, &manager) => {}
            // Never ends on its own.
            _ = working => {}
        }
        if let Some(checking) = checking {
            checking.stop().await;
        }
        Ok(())
    }
}

/// Waits a moment for the first table, if it is loaded while the server runs: most load immediately,
/// and then no client sees that there was none.
async fn wait_at_once(config: &Config, shared: &Shared) {
    if config.wait {
        let _ = timeout(AT_ONCE, shared.live.looked_at()).await;
    }
}

/// Returns the address of a listener: with port 0, the system chose a port.
fn address(listener: &Listener) -> Option<SocketAddr> {
    listener.local_addr().ok()
}

/// Logs what is served where, and returns the public port.
fn log_serving(listeners: &Listeners, config: &Config, shared: &Shared) -> u16 {
    let [public, admin, https_redirect] = [
        Some(&listeners.public),
        Some(&listeners.admin),
        listeners.https_redirect.as_ref(),
    ]
    .map(|listener| Some(listener.and_then(address)?.to_string()));
    let tls = config.tls.as_ref().map(|_| "public");
    let live = shared.live.load_full();
    let links = live.map(|live| live.table.len() as u64);
    info!(public, admin, https_redirect, tls, links, "serving");
    address(&listeners.public).map_or(0, |address| address.port())
}

/// Keeps in touch with the other replicas, if there are any, and checks the source when one of them
/// announces a commit that is not live here.
async fn join_fleet(shared: &Shared, hooks: &HookPace) {
    let Some(fleet) = &shared.fleet else { return };
    let on_announcement = |announced: fleet::Announcement| {
        let live = shared.live.load();
        let commit = live.as_ref().and_then(|live| live.revision.commit());
        let commit = commit.map(|commit| commit.to_string());
        if announced.is_news_to(commit.as_deref()) {
            hooks.announced();
        }
    };
    fleet.run(on_announcement).await;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::mapping::{SourceFile, compile};
    use crate::registry::ProvedTable;
    use crate::source::Rests;

    #[tokio::test]
    async fn a_proved_table_goes_live_without_being_compiled_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mapping.yaml");
        let text = |title: &str| format!("# {title}\nbase_url: https://s.code/\nmapping: []\n");
        fs::write(&path, text("one")).unwrap();
        let source = Files::polled(vec![path.clone()], 1 << 20).resting(Rests::NONE);
        let server = Server::load(Config::default(), source).await.unwrap();
        let shared = server.shared;
        let live = || Arc::clone(&shared.live.load_full().unwrap().table);
        let (reloads, asked) = reload::channel(None);
        tokio::spawn(server.reloader.run(Duration::from_secs(3_600), asked));

        let proved = |text: &str| {
            let files = vec![SourceFile {
                path: path.to_str().unwrap().into(),
                bytes: text.into(),
            }];
            let table = compile(&files).into_sound().unwrap();
            let files = files.into_iter().map(Into::into).collect();
            ProvedTable { files, table }
        };
        // A file that was just written may be loaded one check later.
        let go_live = async |text: &str, table: &dyn Fn() -> ProvedTable| {
            fs::write(&path, text).unwrap();
            let before = live();
            loop {
                let proved = table();
                let compiled = Arc::clone(&proved.table.table);
                shared.live.offer(proved.into());
                reloads.look().await;
                if !Arc::ptr_eq(&live(), &before) {
                    return compiled;
                }
            }
        };
        let two = go_live(&text("two"), &|| proved(&text("two"))).await;
        assert!(Arc::ptr_eq(&live(), &two));
        let two = go_live(&text("three"), &|| proved(&text("two"))).await;
        assert!(!Arc::ptr_eq(&live(), &two), "of other bytes");
    }

    #[tokio::test]
    async fn a_file_that_moves_to_another_directory_of_the_table_is_known_by_its_new_path() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        let text = |entry: &str| format!("base_url: https://s.code/\nmapping:\n- {entry}\n");
        fs::create_dir(at("a")).unwrap();
        fs::create_dir(at("b")).unwrap();
        fs::write(at("a/a.yaml"), text("url: https://a.org/")).unwrap();
        fs::write(at("b/x.yaml"), text("url: https://x.org/")).unwrap();
        fs::write(at("b/y.yaml"), text("url: https://y.org/")).unwrap();
        let paths = vec![at("a"), at("b")];
        let source = Files::polled(paths, 1 << 20).resting(Rests::NONE);
        let server = Server::load(Config::default(), source).await.unwrap();
        let shared = server.shared;
        let (reloads, asked) = reload::channel(None);
        tokio::spawn(server.reloader.run(Duration::from_secs(3_600), asked));
        let live_paths = || shared.live.load_full().unwrap().table.files().to_vec();
        let has = |paths: &[Arc<str>], path: &str| {
            let path = at(path);
            paths.iter().any(|it| **it == *path.to_str().unwrap())
        };

        assert!(has(&live_paths(), "b/x.yaml"));
        fs::rename(at("b/x.yaml"), at("a/x.yaml")).unwrap();
        while !has(&live_paths(), "a/x.yaml") {
            reloads.look().await;
        }

        // The same for a table that is rejected.
        fs::write(at("a/x.yaml"), text("ur1: https://x.org/")).unwrap();
        let rejected = |path: &str| {
            let history = shared.live.history();
            let diagnostics = history.last_error.as_ref().map(|it| it.error.diagnostics());
            let places = diagnostics.unwrap_or_default().iter();
            let paths: Vec<_> = places.map(|it| Arc::clone(&it.place.file)).collect();
            has(&paths, path)
        };
        while !rejected("a/x.yaml") {
            reloads.look().await;
        }
        fs::rename(at("a/x.yaml"), at("b/x.yaml")).unwrap();
        while !rejected("b/x.yaml") {
            reloads.look().await;
        }
    }
}
