//! Statements: that a published code is intended to lead elsewhere from now on.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::mapping::packed::Site;

/// The key of the trailers by which commits state intended changes.
pub const TRAILER: &str = "Waypost-Allow";

/// The word before the codes of a statement.
const RETARGET: &str = "retarget";

/// A statement about one code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement(Rc<str>);

/// Statements, indexed by their text.
#[derive(Debug, Clone, Default)]
pub struct Statements(HashMap<Statement, Makers>);

/// The commits that made a statement, as numbers.
#[derive(Debug, Clone, Default)]
struct Makers {
    /// Those for which it has not been used yet.
    waiting: BTreeSet<usize>,
    served: BTreeSet<usize>,
}

impl Statement {
    /// States it for a code as written in tables, in any site; or for one whole short link.
    pub fn retarget(link: &str) -> Self {
        Self(link.into())
    }

    /// Reads `retarget CODE…`, with spaces or commas between codes; anything else is not a
    /// statement.
    pub fn read(text: &str) -> Option<Vec<Self>> {
        let mut words = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|word| !word.is_empty());
        if words.next() != Some(RETARGET) {
            return None;
        }
        let all: Vec<_> = words.map(Self::retarget).collect();
        (!all.is_empty()).then_some(all)
    }

    /// Returns the trailer that states it for a code of a site; with several sites, it names the
    /// whole link.
    pub fn trailer(site: &Site, code: &str, has_several_sites: bool) -> String {
        let link = match has_several_sites {
            true => site.short_url(code),
            false => code.to_owned(),
        };
        format!("{TRAILER}: {RETARGET} {link}")
    }
}

/// A statement is found by its text.
impl Borrow<str> for Statement {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Statements {
    /// Adds the statements of a commit.
    pub fn state(&mut self, commit: usize, statements: impl IntoIterator<Item = Statement>) {
        for statement in statements {
            self.0.entry(statement).or_default().waiting.insert(commit);
        }
    }

    /// Adds the statements of another line of work: those used there count as used.
    pub(crate) fn join(&mut self, other: &Self) {
        for (statement, makers) in &other.0 {
            let own = self.0.entry(statement.clone()).or_default();
            own.served.extend(&makers.served);
            own.waiting.extend(&makers.waiting);
            own.waiting.retain(|commit| !own.served.contains(commit));
        }
    }

    /// Returns the unused statements about a code of a site.
    pub(crate) fn waiting(&self, site: &Site, code: &str) -> Vec<Statement> {
        let texts = spellings(site, code).into_iter();
        let known = texts.filter_map(|text| self.0.get_key_value(text.as_str()));
        let waiting = known.filter(|(_, makers)| !makers.waiting.is_empty());
        waiting.map(|(statement, _)| statement.clone()).collect()
    }

    /// Records that a statement was used, for every commit that made it so far.
    pub(crate) fn serve(&mut self, statement: &Statement) {
        if let Some(makers) = self.0.get_mut(statement) {
            makers.served.append(&mut makers.waiting);
        }
    }
}

/// Collects statements that no commit made.
impl FromIterator<Statement> for Statements {
    fn from_iter<I: IntoIterator<Item = Statement>>(statements: I) -> Self {
        let mut all = Self::default();
        all.state(0, statements);
        all
    }
}

/// Returns the texts that state it for one code: the code itself, which applies to any site, and
/// its whole link.
fn spellings(site: &Site, code: &str) -> Vec<String> {
    let links = [
        format!("{}{code}", site.base_url().as_str()),
        site.short_url(code),
    ];
    let itself = (!code.contains("://")).then(|| code.to_owned());
    itself.into_iter().chain(links).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::compile;
    use crate::mapping::value::SourceFile;

    #[test]
    fn is_read_word_by_word() {
        let read = |text| {
            let all = Statement::read(text)?;
            Some(all.iter().map(|it| it.0.to_string()).collect::<Vec<_>>())
        };
        for text in ["retarget a b,-c", " retarget  a, b\n ,-c,"] {
            assert_eq!(read(text).unwrap(), ["a", "b", "-c"], "{text}");
        }
        for text in [
            "",
            "retarget",
            "retarget ,",
            "a",
            "Retarget a",
            "remove a",
            "retargeta",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_code_applies_to_every_site_and_a_link_to_one() {
        let file = |host: &str| SourceFile {
            path: host.into(),
            bytes: format!("base_url: https://{host}/go/\nmapping: []\n").into(),
        };
        let files = [file("a.example"), file("b.example")];
        let table = compile(&files).table.unwrap();
        let about = |link: &str, code| {
            let stated: Statements = [Statement::retarget(link)].into_iter().collect();
            let sites = table.sites().iter();
            let about = sites.filter(|site| !stated.waiting(site, code).is_empty());
            about.count()
        };
        assert_eq!(about("é", "é"), 2);
        assert_eq!(about("É", "é"), 0);
        assert_eq!(about("https://a.example/go/é", "é"), 1);
        assert_eq!(about("https://a.example/go/%C3%A9", "é"), 1);
        assert_eq!(about("https://c.example/go/é", "é"), 0);
    }
}
