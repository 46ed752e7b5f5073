//! Deciding whether a changed file is complete, or may be in the middle of a write.
//!
//! A state machine without I/O and without a clock: events and looks are passed in, each with its
//! monotonic time. A changed file is complete
//!
//! - immediately, if an event reported that it was closed or renamed into place and it looks the
//!   same since, or if a directory or a link on the way to it was swapped;
//! - after a rest, if no event did: events do not cross every mount;
//! - only after [`Rests::close_timeout`], if an event reported that it was written to and none that
//!   it was closed.
//!
//! Left out: two programs that write one file in place. A close by one counts for both.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::{Symlink, Trail};
use crate::source::files::inspect::Stamp;

/// The timeouts for a file that may be in the middle of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rests {
    /// The timeout for the close of a file that was written to. After it, the file is accepted only
    /// if it ends in a newline and has been unchanged for its rest, and reported otherwise.
    pub close_timeout: Duration,
    /// How long a file must look the same if no event reports that it was closed.
    pub rest: Duration,
    /// The same for a file that does not end in a newline, which is rarely complete.
    pub rest_without_newline: Duration,
}

impl Rests {
    /// No rest at all: only the close of a written file is waited for.
    pub const NONE: Self = Self {
        rest: Duration::ZERO,
        rest_without_newline: Duration::ZERO,
        ..Self::STANDARD
    };

    /// The defaults of a server.
    pub const STANDARD: Self = Self {
        close_timeout: Duration::from_secs(60),
        rest: Duration::from_secs(2),
        rest_without_newline: Duration::from_secs(10),
    };
}

impl Default for Rests {
    fn default() -> Self {
        Self::STANDARD
    }
}

/// One file of a table, as seen by a look.
pub(crate) struct Look<'a> {
    /// The path by which the table names it.
    pub(crate) path: &'a Path,
    /// The resolved path, if it could be followed.
    pub(crate) trail: Option<&'a Trail>,
    pub(crate) stamp: Stamp,
    /// The hash of its content.
    pub(crate) hash: &'a [u8; 32],
    pub(crate) ends_line: bool,
    /// The time since its last change, by its file times. Used only at the first look.
    pub(crate) age: Option<Duration>,
}

impl Look<'_> {
    /// Returns the path of the file in events.
    fn place(&self) -> &Path {
        self.trail.map_or(self.path, |trail| &trail.end)
    }

    fn links(&self) -> &[Symlink] {
        self.trail.map_or(&[], |trail| &trail.links)
    }
}

/// Why a table may not be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Incomplete {
    /// This file may not be complete; it should be looked at again after a time.
    Wait { path: PathBuf, again: Duration },
    /// This file stayed incomplete for longer than the timeout.
    Overdue { path: PathBuf },
}

/// The known state of the writers of a table's files.
#[derive(Debug, Default)]
pub(crate) struct Settling {
    /// The last event of each file, by its resolved path.
    last_events: BTreeMap<PathBuf, LastEvent>,
    /// The directories that were renamed into place, and when: those that the table that was taken
    /// last may not have in their new state.
    moved: BTreeMap<PathBuf, Duration>,
    /// The files that had changed at the last look, by their paths. A complete one stays complete
    /// while the others are waited for.
    pending: BTreeMap<PathBuf, ChangedFileState>,
    /// The table that was taken last.
    taken: Option<Taken>,
    has_looked: bool,
}

/// The last event of a file.
#[derive(Debug)]
enum LastEvent {
    /// It was written to, and not closed.
    Written { since: Duration, last: Duration },
    /// It was closed, or renamed into place, with this stamp.
    Closed(Stamp),
}

/// A changed file, until the table is taken.
#[derive(Debug)]
struct ChangedFileState {
    stamp: Stamp,
    hash: [u8; 32],
    /// When it was first seen to be incomplete.
    since: Duration,
    /// When it was first seen in this state.
    seen: Duration,
    /// How long it had been in this state by then.
    rested: Duration,
    /// Whether it was complete at the last look.
    is_complete: bool,
}

/// A table that was taken.
#[derive(Debug)]
struct Taken {
    stamps: BTreeMap<PathBuf, Stamp>,
    links: Vec<Symlink>,
}

