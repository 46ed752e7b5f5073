//! Searching a site, compared with a filter that looks at each entry in the plainest way.

use std::collections::BTreeSet;

use proptest::prelude::*;
use waypost::mapping::{
    CodeOrder, Entry, Filter, LinkState, Site, SourceFile, Table, Timestamp, compile,
};

/// The time at which tables are searched: 2026-11-22.
const NOW: Timestamp = Timestamp::from_unix(1_795_305_600);

fn table(yaml: &str) -> Table {
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: yaml.into(),
    };
    let compiled = compile(&[file]);
    let problems = compiled.diagnostics;
    compiled
        .table
        .unwrap_or_else(|| panic!("{yaml}\n{problems:?}"))
}

/// Returns the codes of the selected entries, in the order of the search.
fn found(site: &Site, filter: &Filter, after: Option<&str>) -> Vec<String> {
    let order = CodeOrder::new(site);
    let entries = order.search(site, filter.clone(), after, NOW, || true);
    entries.map(|entry| entry.code().into_owned()).collect()
}

const EXAMPLES: &str = "\
base_url: https://s.example/
mapping:
- {url: 'https://www.gnu.org/Software', short-code: gnu-home, title: The GNU Project, tags: [free, Software]}
- {url: 'https://b.example/', short-code: Zoo, aliases: [tier/park], owner: Docs}
- {url: 'https://c.example/', short-code: café, title: CAFÉ, owner: docs, expires: 2026-11-01}
- {url: 'https://d.example/', short-code: old, retired: 2020-01-01, expires: 2020-01-02}
- {short-code: taken-down, title: Taken down, retired: true}
- {url: 'https://e.example/', title: Soon, retired: 2099-01-01}
- {url: 'https://f.example/', archive: 'https://web.archive.org/web/2020/https://old.example/'}
";

#[test]
fn words_are_found_wherever_people_would_look() {
    let table = table(EXAMPLES);
    let site = &table.sites()[0];
    let auto = |url: &str| site.scheme().code(url).as_str().to_owned();
    for (text, expected) in [
        ("GNU", vec!["gnu-home".to_owned()]),
        ("software gnu.org", vec!["gnu-home".to_owned()]),
        ("project free home", vec!["gnu-home".to_owned()]),
        ("gnu nothing", vec![]),
        ("TIER/park", vec!["Zoo".to_owned()]),
        ("Cafe\u{301}", vec!["café".to_owned()]),
        ("https://b", vec!["Zoo".to_owned()]),
        ("taken", vec!["taken-down".to_owned()]),
        (
            &auto("https://e.example/").to_lowercase(),
            vec![auto("https://e.example/")],
        ),
        ("old.example", vec![]),
        // Words do not reach from one text into the next.
        ("gnu-homehttps", vec![]),
        ("project\nfree", vec!["gnu-home".to_owned()]),
    ] {
        assert_eq!(
            found(site, &Filter::default().text(text), None),
            expected,
            "{text}"
        );
    }
    let all = Filter::default().text(" \n ");
    assert!(all.is_empty());
    assert_eq!(found(site, &all, None).len(), site.len());
}

#[test]
fn tags_owners_and_states_are_whole_words() {
    let table = table(EXAMPLES);
    let site = &table.sites()[0];
    let codes = |filter: Filter| found(site, &filter, None);
    assert_eq!(codes(Filter::default().tag("SOFTWARE")), ["gnu-home"]);
    assert!(codes(Filter::default().tag("soft")).is_empty());
    assert_eq!(codes(Filter::default().owner("DOCS")), ["Zoo", "café"]);
    let live_docs = Filter::default().owner("docs").state(LinkState::Live);
    assert_eq!(codes(live_docs), ["Zoo"]);
    assert_eq!(codes(Filter::default().state(LinkState::Expired)), ["café"]);
    // What was retired before it expired is retired.
    let retired = codes(Filter::default().state(LinkState::Retired));
    assert_eq!(retired, ["old", "taken-down"]);
    let order = CodeOrder::new(site);
    let [early, late] = [0, 1 << 40].map(Timestamp::from_unix);
    let passed = [early, NOW, late].map(|time| order.dates_before(time));
    assert_eq!(passed, [0, 3, 4]);
}

