//! Reading the content of a request, within limits.

use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use tokio::time::timeout;

/// The largest content that is read at once, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// How long content may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why content was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    /// The client ended it early, or violated HTTP.
    Broken,
}

/// Reads the content of a request.
pub(crate) async fn content(body: Incoming) -> Result<Bytes, Unread> {
    match timeout(TIMEOUT, Limited::new(body, MAX_BODY).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Unread::TooLarge),
        Ok(Err(_)) => Err(Unread::Broken),
        Err(_) => Err(Unread::TooSlow),
    }
}
