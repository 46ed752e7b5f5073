//! Why a fetch or push failed, as its process reports it.

use serde::{Deserialize, Serialize};

use crate::git::setting::Setting;

/// Why a fetch or push failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TransferFailure {
    /// Whether the repository fetched into seems to be at fault.
    pub(crate) damage: bool,
    /// The setting that may have to be changed.
    pub(crate) setting: Option<Setting>,
    pub(crate) message: String,
}

impl TransferFailure {
    /// Returns a failure that no setting and no damage explains.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            damage: false,
            setting: None,
            message: message.into(),
        }
    }

    /// Names the setting that may have to be changed.
    pub(crate) fn with_setting(self, setting: impl Into<Option<Setting>>) -> Self {
        Self {
            setting: setting.into(),
            ..self
        }
    }
}
