//! Statements: that a published code is meant to lead elsewhere from now on.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::permanence::TRAILER;
use crate::mapping::packed::Site;

/// The word in front of the codes of a statement.
const RETARGET: &str = "retarget";

/// That one code is meant to lead elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Statement(Rc<str>);

/// Statements, found by what they say.
#[derive(Debug, Clone, Default)]
pub struct Statements(HashMap<Statement, Makers>);

/// Who made a statement: commits, as numbers.
#[derive(Debug, Clone, Default)]
struct Makers {
    /// Those for whom it has not served yet.
    waiting: BTreeSet<usize>,
    served: BTreeSet<usize>,
}

impl Statement {
    /// States it of a code as tables write it, in whichever site; or of one whole short link.
    pub fn retarget(link: &str) -> Self {
        Self(link.into())
    }

    /// Reads `retarget CODE…`, with spaces or commas between codes; nothing else is a statement.
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

    /// Returns the trailer that states it of a code of a site; of one of several sites, it names the
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
    /// Takes in what a commit states.
    pub fn state(&mut self, commit: usize, statements: impl IntoIterator<Item = Statement>) {
        for statement in statements {
            self.0.entry(statement).or_default().waiting.insert(commit);
        }
    }

    /// Takes in what another line of work knows: what has served there has served.
    pub(crate) fn join(&mut self, other: &Self) {
        for (statement, makers) in &other.0 {
            let own = self.0.entry(statement.clone()).or_default();
            own.served.extend(&makers.served);
            own.waiting.extend(&makers.waiting);
            own.waiting.retain(|commit| !own.served.contains(commit));
        }
    }

    /// Returns the statements about this code of this site that wait to serve.
    pub(crate) fn waiting(&self, site: &Site, code: &str) -> Vec<Statement> {
        let texts = spellings(site, code).into_iter();
        let known = texts.filter_map(|text| self.0.get_key_value(text.as_str()));
        let waiting = known.filter(|(_, makers)| !makers.waiting.is_empty());
        waiting.map(|(statement, _)| statement.clone()).collect()
    }

    /// Takes note that a statement has served, whoever made it so far.
    pub(crate) fn serve(&mut self, statement: &Statement) {
        if let Some(makers) = self.0.get_mut(statement) {
            makers.served.append(&mut makers.waiting);
        }
    }
}

/// Statements that no commit made.
impl FromIterator<Statement> for Statements {
    fn from_iter<I: IntoIterator<Item = Statement>>(statements: I) -> Self {
        let mut all = Self::default();
        all.state(0, statements);
        all
    }
}

/// Returns what states of one code: in each site itself, in this one its whole link.
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
    fn a_code_is_meant_in_every_site_and_a_link_in_one() {
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
