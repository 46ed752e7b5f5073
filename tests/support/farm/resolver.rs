//! A resolver by which any name leads to a farm, except those for which a test sets another address.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;

use waypost::linkcheck::{Failure, Resolve, Resolving};

use super::Farm;

type Resolved = Result<Vec<SocketAddr>, Failure>;

#[derive(Clone)]
pub(crate) struct FarmResolver {
    plain: SocketAddr,
    secure: SocketAddr,
    others: HashMap<String, Resolved>,
}

impl FarmResolver {
    pub(super) fn new(farm: &Farm) -> Self {
        Self {
            plain: farm.plain,
            #[cfg(feature = "tls")]
            secure: farm.secure,
            #[cfg(not(feature = "tls"))]
            secure: farm.plain,
            others: HashMap::new(),
        }
    }

    /// Resolves a host of the farm otherwise.
    pub(crate) fn with(mut self, name: &str, resolved: Resolved) -> Self {
        self.others.insert(format!("{name}.farm.example"), resolved);
        self
    }
}

impl fmt::Debug for FarmResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FarmResolver")
    }
}

impl Resolve for FarmResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        let farm = if port == 443 { self.secure } else { self.plain };
        let other = self.others.get(host).cloned();
        Box::pin(async move { other.unwrap_or_else(|| Ok(vec![farm])) })
    }
}