#[test]
fn a_search_that_is_not_awaited_ends() {
    let mut yaml = "base_url: https://s.example/\nmapping:\n".to_owned();
    for number in 0..10_000 {
        yaml += &format!("- url: https://e.example/{number}\n");
    }
    let table = table(&yaml);
    let site = &table.sites()[0];
    let order = CodeOrder::new(site);
    assert_eq!(order.heap_bytes(), 8 * site.len());
    let mut asked = 0;
    let goes_on = move || {
        asked += 1;
        asked == 1
    };
    let some = order.search(site, Filter::default(), None, NOW, goes_on);
    assert!((1..site.len()).contains(&some.count()));
    // At any time, also while all entries are scanned.
    let last = Filter::default().text("9999").state(LinkState::Live);
    let found = |most: u32| {
        let mut asked = 0;
        let goes_on = || {
            asked += 1;
            asked <= most
        };
        let found = order.search(site, last.clone(), None, NOW, goes_on).count();
        (found, asked)
    };
    let (all, needed) = found(u32::MAX);
    assert_eq!(all, 1);
    for most in 0..needed {
        assert_eq!(found(most), (0, most + 1));
    }
}

#[test]
fn a_host_is_found_in_both_its_forms() {
    let table = table(
        "\
base_url: https://s.example/
mapping:
- {url: 'https://www.xn--mnchen-3ya.example/xn--4ca', short-code: short}
- {url: 'http://xn--fiqs8s.example:8080', short-code: china}
- {url: 'https://munich.example/xn--mnchen-3ya', short-code: other}
",
    );
    let site = &table.sites()[0];
    for (text, expected) in [
        ("m\u{fc}nchen", &["short"][..]),
        ("MU\u{308}NCHEN.example", &["short"]),
        ("https://www.m\u{fc}nchen.example/xn", &["short"]),
        ("nchen.example", &["short"]),
        ("xn--mnchen-3ya", &["other", "short"]),
        ("XN--MNCHEN-3YA.example/", &["short"]),
        ("http://\u{4e2d}\u{56fd}.example:8080/", &["china"]),
        ("xn--fiqs8s", &["china"]),
        // A path is bytes to its server, which no one else may read as a name.
        ("\u{e4}", &[]),
    ] {
        let filter = Filter::default().text(text);
        assert_eq!(found(site, &filter, None), expected, "{text}");
    }
}

/// An entry of a random table: the parts that can be searched.
#[derive(Debug, Clone)]
struct Written {
    scheme: &'static str,
    host: String,
    code: Option<String>,
    title: Option<String>,
    owner: Option<String>,
    tags: Vec<String>,
    aliases: usize,
    term: usize,
}

fn word() -> impl Strategy<Value = String> {
    "[abAB-]{1,3}|[aAéÉöÖ]{1,2}"
}

/// Returns words that are in no code.
fn special() -> impl Strategy<Value = String> {
    "\u{212a}|\u{130}|a\u{301}|o\u{308}|:|/"
}

fn written() -> impl Strategy<Value = Written> {
    let tags = prop::collection::vec("[abAB]{1,2}", 0..3);
    let title = prop::option::of(prop_oneof![3 => word(), 1 => special()]);
    let word = || prop::option::of(word());
    let scheme = prop::sample::select(vec!["https", "http"]);
    let host = "[ab]{1,3}|xn--4ca|xn--a-0fa";
    (
        (scheme, host, word(), title),
        (word(), tags, 0..3_usize, 0..4_usize),
    )
        .prop_map(
            |((scheme, host, code, title), (owner, tags, aliases, term))| Written {
                scheme,
                host,
                code,
                title,
                owner,
                tags,
                aliases,
                term,
            },
        )
}

/// Writes a table; the number of an entry keeps its target and its codes apart from all others.
fn yaml(entries: &[(usize, Written)]) -> String {
    let mut yaml = "base_url: https://s.example/\nmapping:\n".to_owned();
    if entries.is_empty() {
        yaml += "  []\n";
    }
    for (number, it) in entries {
        yaml += &format!("- url: {}://{}.example/{number}\n", it.scheme, it.host);
        if let Some(code) = &it.code {
            yaml += &format!("  short-code: \"{code}{number}\"\n");
        }
        if let Some(title) = &it.title {
            yaml += &format!("  title: \"{title}\"\n");
        }
        if let Some(owner) = &it.owner {
            yaml += &format!("  owner: \"{owner}\"\n");
        }
        yaml += &format!("  tags: {:?}\n", it.tags);
        let alias = |alias: usize| format!("x{alias}/{number}");
        let aliases: Vec<String> = (0..it.aliases).map(alias).collect();
        yaml += &format!("  aliases: {aliases:?}\n");
        yaml += [
            "",
            "  retired: true\n",
            "  expires: 2020-01-01\n",
            "  expires: 2099-01-01\n",
        ][it.term];
    }
    yaml
}

/// A query.
#[derive(Debug, Clone)]
struct Asked {
    text: String,
    tag: Option<String>,
    owner: Option<String>,
    state: Option<LinkState>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let of_url = "(s:)?//[abä]?|https|tp:|xn--|[kiäá.:/]|k[123]|([abä]?.exam)?ple/[1-3]?";
    let word = || prop_oneof![3 => word(), 1 => special(), 2 => of_url];
    let text = prop::collection::vec(word(), 0..3);
    let state = prop::option::of(prop::sample::select(LinkState::ALL.to_vec()));
    let tag = prop::option::of("[abAB]{1,2}");
    let owner = prop::option::of(self::word());
    (text, tag, owner, state).prop_map(|(words, tag, owner, state)| Asked {
        text: words.join(" "),
        tag,
        owner,
        state,
    })
}

