//! The end of an intake, when links without a code get theirs.
//!
//! Only now, when all links with a code have been taken, is it known whether a target has one.

use std::collections::HashMap;

use super::{Holding, SiteIntake, is_gone};
use crate::edit::{NewEntry, OwnCode};
use crate::mapping::{DEFAULT_MAX_AGE, Defaults, Target};
use crate::registry::decide::{RegistrationRefusal, choice};

/// The result of an intake.
pub(crate) struct IntakeResult {
    /// The entries to insert.
    pub(crate) entries: Vec<NewEntry>,
    /// The line of each.
    pub(crate) lines: Vec<usize>,
    /// The number of links that were in the table already, or are duplicates.
    pub(crate) known: usize,
    /// The links that were refused at the end, with their lines.
    pub(crate) refused: Vec<(usize, RegistrationRefusal)>,
}

impl SiteIntake<'_> {
    /// Assigns codes to the links that wait for one.
    pub(crate) fn finish(mut self) -> Result<IntakeResult, RegistrationRefusal> {
        let mut refused = Vec::new();
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            let mut targets = self.targets();
            let mut number = self.highest_number();
            for (line, mut entry) in waiting {
                let Some(url) = &entry.url else { continue };
                let is_gone = is_gone(entry.retired.as_ref(), entry.expires.as_ref(), self.now);
                let holding = Holding {
                    line,
                    entry: Some(self.entries.len()),
                    is_gone,
                };
                match self.is_known(url, &targets, is_gone) {
                    Err(refusal) => {
                        refused.push((line, refusal));
                        continue;
                    }
                    // One with aliases of its own adds something new.
                    Ok(true) if entry.aliases.is_empty() => {
                        self.known += 1;
                        continue;
                    }
                    Ok(_) => {}
                }
                targets.entry(url.as_str().to_owned()).or_insert(holding);
                entry.code = choice::any(self.site, url, || number, |code| self.is_free(code))?;
                if let OwnCode::Number(_, given) = entry.code {
                    number = Some(given);
                }
                let code = entry.own_code(self.site.scheme()).into_owned();
                self.codes.insert(self.compared_form(&code), holding);
                self.entries.push(entry);
                self.lines.push(line);
            }
        }
        Ok(IntakeResult {
            entries: self.entries,
            lines: self.lines,
            known: self.known,
            refused,
        })
    }

    /// Returns the targets of the links taken with codes of their own: for each a live one, if any.
    fn targets(&self) -> HashMap<String, Holding> {
        let mut targets: HashMap<_, Holding> = HashMap::new();
        for holding in self.codes.values() {
            let entry = holding.entry.and_then(|entry| self.entries.get(entry));
            let Some(url) = entry.and_then(|entry| entry.url.as_ref()) else {
                continue;
            };
            let first = targets.entry(url.as_str().to_owned()).or_insert(*holding);
            if (holding.is_gone, holding.line) < (first.is_gone, first.line) {
                *first = *holding;
            }
        }
        targets
    }

    /// Returns whether a target has a link, in the table or among the taken ones.
    fn is_known(
        &self,
        url: &Target<'_>,
        targets: &HashMap<String, Holding>,
        is_gone: bool,
    ) -> Result<bool, RegistrationRefusal> {
        let taken = targets.get(url.as_str()).or_else(|| self.taken_down(url));
        if taken.is_some_and(|taken| !taken.is_gone) {
            return Ok(true);
        }
        let holder = choice::registered(self.site, url, self.now);
        match (holder, taken) {
            (Some(holder), _) if holder.is_gone && !is_gone => {
                Err(RegistrationRefusal::AlreadyRegistered(holder))
            }
            (None, Some(taken)) if !is_gone => {
                Err(RegistrationRefusal::GoneByLine { line: taken.line })
            }
            (holder, taken) => Ok(holder.is_some() || taken.is_some()),
        }
    }

    /// Returns the taken link that has the code a target derives, and has dropped that target.
    fn taken_down(&self, url: &Target<'_>) -> Option<&Holding> {
        let code = self.site.scheme().code(url.as_str());
        let holding = self.codes.get(&self.compared_form(&code))?;
        let entry = self.entries.get(holding.entry?)?;
        entry.url.is_none().then_some(holding)
    }

    fn highest_number(&self) -> Option<u64> {
        let taken = self.entries.iter().filter_map(|entry| match entry.code {
            OwnCode::Number(_, number) => Some(number),
            _ => None,
        });
        taken.chain(self.site.highest_number()).max()
    }
}

impl IntakeResult {
    /// Removes the values of an entry that equal the defaults of its document.
    pub(crate) fn drop_defaults(&mut self, defaults: Defaults) {
        let status = defaults.status.unwrap_or_default();
        let forward = defaults.forward.unwrap_or_default();
        let max_age = defaults.cache_max_age.unwrap_or(DEFAULT_MAX_AGE);
        for entry in &mut self.entries {
            entry.status = entry.status.filter(|it| *it != status);
            entry.forward = entry.forward.filter(|it| *it != forward);
            entry.cache_max_age = entry.cache_max_age.filter(|it| *it != max_age);
        }
    }
}
