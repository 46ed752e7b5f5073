//! The store on a server that many workers share: Valkey or Redis.
//!
//! Each operation is one script, with the schedule's rows and indexes in the keys of one shard; they
//! share a hash tag, so a cluster has them on one server. The time is the server's.
//!
//! A lease is as durable as the server makes it. With `appendonly yes` and `appendfsync always` it is
//! on the disk before its request is sent. With `everysec`, a killed server loses up to a second of
//! answered operations: hosts that were leased then may be leased again, and are requested a second
//! time. Tokens are still unique, because they are based on the time.
//!
//! `docs/linkcheck.md` has the permissions that a user needs; a test compares them with the scripts.

mod error;
mod scripts;
mod tables;

use std::time::Duration;

use redis::FromRedisValue;

pub use self::error::ValkeyError;
use self::error::explained;
use self::scripts::{Scripts, Time, keys};
pub use self::tables::{ValkeyRow, ValkeyTable, ValkeyWrite, ValkeyWritten};
use super::contract::{
    AliasName, Host, HostCounts, Lease, LeaseState, Pending, Reservation, Settings, Store,
    StoreError, millis,
};
use crate::valkey::{CallError, CallLimits, ServerAddress, ServerLink};

/// How long to wait for the server: one under load is slow, but no operation of ours is. An answer may
/// contain a thousand rows.
const LIMITS: CallLimits = CallLimits {
    connect: Duration::from_secs(5),
    answer: Duration::from_secs(10),
    answer_bytes: 64 << 20,
};

/// The format of the data of the scripts.
const FORMAT: u64 = 1;

/// The maximum number of leases that one call of the server ends.
const REAPED_AT_ONCE: usize = 100;

/// A store on a server, for any number of workers.
pub struct Valkey {
    link: ServerLink,
    scripts: Scripts,
    shard: String,
    default_pause: Duration,
}

impl Valkey {
    /// Connects to a server; `default_pause` is the least that a group rests after a lease that ends
    /// without a release.
    ///
    /// # Errors
    ///
    /// If it cannot be reached, refuses the user or the password, or has hosts of another version.
    pub async fn connect(
        address: ServerAddress,
        default_pause: Duration,
    ) -> Result<Self, ValkeyError> {
        Self::with_time(address, default_pause, Time::Server).await
    }

    /// Connects to a server as [`Valkey::connect`] does, with the key `{shard}:test-time` for its clock.
    #[doc(hidden)]
    pub async fn connect_with_test_time(
        address: ServerAddress,
        default_pause: Duration,
    ) -> Result<Self, ValkeyError> {
        Self::with_time(address, default_pause, Time::Test).await
    }

    async fn with_time(
        address: ServerAddress,
        default_pause: Duration,
        time: Time,
    ) -> Result<Self, ValkeyError> {
        let keys = keys(address.shard());
        let server = address.to_string();
        let store = Self {
            shard: address.shard().to_owned(),
            link: ServerLink::new(address, keys, LIMITS),
            scripts: Scripts::new(time),
            default_pause,
        };
        let format = FORMAT.to_string();
        let format = store
            .link
            .run::<u64>(&store.scripts.open, &[format.as_bytes()])
            .await;
        match format {
            Ok(FORMAT) => Ok(store),
            Ok(_) => Err(ValkeyError::Format { address: server }),
            Err(CallError::Refused(error)) => Err(ValkeyError::Refused(error)),
            Err(error) => Err(ValkeyError::Unreachable {
                address: server,
                source: explained(error),
            }),
        }
    }

    /// Runs a script on the hosts.
    async fn call<T: FromRedisValue>(
        &self,
        script: &redis::Script,
        arguments: &[&[u8]],
    ) -> Result<T, StoreError> {
        self.call_with(script, &[], arguments).await
    }

    /// Runs a script on the hosts and on other keys.
    async fn call_with<T: FromRedisValue>(
        &self,
        script: &redis::Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<T, StoreError> {
        let result = self.link.run_with(script, keys, arguments).await;
        result.map_err(explained)
    }

    /// Returns whether a lease was current, by the answer to a script that needs it to be.
    async fn state(
        &self,
        script: &redis::Script,
        arguments: &[&[u8]],
    ) -> Result<LeaseState, StoreError> {
        Ok(match self.call(script, arguments).await? {
            true => LeaseState::Current,
            false => LeaseState::Ended,
        })
    }
}

/// Returns a duration as an argument.
fn argument(duration: Duration) -> String {
    millis(duration).to_string()
}

impl Store for Valkey {
    fn add_host<'a>(&'a self, host: &'a Host, after: Duration) -> Pending<'a, ()> {
        Box::pin(async move {
            let after = argument(after);
            let arguments = [host.as_str(), &after].map(str::as_bytes);
            self.call(&self.scripts.add_host, &arguments).await
        })
    }

