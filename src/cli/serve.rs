//! `waypost serve`: answers the short links of a table.

#[cfg_attr(not(feature = "tls"), path = "serve/no_tls.rs")]
pub(super) mod tls;

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::ArgGroup;
use tracing::{info, warn};

use self::tls::TlsArgs;
use super::arguments::{
    FleetArgs, GitArgs, LinkCheckArgs, ListenAddress, ListenArgs, MemoryLimit, RegistrationArgs,
    TableArgs, quantity, require_branch, secret, table,
};
use super::terminal::{Error, LogFilter, LogFormat, complaint, logging};
use crate::server::{
    AdminHost, Config, FetchMetrics, Files, HookSecret, Inherited, Listener, Listeners, LoadError,
    LogDrops, Registrations, RemoteSource, Server, bind, room_for, signals, stop_requested,
};
use crate::source::Follower;

/// How long background tasks may take to release resources at the end.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// The name of a passed socket from which clients are redirected to HTTPS.
const HTTPS_REDIRECT: &str = "https-redirect";

/// Serve the short links of a table, and reload it when it changes
///
/// A table is checked as a whole before it goes live. When it changes, the new version is compiled
/// in the background and replaces the old one in one step. A table with errors is rejected, and the
/// last good version stays live.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("keeps-state").args(["repo", "linkcheck"]).multiple(true))]
#[command(
    before_help = "\
Examples:
  waypost serve                                    ./mapping.yaml on 127.0.0.1:8080
  waypost serve links/ --listen 8000               on another port of this machine
  waypost serve links/ --listen 0.0.0.0:80         for other machines
  waypost serve links/ --pull 1m                   pull the checkout that contains it
  waypost serve --repo https://git.example/links   follow a repository",
    help_template = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}",
    after_help = "\
Exit status: 0 stopped by a signal; 1 the table has errors; 2 wrong usage; 3 the table
cannot be read, or it cannot listen on an address.
`waypost serve --help` explains everything, also secrets, sockets, signals and rarer flags.",
    after_long_help = "\
Secrets are set by variables, or in files that variables name, never by flags:
WAYPOST_GIT_USERNAME, WAYPOST_GIT_PASSWORD and WAYPOST_HOOK_SECRET, or the same with the suffix
_FILE. With a hook secret, a Git host can announce a push at POST /-/hook.

Sockets that a service manager passes (LISTEN_FDS), named public, admin and https-redirect or in this
order, replace the addresses above. A service manager that sets NOTIFY_SOCKET is notified of the
server's state.

Signals: SIGTERM drains and stops, a second one skips the delay; SIGINT stops; SIGHUP reloads.
Exit status: 0 stopped by a signal; 1 the table has errors; 2 wrong usage; 3 the table
cannot be read, or it cannot listen on an address."
)]
pub(super) struct Args {
    /// The table, the same as --table: files and directories
    #[arg(value_name = "PATH", conflicts_with_all = ["table", "repo"])]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    listen: ListenArgs,

