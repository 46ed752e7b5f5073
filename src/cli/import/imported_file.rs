//! Reading a file into a table: which rows are accepted, and why others are not.

use std::cell::RefCell;
use std::collections::BTreeMap;

use url::Url;

use super::format::ImportFormatArg;
use super::refused_rows::{Places, RefusedRow, RefusedRows};
use crate::cli::publishing::ChangeFailure;
use crate::cli::terminal::{Error, legible, progress, remedy};
use crate::exchange::read::{
    Column, ConfigurationTree, Deviation, ImportedRow, Options, ReadError, RowError, read_tree,
};
use crate::mapping::{BaseUrl, Site, Table};
use crate::registry::{Intake, RegistrationRefusal};

/// A file that is read, once for each state of the table.
pub(super) struct ImportedFile<'f> {
    /// Its name.
    name: &'f str,
    content: Content<'f>,
    /// The base URL of its links, if it differs from those of the sites.
    from: Option<&'f BaseUrl>,
    /// The columns that have their own names.
    columns: &'f [(Column, String)],
    /// How many refused rows of each reason are listed, if a number was requested.
    listed: Option<usize>,
    /// The rows that were refused the last time.
    refused: RefCell<RefusedRows>,
    /// The names of columns that are not read.
    unread: RefCell<Vec<String>>,
    /// How many of the accepted links differ in a way from what the other program answers.
    deviations: RefCell<BTreeMap<Deviation, usize>>,
}

/// What is reported of a file after it was read.
pub(super) struct Remarks {
    /// The rows that were refused.
    pub(super) refused: RefusedRows,
    /// The names of columns that are not read.
    pub(super) unread: Vec<String>,
    /// How many of the accepted links differ in a way from what the other program answers.
    pub(super) deviations: BTreeMap<Deviation, usize>,
}

/// What is imported.
#[derive(Clone, Copy)]
pub(super) enum Content<'f> {
    /// A file of this format.
    File(ImportFormatArg, &'f [u8]),
    /// The Apache configurations of a tree.
    Tree(&'f ConfigurationTree),
}

impl<'f> ImportedFile<'f> {
    pub(super) fn of(
        name: &'f str,
        content: Content<'f>,
        from: Option<&'f BaseUrl>,
        columns: &'f [(Column, String)],
        listed: Option<usize>,
    ) -> Self {
        Self {
            name,
            content,
            from,
            columns,
            listed,
            refused: RefCell::new(RefusedRows::new(listed)),
            unread: RefCell::default(),
            deviations: RefCell::default(),
        }
    }

    /// Returns where the lines of its rows are.
    pub(super) fn places(&self) -> Places<'f> {
        match self.content {
            Content::File(..) => Places::File(self.name),
            Content::Tree(tree) => Places::Tree(tree),
        }
    }

    /// Returns what is reported of the last time.
    pub(super) fn finish(self) -> Remarks {
        Remarks {
            refused: self.refused.into_inner(),
            unread: self.unread.into_inner(),
            deviations: self.deviations.into_inner(),
        }
    }

    /// Takes the acceptable rows, and notes the rest.
    pub(super) fn fill(&self, intake: &mut Intake<'_>) -> Result<(), ChangeFailure> {
        let from = match self.from {
            Some(from) => vec![from],
            None => intake.base_urls(),
        };
        let options = Options {
            from: &from,
            case: intake.case(),
            columns: self.columns,
        };
        let mut refused = RefusedRows::new(self.listed);
        let mut counts: BTreeMap<Deviation, usize> = BTreeMap::new();
        let mut readable = 0_usize;
        let mut take = |row: ImportedRow| {
            let line = row.line;
            readable += usize::from(row.link.is_ok());
            let mut deviations = Vec::new();
            let taken = row.link.map(|mut link| {
                deviations = std::mem::take(&mut link.deviations);
                intake.take(line, link)
            });
            match taken {
                Ok(Ok(())) => {
                    for it in deviations {
                        *counts.entry(it).or_default() += 1;
                    }
                }
                Ok(Err(refusal)) => refused.add(refused_row(line, &refusal)),
                Err(error) => refused.add(unreadable_row(line, &error, intake.table())),
            }
        };
        let what = format!("taking the rows of {}", self.name);
        let unread = progress::during(what, || match self.content {
            Content::File(format, bytes) => format.form().read(bytes, &options, &mut take),
            Content::Tree(tree) => {
                read_tree(tree, &options, &mut take);
                Ok(Vec::new())
            }
        });
        if let Content::File(format, bytes) = self.content
            && readable == 0
            && let Some(error) = format.mismatch(self.name, bytes)
        {
            return Err(error.into());
        }
        self.refused.replace(refused);
        self.deviations.replace(counts);
        self.unread
            .replace(unread.map_err(|error| unreadable(self.name, &error))?);
        Ok(())
    }
}

