//! Shadowing, as a property: whatever new codes change of a path that led somewhere is reported,
//! and nothing else is.
//!
//! What is true is found by resolving every spelling of every code, before and after.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use waypost::mapping::{
    Entry, Neighbourhood, Outcome, Request, Scheme, SourceFile, Table, Timestamp, compile, shadowed,
};

/// Before anything of a generated table expires, on 2050-01-01, and after that.
const TIMES: [Timestamp; 3] = [
    Timestamp::from_unix(1_700_000_000),
    Timestamp::from_unix(2_524_651_200),
    Timestamp::from_unix(4_000_000_000),
];

const QUERIES: [Option<&str>; 2] = [None, Some("k=v")];

/// Targets whose auto codes differ in no more than that one ends in `-` and the other in `_`.
const TWINS: [&str; 2] = ["https://e.org/69745773", "https://e.org/97742539"];

/// What linkifiers and people put after a code, or in front of what follows it.
const ENDS: [&str; 26] = [
    "", "/", "+", ".", ")", "..", ".)", "),", "/x", "/x/y", "/.", "/..", "/+", ")/", "/)", "+.",
    "/x)", "/x.", "_", "-", "a", "/a", "/a.", "%2E", "%2F", "%2Fx",
];

const TARGETS: [&str; 6] = [
    "https://t.example/",
    "https://t.example/a",
    "https://t.example/a/",
    "https://t.example/x",
    "https://t.example/b/?p=",
    "https://u.example/",
];

const CODES: [&str; 12] = [
    "a", "a.", "a..", "a/a", "a/b", "a/x", "a/b/c", "a/a/a", "b", "a/b.", "a/b/c.", "é",
];

/// An entry to write: what it is called is an index into codes that fit the others.
#[derive(Debug, Clone)]
struct Plan {
    code: CodePlan,
    target: usize,
    forward: usize,
    /// Expired, retired or neither.
    life: usize,
    alias: Option<usize>,
}

#[derive(Debug, Clone)]
enum CodePlan {
    Custom(usize),
    /// The auto code of a target with an odd code.
    Auto(usize),
    /// Part of what such a code is spelled as, or of the code.
    PartOfAuto(usize, usize),
}

fn code_plan() -> impl Strategy<Value = CodePlan> {
    prop_oneof![
        4 => (0..CODES.len()).prop_map(CodePlan::Custom),
        2 => (0..12_usize).prop_map(CodePlan::Auto),
        2 => (0..12_usize, 0..12_usize).prop_map(|(auto, part)| CodePlan::PartOfAuto(auto, part)),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let alias = proptest::option::weighted(0.2, 0..CODES.len());
    (
        code_plan(),
        0..TARGETS.len(),
        prop::sample::select(vec![0, 1, 2, 3, 2, 3, 4, 5, 6, 7]),
        0..8_usize,
        alias,
    )
        .prop_map(|(code, target, forward, life, alias)| Plan {
            code,
            target,
            forward,
            life,
            alias,
        })
}

/// Returns targets whose auto codes have a sign where it matters.
fn odd_targets(scheme: Scheme) -> Vec<String> {
    let find = |count: usize, is_odd: &dyn Fn(&str) -> bool| {
        let targets = (0..).map(|n| format!("https://auto.example/{n}"));
        let odd = targets.filter(|url| is_odd(scheme.code(url).as_str()));
        odd.take(count).collect::<Vec<_>>()
    };
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric());
    let mut all: Vec<_> = TWINS.map(str::to_owned).into();
    all.extend(find(2, &|code| {
        code.as_bytes()[1] == b'_' && is_plain(&code[..1]) && is_plain(&code[2..])
    }));
    all.extend(find(2, &|code| {
        code.as_bytes()[2] == b'_' && is_plain(&code[..2]) && code[3..].contains('-')
    }));
    all.extend(find(2, &|code| {
        code.as_bytes()[1] == b'_' && code.as_bytes()[3] == b'_' && is_plain(&code[..1])
    }));
    all.extend(find(1, &|code| {
        code.ends_with('-') || code.as_bytes()[6] == b'-'
    }));
    all.extend(find(2, &|code| {
        code.ends_with('_') || code.as_bytes()[5] == b'_'
    }));
    all.extend(find(1, &|code| is_plain(code)));
    all
}

