//! Choosing which of a remote's references is followed.

use git2::Oid;
use serde::{Deserialize, Serialize};

use crate::git::commit_id::CommitId;
use crate::git::setting::Setting;
use crate::git::wire::AdvertisedRef;

/// The maximum number of names that a message lists.
const LISTED: usize = 8;

/// The reference to follow, as requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wanted {
    /// The remote's `HEAD`, wherever it leads.
    AdvertisedRef,
    /// A branch or tag.
    Name(String),
    /// A commit, by its full id.
    Commit(CommitId),
}

/// A reference of the remote: its full name, and the object there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) id: Oid,
}

/// Why none of a remote's references can be followed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChoiceError {
    #[error("the remote repository is empty: push a table to it")]
    Empty,
    #[error("the remote has no branch or tag {name}; it has {present}")]
    NotFound { name: String, present: String },
    #[error(
        "the remote's HEAD does not point to a branch: name a branch to follow; it has {present}"
    )]
    Unborn { present: String },
}

impl ChoiceError {
    /// Returns the setting that may have to be changed.
    pub(crate) fn setting(&self) -> Option<Setting> {
        match self {
            Self::Empty => None,
            Self::NotFound { .. } | Self::Unborn { .. } => Some(Setting::Reference),
        }
    }
}

impl Wanted {
    /// Parses the request; none or an empty one is the remote's `HEAD`.
    pub(crate) fn of(reference: Option<&str>) -> Self {
        match reference {
            None | Some("" | "HEAD") => Self::AdvertisedRef,
            Some(name) => match name.parse() {
                Ok(id) => Self::Commit(id),
                Err(_) => Self::Name(name.to_owned()),
            },
        }
    }

    /// Returns the id, if this is a commit.
    pub(crate) fn commit(&self) -> Option<CommitId> {
        match self {
            Self::Commit(id) => Some(*id),
            Self::AdvertisedRef | Self::Name(_) => None,
        }
    }

    /// Chooses among a remote's references. A branch takes precedence over a tag of the same name.
    ///
    /// # Errors
    ///
    /// If there is none such.
    pub(crate) fn choose(&self, heads: &[AdvertisedRef]) -> Result<Choice, ChoiceError> {
        if heads.is_empty() {
            return Err(ChoiceError::Empty);
        }
        let find = |name: &str| heads.iter().find(|head| head.name == name);
        let found = match self {
            Self::AdvertisedRef | Self::Commit(_) => find("HEAD"),
            Self::Name(name) if name.starts_with("refs/") => find(name),
            Self::Name(name) => {
                find(&format!("refs/heads/{name}")).or_else(|| find(&format!("refs/tags/{name}")))
            }
        };
        match (found, self) {
            (Some(head), _) => Ok(Choice {
                name: head.leads_to.clone().unwrap_or_else(|| head.name.clone()),
                id: head.id,
            }),
            (None, Self::Name(name)) => Err(ChoiceError::NotFound {
                name: name.clone(),
                present: list(heads),
            }),
            (None, Self::AdvertisedRef | Self::Commit(_)) => Err(ChoiceError::Unborn {
                present: list(heads),
            }),
        }
    }
}

fn list(heads: &[AdvertisedRef]) -> String {
    let short = |head: &AdvertisedRef| {
        let name = head.name.strip_prefix("refs/heads/");
        let name = name.or_else(|| head.name.strip_prefix("refs/tags/"))?;
        (!name.ends_with("^{}")).then(|| name.to_owned())
    };
    let mut names: Vec<String> = heads.iter().filter_map(short).collect();
    let more = names.len() > LISTED;
    names.truncate(LISTED);
    match (names.is_empty(), more) {
        (true, _) => "none".to_owned(),
        (false, true) => format!("{} …", names.join(", ")),
        (false, false) => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, digit: char) -> AdvertisedRef {
        AdvertisedRef {
            name: name.to_owned(),
            id: Oid::from_str(&digit.to_string().repeat(40)).unwrap(),
            leads_to: (name == "HEAD").then(|| "refs/heads/main".to_owned()),
        }
    }

    fn chosen(wanted: Option<&str>) -> Result<String, ChoiceError> {
        let heads = [
            head("HEAD", '1'),
            head("refs/heads/main", '1'),
            head("refs/heads/both", '2'),
            head("refs/tags/both", '3'),
            head("refs/tags/v1", '4'),
            head("refs/tags/v1^{}", '5'),
            head("refs/pull/1/head", '6'),
        ];
        Wanted::of(wanted).choose(&heads).map(|choice| choice.name)
    }

    #[test]
    fn finds_the_requested_reference() {
        for (wanted, name) in [
            (None, "refs/heads/main"),
            (Some("HEAD"), "refs/heads/main"),
            (Some("both"), "refs/heads/both"),
            (Some("refs/tags/both"), "refs/tags/both"),
            (Some("v1"), "refs/tags/v1"),
            (Some("refs/pull/1/head"), "refs/pull/1/head"),
        ] {
            assert_eq!(chosen(wanted).unwrap(), name);
        }
    }

    #[test]
    fn names_the_existing_branches_and_tags() {
        let error = chosen(Some("mian")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the remote has no branch or tag mian; it has main, both, both, v1"
        );
        assert_eq!(Wanted::AdvertisedRef.choose(&[]), Err(ChoiceError::Empty));
        let unborn = Wanted::AdvertisedRef.choose(&[head("refs/heads/x", '1')]);
        assert_eq!(unborn.unwrap_err().setting(), Some(Setting::Reference));
    }

    #[test]
    fn knows_a_commit_by_its_full_id() {
        let id = "ABCDEF0123".repeat(4);
        assert_eq!(
            Wanted::of(Some(&id)).commit().unwrap().to_string(),
            id.to_lowercase()
        );
        assert_eq!(Wanted::of(Some("abcdef0")).commit(), None);
    }
}