    /// A host name under which the admin listener serves its status and reloads; may be repeated
    ///
    /// Probes and metrics are served under any name, and everything under an IP address or localhost.
    /// Other names are refused, so that no web page can reach the listener by pointing its own name
    /// at it.
    #[arg(
        help_heading = "Network",
        long,
        value_name = "NAME",
        env = "WAYPOST_ADMIN_HOST",
        value_delimiter = ','
    )]
    admin_host: Vec<AdminHost>,

    /// The number of threads that serve clients [default: the number of cores]
    #[arg(help_heading = "Limits", long, value_name = "N", env = "WAYPOST_THREADS", value_parser = quantity::count)]
    threads: Option<NonZeroUsize>,

    /// The maximum number of open public connections; further connections wait to be accepted
    #[arg(help_heading = "Limits", long, value_name = "N", env = "WAYPOST_MAX_CONNECTIONS", default_value = "10000", value_parser = quantity::within(1..=u32::MAX))]
    max_connections: u32,

    /// The maximum size of a table's text [default: what memory can hold, at most 256MiB]
    ///
    /// The default is a fifth of the memory beyond the first 64 MiB that the process may use: by the
    /// limit of its control group, RLIMIT_AS, RLIMIT_DATA or the machine.
    #[arg(help_heading = "Limits", long, value_name = "BYTES", env = "WAYPOST_MAX_TABLE_BYTES", value_parser = table::max_bytes)]
    max_table_bytes: Option<u64>,

    /// How often to check the table for changes, even if no file event reports one
    #[arg(help_heading = "Table", long, value_name = "INTERVAL", env = "WAYPOST_POLL_INTERVAL", default_value = "5s", value_parser = quantity::positive_interval)]
    poll_interval: Duration,

    /// Start even if there is no valid table yet, and report not ready until there is one
    #[arg(help_heading = "Table", long, env = "WAYPOST_WAIT", value_parser = clap::builder::BoolishValueParser::new())]
    wait: bool,

    /// Do not publish the whole table: no downloads at /-/mapping.yaml, .jsonl and .beacon, and no
    /// list or search at /-/links
    #[arg(help_heading = "Table", long, env = "WAYPOST_NO_PUBLIC_TABLE", value_parser = clap::builder::BoolishValueParser::new())]
    no_public_table: bool,

    /// Answer all requests through hyper. For tests, which compare the answers
    #[arg(long, hide = true, env = "WAYPOST_NO_FAST_PATH", value_parser = clap::builder::BoolishValueParser::new())]
    no_fast_path: bool,

    /// Report not ready if the last successful fetch is older than this [default: no limit]
    #[arg(help_heading = "Table", long, value_name = "INTERVAL", env = "WAYPOST_MAX_STALENESS", value_parser = quantity::positive_interval)]
    max_staleness: Option<Duration>,

    /// How long to keep serving after SIGTERM, while reporting not ready
    #[arg(help_heading = "Shutdown", long, value_name = "INTERVAL", env = "WAYPOST_DRAIN_DELAY", default_value = "0s", value_parser = quantity::interval)]
    drain_delay: Duration,

    /// How long requests in flight may take after the drain delay
    #[arg(help_heading = "Shutdown", long, value_name = "INTERVAL", env = "WAYPOST_DRAIN_TIMEOUT", default_value = "10s", value_parser = quantity::interval)]
    drain_timeout: Duration,

    /// The format of the log on standard output
    #[arg(
        help_heading = "Log",
        long,
        value_name = "FORMAT",
        env = "WAYPOST_LOG_FORMAT",
        default_value = "text"
    )]
    log_format: LogFormat,

    /// Which events are logged: LEVEL or TARGET=LEVEL, or several separated by commas
    ///
    /// These are directives of tracing's EnvFilter. Waypost's own events have the target waypost and
    /// are logged at info and above, unless a directive names them or applies to everything; those of
    /// libraries are logged only where a directive enables them, as `h2=debug` does, and may contain
    /// what clients send. The levels are off, error, warn, info, debug and trace.
    #[arg(
        help_heading = "Log",
        long,
        value_name = "FILTER",
        env = "WAYPOST_LOG",
        default_value = "waypost=info"
    )]
    log: LogFilter,

    // Last, because their help headings apply to all arguments that follow.
    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    registrations: RegistrationArgs,

    #[command(flatten)]
    fleet: FleetArgs,

    #[command(flatten)]
    link_checks: LinkCheckArgs,

    #[command(flatten)]
    git: GitArgs,
}

/// The flags that most servers need, which `-h` shows; `--help` shows all.
const MAIN_FLAGS: [&str; 13] = [
    "paths",
    "listen",
    "admin_listen",
    "tls_cert",
    "tls_key",
    "repo",
    "path",
    "pull",
    "registrations",
    "linkcheck",
    "max_connections",
    "drain_delay",
    "drain_timeout",
];

/// Leaves rarer flags out of the short help.
pub(super) fn brief(serve: clap::Command) -> clap::Command {
    serve.mut_args(|flag| {
        let is_main = MAIN_FLAGS.contains(&flag.get_id().as_str());
        flag.hide_short_help(!is_main)
    })
}

