//! The operations as scripts, each atomic on the server, by its clock.

use redis::Script;

/// One script for each operation.
pub(super) struct FleetScripts {
    pub(super) announce: Script,
    pub(super) claim_key: Script,
    pub(super) end_claim: Script,
    pub(super) free_place: Script,
    pub(super) probe: Script,
    pub(super) take_place: Script,
    pub(super) take_turn: Script,
}

impl Default for FleetScripts {
    fn default() -> Self {
        Self {
            announce: Script::new(include_str!("lua/announce.lua")),
            claim_key: Script::new(include_str!("lua/claim_key.lua")),
            end_claim: Script::new(include_str!("lua/end_claim.lua")),
            free_place: Script::new(include_str!("lua/free_place.lua")),
            probe: Script::new(include_str!("lua/probe.lua")),
            take_place: Script::new(include_str!("lua/take_place.lua")),
            take_turn: Script::new(include_str!("lua/take_turn.lua")),
        }
    }
}