impl Settling {
    /// Records that a file was written to.
    pub(crate) fn written(&mut self, place: &Path, now: Duration) {
        let since = match self.last_events.get(place) {
            Some(LastEvent::Written { since, .. }) => *since,
            _ => now,
        };
        let event = LastEvent::Written { since, last: now };
        self.last_events.insert(place.to_owned(), event);
    }

    /// Records that a file was closed after it was written to, or renamed into place.
    pub(crate) fn closed(&mut self, place: &Path, stamp: Stamp) {
        self.last_events
            .insert(place.to_owned(), LastEvent::Closed(stamp));
    }

    /// Records that a file's times or permissions were set. If it was modified later than when it
    /// was closed, it was also written to, without an event for that.
    pub(crate) fn touched(&mut self, place: &Path, stamp: Stamp) {
        if let Some(LastEvent::Closed(known)) = self.last_events.get_mut(place)
            && known.has_same_extent(&stamp)
            && stamp.modified() <= known.modified()
        {
            *known = stamp;
        }
    }

    /// Records that a file was written to or given another time, and no event says which. An
    /// earlier close no longer counts for it; a file that is still open stays open.
    pub(crate) fn written_or_touched(&mut self, place: &Path) {
        if let Some(LastEvent::Closed(_)) = self.last_events.get(place) {
            self.last_events.remove(place);
        }
    }

    /// Records that a directory was renamed into place.
    pub(crate) fn moved(&mut self, place: &Path, now: Duration) {
        self.gone(place);
        self.moved.insert(place.to_owned(), now);
    }

    /// Records that a file or directory was removed or renamed away, or a directory was created.
    pub(crate) fn gone(&mut self, place: &Path) {
        self.forget(place);
        self.moved.retain(|moved, _| !moved.starts_with(place));
    }

    /// Records that events about a directory's files may be missed from now on.
    pub(crate) fn forget(&mut self, place: &Path) {
        self.last_events.retain(|file, _| !file.starts_with(place));
    }

    /// Records that events were lost.
    pub(crate) fn lost(&mut self) {
        self.last_events.clear();
        self.moved.clear();
    }

    /// Finds a file that is currently being written, so that reading it would be useless.
    pub(crate) fn busy(&self, now: Duration, rests: &Rests) -> Option<Incomplete> {
        self.last_events.iter().find_map(|(place, event)| {
            let LastEvent::Written { since, last } = event else {
                return None;
            };
            let again = rests.rest.saturating_sub(now.saturating_sub(*last));
            let path = place.clone();
            match now.saturating_sub(*since) < rests.close_timeout {
                _ if again.is_zero() => None,
                true => Some(Incomplete::Wait { path, again }),
                false => Some(Incomplete::Overdue { path }),
            }
        })
    }

    /// Records that a look found no table at all.
    pub(crate) fn failed(&mut self) {
        self.has_looked = true;
    }