pub(super) fn run(args: Args) -> Result<(), Error> {
    complaint::limit_waiting();
    // Before all else: a later descriptor must not take the number of one that was passed.
    let inherited = Inherited::from_env().map_err(|error| Error::Usage(error.into()))?;
    let log_drops = LogDrops::default();
    let log = logging::start(args.log_format, args.log.clone(), log_drops.clone());
    // Flushed when it is dropped.
    let _log = log.context("cannot start the log")?;
    // Serving threads have their own runtimes.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    // On a worker thread, which receives events; this thread would have to be woken for each.
    let serving = runtime.spawn(serve(args, inherited, log_drops));
    let result = runtime.block_on(serving).context("the server panicked");
    // A temporary clone is removed with its last user, but a reload that is still reading must not
    // delay the exit.
    runtime.shutdown_timeout(LAST_MOMENT);
    result?
}

impl Args {
    /// Returns the sockets, passed or bound.
    fn listeners(&self, inherited: &mut Inherited) -> Result<Listeners, Error> {
        Ok(Listeners {
            public: listen(inherited.take("public"), self.listen.public()?, "--listen")?,
            admin: listen(
                inherited.take("admin"),
                self.listen.admin(),
                "--admin-listen",
            )?,
            https_redirect: https_redirect(inherited, self.tls.https_redirect_listen())?,
        })
    }

    /// Logs what others can reach or read.
    fn warn_of_exposure(&self, listeners: &Listeners) -> Result<(), Error> {
        let admin = listeners.admin.local_addr();
        let admin = admin.context("cannot get the address of the admin listener")?;
        if !admin.ip().is_loopback() {
            warn!(%admin, "the admin listener can be reached from other machines");
        }
        for file in self.git.access.exposed_files() {
            let file = file.display();
            warn!(%file, "everyone on this machine can read this secret: chmod 600");
        }
        Ok(())
    }

    /// Returns what is configured by flags alone.
    fn config(&self) -> Config {
        let defaults = Config::default();
        Config {
            public_table: !self.no_public_table,
            fast_path: !self.no_fast_path,
            admin_hosts: self.admin_host.clone(),
            max_staleness: self.max_staleness,
            wait: self.wait,
            poll_interval: self.poll_interval,
            threads: self.threads.unwrap_or(defaults.threads),
            drain_delay: self.drain_delay,
            drain_timeout: self.drain_timeout,
            ..defaults
        }
    }
}

async fn serve(args: Args, mut inherited: Inherited, log_drops: LogDrops) -> Result<(), Error> {
    let mut signals = signals().context("cannot handle signals")?;
    let tls = args.tls.load()?;
    if tls.is_none() && inherited.has(HTTPS_REDIRECT) {
        return Err(Error::usage(
            "a socket was passed as https-redirect: name the certificate with --tls-cert",
        ));
    }
    let listeners = args.listeners(&mut inherited)?;
    // Before all else: when a server answers, this is already in its log.
    args.warn_of_exposure(&listeners)?;
    let remote = args.git.remote();
    let remote = remote.map_err(|error| Error::usage(format!("--repo: {error}")))?;
    let registrations = args.registrations.prepare(&args.git, remote.as_ref())?;
    let followed = remote.as_ref().map(|remote| args.git.followed(remote));
    let fleet = args.fleet.prepare(followed)?;
    let link_checking = args.link_checks.prepare(args.git.state_dir());
    let link_checking = link_checking.await?;
    let fetches = FetchMetrics::default();
    let observer = fetches.observer();
    let hook = secret::of("WAYPOST_HOOK_SECRET")
        .map(|secret| secret.read())
        .transpose()?;
    let memory = MemoryLimit::of_process();
    let (max_bytes, table_limit) = table_limit(args.max_table_bytes, memory);
    let config = args.config();
    let config = Config {
        hook: hook.as_deref().and_then(HookSecret::new),
        fleet,
        link_checking,
        tls,
        fetches,
        log_drops,
        table_limit,
        max_connections: room_for(
            args.max_connections,
            listeners.https_redirect.as_ref(),
            config.threads,
        ),
        ..config
    };
    let follow = |remote| {
        let memory = memory.map(|it| it.bytes);
        (args.git).follow(remote, max_bytes, memory, Arc::clone(&observer))
    };
    let remote = remote.map(follow).transpose()?;
    let _orderly = (remote.as_ref()).map(|it| OrderlyEnd(Arc::clone(it.follower())));
    let loading = async {
        Ok::<_, Error>(match remote {
            Some(remote) => {
                let registrations = registrations.map(|it| it.registrations(&remote));
                load_followed(config, remote, registrations).await?
            }
            None => {
                let paths = match args.paths.is_empty() {
                    true => args.table.paths,
                    false => args.paths,
                };
                let table = paths.first().cloned().unwrap_or_default();
                let files = Files::watched(paths, max_bytes);
                Server::load(config, args.git.pull(files, table, observer)?).await
            }
        })
    };
    // The first fetch may take as long as --git-timeout-total allows.
    let loaded = tokio::select! {
        loaded = loading => loaded?,
        () = stop_requested(&mut signals) => {
            info!("stopped before a table was loaded");
            return Ok(());
        }
    };
    let server = loaded.map_err(refused)?;
    (server.run(listeners, signals).await).context("cannot start the server threads")?;
    info!("stopped");
    Ok(())
}

