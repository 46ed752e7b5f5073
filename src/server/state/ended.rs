//! The outcomes of registrations, as the metrics count them.

/// The outcome of a registration, as `waypost_registrations_total` reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationResult {
    Created,
    Existing,
    Refused,
    Unauthorized,
    Limited,
    Failed,
}

impl RegistrationResult {
    pub(crate) const ALL: [Self; 6] = [
        Self::Created,
        Self::Existing,
        Self::Refused,
        Self::Unauthorized,
        Self::Limited,
        Self::Failed,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Existing => "existing",
            Self::Refused => "refused",
            Self::Unauthorized => "unauthorized",
            Self::Limited => "limited",
            Self::Failed => "failed",
        }
    }
}