struct Pool {
    scheme: Scheme,
    autos: Vec<String>,
}

impl Pool {
    fn new(scheme: Scheme) -> Self {
        Self {
            scheme,
            autos: odd_targets(scheme),
        }
    }

    fn auto_code(&self, auto: usize) -> String {
        self.scheme.code(&self.autos[auto]).to_string()
    }

    fn entry(&self, plan: &Plan) -> String {
        let forward = [
            "none",
            "query",
            "path",
            "path-and-query",
            "all",
            "all-and-query",
            "none\n  below: https://t.example/",
            "query\n  below: https://b.example/?x=",
        ][plan.forward];
        let mut target = TARGETS[plan.target].to_owned();
        if (2..6).contains(&plan.forward) && !target.ends_with(['/', '=']) {
            target.push('/');
        }
        let mut entry = match &plan.code {
            // Nothing can be appended to it.
            CodePlan::Auto(auto) => {
                let query = plan.forward % 2 == 1;
                let forward = if query { "query" } else { "none" };
                format!("- url: {}\n  forward: {forward}\n", self.autos[*auto])
            }
            CodePlan::Custom(code) => {
                let code = CODES[*code];
                format!("- url: {target}\n  short-code: {code}\n  forward: {forward}\n")
            }
            CodePlan::PartOfAuto(auto, part) => {
                let code = self.auto_code(*auto);
                let spelled = code.replace('-', "+").replace('_', "/");
                let slashes = spelled
                    .match_indices('/')
                    .map(|(at, _)| spelled[..at].to_owned());
                let mut parts: Vec<_> = slashes.collect();
                parts.push(code[..code.len() - 1].to_owned());
                parts.push(format!("{}.", &code[..code.len() - 1]));
                parts.push(format!("{code}."));
                parts.push(format!("{code}/a"));
                parts.retain(|part| !part.is_empty() && !part.ends_with('/'));
                let code = &parts[part % parts.len()];
                format!("- url: {target}\n  short-code: \"{code}\"\n  forward: {forward}\n")
            }
        };
        if let Some(alias) = plan.alias {
            entry += &format!("  aliases: [\"{}\"]\n", CODES[alias]);
        }
        match plan.life {
            0 => entry += "  retired: true\n",
            1 => entry += "  expires: 2050-01-01\n",
            2 => entry += "  retired: 2050-01-01\n",
            _ => {}
        }
        entry
    }

    fn table(&self, plans: &[Plan]) -> Option<Table> {
        let mut text = format!(
            "base_url: https://s.code/\ncode-scheme: {}\nmapping:\n",
            self.scheme.name()
        );
        plans.iter().for_each(|plan| text += &self.entry(plan));
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into_bytes(),
        };
        compile(&[file]).table
    }

    /// Returns each path by which the codes may be requested.
    fn paths(&self, table: &Table, more: &str) -> BTreeSet<String> {
        let mut codes: BTreeSet<String> = CODES.map(str::to_owned).into();
        for entry in table.sites()[0].entries() {
            codes.insert(entry.code().into_owned());
            codes.extend(entry.aliases().map(str::to_owned));
        }
        let mut stems = BTreeSet::new();
        for code in codes {
            let spelled = code.replace('-', "+").replace('_', "/");
            stems.extend(with_slashes_escaped(&spelled));
            stems.insert(spelled.replace('+', "%2B"));
            stems.insert(spelled);
            let short: String = code.chars().take(code.chars().count() - 1).collect();
            stems.insert(short);
            stems.insert(code.replace('a', "%61"));
            stems.insert(code);
        }
        let ends = || ENDS.into_iter().chain([more]);
        let paths = stems
            .iter()
            .flat_map(|stem| ends().map(move |end| format!("{stem}{end}")));
        paths.collect()
    }
}

/// The result of a request, a location or 410, and its entry.
fn outcome<'t>(
    table: &'t Table,
    path: &str,
    query: Option<&str>,
    now: Timestamp,
) -> Option<(Entry<'t>, Option<String>)> {
    let path = format!("/{path}");
    let request = Request {
        host: None,
        path: &path,
        query,
        accept: None,
    };
    match table.resolve(&request, now) {
        // The same address in another spelling is the same.
        Outcome::Redirect(it) => {
            let location = percent_decode_str(&it.location.to_string())
                .decode_utf8_lossy()
                .into_owned();
            Some((it.entry, Some(location)))
        }
        Outcome::Gone(entry) => Some((entry, None)),
        _ => None,
    }
}