/// Loads the table of a followed repository, in which links are perhaps registered.
async fn load_followed(
    config: Config,
    remote: RemoteSource,
    registrations: Option<Registrations>,
) -> Result<Result<Server, LoadError>, Error> {
    let follower = Arc::clone(remote.follower());
    let server = Server::load(config, remote).await;
    if registrations.is_some() {
        require_branch(&follower)?;
    }
    Ok(server.map(|server| server.registering(registrations)))
}

/// Returns the maximum size of a table in bytes, and the name of that limit in messages.
fn table_limit(asked: Option<u64>, memory: Option<MemoryLimit>) -> (u64, Arc<str>) {
    let max_table_bytes = match (asked, memory) {
        (Some(asked), _) => asked,
        (None, Some(memory)) => memory.table_bytes(),
        (None, None) => table::MAX_BYTES,
    };
    let name = match (asked, memory) {
        (None, Some(MemoryLimit { bytes, by })) if max_table_bytes < table::MAX_BYTES => {
            info!(max_table_bytes, memory = bytes, from = %by, "the size of tables is limited by memory");
            format!(
                "--max-table-bytes, which is {max_table_bytes} unless it is set, \
                 for a memory limit of {bytes} bytes ({by})"
            )
        }
        _ => "--max-table-bytes".to_owned(),
    };
    (max_table_bytes, name.into())
}

/// Records with a follower that this server exits cleanly, however it ends.
struct OrderlyEnd(Arc<Follower>);

impl Drop for OrderlyEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns the socket from which clients are redirected to HTTPS, if configured.
fn https_redirect(
    inherited: &mut Inherited,
    address: Option<ListenAddress>,
) -> anyhow::Result<Option<Listener>> {
    match address {
        Some(address) => listen(
            inherited.take(HTTPS_REDIRECT),
            address,
            "--https-redirect-listen",
        )
        .map(Some),
        None => Ok(inherited.take(HTTPS_REDIRECT)?),
    }
}

/// Returns the passed socket, or if there is none, one bound to an address, which a flag sets.
fn listen(
    passed: io::Result<Option<Listener>>,
    address: ListenAddress,
    flag: &str,
) -> anyhow::Result<Listener> {
    if let Some(passed) = passed.context("cannot listen on a socket that was passed")? {
        return Ok(passed);
    }
    let bound = bind(address.first()).and_then(|bound| match address.second() {
        Some(ip) => bound.beside(ip),
        None => Ok(bound),
    });
    bound.with_context(|| format!("cannot listen on {address}, the address of {flag}"))
}

/// Returns the error of a first load that failed; reports a table's problems, in the format of
/// `check`.
fn refused(error: LoadError) -> Error {
    let LoadError::Rejected { diagnostics, .. } = &error else {
        return error.into();
    };
    let lines = diagnostics.iter().map(|it| format!("{it}\n"));
    complaint::write(lines.collect());
    Error::Refused(error.into())
}
