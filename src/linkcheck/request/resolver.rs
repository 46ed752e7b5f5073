//! Resolving names to addresses.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use tokio::net::lookup_host;
use tokio::sync::Semaphore;

use super::Failure;

/// How many look-ups run at a time. Each occupies a thread, even if its result is no longer
/// awaited.
const MAX_LOOKUPS: usize = 64;

/// The result of a look-up: at least one address, or [`Failure::NoSuchName`],
/// [`Failure::NoNameServer`].
pub type Resolving<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<SocketAddr>, Failure>> + Send + 'a>>;

/// Resolves names.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// Looks up the addresses of a host, with the port.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

/// Resolves names as other programs of the machine do, `/etc/hosts` included.
#[derive(Debug)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
        }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move {
            let permit = Arc::clone(&self.lookups).acquire_owned().await;
            let host = host.to_owned();
            // A separate task keeps the permit as long as the thread is busy.
            let lookup = tokio::spawn(async move {
                let _permit = permit;
                lookup_host((host, port)).await.map(Vec::from_iter)
            });
            match lookup.await {
                Ok(Ok(addresses)) if addresses.is_empty() => Err(Failure::NoSuchName),
                Ok(Ok(addresses)) => Ok(addresses),
                Ok(Err(error)) => Err(unresolved(&error)),
                Err(_) => Err(Failure::NoNameServer),
            }
        })
    }
}

/// Classifies an error of the system's resolver. Only its message distinguishes them: those of glibc,
/// musl and macOS for `EAI_NONAME` and `EAI_NODATA` are listed. Everything else may be temporary.
fn unresolved(error: &io::Error) -> Failure {
    const NO_SUCH_NAME: [&str; 6] = [
        "Name or service not known",
        "No address associated with hostname",
        "Address family for hostname not supported",
        "Name does not resolve",
        "Name has no usable address",
        "nodename nor servname provided",
    ];
    let message = error.to_string();
    if NO_SUCH_NAME.iter().any(|known| message.contains(known)) {
        Failure::NoSuchName
    } else {
        Failure::NoNameServer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_definite_answer_says_that_there_is_no_such_name() {
        for (message, failure) in [
            ("Name or service not known", Failure::NoSuchName),
            ("Name does not resolve", Failure::NoSuchName),
            (
                "Temporary failure in name resolution",
                Failure::NoNameServer,
            ),
            ("Try again", Failure::NoNameServer),
            ("System error", Failure::NoNameServer),
        ] {
            let message = format!("failed to lookup address information: {message}");
            assert_eq!(unresolved(&io::Error::other(message)), failure);
        }
    }

    #[tokio::test]
    async fn the_system_knows_its_own_name() {
        let addresses = SystemResolver::default().resolve("localhost", 8080).await;
        let addresses = addresses.unwrap();
        assert!(addresses.iter().all(|address| address.ip().is_loopback()));
        assert!(addresses.iter().all(|address| address.port() == 8080));
    }
}
