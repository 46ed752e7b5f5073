//! The references that a remote advertises to libgit2, except those whose names are not UTF-8.
//!
//! Git allows any bytes in a name. Such a reference cannot be requested here, where names are text,
//! and must not prevent the others from being followed.

use git2::{RemoteConnection, RemoteHead};

use crate::git::unwinding::caught;
use crate::git::wire::AdvertisedRef;

/// Returns the references that the remote of a connection advertises.
pub(crate) fn heads(
    connection: &RemoteConnection<'_, '_, '_>,
) -> Result<Vec<AdvertisedRef>, git2::Error> {
    Ok(connection.list()?.iter().filter_map(head).collect())
}

fn head(advertised: &RemoteHead<'_>) -> Option<AdvertisedRef> {
    let target = || advertised.symref_target().map(str::to_owned);
    Some(AdvertisedRef {
        name: caught(|| advertised.name().to_owned()).ok()?,
        id: advertised.oid(),
        leads_to: caught(target).ok().flatten(),
    })
}
