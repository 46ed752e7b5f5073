//! Replay: long random histories of valid edits with violations planted among them.
//!
//! `waypost check --history` must find those that remain at the end, and no others. What remains is
//! known from how the history was made, not worked out from it.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use crate::fixture::Fixture;
use crate::git::program;

/// How many edits a history has; some take two commits.
const EDITS: u32 = 400;

/// An entry that is always there.
const PREFIX: &str = "- short-code: p\n  url: https://example.org/p/\n  forward: path\n";

/// Small numbers that look random, the same in each run (xorshift64*, Vigna 2016).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let mixed = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(mixed).unwrap() % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

#[derive(Debug, Clone)]
struct Link {
    target: u32,
    is_retired: bool,
    /// Whether it is retired without its target.
    is_dropped: bool,
    aliases: u32,
    file: usize,
    /// What was promised, if it is broken; a link that is gone has no line.
    broken: Option<Box<Link>>,
    is_gone: bool,
    /// Whether two branches have promised it different targets.
    is_in_conflict: bool,
    /// Whether its code lies below the prefix, and so takes a path over.
    is_below: bool,
    /// Whether no commit has declared that this is intended.
    is_shadowing: bool,
}

/// A branch: its links by number, and its last commit.
#[derive(Debug, Clone)]
struct Work {
    links: BTreeMap<u32, Link>,
    touched: BTreeSet<u32>,
    tip: u32,
    name: &'static str,
}

impl Link {
    fn codes(&self, number: u32) -> Vec<String> {
        let aliases = (0..self.aliases).map(|alias| format!("c{number}a{alias}"));
        let own = match self.is_below {
            true => format!("p/c{number}"),
            false => format!("c{number}"),
        };
        std::iter::once(own).chain(aliases).collect()
    }

    fn line(&self, number: u32) -> String {
        let codes = self.codes(number);
        let mut line = format!("- short-code: {}\n", codes[0]);
        if !self.is_dropped {
            let _ = writeln!(line, "  url: https://example.org/{}", self.target);
        }
        if codes.len() > 1 {
            let _ = writeln!(line, "  aliases: [{}]", codes[1..].join(", "));
        }
        if self.is_retired {
            line += "  retired: true\n";
        }
        line
    }
}

/// A history in the making, as git fast-import(1) reads it.
struct History {
    random: Random,
    stream: String,
    commits: u32,
    targets: u32,
    numbers: u32,
}