/// Returns a path with each combination of its slashes escaped.
fn with_slashes_escaped(path: &str) -> Vec<String> {
    let Some((first, rest)) = path.split_once('/') else {
        return vec![path.to_owned()];
    };
    let rests = with_slashes_escaped(rest).into_iter();
    let both = |rest| ["/", "%2F"].map(|slash| format!("{first}{slash}{rest}"));
    rests.flat_map(both).collect()
}

/// Returns the entry of a path that led somewhere, or was gone, and has another result now.
fn changed(old: &Table, new: &Table, path: &str) -> Option<String> {
    for now in TIMES {
        for query in QUERIES {
            let Some((entry, was)) = outcome(old, path, query, now) else {
                continue;
            };
            let is = outcome(new, path, query, now).map(|(_, is)| is);
            if is != Some(was) {
                return Some(entry.code().into_owned());
            }
        }
    }
    None
}

/// Returns the codes of the entries that are shadowed, as resolving finds them.
fn truth(pool: &Pool, old: &Table, new: &Table, more: &str) -> BTreeSet<String> {
    let paths = pool.paths(new, more);
    paths
        .iter()
        .filter_map(|path| changed(old, new, path))
        .collect()
}

/// Returns a plan with a code that is made of one there is, if it is made of one at all.
fn closer(plan: &Plan, before: &[Plan]) -> Plan {
    let autos = before.iter().filter_map(|it| match it.code {
        CodePlan::Auto(auto) => Some(auto),
        _ => None,
    });
    let autos: Vec<_> = autos.collect();
    let code = match plan.code {
        CodePlan::PartOfAuto(auto, part) if !autos.is_empty() => {
            CodePlan::PartOfAuto(autos[auto % autos.len()], part)
        }
        CodePlan::Auto(auto) if auto < 6 && autos.contains(&(auto % 2)) => {
            CodePlan::Auto(1 - auto % 2)
        }
        ref code => code.clone(),
    };
    Plan {
        code,
        ..plan.clone()
    }
}

fn check(pool: &Pool, before: &[Plan], added: &[Plan], more: &str) -> Result<usize, TestCaseError> {
    let added = added.iter().map(|plan| closer(plan, before));
    let all: Vec<_> = before.iter().cloned().chain(added).collect();
    // Where codes clash, there is no table.
    let (Some(old), Some(new)) = (pool.table(before), pool.table(&all)) else {
        return Err(TestCaseError::reject("no table"));
    };
    let found = shadowed(&old, &new);
    let reported: BTreeSet<_> = found.iter().map(|it| it.old.code().into_owned()).collect();
    let entries = || all.iter().map(|plan| pool.entry(plan)).collect::<String>();
    for it in &found {
        prop_assert!(old.sites()[0].lookup(&it.code).is_none());
        let holder = new.sites()[0].lookup(&it.code).unwrap();
        prop_assert_eq!(holder.code(), it.new.code());
        let mut near = Neighbourhood::default();
        near.insert(&it.old.code());
        it.old.aliases().for_each(|alias| near.insert(alias));
        prop_assert!(near.touches(&it.code), "{} and {}", &it.code, it.old.code());
        let changed = changed(&old, &new, &it.path);
        prop_assert_eq!(
            changed,
            Some(it.old.code().into_owned()),
            "{} in {}",
            &it.path,
            entries()
        );
    }
    prop_assert_eq!(&reported, &truth(pool, &old, &new, more), "{}", entries());
    Ok(reported.len())
}

fn run(scheme: Scheme) {
    let pool = Pool::new(scheme);
    let plans = |most| prop::collection::vec(plan(), 1..=most);
    let more = "[ab./_)+-]{0,4}";
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 200,
        max_global_rejects: 100_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let shadowings = std::cell::Cell::new(0);
    runner
        .run(&(plans(5), plans(2), more), |(before, added, more)| {
            let count = check(&pool, &before, &added, &more)?;
            shadowings.set(shadowings.get() + count);
            Ok(())
        })
        .unwrap();
    // About 45 on average; whatever the random cases, some must be.
    assert!(shadowings.get() > 10, "{} were shadowed", shadowings.get());
}

