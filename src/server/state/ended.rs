//! The outcomes of registrations and edits, as the metrics count them.

/// The outcome of a registration or an edit, as `waypost_registrations_total` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationResult {
    Created,
    Existing,
    Edited,
    Refused,
    Unauthorized,
    Limited,
    Failed,
}

impl RegistrationResult {
    pub(crate) const ALL: [Self; 7] = [
        Self::Created,
        Self::Existing,
        Self::Edited,
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
            Self::Refused => "refused",
            Self::Unauthorized => "unauthorized",
            Self::Limited => "limited",
            Self::Failed => "failed",
        }
    }
}