impl Asked {
    fn filter(&self) -> Filter {
        let mut filter = Filter::default().text(&self.text);
        if let Some(tag) = &self.tag {
            filter = filter.tag(tag);
        }
        if let Some(owner) = &self.owner {
            filter = filter.owner(owner);
        }
        if let Some(state) = self.state {
            filter = filter.state(state);
        }
        filter
    }

    fn selects(&self, entry: Entry<'_>) -> bool {
        // The composed forms of what random tables have, where they are not.
        let fold = |text: &str| {
            let text = text.replace("a\u{301}", "á").replace("o\u{308}", "ö");
            text.to_lowercase()
        };
        let same = |text: &str, asked: &str| fold(text) == fold(asked);
        let target = entry.target().unwrap().into_owned();
        let unicode = target.replace("xn--4ca", "ä").replace("xn--a-0fa", "aä");
        let mut texts = vec![entry.code().into_owned(), target, unicode];
        texts.extend(entry.aliases().map(str::to_owned));
        texts.extend(entry.tags().map(str::to_owned));
        texts.extend(entry.title().map(str::to_owned));
        texts.extend(entry.owner().map(str::to_owned));
        let has = |word: &str| {
            let word = fold(word);
            texts.iter().any(|text| fold(text).contains(&word))
        };
        let state = match (entry.retired(), entry.expires()) {
            (Some(_), _) => LinkState::Retired,
            (None, Some(time)) if time <= NOW => LinkState::Expired,
            _ => LinkState::Live,
        };
        self.text.split_whitespace().all(has)
            && (self.tag.iter()).all(|tag| entry.tags().any(|it| same(it, tag)))
            && (self.owner.iter()).all(|owner| entry.owner().is_some_and(|it| same(it, owner)))
            && self.state.is_none_or(|it| it == state)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn finds_what_a_naive_filter_finds(
        entries in prop::collection::vec(written(), 0..40),
        asked in asked(),
        after in word(),
    ) {
        let entries: Vec<_> = entries.into_iter().enumerate().collect();
        let table = table(&yaml(&entries));
        let site = &table.sites()[0];
        let selected = site.entries().filter(|&entry| asked.selects(entry));
        let mut codes: Vec<_> = selected.map(|entry| entry.code().into_owned()).collect();
        codes.sort_unstable();
        prop_assert_eq!(&found(site, &asked.filter(), None), &codes);
        let mut filter = asked.filter();
        let alone = site.entries().filter(|&entry| filter.matches(entry, NOW)).count();
        prop_assert_eq!(alone, codes.len());
        codes.retain(|code| *code > after);
        prop_assert_eq!(found(site, &asked.filter(), Some(&after)), codes);
    }

    #[test]
    fn pages_have_each_entry_once_though_the_table_changes(
        entries in prop::collection::vec((written(), any::<[bool; 4]>()), 0..40),
        page in 1..7_usize,
    ) {
        // Each entry is in some of four versions of the table, which take turns.
        let entries: Vec<_> = entries.into_iter().enumerate().collect();
        let version = |number: usize| {
            let own = entries.iter().filter(|(_, (_, versions))| versions[number % 4]);
            let own: Vec<_> = own.map(|(number, (it, _))| (*number, it.clone())).collect();
            table(&yaml(&own))
        };
        let codes = |table: &Table| -> BTreeSet<String> {
            let entries = table.sites()[0].entries();
            entries.map(|entry| entry.code().into_owned()).collect()
        };
        let versions: Vec<Table> = (0..4).map(version).collect();
        let mut seen: Vec<String> = Vec::new();
        for turn in 0.. {
            let site = &versions[turn % 4].sites()[0];
            let after = seen.last().map(String::as_str);
            let mut codes = found(site, &Filter::default(), after);
            codes.truncate(page);
            if codes.is_empty() {
                break;
            }
            seen.extend(codes);
        }
        prop_assert!(seen.is_sorted_by(|a, b| a < b), "{:?}", seen);
        let mut always = codes(&versions[0]);
        for version in &versions[1..] {
            always = always.intersection(&codes(version)).cloned().collect();
        }
        // The walk may end in a version that has nothing more, so only what it passed must be seen.
        for code in always {
            let passed = seen.last().is_some_and(|last| code <= *last);
            prop_assert!(!passed || seen.contains(&code), "{code} in {seen:?}");
        }
    }
}
