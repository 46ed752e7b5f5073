//! The fuzzed code: the mapping layer, changes of entries, readers of formats and robots.txt, and
//! connections, straight from their source.
//!
//! They import only each other, so they can be built without the rest. A dependency on the whole
//! crate would also build libgit2, OpenSSL and the server, which would take most of the time.

/// Changes of entries, without merging, which needs libgit2.
#[allow(dead_code, unused_imports)]
#[path = "../../src/edit"]
pub mod edit {
    mod ambiguity;
    pub mod entry;
    mod layout;
    mod obstacle;
    mod refusal;
    mod replace;
    mod scalar;
    mod variant_lines;
    mod window;
}

#[allow(dead_code, unused_imports)]
#[path = "../../src/mapping/mod.rs"]
pub mod mapping;

#[path = "../../src/linkcheck/polite/mod.rs"]
pub mod polite;

/// Readers of foreign formats, without the writers, which need pages.
#[path = "../../src/exchange"]
pub mod exchange {
    pub mod read;
}

/// The code that reads requests from connections.
#[allow(dead_code, unused_imports)]
#[path = "../../src/server"]
pub mod server {
    pub mod http {
        mod content;
        mod lines;
        mod moment;
        mod plain_request;
        pub(crate) mod request;
        pub(crate) mod response_head;

        pub(crate) use content::{Content, ContentPiece};
        pub(crate) use lines::{BareLineFeed, LineEnds, LineStream, has_bare_feed};
        pub(crate) use moment::Moment;
        pub(crate) use plain_request::{Parsed, PlainRequest, field_space, parse};
        pub(crate) use request::Refused;
    }

    pub mod net {
        mod client;
        mod connection;
        mod fast_path;
        mod phase;
        mod timeouts;

        pub(crate) use connection::serve_plain;
        pub(crate) use fast_path::{AnswersPlain, NoFastPath};
        pub(crate) use phase::{Lifecycle, Phase};
        pub(crate) use timeouts::{TimeoutStream, Timeouts};
    }
}

pub mod connections;
pub use exchange::read;
