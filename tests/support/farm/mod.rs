//! A farm of fake hosts on loopback: any name leads to it, each answers as its test says, and a log
//! records which host got which request, and when.
//!
//! Hosts are called `NAME.farm.example`: its certificate is for those. Nothing listens on a fixed
//! port; a resolver replaces the ports 80 and 443.

#![allow(dead_code, reason = "each test program uses a part of it")]

mod hosts;
mod log;
mod page;
mod resolver;
mod serve;
#[cfg(feature = "tls")]
mod tls;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub(crate) use self::hosts::{Hosts, Request};
pub(crate) use self::log::Log;
pub(crate) use self::page::Page;
pub(crate) use self::resolver::FarmResolver;
#[cfg(feature = "tls")]
pub(crate) use self::tls::{Authority, Handshake};

/// A farm that runs until it is dropped.
pub(crate) struct Farm {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) log: Arc<Log>,
    /// Where the hosts are: without TLS, with it, and without it on IPv6.
    pub(crate) plain: SocketAddr,
    #[cfg(feature = "tls")]
    pub(crate) secure: SocketAddr,
    pub(crate) plain_v6: Option<SocketAddr>,
    #[cfg(feature = "tls")]
    pub(crate) authority: Arc<Authority>,
    /// Ends all listeners with the farm.
    listeners: JoinSet<()>,
}

impl Farm {
    pub(crate) async fn start() -> Self {
        let hosts = Arc::<Hosts>::default();
        let log = Arc::<Log>::default();
        let mut listeners = JoinSet::new();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let plain = listener.local_addr().unwrap();
        listeners.spawn(serve::plain(listener, Arc::clone(&hosts), Arc::clone(&log)));
        let mut plain_v6 = None;
        // Some machines have no IPv6.
        if let Ok(listener) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await {
            plain_v6 = Some(listener.local_addr().unwrap());
            listeners.spawn(serve::plain(listener, Arc::clone(&hosts), Arc::clone(&log)));
        }
        #[cfg(feature = "tls")]
        let authority = Arc::new(Authority::new());
        #[cfg(feature = "tls")]
        let secure = {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let secure = listener.local_addr().unwrap();
            let served = (Arc::clone(&hosts), Arc::clone(&log));
            listeners.spawn(tls::serve(listener, Arc::clone(&authority), served));
            secure
        };
        Self {
            hosts,
            log,
            plain,
            #[cfg(feature = "tls")]
            secure,
            plain_v6,
            #[cfg(feature = "tls")]
            authority,
            listeners,
        }
    }

    /// Makes a host answer by a function of the request.
    pub(crate) fn host(
        &self,
        name: &str,
        answer: impl Fn(&Request) -> Page + Send + Sync + 'static,
    ) {
        self.hosts.add(&format!("{name}.farm.example"), answer);
    }

    /// Returns a resolver by which any name leads to the farm.
    pub(crate) fn resolver(&self) -> FarmResolver {
        FarmResolver::new(self)
    }
}
