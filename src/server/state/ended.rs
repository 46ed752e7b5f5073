//! The outcomes of registrations, edits and proposals with a token, as the metrics count them.

/// The outcome of a registration, an edit or a proposal with a token, as `waypost_registrations_total` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationResult {
    Created,
    Existing,
    Edited,
    Proposed,
    Refused,
    Unauthorized,
    Limited,
    Failed,
}

impl RegistrationResult {
    pub(crate) const ALL: [Self; 8] = [
        Self::Created,
        Self::Existing,
        Self::Edited,
        Self::Proposed,
        Self::Refused,
        Self::Unauthorized,
        Self::Limited,
        Self::Failed,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Existing => "existing",
            Self::Edited => "edited",
            Self::Proposed => "proposed",
            Self::Refused => "refused",
            Self::Unauthorized => "unauthorized",
            Self::Limited => "limited",
            Self::Failed => "failed",
        }
    }
}