#[test]
fn of_sha256_all_that_changes_is_reported() {
    run(Scheme::Sha256);
}

#[test]
fn of_crc64_all_that_changes_is_reported() {
    run(Scheme::Crc64Xz);
}

fn table_of(entries: &[&str]) -> Table {
    let entries = entries.join("\n- ");
    let text = format!("base_url: https://s.code/\nmapping:\n- {entries}\n");
    let file = SourceFile {
        path: "t.yaml".into(),
        bytes: text.into_bytes(),
    };
    compile(&[file]).table.unwrap()
}

/// Returns what some entries shadow of others, as `CODE takes PATH from CODE`.
fn taken(before: &[&str], added: &[&str]) -> Vec<String> {
    let (old, new) = (table_of(before), table_of(&[before, added].concat()));
    let found = shadowed(&old, &new);
    let report = found
        .iter()
        .map(|it| format!("{} takes {} from {}", it.code, it.path, it.old.code()));
    report.collect()
}

#[test]
fn each_step_of_resolving_may_be_taken_over() {
    const BANK: &str =
        "{url: https://bank.example/app/, short-code: bank, forward: path-and-query}";
    const DOCS: &str = "{url: https://docs.example/, short-code: docs}";
    const TWO: [&str; 2] = [
        "{url: https://e.org/69745773}",
        "{url: https://e.org/97742539}",
    ];
    for (before, added, expected) in [
        // Forwarded.
        (
            BANK,
            "{url: https://e.org/, short-code: bank/login}",
            "bank/login takes bank/login from bank",
        ),
        (
            BANK,
            "{url: https://e.org/, short-code: x, aliases: [bank/x]}",
            "bank/x takes bank/x from bank",
        ),
        // Forwarded further, where only what lies below differs.
        (
            BANK,
            "{url: https://bank.example/app/a/, short-code: bank/a, forward: path}",
            "bank/a takes bank/a from bank",
        ),
        // Not forwarded further: only some of what lies below leads where it did.
        (
            BANK,
            "{url: https://bank.example/app/a, short-code: bank/a, forward: all-and-query}",
            "bank/a takes bank/a/ from bank",
        ),
        // Repaired.
        (
            DOCS,
            "{url: https://e.org/, short-code: docs.}",
            "docs. takes docs. from docs",
        ),
        (
            "{url: https://docs.example/, short-code: a/docs}",
            "{url: https://e.org/, short-code: a, forward: path}",
            "a takes a/docs) from a/docs",
        ),
        // An auto code without its end; of two that fit, neither is found.
        (
            TWO[0],
            "{url: https://e.org/, short-code: ieZXdFa}",
            "ieZXdFa takes ieZXdFa from ieZXdFa_",
        ),
        (TWO[0], TWO[1], "ieZXdFa- takes ieZXdFa from ieZXdFa_"),
        // Where two fit, each is spelled otherwise with its end.
        (
            "{url: https://e.org/69745773}\n- {url: https://e.org/97742539}",
            "{url: https://e.org/, short-code: ieZXdFa}",
            "ieZXdFa takes ieZXdFa/ from ieZXdFa_, ieZXdFa takes ieZXdFa+ from ieZXdFa-",
        ),
        // A 410 is a result, too.
        (
            "{short-code: old, retired: true}",
            "{url: https://e.org/, short-code: old.}",
            "old. takes old. from old",
        ),
        // Free, or the same.
        (DOCS, "{url: https://e.org/, short-code: docs/x}", ""),
        (DOCS, "{url: https://docs.example/, short-code: docs.}", ""),
        (
            "{short-code: old, retired: true}",
            "{short-code: old., retired: true}",
            "",
        ),
        (BANK, "{url: https://e.org/, short-code: banks}", ""),
    ] {
        assert_eq!(taken(&[before], &[added]).join(", "), expected, "{added}");
    }
    // Spelled otherwise.
    let urls = (0..).map(|n| format!("https://auto.example/{n}"));
    let mut codes = urls.map(|url| (Scheme::Sha256.code(&url).to_string(), url));
    let (code, url) = codes
        .find(|(code, _)| code.find(['_', '-']) == Some(2) && code.as_bytes()[2] == b'_')
        .unwrap();
    let auto = format!("{{url: {url}}}");
    let (start, rest) = code.split_once('_').unwrap();
    let added = format!("{{url: https://e.org/, short-code: {start}, forward: path}}");
    let rest = rest.replace('_', "/").replace('-', "+");
    assert_eq!(
        taken(&[&auto], &[&added]),
        [format!("{start} takes {start}/{rest} from {code}")]
    );
}

