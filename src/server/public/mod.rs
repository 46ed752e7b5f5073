//! The answers of the public listeners: redirects, pages, lists of links, proposals, QR codes,
//! dumps, hooks, and the redirect to HTTPS.

mod answers;
mod download;
mod dump;
mod go;
mod hook;
mod hook_pace;
mod https_redirect;
mod link_list;
mod link_report;
mod own_path;
mod plain;
mod proposal;
mod qr_picture;
mod redirect;
mod route;

pub(crate) use answers::{ListenerPurpose, Public};
pub use hook::HookSecret;
pub(crate) use hook_pace::{HookPace, INTERVAL};
