//! A real server that is killed, requires a password, uses TLS, or is part of a cluster.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use waypost::frontier::{
    AliasName, Host, Lease, LeaseState, Reservation, Store, StoreError, Valkey, ValkeyError,
};
use waypost::valkey::ServerAddress;

use crate::bench::{millis, named, secs};
use crate::permissions;
use crate::redis_server::{LIMIT, Server};

fn address(server: &Server) -> ServerAddress {
    ServerAddress::parse(&server.url()).unwrap()
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

fn runtime() -> Runtime {
    Runtime::new().unwrap()
}

/// The groups with a request in progress, when each had its last, and the requests of each host.
#[derive(Default)]
struct Ledger {
    asked: BTreeMap<String, (bool, Instant)>,
    times: BTreeMap<Host, usize>,
}

/// The pause of each group.
const PAUSE: Duration = millis(3);

/// How often each host is requested.
const TIMES: usize = 25;

impl Ledger {
    fn begin(&mut self, lease: &Lease) {
        let group = group(lease);
        if let Some((busy, ended)) = self.asked.get(&group) {
            assert!(!busy, "{group} is asked twice at once");
            assert!(ended.elapsed() >= PAUSE, "{group} is asked too soon");
        }
        self.asked.insert(group, (true, Instant::now()));
    }

    fn end(&mut self, lease: &Lease) -> bool {
        self.asked.insert(group(lease), (false, Instant::now()));
        let times = self.times.entry(lease.host.clone()).or_default();
        *times += 1;
        *times < TIMES
    }
}

fn group(lease: &Lease) -> String {
    let alias = lease.alias.as_ref();
    alias.map_or_else(|| lease.host.to_string(), ToString::to_string)
}

/// Repeats an operation while the server is down.
async fn repeated<T, F: Future<Output = Result<T, StoreError>>>(operation: impl Fn() -> F) -> T {
    let since = Instant::now();
    loop {
        match operation().await {
            Ok(value) => return value,
            Err(StoreError::Unavailable(error)) => {
                assert!(since.elapsed() < LIMIT, "{error}");
                tokio::time::sleep(millis(10)).await;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Requests hosts until nothing is left to do.
async fn work(store: Valkey, ledger: Arc<Mutex<Ledger>>) {
    loop {
        // A lease whose answer is lost with the server comes back when it is reaped.
        let lease = match repeated(|| store.reserve_next(secs(2))).await {
            Reservation::Leased(lease) => lease,
            Reservation::Wait(wait) => {
                tokio::time::sleep(wait.min(millis(5))).await;
                repeated(|| store.reap()).await;
                continue;
            }
            Reservation::Empty => return,
        };
        ledger.lock().unwrap().begin(&lease);
        tokio::time::sleep(millis(1)).await;
        let more = ledger.lock().unwrap().end(&lease);
        let next_in = more.then_some(Duration::ZERO);
        // It may have been done before the server was killed, and reports its lease as ended then.
        repeated(|| store.release(&lease, PAUSE, next_in)).await;
    }
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn four_workers_lose_and_double_nothing_while_the_server_is_killed() {
    let mut server = Server::start(&["--port", "0"]);
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let runtime = runtime();
    let first = runtime
        .block_on(Valkey::connect(address(&server), PAUSE))
        .unwrap();
    let hosts: Vec<_> = (0..40)
        .map(|number| named(&format!("h{number}.example")))
        .collect();
    runtime.block_on(async {
        for (number, host) in hosts.iter().enumerate() {
            if number < 12 {
                let alias = AliasName::parse(["one", "two", "three"][number % 3]).unwrap();
                first.set_alias(host, Some(&alias)).await.unwrap();
            }
            first.add_host(host, Duration::ZERO).await.unwrap();
        }
    });
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let store = runtime
            .block_on(Valkey::connect(address(&server), PAUSE))
            .unwrap();
        tasks.spawn_on(work(store, Arc::clone(&ledger)), runtime.handle());
    }
    let done = || ledger.lock().unwrap().times.values().sum::<usize>();
    let all = hosts.len() * TIMES;
    for share in 1..=3 {
        let since = Instant::now();
        while done() < all * share / 4 {
            assert!(since.elapsed() < LIMIT, "{} of {all} are done", done());
            std::thread::sleep(millis(1));
        }
        server.kill();
        server.restart();
    }
    runtime.block_on(async { while tasks.join_next().await.transpose().unwrap().is_some() {} });

    let counts = runtime.block_on(first_again(&server)).unwrap();
    assert_eq!((counts.queued, counts.busy, counts.busy_aliases), (0, 0, 0));
    let ledger = ledger.lock().unwrap();
    for host in &hosts {
        // A host whose release was lost would be requested again: with `always`, none is.
        assert_eq!(ledger.times.get(host), Some(&TIMES), "{host}");
    }
}

async fn first_again(server: &Server) -> Result<waypost::frontier::HostCounts, StoreError> {
    Valkey::connect(address(server), PAUSE)
        .await
        .unwrap()
        .counts()
        .await
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn a_lost_server_is_an_error_that_can_be_repeated() {
    let mut server = Server::start(&["--port", "0"]);
    let runtime = runtime();
    let store = runtime
        .block_on(Valkey::connect(address(&server), PAUSE))
        .unwrap();
    let host = named("a.example");
    runtime
        .block_on(store.add_host(&host, Duration::ZERO))
        .unwrap();
    let Ok(Reservation::Leased(lease)) = runtime.block_on(store.reserve_next(secs(60))) else {
        panic!("a host is due");
    };
    server.kill();
    for _ in 0..2 {
        let error = runtime.block_on(store.renew(&lease, secs(60))).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    let error = runtime
        .block_on(Valkey::connect(address(&server), PAUSE))
        .err()
        .unwrap();
    assert!(
        matches!(error, ValkeyError::Unreachable { .. }),
        "{error:?}"
    );
    server.restart();
    // The lease outlives the server's process, and scripts that it has lost are given to it again.
    let state = runtime.block_on(repeated(|| store.renew(&lease, secs(60))));
    assert_eq!(state, LeaseState::Current);
    server.run(&["SCRIPT", "FLUSH"]);
    let state = runtime
        .block_on(store.release(&lease, PAUSE, None))
        .unwrap();
    assert_eq!(state, LeaseState::Current);
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn a_server_without_memory_is_an_error_that_can_be_repeated() {
    let server = Server::start(&["--port", "0"]);
    let runtime = runtime();
    let store = runtime
        .block_on(Valkey::connect(address(&server), PAUSE))
        .unwrap();
    let host = named("a.example");
    server.run(&["CONFIG", "SET", "maxmemory", "1"]);
    let error = runtime
        .block_on(store.add_host(&host, Duration::ZERO))
        .unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    server.run(&["CONFIG", "SET", "maxmemory", "0"]);
    runtime.block_on(repeated(|| store.add_host(&host, Duration::ZERO)));
    let counts = runtime.block_on(store.counts()).unwrap();
    assert_eq!((counts.hosts, counts.queued), (1, 1));
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn users_have_passwords_and_only_what_they_need() {
    let server = Server::start(&["--port", "0"]);
    let permissions = permissions::documented();
    let permissions = permissions.iter().map(String::as_str);
    let user = ["ACL", "SETUSER", "checker", "on", ">secret"];
    server.run(&Vec::from_iter(user.into_iter().chain(permissions)));
    server.run(&[
        "ACL",
        "SETUSER",
        "reader",
        "on",
        ">secret",
        "~{waypost}:*",
        "-@all",
        "+@read",
    ]);
    server.run(&["ACL", "SETUSER", "default", "off"]);
    let runtime = runtime();
    let connect = |user: &str, password: &str| {
        let address = address(&server).with_user(user).with_password(password);
        runtime.block_on(Valkey::connect(address, PAUSE))
    };
    let store = connect("checker", "secret").unwrap();
    runtime.block_on(async {
        let host = named("a.example");
        store.add_host(&host, Duration::ZERO).await.unwrap();
        let Reservation::Leased(lease) = store.reserve_next(secs(60)).await.unwrap() else {
            panic!("a host is due");
        };
        store.release(&lease, PAUSE, None).await.unwrap();
        store.reap().await.unwrap();
        store.counts().await.unwrap();
    });
    for (user, password) in [
        ("checker", "wrong"),
        ("nobody", "secret"),
        ("reader", "secret"),
    ] {
        let error = connect(user, password).err().unwrap();
        assert!(
            matches!(error, ValkeyError::Refused(_)),
            "{user}: {error:?}"
        );
        assert!(!format!("{error:?}").contains("secret"));
    }
    let error = runtime
        .block_on(Valkey::connect(address(&server), PAUSE))
        .err()
        .unwrap();
    assert!(matches!(error, ValkeyError::Refused(_)), "{error:?}");
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn hosts_of_another_version_are_refused() {
    let server = Server::start(&["--port", "0"]);
    server.run(&["HSET", "{waypost}:meta", "format", "2"]);
    let runtime = runtime();
    let connected = runtime.block_on(Valkey::connect(address(&server), PAUSE));
    let error = connected.err().unwrap();
    assert!(matches!(error, ValkeyError::Format { .. }), "{error:?}");
    let other = address(&server).with_shard("other");
    runtime.block_on(Valkey::connect(other, PAUSE)).unwrap();
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn a_certificate_is_checked() {
    let keys = tempfile::tempdir().unwrap();
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(
        keys.path().join("key.pem"),
        issued.signing_key.serialize_pem(),
    )
    .unwrap();
    std::fs::write(keys.path().join("cert.pem"), issued.cert.pem()).unwrap();
    let (key, certificate) = (keys.path().join("key.pem"), keys.path().join("cert.pem"));
    let port = free_port();
    let _server = Server::start(&[
        "--port",
        "0",
        "--tls-port",
        &port,
        "--tls-auth-clients",
        "no",
        "--tls-key-file",
        key.to_str().unwrap(),
        "--tls-cert-file",
        certificate.to_str().unwrap(),
        "--tls-ca-cert-file",
        certificate.to_str().unwrap(),
        "--bind",
        "127.0.0.1",
    ]);
    // The certificates that are trusted are read from the environment, so each try is a process.
    let connects = |trusted: Option<&Path>| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program
            .args(["--ignored", "--exact", "server::connects_with_tls"])
            .env("WAYPOST_TEST_TLS", format!("rediss://localhost:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if let Some(trusted) = trusted {
            program.env("SSL_CERT_FILE", trusted);
        }
        program.status().unwrap().success()
    };
    assert!(connects(Some(&certificate)));
    assert!(!connects(None), "nobody has signed it");
}

#[test]
#[ignore = "a process of another test"]
fn connects_with_tls() {
    let Ok(url) = std::env::var("WAYPOST_TEST_TLS") else {
        return;
    };
    let address = ServerAddress::parse(&url).unwrap();
    let runtime = runtime();
    let store = runtime.block_on(Valkey::connect(address, PAUSE)).unwrap();
    assert_eq!(runtime.block_on(store.counts()).unwrap().hosts, 0);
}

#[test]
#[ignore = "needs redis-server, which tests/e2e/frontier installs"]
fn a_server_of_a_cluster_sends_us_to_the_one_with_our_keys() {
    let ports = [free_port(), free_port()];
    let servers = ports.each_ref().map(|port| {
        Server::start(&[
            "--port",
            port,
            "--bind",
            "127.0.0.1",
            "--cluster-enabled",
            "yes",
        ])
    });
    // Each has half of the slots, and knows of the other.
    servers[0].run(&["CLUSTER", "ADDSLOTSRANGE", "0", "8191"]);
    servers[1].run(&["CLUSTER", "ADDSLOTSRANGE", "8192", "16383"]);
    servers[1].run(&["CLUSTER", "SET-CONFIG-EPOCH", "2"]);
    servers[0].run(&["CLUSTER", "MEET", "127.0.0.1", &ports[1]]);
    let runtime = runtime();
    for (number, port) in ports.iter().enumerate() {
        let address = ServerAddress::parse(&format!("redis://127.0.0.1:{port}")).unwrap();
        let since = Instant::now();
        let store = loop {
            match runtime.block_on(Valkey::connect(address.clone(), PAUSE)) {
                Ok(store) => break store,
                // They do not know each other yet.
                Err(error) => assert!(since.elapsed() < LIMIT, "{error:?}"),
            }
            std::thread::sleep(millis(50));
        };
        let counts = runtime.block_on(store.counts()).unwrap();
        assert_eq!(counts.hosts, number, "both lead to the same keys");
        let host = named(&format!("h{number}.example"));
        runtime
            .block_on(store.add_host(&host, Duration::ZERO))
            .unwrap();
    }
}