impl History {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            stream: String::new(),
            commits: 0,
            targets: 0,
            numbers: 0,
        }
    }

    fn target(&mut self) -> u32 {
        self.targets += 1;
        self.targets
    }

    fn link(&mut self) -> Link {
        Link {
            target: self.target(),
            is_retired: false,
            is_dropped: false,
            aliases: u32::from(self.random.below(3) == 0),
            file: self.random.below(3),
            broken: None,
            is_gone: false,
            is_in_conflict: false,
            is_below: false,
            is_shadowing: false,
        }
    }

    /// Begins a commit on a branch; files follow.
    fn begin(&mut self, work: &mut Work, message: &str, merged: Option<u32>) {
        self.commits += 1;
        let (mark, name, length) = (self.commits, work.name, message.len());
        let time = 1_700_000_000 + mark;
        let _ = write!(
            self.stream,
            "commit refs/heads/{name}\nmark :{mark}\ncommitter C <c@example.org> {time} +0000\n\
             data {length}\n{message}\n"
        );
        if work.tip > 0 {
            let _ = writeln!(self.stream, "from :{}", work.tip);
        }
        if let Some(merged) = merged {
            let _ = writeln!(self.stream, "merge :{merged}");
        }
        work.tip = mark;
    }

    fn file(&mut self, path: &str, text: &str) {
        let length = text.len();
        let _ = write!(
            self.stream,
            "M 100644 inline {path}\ndata {length}\n{text}\n"
        );
    }

    /// Writes the table, each file in an order of its own.
    fn table(&mut self, work: &Work) {
        for file in 0..3 {
            let mut lines: Vec<_> = (work.links.iter())
                .filter(|(_, link)| link.file == file && !link.is_gone)
                .map(|(&number, link)| link.line(number))
                .collect();
            if self.random.below(4) == 0 {
                lines.reverse();
            }
            if file == 0 {
                lines.push(PREFIX.to_owned());
            }
            let mapping = if lines.is_empty() { " []" } else { "" };
            let text = format!(
                "base_url: https://short.code/\nmapping:{mapping}\n{}",
                lines.concat()
            );
            self.file(&format!("links/{file}.yaml"), &text);
        }
    }

    fn commit(&mut self, work: &mut Work, message: &str) {
        self.begin(work, message, None);
        self.table(work);
    }

    /// Makes a commit that leaves the table alone.
    fn remark(&mut self, work: &mut Work, message: &str) {
        self.begin(work, message, None);
        let text = format!("{}\n", self.commits);
        self.file("README", &text);
    }

    /// Chooses one of the links that this branch may edit.
    fn choose(&mut self, work: &Work, mine: &str, fits: impl Fn(&Link) -> bool) -> Option<u32> {
        let is_mine = |number: u32| match mine {
            "main" => number.is_multiple_of(2),
            _ => !number.is_multiple_of(2),
        };
        let fitting: Vec<_> = (work.links.iter())
            .filter(|(number, link)| is_mine(**number) && fits(link))
            .map(|(&number, _)| number)
            .collect();
        (!fitting.is_empty()).then(|| self.random.pick(&fitting))
    }

    /// Edits one link, or none where the edit needs one that is not there.
    fn edit(&mut self, work: &mut Work) {
        let is_sound =
            |link: &Link| link.broken.is_none() && !link.is_in_conflict && !link.is_shadowing;
        let lives = |link: &Link| is_sound(link) && !link.is_retired;
        let kind = self.random.below(37);
        let name = work.name;
        let fits: &dyn Fn(&Link) -> bool = match kind {
            0..=9 => {
                self.numbers += 2;
                let number = self.numbers + u32::from(name != "main");
                let link = self.link();
                return self.add(work, number, link);
            }
            10 => return self.remark(work, "remark"),
            11 => {
                // This table is not served, so it promises nothing and breaks nothing.
                self.begin(work, "spoil", None);
                self.file(
                    "links/0.yaml",
                    "base_url: https://short.code/\nmapping:\n- url: no\n",
                );
                return self.commit(work, "mend");
            }
            12..=22 | 30..=32 => &lives,
            23 | 24 | 33 => &|link| is_sound(link) && link.is_retired && !link.is_dropped,
            25 | 26 => &|link| is_sound(link) && link.is_dropped,
            27..=29 => &is_sound,
            34 | 35 => &|link| link.broken.is_some(),
            _ => &|link| link.is_in_conflict && !link.is_dropped,
        };
        let Some(number) = self.choose(work, name, fits) else {
            return;
        };
        work.touched.insert(number);
        let was = work.links[&number].clone();
        let mut link = was.clone();
        let state = format!(
            "state\n\nWaypost-Allow: retarget {}\n",
            was.codes(number).join(" ")
        );
        let mut messages = ["edit", "", ""].map(str::to_owned);
        match kind {
            12..=14 => {
                link.target = self.target();
                // With the change, before it, or after it.
                let when = self.random.below(3);
                messages[when] = state;
            }
            15 | 16 => link.is_retired = true,
            17 | 18 => (link.is_retired, link.is_dropped) = (true, true),
            19..=22 => link.aliases += 1,
            23 => link.is_retired = false,
            24 => link.is_dropped = true,
            25 => (link.is_retired, link.is_dropped) = (false, false),
            27..=29 => link.file = self.random.below(3),
            30 => (link.is_gone, link.broken) = (true, Some(Box::new(was))),
            31 => (link.target, link.broken) = (self.target(), Some(Box::new(was))),
            32 if link.aliases > 0 => {
                // Only the alias is gone, so only the alias is reported.
                link.aliases -= 1;
                link.broken = Some(Box::new(was));
            }
            26 | 33 => {
                (link.is_retired, link.is_dropped) = (false, false);
                link.target = self.target();
                link.broken = Some(Box::new(was));
                messages[0] = state;
            }
            34 | 35 => {
                link = *was.broken.unwrap();
                match self.random.below(3) {
                    0 => {}
                    1 => link.is_retired = true,
                    _ => (link.is_retired, link.is_dropped) = (true, true),
                }
            }
            36 if self.random.below(3) == 0 => (link.is_retired, link.is_dropped) = (true, true),
            36 => {
                link.is_in_conflict = false;
                messages[self.random.below(3)] = state;
            }
            _ => {}
        }
        if !messages[1].is_empty() {
            self.remark(work, &messages[1]);
        }
        work.links.insert(number, link);
        self.commit(work, &messages[0]);
        if !messages[2].is_empty() {
            self.remark(work, &messages[2]);
        }
    }

    /// Adds a link, sometimes below the prefix; there it is declared as intended, or not.
    fn add(&mut self, work: &mut Work, number: u32, mut link: Link) {
        link.is_below = self.random.below(4) == 0;
        // With the change, before it, after it, or not at all.
        let when = self.random.below(4);
        link.is_shadowing = link.is_below && when == 3;
        let state = match link.is_below {
            true => format!("add\n\nWaypost-Allow: retarget p/c{number}\n"),
            false => "add".to_owned(),
        };
        if link.is_below && when == 1 {
            self.remark(work, &state);
        }
        work.links.insert(number, link.clone());
        work.touched.insert(number);
        self.commit(work, if when == 0 { &state } else { "add" });
        if link.is_below && when == 2 {
            self.remark(work, &state);
        }
    }

    /// Merges a branch into another: each edited link as its editor left it.
    fn merge(&mut self, main: &mut Work, mut topic: Work) {
        let number = self.conflict(main, &mut topic);
        for number in topic.touched {
            main.links.insert(number, topic.links[&number].clone());
        }
        let link = main.links.get_mut(&number).unwrap();
        let mut message = "merge".to_owned();
        match self.random.below(3) {
            0 => {
                let codes = link.codes(number).join(" ");
                let _ = write!(message, "\n\nWaypost-Allow: retarget {codes}\n");
            }
            _ => link.is_in_conflict = true,
        }
        self.begin(main, &message, Some(topic.tip));
        self.table(main);
    }

    /// Adds a link to two branches, with a different target in each.
    fn conflict(&mut self, main: &mut Work, topic: &mut Work) -> u32 {
        self.numbers += 2;
        let number = self.numbers;
        let link = self.link();
        for work in [main, topic] {
            let target = self.target();
            let link = Link {
                target,
                ..link.clone()
            };
            work.links.insert(number, link);
            self.commit(work, "add");
        }
        number
    }
}