/// Returns the error of a file of which no row can be read.
fn unreadable(name: &str, error: &ReadError) -> Error {
    let message = format!("{name}: {error}");
    let message = legible(&message);
    match error {
        ReadError::NoSuchColumn { .. } => Error::usage(message),
        ReadError::NoHeader => Error::refused(message),
        ReadError::SeveralCodeColumns { .. } => {
            let hint = "name it with --column short-code=NAME; if another one is the status, add --column \
                        status=NAME";
            Error::refused(message).with_hint(Some(hint))
        }
        ReadError::NoUrlColumn { .. } | ReadError::SeveralUrlColumns { .. } => {
            let hint = "name it with --column url=NAME";
            Error::refused(message).with_hint(Some(hint))
        }
        ReadError::NoCodeColumn { .. } => {
            let hint = "name it with --column short-code=NAME, or derive all codes from the URLs with \
                        --column short-code=";
            Error::refused(message).with_hint(Some(hint))
        }
    }
}

/// Returns a row that is refused by the table.
pub(super) fn refused_row(line: usize, refusal: &RegistrationRefusal) -> RefusedRow {
    let (message, hint) = why(refusal);
    RefusedRow {
        line,
        is_partial: false,
        reason: reason(refusal, &message, hint.as_deref()),
        message,
        hint,
    }
}

/// Returns a row that cannot be read, or only in part.
fn unreadable_row(line: usize, error: &RowError, table: &Table) -> RefusedRow {
    RefusedRow {
        line,
        is_partial: matches!(error, RowError::Partly(_)),
        reason: error.reason(),
        message: error.to_string(),
        hint: hint(error, table),
    }
}

/// Returns a hint on a row that cannot be read, with the flag that helps.
fn hint(error: &RowError, table: &Table) -> Option<String> {
    let other = elsewhere(error);
    let is_under = |site: &&BaseUrl| {
        (other.as_ref()).is_some_and(|url| {
            url.host_str() == Some(site.host()) && url.path().starts_with(site.path())
        })
    };
    let mut sites = table.sites().iter().map(Site::base_url);
    if let Some(site) = sites.find(is_under) {
        return Some(format!(
            "its site is in this table: import the links of {site} with --site {site}",
            site = site.as_str()
        ));
    }
    if let Some(url) = &other {
        let base_url = url.join(".").map_or_else(|_| String::new(), Into::into);
        let site = match table.sites() {
            [_] => "",
            _ => " --site URL",
        };
        return Some(format!(
            "name the base URL where the links come from, as in --from {base_url}{site}, or give the \
             table a site with it"
        ));
    }
    match error {
        RowError::Elsewhere { .. } => Some(format!("{} with --from", error.hint()?)),
        RowError::AnyCase => Some(format!(
            "{}; with --base-url, --case fold creates one",
            error.hint()?
        )),
        RowError::NoSite => Some(format!("{} with --site", error.hint()?)),
        _ => error.hint(),
    }
}

/// Returns the short link of a row, if it is refused because it belongs to another site.
fn elsewhere(error: &RowError) -> Option<Url> {
    match error {
        RowError::Elsewhere { short_link, .. } => Url::parse(short_link).ok(),
        _ => None,
    }
}

/// Returns the common reason of refused rows.
fn reason(refusal: &RegistrationRefusal, message: &str, hint: Option<&str>) -> String {
    match refusal {
        // Only the hint names the conflicting link.
        RegistrationRefusal::AlreadyRegistered(_) => hint.unwrap_or(message).to_owned(),
        _ => message.to_owned(),
    }
}

/// Returns why a row is refused, and a hint.
fn why(refusal: &RegistrationRefusal) -> (String, Option<String>) {
    match refusal {
        RegistrationRefusal::AlreadyRegistered(holder) => {
            let hint = format!(
                "its link {} at {} is retired or expired, and no import brings it back",
                holder.short_url, holder.place
            );
            (refusal.to_string(), Some(hint))
        }
        // The place of a problem is in a text that was not written.
        RegistrationRefusal::Unsound { problems } => match &problems[..] {
            [first, ..] => (format!("{refusal}: {}", first.message), first.hint.clone()),
            [] => (refusal.to_string(), None),
        },
        _ => (refusal.to_string(), remedy::of_importing(refusal)),
    }
}
