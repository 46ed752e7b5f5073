//! The intake of links into the sites of a table.

use std::sync::Arc;

use super::site_intake::SiteIntake;
use crate::exchange::read::ImportedLink;
use crate::mapping::{BaseUrl, Case, Defaults, Table, Timestamp, defaults_of};
use crate::registry::decide::{Addition, Destination, RegistrationRefusal, placement};
use crate::registry::text::TextFile;

/// The links that the sites of a table have taken so far.
pub struct Intake<'t> {
    table: &'t Table,
    /// The name of the document to write to, if any.
    file: Option<&'t str>,
    /// The sites that may receive links.
    receivers: Vec<Receiver<'t>>,
}

/// A site that may receive links.
struct Receiver<'t> {
    /// The document to write to; `None` if it is one of several.
    document: Option<&'t TextFile>,
    defaults: Defaults,
    links: SiteIntake<'t>,
}

/// The result of an intake.
pub(super) struct TakenLinks<'t> {
    /// The entries to add.
    pub(super) additions: Vec<Addition<'t>>,
    /// The line of each.
    pub(super) lines: Vec<usize>,
    pub(super) known: usize,
    /// The links that were refused at the end, with their lines.
    pub(super) refused: Vec<(usize, RegistrationRefusal)>,
}

impl<'t> Intake<'t> {
    /// Starts an intake for the site that is named, directly or by a document, or the only one;
    /// otherwise for all sites, if links `name_sites`.
    ///
    /// # Errors
    ///
    /// If it is unclear where links go.
    pub(super) fn new(
        table: &'t Table,
        files: &'t [TextFile],
        site: Option<&str>,
        file: Option<&'t str>,
        name_sites: bool,
        now: Timestamp,
    ) -> Result<Self, RegistrationRefusal> {
        let destination = Destination::Document(file.map(str::to_owned));
        let sites = match placement::site(table, site, &destination) {
            Ok(site) => {
                placement::document(site, file)?;
                vec![site]
            }
            Err(RegistrationRefusal::SeveralSites { .. }) if name_sites && file.is_none() => {
                table.sites().iter().collect()
            }
            Err(refusal) => return Err(refusal),
        };
        let receiver = |site| {
            let path = placement::document(site, file).ok();
            let document = path.and_then(|path| files.iter().find(|file| *file.path == *path));
            let whole = document.and_then(TextFile::whole);
            let defaults = whole.as_ref().map(defaults_of).unwrap_or_default();
            Receiver {
                document,
                defaults,
                links: SiteIntake::new(table, site, defaults, now),
            }
        };
        Ok(Self {
            table,
            file,
            receivers: sites.into_iter().map(receiver).collect(),
        })
    }

    /// Returns the table.
    pub fn table(&self) -> &Table {
        self.table
    }

    /// Returns the base URLs of the sites that may receive links, by the numbers that links have.
    pub fn base_urls(&self) -> Vec<&'t BaseUrl> {
        let receivers = self.receivers.iter();
        receivers.map(|it| it.links.site().base_url()).collect()
    }

    /// Returns whether case counts in the codes of the sites that may receive links: in those of one of
    /// them, in case of doubt.
    pub fn case(&self) -> Case {
        let mut sites = self.receivers.iter().map(|it| it.links.site());
        match sites.all(|site| site.about().case() == Case::Fold) {
            true => Case::Fold,
            false => Case::Exact,
        }
    }

    /// Returns the paths of the documents that may receive links.
    pub(super) fn paths(&self) -> Vec<Arc<str>> {
        let documents = self.receivers.iter().filter_map(|it| it.document);
        documents.map(|it| Arc::clone(&it.path)).collect()
    }

    /// Takes a link from that line into its site, unless it is known there already.
    ///
    /// # Errors
    ///
    /// Returns why the link cannot be taken.
    pub fn take(&mut self, line: usize, link: ImportedLink) -> Result<(), RegistrationRefusal> {
        let receiver = &mut self.receivers[link.site];
        if receiver.document.is_none() {
            placement::document(receiver.links.site(), self.file)?;
        }
        receiver.links.take(line, link)
    }

    /// Assigns codes to the links that wait for one.
    pub(super) fn finish(self) -> Result<TakenLinks<'t>, RegistrationRefusal> {
        let mut all = TakenLinks {
            additions: Vec::new(),
            lines: Vec::new(),
            known: 0,
            refused: Vec::new(),
        };
        for receiver in self.receivers {
            let site = receiver.links.site();
            let Some(document) = receiver.document else {
                continue;
            };
            let mut taken = receiver.links.finish()?;
            taken.drop_defaults(receiver.defaults);
            let additions = taken.entries.into_iter().map(|entry| Addition {
                site,
                entry,
                path: Arc::clone(&document.path),
                is_new_file: false,
            });
            all.additions.extend(additions);
            all.lines.extend(taken.lines);
            all.known += taken.known;
            all.refused.extend(taken.refused);
        }
        Ok(all)
    }
}