/// Returns the codes whose promises are broken.
fn broken(work: &Work) -> BTreeSet<String> {
    let mut broken = BTreeSet::new();
    for (&number, link) in &work.links {
        if link.is_in_conflict && !link.is_dropped {
            broken.extend(link.codes(number));
        }
        if link.is_shadowing {
            broken.insert(format!("p/c{number}"));
        }
        let Some(was) = &link.broken else { continue };
        let codes = was.codes(number).into_iter();
        let kept = match link.is_gone || link.target != was.target {
            true => Vec::new(),
            false => link.codes(number),
        };
        broken.extend(codes.filter(|code| !kept.contains(code)));
    }
    broken
}

/// Returns the codes that the check names.
fn found(fixture: &Fixture) -> BTreeSet<String> {
    let reported = fixture.waypost(".", "check --rev main:links --history --format json");
    let (_, rest) = reported.split_once("--- stdout\n").unwrap();
    let (json, _) = rest.split_once("--- stderr\n").unwrap();
    let report: serde_json::Value = serde_json::from_str(json).unwrap();
    let reported = report["diagnostics"].as_array().unwrap().iter();
    let errors = reported.filter(|it| it["severity"] == "error");
    let codes = errors.map(|it| it["message"].as_str().unwrap().split('"').nth(1).unwrap());
    let codes: Vec<_> = codes.map(str::to_owned).collect();
    let set: BTreeSet<_> = codes.iter().cloned().collect();
    assert_eq!(set.len(), codes.len(), "reported twice: {codes:?}");
    set
}

/// Runs `git fast-import`.
pub(crate) fn import(fixture: &Fixture, stream: &str) {
    let mut child = program(&fixture.root)
        .args(["fast-import", "--quiet", "--force"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stream.as_bytes())
        .unwrap();
    assert!(child.wait().unwrap().success());
}

fn replay(seed: u64) {
    let mut history = History::new(seed);
    let mut main = Work {
        links: BTreeMap::new(),
        touched: BTreeSet::new(),
        tip: 0,
        name: "main",
    };
    let mut topic: Option<Work> = None;
    history.commit(&mut main, "begin");
    for _ in 0..EDITS {
        match (history.random.below(12), &mut topic) {
            (0, None) => {
                topic = Some(Work {
                    touched: BTreeSet::new(),
                    name: "topic",
                    ..main.clone()
                });
            }
            (0, it) => history.merge(&mut main, it.take().unwrap()),
            (1..=5, Some(topic)) => history.edit(topic),
            _ => history.edit(&mut main),
        }
    }
    if let Some(topic) = topic {
        history.merge(&mut main, topic);
    }
    let fixture = Fixture::empty();
    import(&fixture, &history.stream);
    let standing = broken(&main);
    let is_in_conflict = |link: &Link| link.is_in_conflict && !link.is_dropped;
    assert!(main.links.values().any(is_in_conflict));
    assert!(main.links.values().any(|link| link.is_shadowing));
    assert!(standing.len() > 3, "nothing is planted: {standing:?}");
    assert_eq!(found(&fixture), standing, "seed {seed}");

    // There are no errors once everything is restored.
    let mut message = "restore\n\n".to_owned();
    for (number, link) in &mut main.links {
        if link.is_shadowing {
            // A takeover of a path can only be declared.
            let _ = writeln!(message, "Waypost-Allow: retarget p/c{number}");
        }
        if let Some(was) = link.broken.take() {
            *link = *was;
        }
        if link.is_in_conflict {
            (link.is_retired, link.is_dropped) = (true, true);
        }
    }
    let mark = main.tip;
    history.commit(&mut main, &message);
    import(&fixture, &history.stream);
    assert!(main.tip > mark);
    assert_eq!(found(&fixture), BTreeSet::new(), "seed {seed}");
}

#[test]
fn exactly_what_a_history_broke_is_reported() {
    for seed in 1..=3 {
        replay(seed);
    }
}
