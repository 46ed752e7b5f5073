//! The surroundings of a new table: a checkout, and the repository that it comes from.

use std::fs;
use std::path::{Path, PathBuf};

use super::answers::InitForge;
use crate::git::LocalRepository;
use crate::mapping::Forge;
use crate::registry::web_address;

/// The known facts about the place of a new table.
#[derive(Debug, Default)]
pub(super) struct InitPlace {
    pub(super) is_in_repository: bool,
    /// The top of the checkout, if it is above the place.
    pub(super) top_above: Option<PathBuf>,
    /// The web address of the repository, and its forge, if the remote names a known one.
    pub(super) repository: Option<(String, InitForge)>,
    /// The name of the repository, or of the directory.
    pub(super) name: Option<String>,
}

impl InitPlace {
    /// Inspects the surroundings of a directory, which need not exist. Unknown facts are left open.
    pub(super) fn of(dir: &Path) -> Self {
        let here = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let here = fs::canonicalize(&here).unwrap_or(here);
        let own_name = here
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let Ok(repository) = LocalRepository::around(&here) else {
            return Self {
                name: own_name,
                ..Self::default()
            };
        };
        let top_above = repository.work_dir().filter(|top| *top != here);
        let page = repository.origin().and_then(|origin| web_address(&origin));
        let forge = page
            .as_ref()
            .and_then(|page| Forge::of_host(page.host_str()?));
        let last = |page: &url::Url| Some(page.path_segments()?.next_back()?.to_owned());
        Self {
            is_in_repository: true,
            top_above: top_above.map(Path::to_owned),
            name: page.as_ref().and_then(last).or(own_name),
            repository: page
                .zip(forge)
                .map(|(page, forge)| (page.to_string(), InitForge::of(forge))),
        }
    }

    /// Returns the forge whose checks fit here.
    pub(super) fn forge(&self) -> InitForge {
        match (&self.repository, &self.top_above) {
            (Some((_, forge)), None) => *forge,
            _ => InitForge::None,
        }
    }
}