    fn remove_host<'a>(&'a self, host: &'a Host) -> Pending<'a, ()> {
        Box::pin(async move {
            let arguments = [host.as_str().as_bytes()];
            self.call(&self.scripts.remove_host, &arguments).await
        })
    }

    fn set_alias<'a>(&'a self, member: &'a Host, alias: Option<&'a AliasName>) -> Pending<'a, ()> {
        Box::pin(async move {
            let alias = alias.map_or("", AliasName::as_str);
            let arguments = [member.as_str(), alias].map(str::as_bytes);
            self.call(&self.scripts.set_alias, &arguments).await
        })
    }

    fn reserve_next(&self, busy_timeout: Duration) -> Pending<'_, Reservation> {
        Box::pin(async move {
            let timeout = argument(busy_timeout);
            let arguments = [timeout.as_bytes()];
            let answer = self.call(&self.scripts.reserve_next, &arguments).await?;
            reservation(answer)
        })
    }

    fn release<'a>(
        &'a self,
        lease: &'a Lease,
        pause: Duration,
        next_in: Option<Duration>,
    ) -> Pending<'a, LeaseState> {
        Box::pin(async move {
            let next_in = next_in.map(argument).unwrap_or_default();
            let (token, pause) = (lease.token.to_string(), argument(pause));
            let arguments = [lease.host.as_str(), &token, &pause, &next_in].map(str::as_bytes);
            self.state(&self.scripts.release, &arguments).await
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, busy_timeout: Duration) -> Pending<'a, LeaseState> {
        Box::pin(async move {
            let (token, timeout) = (lease.token.to_string(), argument(busy_timeout));
            let arguments = [lease.host.as_str(), &token, &timeout].map(str::as_bytes);
            self.state(&self.scripts.renew, &arguments).await
        })
    }

    fn block<'a>(&'a self, host: &'a Host, duration: Duration) -> Pending<'a, ()> {
        Box::pin(async move {
            let duration = argument(duration);
            let arguments = [host.as_str(), &duration].map(str::as_bytes);
            self.call(&self.scripts.block, &arguments).await
        })
    }

    fn set_settings<'a>(&'a self, host: &'a Host, settings: &'a Settings) -> Pending<'a, ()> {
        Box::pin(async move {
            let pause = argument(settings.pause);
            let arguments = [host.as_str().as_bytes(), pause.as_bytes(), &settings.note];
            self.call(&self.scripts.set_settings, &arguments).await
        })
    }

    fn settings<'a>(&'a self, host: &'a Host) -> Pending<'a, Option<Settings>> {
        Box::pin(async move {
            let arguments = [host.as_str().as_bytes()];
            let answer = self.call(&self.scripts.settings, &arguments).await?;
            let (known, pause, note): (bool, u64, Vec<u8>) = answer;
            Ok(known.then(|| Settings {
                pause: Duration::from_millis(pause),
                note: note.into(),
            }))
        })
    }

    fn reap(&self) -> Pending<'_, usize> {
        Box::pin(async move {
            let (pause, limit) = (argument(self.default_pause), REAPED_AT_ONCE.to_string());
            let arguments = [&*pause, &*limit].map(str::as_bytes);
            let mut all = 0;
            loop {
                let (ended, more): (usize, bool) =
                    self.call(&self.scripts.reap, &arguments).await?;
                all += ended;
                if !more {
                    return Ok(all);
                }
            }
        })
    }

    fn due(&self, block: Duration) -> Pending<'_, usize> {
        Box::pin(async move {
            let block = argument(block);
            self.call(&self.scripts.due, &[block.as_bytes()]).await
        })
    }

    fn counts(&self) -> Pending<'_, HostCounts> {
        Box::pin(async move {
            let counts = self.call(&self.scripts.counts, &[]).await?;
            let (hosts, queued, busy, blocked, busy_aliases) = counts;
            Ok(HostCounts {
                hosts,
                queued,
                busy,
                blocked,
                busy_aliases,
            })
        })
    }
}

/// What the script that reserves returns.
type Reserved = (bool, i64, String, Option<String>, u64, u64, u64, Vec<u8>);

fn reservation(answer: Reserved) -> Result<Reservation, StoreError> {
    let (leased, wait, host, alias, token, left, pause, note) = answer;
    if !leased {
        // A negative number: there is nothing to wait for.
        return Ok(u64::try_from(wait).map_or(Reservation::Empty, |wait| {
            Reservation::Wait(Duration::from_millis(wait))
        }));
    }
    let alias = alias.as_deref().map(AliasName::parse).transpose();
    Ok(Reservation::Leased(Lease {
        host: Host::parse(&host).map_err(|error| StoreError::Failed(error.into()))?,
        alias: alias.map_err(|error| StoreError::Failed(error.into()))?,
        token,
        time_left: Duration::from_millis(left),
        settings: Settings {
            pause: Duration::from_millis(pause),
            note: note.into(),
        },
    }))
}
