//! The address of a Valkey or Redis server, with the user and the password that variables name.

use crate::cli::arguments::environment::secret;
use crate::cli::terminal::Error;
use crate::valkey::ServerAddress;

/// Returns the address of a server, which is `what` in messages, with the user and the password that
/// these variables name.
pub(super) fn address(
    url: &str,
    what: &str,
    [username, password]: [&str; 2],
) -> Result<ServerAddress, Error> {
    let mut address = ServerAddress::parse(url).map_err(Error::usage)?;
    if address.has_login() {
        // Every user of the machine can read the arguments of a program.
        let message = format!(
            "the address of {what} has a user or a password: give them in {username} and {password}"
        );
        return Err(Error::usage(message));
    }
    if let Some(user) = secret::of(username) {
        address = address.with_user(&user.read()?);
    }
    if let Some(password) = secret::of(password) {
        address = address.with_password(&password.read()?);
    }
    Ok(address)
}
