//! The addresses of a site.

use super::blocks::Block;

/// The addresses of one site.
#[derive(Default)]
pub(super) struct Addresses {
    addresses: Vec<Address>,
}

struct Address {
    scheme: Option<String>,
    host: String,
    has_path: bool,
}

impl Addresses {
    /// Reads the words of a block.
    pub(super) fn of(block: &Block) -> Self {
        let words = block.words.iter().flat_map(|it| it.split(','));
        let words = words.filter(|it| !it.is_empty());
        Self {
            addresses: words.map(Address::of).collect(),
        }
    }

    /// Returns whether one has a host, with this scheme or without.
    pub(super) fn has(&self, scheme: &str, host: &str) -> bool {
        self.addresses.iter().any(|it| {
            let has_scheme = it.scheme.as_deref().is_none_or(|own| own == scheme);
            it.host.eq_ignore_ascii_case(host) && has_scheme
        })
    }

    /// Returns whether one has a path.
    pub(super) fn have_path(&self) -> bool {
        self.addresses.iter().any(|it| it.has_path)
    }
}

impl Address {
    fn of(text: &str) -> Self {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|it| it.is_ascii_digit()) => host,
            _ => authority,
        };
        Self {
            scheme,
            host: host.to_owned(),
            has_path: !path.is_empty(),
        }
    }
}
