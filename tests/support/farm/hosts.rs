//! The hosts of a farm, by name.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use super::page::Page;

/// A request as a host sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fields: HashMap<String, String>,
    /// Its number on its connection, from 0 on.
    pub(crate) number: usize,
}

impl Request {
    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Returns the requested host, without port.
    pub(crate) fn host(&self) -> &str {
        let host = self.fields.get("host").map_or("", String::as_str);
        host.rsplit_once(':').map_or(host, |(name, _)| name)
    }
}

type Answering = Arc<dyn Fn(&Request) -> Page + Send + Sync>;

/// Unknown hosts have a page everywhere, and no robots.txt.
#[derive(Default)]
pub(crate) struct Hosts {
    hosts: RwLock<HashMap<String, Answering>>,
}

impl Hosts {
    pub(crate) fn add(
        &self,
        host: &str,
        answer: impl Fn(&Request) -> Page + Send + Sync + 'static,
    ) {
        let mut hosts = self.hosts.write().unwrap();
        hosts.insert(host.to_owned(), Arc::new(answer));
    }

    pub(super) fn answer(&self, request: &Request) -> Page {
        let answering = self.hosts.read().unwrap().get(request.host()).cloned();
        match answering {
            Some(answering) => answering(request),
            None if request.path == "/robots.txt" => Page::status(404),
            None => Page::ok(&format!("{} {}\n", request.host(), request.path)),
        }
    }
}
