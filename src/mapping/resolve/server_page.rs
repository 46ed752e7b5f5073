//! The pages that a server answers itself on every host, whatever is in its table.

/// A page of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerPage {
    /// Its health.
    Health,
    /// The rules for crawlers.
    Robots,
    /// The icon of its pages.
    Icon,
}

impl ServerPage {
    /// Returns the page at a path. No code is one of these paths.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Some(match path {
            "/healthz" => Self::Health,
            "/robots.txt" => Self::Robots,
            "/favicon.ico" => Self::Icon,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::value::Code;

    #[test]
    fn no_code_has_its_path() {
        for (code, page) in [
            ("healthz", Some(ServerPage::Health)),
            ("robots.txt", Some(ServerPage::Robots)),
            ("favicon.ico", Some(ServerPage::Icon)),
            ("health", None),
        ] {
            assert_eq!(ServerPage::at(&format!("/{code}")), page);
            assert_eq!(Code::custom(code).is_err(), page.is_some(), "{code}");
        }
    }
}