#[test]
fn an_encoded_slash_of_an_auto_code_is_a_spelling_too() {
    const URL: &str = "https://auto.example/2883";
    assert_eq!(Scheme::Sha256.code(URL).as_str(), "S_Yrh_Nv");
    let before = [
        format!("{{url: {URL}}}"),
        "{url: https://e.org/, short-code: S/Yrh, forward: path}".to_owned(),
    ];
    assert_eq!(
        taken(
            &[&before[0], &before[1]],
            &["{url: https://f.org/, short-code: S, forward: path}"]
        ),
        [
            "S takes S/Yrh%2FNv from S_Yrh_Nv",
            "S takes S/Yrh) from S/Yrh"
        ]
    );
}

#[test]
fn of_nested_prefixes_the_one_that_answers_takes_a_path() {
    assert_eq!(
        taken(
            &["{url: https://e.org/, short-code: a/b/c}"],
            &[
                "{url: https://f.org/, short-code: a, forward: path}",
                "{url: https://g.org/, short-code: a/b, forward: path}",
            ]
        ),
        ["a/b takes a/b/c) from a/b/c"]
    );
}

#[test]
fn an_alias_may_take_paths_of_its_own_entry() {
    let with = |aliases: &str| {
        table_of(&[&format!(
            "{{url: https://e.org/, short-code: a, forward: path, aliases: [{aliases}]}}"
        )])
    };
    let found = |old: &Table, new: &Table| {
        let found = shadowed(old, new).into_iter();
        found.map(|it| it.path).collect::<Vec<_>>()
    };
    // What was forwarded to `https://e.org/x` leads to `https://e.org/` now.
    assert_eq!(found(&with(""), &with("a/x")), ["a/x"]);
    // What was repaired leads where it led.
    assert_eq!(found(&with(""), &with("a.")), [""; 0]);
}

#[test]
fn a_new_site_takes_the_paths_under_its_base_url() {
    const OUTER: &str = "base_url: https://s.code/
mapping:
- {url: https://press.example/, short-code: docs, forward: path}
- {url: https://q.example/, short-code: q/r}
- {url: https://kept.example/, short-code: q/kept}
- {url: https://other.example/, short-code: other}
";
    let table = |texts: &[&str]| {
        let file = |(number, text): (usize, &&str)| SourceFile {
            path: format!("{number}.yaml").into(),
            bytes: text.as_bytes().into(),
        };
        let files: Vec<_> = texts.iter().enumerate().map(file).collect();
        compile(&files).table.unwrap()
    };
    let taken = |before: &[&str], after: &[&str]| {
        let (old, new) = (table(before), table(after));
        let found = shadowed(&old, &new).into_iter();
        let report = found.map(|it| {
            assert!(it.site.is_some());
            format!("{} from {}", it.path, it.new.code())
        });
        report.collect::<Vec<_>>()
    };
    let docs = "base_url: https://s.code/docs/\nmapping:\n- {url: https://evil.example/, short-code: install}\n";
    let q = "base_url: https://s.code/q/\nmapping:\n- {url: https://evil.example/, short-code: r}\n- {url: https://kept.example/, short-code: kept}\n";
    let empty = "base_url: https://s.code/docs/\nmapping: []\n";
    let elsewhere = "base_url: https://s.code/else/\nmapping:\n- url: https://evil.example/\n";
    assert_eq!(
        taken(&[OUTER], &[OUTER, docs, q]),
        ["docs/ from docs", "docs/x from docs", "q/r from q/r"]
    );
    assert_eq!(
        taken(&[OUTER], &[OUTER, empty]),
        ["docs/ from docs", "docs/x from docs"]
    );
    assert_eq!(taken(&[OUTER], &[OUTER, elsewhere]), [""; 0]);
    // What was taken before is not taken again.
    let deeper = "base_url: https://s.code/docs/v1/\nmapping: []\n";
    assert_eq!(taken(&[OUTER, docs], &[OUTER, docs, deeper]), [""; 0]);
    assert_eq!(taken(&[OUTER, docs], &[OUTER, docs]), [""; 0]);
}
