//! Links for people: in columns that fit the terminal.
//!
//! Invariant: however little room there is, the end of a target's host is shown, by which people
//! recognise it; a long name in front of it cannot push it out.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write, stdout};

use rustix::termios::tcgetwinsize;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::terminal::legible;
use crate::mapping::{Entry, LinkState, Timestamp};

/// The space between two columns.
const GAP: &str = "  ";

/// The smallest room for a target or a title.
const LEAST: usize = 24;

/// The mark of truncated text.
const CUT: char = '…';

/// Writes links, one a line: the code, or with several sites the short link; the target; the state
/// of a link that no longer works; the title.
pub(super) fn write(
    out: &mut impl Write,
    entries: &[Entry<'_>],
    has_several_sites: bool,
    now: Timestamp,
) -> io::Result<()> {
    let rows = || {
        let entries = entries.iter();
        entries.map(|entry| LinkColumns::of(*entry, has_several_sites, now))
    };
    let (mut link, mut target, mut note) = (0, 0, 0);
    for row in rows() {
        link = link.max(width(&row.link));
        target = target.max(width(&row.target));
        note = note.max(width(&row.note));
    }
    let columns = Columns::fit(link, target, note, terminal_width());
    for row in rows() {
        writeln!(out, "{}", columns.line(&row))?;
    }
    Ok(())
}

/// Returns the width of the terminal, if the output goes to one.
fn terminal_width() -> Option<usize> {
    let out = stdout();
    let size = tcgetwinsize(&out).ok().filter(|_| out.is_terminal())?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// Returns the width of a legible text.
fn width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        false => text.width(),
    }
}

/// The columns of a link.
struct LinkColumns {
    link: String,
    target: String,
    /// The state, if it is not live, and the title.
    note: String,
}

impl LinkColumns {
    fn of(entry: Entry<'_>, has_several_sites: bool, now: Timestamp) -> Self {
        let link = match has_several_sites {
            true => entry.short_url(),
            false => entry.code().into_owned(),
        };
        let state = LinkState::of(entry, now);
        let state = (state != LinkState::Live).then(|| format!("({})", state.name()));
        let title = entry.title().map(str::to_owned);
        let note = [state, title]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        let target = entry.target().unwrap_or(Cow::Borrowed("-"));
        Self {
            link: legible(&link).into_owned(),
            target: legible(&target).into_owned(),
            note: legible(&note).into_owned(),
        }
    }
}

/// The widths of the columns; `None` is any.
struct Columns {
    link: usize,
    target: usize,
    note: Option<usize>,
}

impl Columns {
    /// Divides the room between columns whose widest texts have these widths.
    fn fit(link: usize, target: usize, note: usize, room: Option<usize>) -> Self {
        let Some(room) = room else {
            return Self {
                link,
                target,
                note: None,
            };
        };
        // Codes are most important, so they get their room first, but not all of it.
        let link = link.min((room / 2).max(LEAST));
        let rest = room.saturating_sub(link + GAP.len()).max(LEAST);
        let for_notes = match note {
            0 => 0,
            note => (note + GAP.len())
                .min(rest / 3)
                .max(rest.saturating_sub(target)),
        };
        let target = target.min(rest - for_notes).max(LEAST.min(target));
        Self {
            link,
            target,
            note: Some(rest.saturating_sub(target + GAP.len())),
        }
    }

    fn line(&self, row: &LinkColumns) -> String {
        let link = start(&row.link, self.link);
        let target = with_host(&row.target, self.target);
        let note = match self.note {
            Some(room) => start(&row.note, room),
            None => Cow::Borrowed(&*row.note),
        };
        let [after_link, after_target] = [(&link, self.link), (&target, self.target)]
            .map(|(text, width)| " ".repeat(width.saturating_sub(self::width(text))));
        let line = format!("{link}{after_link}{GAP}{target}{after_target}{GAP}{note}");
        line.trim_end().to_owned()
    }
}

/// Returns the start of a text that fits into some room, with a mark if it is truncated.
fn start(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    let mut cut = String::new();
    for character in text.chars() {
        cut.push(character);
        if cut.width() + 1 > room {
            cut.pop();
            break;
        }
    }
    if room > 0 {
        cut.push(CUT);
    }
    Cow::Owned(cut)
}

/// Returns the part of a URL that fits into some room, with the end of its host.
fn with_host(url: &str, room: usize) -> Cow<'_, str> {
    let scheme = url.find("://").map_or(0, |at| at + "://".len());
    let host = url[scheme..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| scheme + at);
    if width(url) <= room || host < room {
        return start(url, room);
    }
    // It is ASCII.
    let from = (host + 2).saturating_sub(room).max(scheme);
    Cow::Owned(format!("{CUT}{}{CUT}", &url[from..host]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_host_is_shown_in_any_room() {
        let url = "https://www.gnu.org.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.evil.example/gnu.org";
        assert_eq!(with_host(url, 200), url);
        assert_eq!(with_host(url, 24), "…aaaaaaaaa.evil.example…");
        for room in 16..100 {
            let shown = with_host(url, room);
            assert!(
                shown.width() <= room && shown.contains(".evil.example"),
                "{shown}"
            );
        }
        let url = "https://gnu.org/software/emacs/manual";
        assert_eq!(with_host(url, 24), "https://gnu.org/softwar…");
        assert_eq!(with_host(url, 16), "https://gnu.org…");
    }

    #[test]
    fn columns_fit_the_terminal() {
        let row = |link: &str| LinkColumns {
            link: link.to_owned(),
            target: format!("https://gnu.org/{}", "a".repeat(90)),
            note: "(retired) Ein sehr langer Titel, 日本語".to_owned(),
        };
        for room in 60..200 {
            for (link, rest) in [("gnu", 0), (&*"g".repeat(250), 0), ("日本語日本語", 4)] {
                let row = row(link);
                let widths = [&row.link, &row.target, &row.note].map(|text| text.width());
                let columns = Columns::fit(widths[0] + rest, widths[1], widths[2], Some(room));
                let line = columns.line(&row);
                assert!(line.width() <= room, "{room} {line}");
                assert!(line.contains("https://gnu.org"), "{line}");
            }
        }
        let row = row("gnu");
        let all = Columns::fit(3, row.target.width(), row.note.width(), None).line(&row);
        assert!(all.ends_with("日本語") && !all.contains(CUT), "{all}");
    }
}
