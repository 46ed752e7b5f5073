//! Differences between what an imported link answers and what the other program does that are accepted, and
//! documented with its format.

/// How the answers of a link differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deviation {
    /// A request with the `User-Agent` of a browser and the `Accept` of a program is answered as that of
    /// a program.
    MixedClient,
    /// A request without `Accept`, or that names only types of which the rules do not know, is answered as
    /// one that accepts anything (`*/*`).
    NothingNamed,
    /// Some media types lead with the status of the entry, although the rules give them another temporary one.
    Status,
    /// The query of a request is put before the fragment of a URL, and by the other program after it.
    Fragment,
    /// The code with a slash after it is answered as the code itself, although a rule for all paths leads it
    /// elsewhere, as it does every path that nothing names.
    Slash,
    /// The code is only found as it is written, and by the other program in any case.
    Case,
    /// The query of a request is left out, and passed on by the other program.
    Query,
    /// The code, or the code with a slash after it, leads where Netlify leads it, and Cloudflare Pages leads it
    /// elsewhere.
    Netlify,
}

impl Deviation {
    /// Returns what differs, in a sentence without its end.
    pub fn description(self) -> &'static str {
        match self {
            Self::MixedClient => {
                "a request with the User-Agent of a browser, but not with what browsers accept for a \
                 page, is answered as that of a program"
            }
            Self::NothingNamed => {
                "a request without Accept, or that names only types of which no rule knows, is answered \
                 as one that accepts anything (*/*)"
            }
            Self::Status => {
                "some media types lead to their URL with the status of the entry, and not with another \
                 temporary one (302, 303, 307)"
            }
            Self::Fragment => {
                "the query of a request is put before the fragment of the URL, and by Apache after it, where \
                 no server receives it"
            }
            Self::Slash => {
                "the code with a slash after it leads where the code itself does, and not where a rule \
                 for all paths leads what nothing names"
            }
            Self::Case => {
                "the other program finds the code in any case; a table does so with \"case: fold\""
            }
            Self::Query => {
                "the other program passes on the query of a request; a table does so with \"forward: query\""
            }
            Self::Netlify => {
                "the code, and the code with a slash after it, lead where Netlify leads them; Cloudflare Pages \
                 leads one of them by a later rule, because /docs/* does not apply to /docs there, nor /docs \
                 to /docs/"
            }
        }
    }
}
