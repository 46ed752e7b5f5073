//! The flags of `serve` about replicas that act as one.

#[cfg(feature = "valkey")]
use super::server_login;
use crate::cli::terminal::Error;
use crate::server::Fleet;
#[cfg(feature = "valkey")]
use crate::server::FleetName;

#[cfg(feature = "valkey")]
const LOGIN: [&str; 2] = ["WAYPOST_FLEET_USERNAME", "WAYPOST_FLEET_PASSWORD"];

/// Replicas that act as one.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fleet")]
pub(crate) struct FleetArgs {
    /// Act as one with the other replicas of this table, through a Valkey or Redis server, such as
    /// redis://valkey.example or rediss://valkey.example:6380
    ///
    /// When one replica receives a hook, a registration or a reload, all of them fetch.
    /// Idempotency-Keys and limits per owner apply to all of them together. While the server is
    /// unavailable, each replica works alone. User and password are in WAYPOST_FLEET_USERNAME and
    /// WAYPOST_FLEET_PASSWORD, or in the files that these variables with the suffix _FILE name.
    #[cfg(feature = "valkey")]
    #[arg(long, value_name = "URL", env = "WAYPOST_FLEET")]
    fleet: Option<String>,

    /// The name by which the replicas find each other [default: derived from --repo, --ref and --path]
    ///
    /// Needed without --repo, and where replicas reach the same repository by different addresses.
    #[cfg(feature = "valkey")]
    #[arg(
        long,
        value_name = "NAME",
        env = "WAYPOST_FLEET_NAME",
        requires = "fleet"
    )]
    fleet_name: Option<FleetName>,
}

impl FleetArgs {
    /// Returns the fleet to join, if one is named; its server may be unavailable. `followed` is the
    /// table in a repository: its address, reference and path.
    #[cfg(feature = "valkey")]
    pub(crate) fn prepare(
        &self,
        followed: Option<(String, Option<&str>, &str)>,
    ) -> Result<Option<Fleet>, Error> {
        let Some(url) = &self.fleet else {
            return Ok(None);
        };
        let address = server_login::address(url, "the fleet", LOGIN)?;
        let name = match (&self.fleet_name, followed) {
            (Some(name), _) => name.clone(),
            (None, Some((url, reference, path))) => FleetName::of_repository(&url, reference, path),
            (None, None) => {
                let problem = "--fleet: name the replicas of these files with --fleet-name";
                return Err(Error::usage(problem));
            }
        };
        Ok(Some(Fleet::new(address, name)))
    }

    /// Returns no fleet: this program was built without any.
    #[cfg(not(feature = "valkey"))]
    pub(crate) fn prepare(
        &self,
        _followed: Option<(String, Option<&str>, &str)>,
    ) -> Result<Option<Fleet>, Error> {
        Ok(None)
    }
}

#[cfg(all(test, feature = "valkey"))]
mod tests {
    use super::*;
    use crate::git::SECRET_VARIABLES;

    #[test]
    fn no_child_process_receives_the_login() {
        assert!(LOGIN.map(|name| SECRET_VARIABLES.contains(&name)) == [true; 2]);
    }
}
