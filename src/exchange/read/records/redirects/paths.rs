//! The paths to which a rule of a `_redirects` file applies.
//!
//! Where Netlify and Cloudflare Pages differ, these are the paths of both: `/a/*` applies to `/a` only for
//! Netlify, and a placeholder within a segment is one only for Cloudflare.

use percent_encoding::percent_decode_str;
use url::Url;

use crate::exchange::read::rows::LinkOrigin;
use crate::mapping::Case;

/// A pattern of paths, segment by segment.
pub(super) struct RulePaths {
    segments: Vec<Segment>,
}

/// A part of a path between slashes, decoded.
enum Segment {
    Literal(String),
    /// A placeholder: a segment that begins with a text.
    Any(String),
    /// A `*`: what begins with a text, also over several segments.
    Rest(String),
}

impl RulePaths {
    /// Returns the paths of a rule that begins with a path or a URL; `None` if it is for other hosts. They are
    /// read as those of a URL: without `.` and `..`, a query and a fragment.
    pub(super) fn of(from: &str, origin: LinkOrigin<'_>) -> Option<Self> {
        let path = match from.split_once("://") {
            None => from,
            Some((_, rest)) => {
                let authority = rest.split('/').next().unwrap_or_default();
                let mut sites = 0..origin.base_urls.len();
                let is_pattern = authority.starts_with([':', '*']);
                if !is_pattern && !sites.any(|site| origin.has_host(site, authority)) {
                    return None;
                }
                &rest[authority.len()..]
            }
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        let url = Url::parse(&format!("https://host{slash}{path}")).ok();
        let path = url.as_ref().map_or(path, Url::path);
        let mut segments = Vec::new();
        let path = path.strip_prefix('/').unwrap_or(path);
        let path = path.strip_suffix('/').unwrap_or(path);
        for text in path.split('/').filter(|_| !path.is_empty()) {
            let segment = Segment::of(text, origin.case);
            let is_rest = matches!(segment, Segment::Rest(_));
            segments.push(segment);
            if is_rest {
                break;
            }
        }
        Some(Self { segments })
    }

    /// Returns the segments up to the first placeholder or `*`.
    fn literal(&self) -> impl Iterator<Item = &String> {
        self.segments.iter().map_while(|it| match it {
            Segment::Literal(text) => Some(text),
            _ => None,
        })
    }

    /// Returns the path up to its first placeholder or `*`, with a slash before each segment.
    pub(super) fn start(&self) -> String {
        self.literal().map(|text| format!("/{text}")).collect()
    }

    /// Returns the path of the code of a link for these: the one up to its `*`.
    pub(super) fn of_code(&self) -> Self {
        let segments = self.literal().cloned().map(Segment::Literal);
        Self {
            segments: segments.collect(),
        }
    }

    /// Returns whether there is only one such path.
    pub(super) fn is_one(&self) -> bool {
        self.literal().count() == self.segments.len()
    }

    /// Returns whether some path is among both.
    pub(super) fn meet(&self, other: &Self) -> bool {
        meet(&self.segments, &other.segments)
    }
}

impl Segment {
    fn of(text: &str, case: Case) -> Self {
        let decoded = |text: &str| {
            let text = percent_decode_str(text).decode_utf8_lossy();
            // A slash that is encoded does not end a segment.
            let text = text.replace('/', "%2F");
            match case {
                Case::Exact => text,
                Case::Fold => text.to_lowercase(),
            }
        };
        let placeholders = text.match_indices(':').map(|(at, _)| at);
        let mut placeholders = placeholders
            .filter(|at| text[at + 1..].starts_with(|it: char| it.is_ascii_alphabetic()));
        match (text.find('*'), placeholders.next()) {
            (Some(at), placeholder) => {
                Self::Rest(decoded(&text[..placeholder.unwrap_or(at).min(at)]))
            }
            (None, Some(at)) => Self::Any(decoded(&text[..at])),
            (None, None) => Self::Literal(decoded(text)),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(own), Self::Literal(other)) => own == other,
            (segment, Self::Any(start) | Self::Rest(start))
            | (Self::Any(start) | Self::Rest(start), segment) => segment.can_begin_with(start),
        }
    }

    fn can_begin_with(&self, start: &str) -> bool {
        match self {
            Self::Literal(text) => text.starts_with(start),
            Self::Any(own) | Self::Rest(own) => own.starts_with(start) || start.starts_with(&**own),
        }
    }
}

fn meet(some: &[Segment], others: &[Segment]) -> bool {
    match (some, others) {
        ([], []) => true,
        ([Segment::Rest(start)], rest) | (rest, [Segment::Rest(start)]) => match rest {
            [] => start.is_empty(),
            [first, ..] => first.can_begin_with(start),
        },
        ([], _) | (_, []) => false,
        ([own, some @ ..], [other, others @ ..]) => own.meets(other) && meet(some, others),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::BaseUrl;

    #[test]
    fn rules_meet_if_a_path_is_among_those_of_both() {
        let base_url = BaseUrl::parse("https://short.code/").unwrap();
        let base_urls = &[&base_url];
        let origin = LinkOrigin {
            base_urls,
            case: Case::Exact,
        };
        let paths = |from| RulePaths::of(from, origin);
        for (one, other, do_meet) in [
            ("/a", "/a/", true),
            ("/a", "/%61", true),
            ("/a/b", "/a%2Fb", false),
            ("/a/b", "/a", false),
            ("/a/*", "/a", true),
            ("/a/*", "/a/b/c", true),
            ("/a/*", "/ab", false),
            ("/a*", "/ab/c", true),
            ("/a*", "/b", false),
            ("/a/*/c", "/a/b", true),
            ("/:x/old", "/en/old", true),
            ("/:x/old", "/contact", false),
            ("/:x/old", "/en/*", true),
            ("/:x/old", "/en/new/*", false),
            ("/a/:id", "/a/b/c", false),
            ("/post-:id", "/post-5", true),
            ("/post-:id", "/page-5", false),
            ("/a/b-:id", "/a/*", true),
            ("/:x*", "/y/z", true),
            ("/", "/*", true),
            ("https://short.code/a", "/a", true),
            ("https://u@Short.Code./a/*", "/a/b", true),
            ("/x/../b", "/b", true),
            ("/a?x=1", "/a", true),
            ("/a#f", "/a", true),
            ("/\u{e9}", "/%C3%A9", true),
            ("http://:sub.example/a", "/a", true),
            ("http://*/a", "/b", false),
        ] {
            let (one_paths, other_paths) = (paths(one).unwrap(), paths(other).unwrap());
            assert_eq!(one_paths.meet(&other_paths), do_meet, "{one} {other}");
            assert_eq!(other_paths.meet(&one_paths), do_meet, "{other} {one}");
        }
        assert!(paths("https://blog.example/*").is_none());
        let base_url = BaseUrl::parse("https://m\u{fc}ller.example/").unwrap();
        let origin = LinkOrigin {
            base_urls: &[&base_url],
            case: Case::Exact,
        };
        assert!(RulePaths::of("https://m\u{fc}ller.example/a/*", origin).is_some());
    }
}
