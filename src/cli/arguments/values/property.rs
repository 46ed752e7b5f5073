//! Values of the keys of entries that have few, as arguments.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::mapping::{Case, Forward, Status};

/// Returns the parser of a redirect status.
pub(crate) fn status() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(["301", "302", "303", "307", "308"]).map(|text| {
        text.parse()
            .ok()
            .and_then(Status::from_code)
            .unwrap_or_default()
    })
}

/// Returns the parser of what is forwarded.
pub(crate) fn forward() -> impl TypedValueParser<Value = Forward> {
    PossibleValuesParser::new(Forward::ALL.map(Forward::name)).map(|text| {
        let mut all = Forward::ALL.into_iter();
        all.find(|it| it.name() == text).unwrap_or_default()
    })
}

/// Returns the parser of whether the case of letters counts.
pub(crate) fn case() -> impl TypedValueParser<Value = Case> {
    PossibleValuesParser::new(Case::ALL.map(Case::name)).map(|text| {
        let mut all = Case::ALL.into_iter();
        all.find(|it| it.name() == text).unwrap_or_default()
    })
}