    /// Decides whether the files of a look may be taken.
    ///
    /// # Errors
    ///
    /// If a file is not known to be complete: one that is overdue, or otherwise the one that will
    /// be decided first.
    pub(crate) fn judge(
        &mut self,
        looks: &[Look<'_>],
        now: Duration,
        rests: &Rests,
    ) -> Result<(), Incomplete> {
        let first = !std::mem::replace(&mut self.has_looked, true);
        let mut before = std::mem::take(&mut self.pending);
        let mut worst: Option<(&Path, Judged)> = None;
        for look in looks {
            let written = match self.last_events.get(look.place()) {
                Some(LastEvent::Written { since, last }) => Some((*since, *last)),
                _ => None,
            };
            if written.is_none() && self.is_known_complete(look) {
                continue;
            }
            let began = written.map_or(now, |(since, _)| since);
            let mut pending =
                ChangedFileState::of(look, before.remove(look.path), first, began, now);
            let judged = match written {
                Some((since, last)) => judge_written(look, since, last, now, rests),
                None => pending.judge(look, now, rests),
            };
            pending.is_complete = judged == Judged::Complete;
            self.pending.insert(look.path.to_owned(), pending);
            if judged == Judged::Complete {
                continue;
            }
            if worst.is_none_or(|(_, worst)| judged > worst) {
                worst = Some((look.place(), judged));
            }
        }
        let Some((path, judged)) = worst else {
            return Ok(());
        };
        let path = path.to_owned();
        Err(match judged {
            Judged::Wait(Reverse(again)) => Incomplete::Wait { path, again },
            Judged::Complete | Judged::Overdue => Incomplete::Overdue { path },
        })
    }

    /// Records that the files of a look, which began at a time, were taken.
    pub(crate) fn take(&mut self, looks: &[Look<'_>], began: Duration) {
        let stamps = looks.iter().map(|look| (look.path.to_owned(), look.stamp));
        let links = looks.iter().flat_map(Look::links);
        self.taken = Some(Taken {
            stamps: stamps.collect(),
            links: links.cloned().collect(),
        });
        self.has_looked = true;
        self.pending.clear();
        // A directory that was renamed into place since then is for the next look.
        self.moved.retain(|_, at| *at >= began);
        let places: BTreeSet<&Path> = looks.iter().map(Look::place).collect();
        self.last_events.retain(|place, event| {
            matches!(event, LastEvent::Written { .. }) || places.contains(place.as_path())
        });
    }

    /// Returns whether a file is as it was when taken, or appeared in one step.
    fn is_known_complete(&self, look: &Look<'_>) -> bool {
        if let Some(LastEvent::Closed(stamp)) = self.last_events.get(look.place())
            && *stamp == look.stamp
        {
            return true;
        }
        if look
            .place()
            .ancestors()
            .any(|it| self.moved.contains_key(it))
        {
            return true;
        }
        self.taken.as_ref().is_some_and(|taken| {
            taken.stamps.get(look.path) == Some(&look.stamp)
                || look.links().iter().any(|link| !taken.links.contains(link))
        })
    }
}

impl ChangedFileState {
    fn of(
        look: &Look<'_>,
        before: Option<Self>,
        first: bool,
        began: Duration,
        now: Duration,
    ) -> Self {
        let hash = *look.hash;
        let incomplete = before.as_ref().filter(|before| !before.is_complete);
        let since = incomplete.map_or(began, |before| before.since);
        match before {
            Some(before) if before.stamp == look.stamp && before.hash == hash => before,
            _ => Self {
                stamp: look.stamp,
                hash,
                since,
                seen: now,
                rested: match (first, look.ends_line) {
                    (true, true) => Duration::MAX,
                    // A file with a future time has a wrong clock, and nothing is writing it.
                    (true, false) => look.age.unwrap_or(Duration::MAX),
                    (false, _) => Duration::ZERO,
                },
                is_complete: false,
            },
        }
    }

    /// Judges a file that no event reports as closed.
    fn judge(&self, look: &Look<'_>, now: Duration, rests: &Rests) -> Judged {
        let rested = (self.rested).saturating_add(now.saturating_sub(self.seen));
        let needed = match look.ends_line {
            true => rests.rest,
            false => rests.rest_without_newline,
        };
        if rested >= needed {
            Judged::Complete
        } else if now.saturating_sub(self.since) >= rests.close_timeout {
            Judged::Overdue
        } else {
            Judged::Wait(Reverse(needed.saturating_sub(rested)))
        }
    }
}

/// The state of one file, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Judged {
    Complete,
    Wait(Reverse<Duration>),
    Overdue,
}

/// Judges a file that was reported as written to, and not as closed.
fn judge_written(
    look: &Look<'_>,
    since: Duration,
    last: Duration,
    now: Duration,
    rests: &Rests,
) -> Judged {
    let waited = now.saturating_sub(since);
    if waited < rests.close_timeout {
        Judged::Wait(Reverse(rests.close_timeout.saturating_sub(waited)))
    } else if look.ends_line && now.saturating_sub(last) >= rests.rest {
        Judged::Complete
    } else {
        Judged::Overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/t/mapping.yaml";
    const WHOLE: Content = ([1; 32], true);
    const TORN: Content = ([2; 32], false);
    const OTHER: Content = ([3; 32], true);

    /// The hash of a content, and whether it ends in a newline.
    type Content = ([u8; 32], bool);

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A file at a path, changed for the nth time.
    fn look<'a>(trail: &'a Trail, change: u64, content: &'a Content) -> Look<'a> {
        Look {
            path: Path::new(PATH),
            trail: Some(trail),
            stamp: Stamp::fake(change),
            hash: &content.0,
            ends_line: content.1,
            age: Some(Duration::ZERO),
        }
    }

    fn trail(end: &str, links: &[(&str, &str)]) -> Trail {
        let link = |(path, target): &(&str, &str)| Symlink {
            path: path.into(),
            target: target.into(),
        };
        Trail {
            end: end.into(),
            links: links.iter().map(link).collect(),
            missing: false,
        }
    }

    fn plain() -> Trail {
        trail(PATH, &[])
    }

    /// Returns the state after the first change was taken.
    fn taken() -> Settling {
        let mut settling = Settling::default();
        settling.take(&[look(&plain(), 1, &WHOLE)], seconds(0));
        settling
    }

    /// Judges a file; a complete one is taken.
    fn at(
        settling: &mut Settling,
        now: Duration,
        change: u64,
        content: Content,
    ) -> SettlingOutcome {
        let trail = plain();
        judged(settling, now, &look(&trail, change, &content))
    }

    fn judged(settling: &mut Settling, now: Duration, look: &Look<'_>) -> SettlingOutcome {
        let looks = std::slice::from_ref(look);
        match settling.judge(looks, now, &Rests::STANDARD) {
            Ok(()) => {
                settling.take(looks, now);
                SettlingOutcome::Complete
            }
            Err(Incomplete::Wait { again, .. }) => SettlingOutcome::Wait(again),
            Err(Incomplete::Overdue { .. }) => SettlingOutcome::Overdue,
        }
    }

    #[derive(Debug, PartialEq)]
    enum SettlingOutcome {
        Complete,
        Wait(Duration),
        Overdue,
    }

    use SettlingOutcome::{Complete, Overdue, Wait};

    #[test]
    fn what_was_closed_or_renamed_into_place_is_complete_even_without_a_newline() {
        for content in [WHOLE, TORN] {
            let mut settling = taken();
            settling.written(Path::new(PATH), seconds(1));
            settling.closed(Path::new(PATH), Stamp::fake(2));
            assert_eq!(settling.busy(seconds(1), &Rests::STANDARD), None);
            assert_eq!(at(&mut settling, seconds(1), 2, content), Complete);
        }
    }

    #[test]
    fn a_close_says_nothing_of_a_later_change() {
        let mut settling = taken();
        settling.closed(Path::new(PATH), Stamp::fake(2));
        assert_eq!(at(&mut settling, seconds(1), 3, WHOLE), Wait(seconds(2)));
        settling.closed(Path::new(PATH), Stamp::fake(3));
        settling.written(Path::new(PATH), seconds(2));
        assert_eq!(at(&mut settling, seconds(4), 3, WHOLE), Wait(seconds(58)));
    }

    #[test]
    fn a_write_without_a_close_is_waited_for_and_then_only_whole_lines_are_taken() {
        let mut settling = taken();
        settling.written(Path::new(PATH), seconds(5));
        assert_eq!(at(&mut settling, seconds(35), 2, WHOLE), Wait(seconds(30)));
        assert_eq!(at(&mut settling, seconds(35), 2, TORN), Wait(seconds(30)));
        assert_eq!(at(&mut settling, seconds(65), 2, TORN), Overdue);
        assert_eq!(at(&mut settling, seconds(1_000), 2, TORN), Overdue);
        assert_eq!(at(&mut settling, seconds(1_000), 2, WHOLE), Complete);
    }

    #[test]
    fn a_writer_without_end_is_reported_and_taken_when_it_rests_after_a_line() {
        let mut settling = taken();
        for now in 1..100 {
            settling.written(Path::new(PATH), seconds(now));
            let wait = settling.busy(seconds(now), &Rests::STANDARD).unwrap();
            assert_eq!(matches!(wait, Incomplete::Overdue { .. }), now >= 61);
            let judged = at(&mut settling, seconds(now), now + 1, WHOLE);
            assert_eq!(judged == Overdue, now >= 61, "{now}: {judged:?}");
        }
        assert_eq!(settling.busy(seconds(101), &Rests::STANDARD), None);
        assert_eq!(at(&mut settling, seconds(101), 100, WHOLE), Complete);
    }

    /// Judges two files at a time, each with the number of its change.
    fn both(settling: &mut Settling, now: u64, changes: [u64; 2]) -> Result<(), Incomplete> {
        let paths = ["/t/a.yaml", "/t/b.yaml"];
        let trails = paths.map(|path| trail(path, &[]));
        let looks = [0, 1].map(|at| Look {
            path: Path::new(paths[at]),
            ..look(&trails[at], changes[at], &WHOLE)
        });
        settling.judge(&looks, seconds(now), &Rests::STANDARD)
    }

    #[test]
    fn files_that_are_complete_one_after_the_other_are_complete_together() {
        let mut settling = taken();
        assert!(both(&mut settling, 0, [2, 1]).is_err());
        // The second changes a second later, so the first has rested before it.
        assert!(both(&mut settling, 1, [2, 2]).is_err());
        assert!(both(&mut settling, 2, [2, 2]).is_err());
        assert_eq!(both(&mut settling, 3, [2, 2]), Ok(()));
    }

    #[test]
    fn a_file_that_is_whole_at_the_first_look_stays_so_while_another_is_waited_for() {
        let mut settling = Settling::default();
        let (plain, other) = (plain(), trail("/t/b.yaml", &[]));
        let mut judge = |now| {
            let looks = [
                look(&plain, 1, &WHOLE),
                Look {
                    path: Path::new("/t/b.yaml"),
                    ..look(&other, 1, &TORN)
                },
            ];
            settling.judge(&looks, seconds(now), &Rests::STANDARD)
        };
        assert!(judge(0).is_err());
        assert_eq!(judge(10), Ok(()));
    }

    #[test]
    fn while_it_is_written_nothing_needs_to_be_read() {
        let mut settling = taken();
        settling.written(Path::new(PATH), seconds(5));
        let again = seconds(1);
        let path = PathBuf::from(PATH);
        let busy = settling.busy(seconds(6), &Rests::STANDARD);
        assert_eq!(busy, Some(Incomplete::Wait { path, again }));
        assert_eq!(settling.busy(seconds(7), &Rests::STANDARD), None);
    }

    #[test]
    fn without_events_a_file_has_to_rest() {
        let mut settling = taken();
        assert_eq!(at(&mut settling, seconds(10), 2, WHOLE), Wait(seconds(2)));
        assert_eq!(at(&mut settling, seconds(11), 2, WHOLE), Wait(seconds(1)));
        // Another change, and one that only the content shows.
        assert_eq!(at(&mut settling, seconds(12), 3, WHOLE), Wait(seconds(2)));
        assert_eq!(at(&mut settling, seconds(13), 3, OTHER), Wait(seconds(2)));
        assert_eq!(at(&mut settling, seconds(15), 3, OTHER), Complete);
    }

    #[test]
    fn without_events_a_file_without_a_newline_has_to_rest_longer() {
        let mut settling = taken();
        assert_eq!(at(&mut settling, seconds(10), 2, TORN), Wait(seconds(10)));
        assert_eq!(at(&mut settling, seconds(19), 2, TORN), Wait(seconds(1)));
        assert_eq!(at(&mut settling, seconds(20), 2, TORN), Complete);
    }

    #[test]
    fn without_events_a_writer_without_end_is_reported() {
        let mut settling = taken();
        for now in 0..100 {
            let judged = at(&mut settling, seconds(now), now + 2, WHOLE);
            assert_eq!(judged == Overdue, now >= 60, "{now}: {judged:?}");
        }
        assert_eq!(at(&mut settling, seconds(101), 101, WHOLE), Complete);
    }

    #[test]
    fn at_the_first_look_only_a_young_file_without_a_newline_has_to_rest() {
        let trail = plain();
        let first = |content: Content, age| {
            let look = Look {
                age,
                ..look(&trail, 1, &content)
            };
            judged(&mut Settling::default(), seconds(0), &look)
        };
        assert_eq!(first(WHOLE, Some(seconds(0))), Complete);
        assert_eq!(first(TORN, Some(seconds(3))), Wait(seconds(7)));
        assert_eq!(first(TORN, Some(seconds(10))), Complete);
        assert_eq!(first(TORN, None), Complete);

        let mut settling = Settling::default();
        settling.written(Path::new(PATH), seconds(0));
        assert_eq!(at(&mut settling, seconds(0), 1, WHOLE), Wait(seconds(60)));

        // A file that appears later was not there at the first look.
        let mut settling = Settling::default();
        settling.failed();
        assert_eq!(at(&mut settling, seconds(0), 1, WHOLE), Wait(seconds(2)));
    }

    #[test]
    fn what_comes_by_a_swapped_link_is_complete_but_not_what_is_written_there_later() {
        let mut settling = taken();
        let swapped = trail("/t/2/mapping.yaml", &[("/t/..data", "2")]);
        let look = |change| look(&swapped, change, &WHOLE);
        assert_eq!(judged(&mut settling, seconds(1), &look(2)), Complete);
        assert_eq!(
            judged(&mut settling, seconds(2), &look(3)),
            Wait(seconds(2))
        );
        settling.written(&swapped.end, seconds(2));
        assert_eq!(
            judged(&mut settling, seconds(5), &look(3)),
            Wait(seconds(57))
        );
    }

    #[test]
    fn files_of_a_renamed_directory_are_complete_but_not_those_of_a_new_one() {
        let mut settling = taken();
        settling.moved(Path::new("/t"), seconds(0));
        assert_eq!(at(&mut settling, seconds(1), 2, WHOLE), Complete);
        assert_eq!(at(&mut settling, seconds(2), 3, WHOLE), Wait(seconds(2)));
        settling.moved(Path::new("/t"), seconds(2));
        settling.gone(Path::new("/t"));
        assert_eq!(at(&mut settling, seconds(3), 3, WHOLE), Wait(seconds(1)));
    }

    #[test]
    fn a_directory_that_is_renamed_during_a_look_is_complete_at_the_next() {
        let mut settling = taken();
        settling.moved(Path::new("/t"), seconds(2));
        // The look of the state before the rename.
        settling.take(&[look(&plain(), 1, &WHOLE)], seconds(1));
        assert_eq!(at(&mut settling, seconds(3), 2, WHOLE), Complete);
        assert_eq!(at(&mut settling, seconds(4), 3, WHOLE), Wait(seconds(2)));
    }

    #[test]
    fn after_lost_events_a_file_has_to_rest() {
        let mut settling = taken();
        settling.written(Path::new(PATH), seconds(1));
        settling.lost();
        assert_eq!(at(&mut settling, seconds(1), 2, WHOLE), Wait(seconds(2)));
        settling.closed(Path::new(PATH), Stamp::fake(2));
        settling.forget(Path::new("/t"));
        assert_eq!(at(&mut settling, seconds(2), 2, WHOLE), Wait(seconds(1)));
    }

    #[test]
    fn set_times_and_permissions_do_not_make_a_closed_file_incomplete() {
        let mut settling = taken();
        settling.closed(Path::new(PATH), Stamp::fake(3));
        settling.touched(Path::new(PATH), Stamp::fake(2));
        assert_eq!(at(&mut settling, seconds(1), 2, TORN), Complete);
        // This does not close a file that is still open.
        settling.written(Path::new(PATH), seconds(1));
        settling.touched(Path::new(PATH), Stamp::fake(4));
        settling.written_or_touched(Path::new(PATH));
        assert_eq!(at(&mut settling, seconds(1), 4, TORN), Wait(seconds(60)));
    }

    #[test]
    fn a_write_is_not_taken_for_set_times_or_permissions() {
        let mut settling = taken();
        settling.closed(Path::new(PATH), Stamp::fake(2));
        settling.touched(Path::new(PATH), Stamp::fake(3));
        assert_eq!(at(&mut settling, seconds(1), 3, TORN), Wait(seconds(10)));

        let mut settling = taken();
        settling.closed(Path::new(PATH), Stamp::fake(3));
        settling.written_or_touched(Path::new(PATH));
        settling.touched(Path::new(PATH), Stamp::fake(2));
        assert_eq!(at(&mut settling, seconds(1), 2, TORN), Wait(seconds(10)));
    }

    #[test]
    fn one_file_that_is_written_holds_up_the_table_and_the_others_need_no_more_rest() {
        let mut settling = taken();
        let (one, other) = (plain(), trail("/t/other.yaml", &[]));
        let looks = |change| {
            let path = Path::new("/t/other.yaml");
            let other = Look {
                path,
                ..look(&other, 1, &WHOLE)
            };
            [look(&one, change, &WHOLE), other]
        };
        settling.take(&looks(1), seconds(0));
        settling.written(Path::new(PATH), seconds(1));
        let path = PathBuf::from(PATH);
        let again = seconds(60);
        assert_eq!(
            settling.judge(&looks(2), seconds(1), &Rests::STANDARD),
            Err(Incomplete::Wait { path, again })
        );
        settling.closed(Path::new(PATH), Stamp::fake(2));
        assert_eq!(
            settling.judge(&looks(2), seconds(1), &Rests::STANDARD),
            Ok(())
        );
    }
}
