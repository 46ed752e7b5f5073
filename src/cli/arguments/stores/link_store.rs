//! The server on which link checkers share their work.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use super::server_login;
use crate::cli::terminal::Error;
use crate::frontier::{Clock, Valkey, ValkeyError};
use crate::linkcheck::{CheckState, ValkeyState};
use crate::valkey::ServerAddress;

const USERNAME: &str = "WAYPOST_LINKCHECK_STORE_USERNAME";
const PASSWORD: &str = "WAYPOST_LINKCHECK_STORE_PASSWORD";

/// Returns the address of a server, with the user and the password that variables name.
pub(crate) fn address(url: &str) -> Result<ServerAddress, Error> {
    server_login::address(url, "the store", [USERNAME, PASSWORD])
}

/// Returns the state on a server, and its clock; `delay` is the minimum pause of a host.
pub(crate) async fn connect(
    address: ServerAddress,
    delay: Duration,
) -> Result<(Arc<dyn CheckState>, Arc<dyn Clock>), Error> {
    let connected = async {
        let store = Valkey::connect(address.clone(), delay).await?;
        let unreachable = |source| ValkeyError::Unreachable {
            address: address.to_string(),
            source,
        };
        ValkeyState::new(store).await.map_err(unreachable)
    };
    let state = connected.await;
    let state = state.context("cannot keep the results of link checks")?;
    let clock = state.clock();
    Ok((Arc::new(state), clock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::SECRET_VARIABLES;

    #[test]
    fn no_child_process_receives_the_login() {
        assert!([USERNAME, PASSWORD].map(|name| SECRET_VARIABLES.contains(&name)) == [true; 2]);
    }
}
