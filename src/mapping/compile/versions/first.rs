//! Compilation of the first version of a table while its files are read, so that their text is never
//! held: batches of pieces are compiled by several workers, and their entries appended in order.
//!
//! The result is that of `compile`. As soon as a file is not in block form, or has an error of its own,
//! this gives up, and the table is compiled from its text.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::super::entries::Document;
use super::super::tables::{Compilation, GatheredSite, MAX_TABLE_TEXT, build_sites, group};
use super::input::TextNeeded;
use super::next::compile_read;
use super::pieces::keep_warnings;
use crate::mapping::cutting::{Batch, Batches, Cut, CutBatches, CutPiece, TableFile};
use crate::mapping::packed::{Draft, Moves, Part, PartedDocument, Piece, index};
use crate::mapping::parse::Reader;
use crate::mapping::value::{Diagnostic, Problems};

/// The maximum number of batches of a file in memory, from the first that is not compiled yet on: more than
/// most machines have processors, and a bound on memory if one worker is slow.
const MAX_AHEAD: usize = 32;

/// Runs work on several threads, or on one.
pub trait Workers {
    /// Runs a job on each of them at the same time, and returns when all have ended.
    fn run(&self, job: &(dyn Fn() + Sync));
}

/// The files of a table that are compiled while they are read.
#[derive(Debug, Default)]
pub struct FirstReading(Mutex<FirstEntries>);

/// The entries that were read so far.
#[derive(Debug, Default)]
struct FirstEntries {
    sites: Vec<SiteEntries>,
    /// The number of the site with each base URL.
    by_base_url: HashMap<String, usize>,
    problems: Problems,
    /// The number of files, and their size in bytes.
    files: usize,
    bytes: u64,
    is_given_up: bool,
}

/// The entries of the files that name one base URL, or none while no file has named one.
#[derive(Debug, Default)]
struct SiteEntries {
    draft: Draft,
    documents: Vec<PartedDocument>,
}

impl FirstReading {
    /// Begins with the first file, whatever was read before.
    pub fn begin(&self) {
        *self.entries() = FirstEntries::default();
    }

    /// Gives up: the table will be compiled from its text.
    pub fn give_up(&self) {
        *self.entries() = FirstEntries {
            is_given_up: true,
            ..FirstEntries::default()
        };
    }

    /// Reads the next file, of about `size` bytes; `read` appends its next bytes, and returns how many,
    /// or 0 at its end. Returns its cut, or `None` if its text is needed: then this has given up.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn read<E: Send>(
        &self,
        path: &Arc<str>,
        size: u64,
        read: impl FnMut(&mut Vec<u8>) -> Result<usize, E> + Send,
        workers: &dyn Workers,
    ) -> Result<Option<Cut>, E> {
        let mut entries = self.entries();
        let mut batches = Batches::new(read);
        let list = entries.read_list(path, size, || batches.next(), workers)?;
        let cut = list.and_then(|list| {
            let cut = batches.finish(list.pieces.clone())?;
            entries.add(path, list, &cut)?;
            Some(cut)
        });
        drop(entries);
        if cut.is_none() {
            self.give_up();
        }
        Ok(cut)
    }

    /// Reads the next file, which was cut before; `read` returns some of its bytes. Returns whether its
    /// text is not needed: otherwise this has given up.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub fn read_cut<E: Send>(
        &self,
        path: &Arc<str>,
        cut: &Cut,
        read: impl FnMut(Range<usize>) -> Result<Vec<u8>, E> + Send,
        workers: &dyn Workers,
    ) -> Result<bool, E> {
        let mut entries = self.entries();
        let mut batches = CutBatches::new(cut, read);
        let list = entries.read_list(path, cut.size(), || batches.next(), workers)?;
        let is_read = list.and_then(|list| entries.add(path, list, cut)).is_some();
        drop(entries);
        if !is_read {
            self.give_up();
        }
        Ok(is_read)
    }

    /// Compiles the files that were read, or else those of which there is all text.
    ///
    /// # Errors
    ///
    /// If more of the text is needed.
    pub fn compile(self, files: &[TableFile]) -> Result<Compilation, TextNeeded> {
        let entries = self.0.into_inner();
        let entries = entries.unwrap_or_else(PoisonError::into_inner);
        if entries.is_given_up || entries.files != files.len() {
            return compile_read(files, None);
        }
        let names = files.iter().map(|file| Arc::clone(&file.path)).collect();
        let mut problems = entries.problems;
        let mut documents = Vec::new();
        for (number, file) in (0..).zip(files) {
            let read = Document::around(number, &file.path, &file.cut, Draft::default());
            documents.push(read.ok_or(TextNeeded)?);
        }
        let read = entries.sites.into_iter();
        let mut read: HashMap<_, _> = read
            .filter_map(|site| Some((site.documents.first()?.file, site)))
            .collect();
        let mut sites = Vec::new();
        for group in group(&documents, &mut problems) {
            let mut numbers = group.documents.iter().map(|&number| index(number));
            let found = numbers.next().and_then(|first| read.remove(&first));
            let found = found.ok_or(TextNeeded)?;
            if !found.documents.iter().skip(1).map(|it| it.file).eq(numbers) {
                return Err(TextNeeded);
            }
            sites.push(GatheredSite {
                group,
                draft: found.draft,
                documents: found.documents,
            });
        }
        Ok(build_sites(&names, &documents, sites, problems))
    }

    fn entries(&self) -> MutexGuard<'_, FirstEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FirstEntries {
    /// Reads the entries of the next file, of about `size` bytes, from its batches; `None` if its text is
    /// needed.
    fn read_list<E: Send>(
        &mut self,
        path: &Arc<str>,
        size: u64,
        next: impl FnMut() -> Result<Option<Batch>, E> + Send,
        workers: &dyn Workers,
    ) -> Result<Option<ListEntries>, E> {
        self.bytes += size;
        if self.is_given_up || self.bytes > MAX_TABLE_TEXT {
            return Ok(None);
        }
        let last = self.sites.last().map(|site| &site.draft);
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let draft = last.map(|draft| Draft::with_hosts_of(draft, bytes));
        let file = (index(self.files), path);
        let reading = ListReading::new(file, next, draft.unwrap_or_default(), size);
        workers.run(&|| reading.work());
        reading.finish()
    }

    /// Adds the entries of the next file; `None` if its text is needed.
    fn add(&mut self, path: &Arc<str>, list: ListEntries, cut: &Cut) -> Option<()> {
        let number = index(self.files);
        let before = self.problems.checkpoint(path);
        for problem in list.problems {
            self.problems.push(problem);
        }
        let mut document = Document::around(number, path, cut, list.draft)?;
        document.apply_defaults(&mut self.problems);
        let mut parts = list.parts;
        keep_warnings(&mut parts, &document, &before, &self.problems);
        if (self.problems.since(&before).0.iter()).any(Diagnostic::is_error) {
            return None;
        }
        let is_first_site = self.sites.is_empty();
        let site = self.site_of(document.base_url.as_ref().map(|it| &*it.value));
        // It was read with the beginnings of the last site.
        let own = match site.documents.is_empty() && !is_first_site {
            true => document.entries.keep_own_hosts(),
            false => Moves::default(),
        };
        let moved = site.draft.append(std::mem::take(&mut document.entries));
        for part in &mut parts {
            if let Part::New(piece) = part {
                piece.start = moved.of(own.of(piece.start));
            }
        }
        site.documents.push(PartedDocument {
            file: number,
            old_file: None,
            defaults: document.defaults,
            parts,
        });
        self.files += 1;
        Some(())
    }

    /// Returns the entries of a site. A file that names none belongs to the only one.
    fn site_of(&mut self, base_url: Option<&str>) -> &mut SiteEntries {
        let known = match (base_url, self.sites.first()) {
            (_, None) => None,
            (None, Some(_)) => Some(0),
            (Some(_), Some(_)) if self.by_base_url.is_empty() => Some(0),
            (Some(named), Some(_)) => self.by_base_url.get(named).copied(),
        };
        let at = known.unwrap_or_else(|| {
            self.sites.push(SiteEntries::default());
            self.sites.len() - 1
        });
        if let Some(named) = base_url {
            self.by_base_url.entry(named.to_owned()).or_insert(at);
        }
        &mut self.sites[at]
    }
}

/// The list of a file while it is read by several workers.
struct ListReading<'f, Next, E> {
    /// The number of the file, and its path.
    file: (u32, &'f Arc<str>),
    input: Mutex<ListInput<Next, E>>,
    output: Mutex<ListEntries>,
    /// Notified when a batch was added, or this has declined.
    progress: Condvar,
    /// The size that the file is expected to have.
    size: u64,
    is_declined: AtomicBool,
}

struct ListInput<Next, E> {
    /// Returns the next batch.
    batches: Next,
    /// The number of the next batch.
    next: usize,
    error: Option<E>,
}

/// The entries of a list, or of a batch of it.
#[derive(Debug, Default)]
struct ListEntries {
    draft: Draft,
    parts: Vec<Part>,
    pieces: Vec<CutPiece>,
    problems: Vec<Diagnostic>,
    /// The number of batches that are in it.
    batches: usize,
    /// Batches that follow one that is not compiled yet: fewer than `MAX_AHEAD`.
    waiting: BTreeMap<usize, ListEntries>,
}

impl<Next, E> ListReading<'_, Next, E> {
    fn output(&self) -> MutexGuard<'_, ListEntries> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of a worker that has a batch. If it ends without the entries of that, even by a panic, text is
/// needed, and no other worker waits for them.
struct Turn<'r, 'f, Next, E> {
    reading: &'r ListReading<'f, Next, E>,
    is_added: bool,
}

impl<Next, E> Drop for Turn<'_, '_, Next, E> {
    fn drop(&mut self) {
        // No worker begins to wait in between.
        let output = self.reading.output();
        if !self.is_added {
            self.reading.is_declined.store(true, Ordering::Relaxed);
        }
        drop(output);
        self.reading.progress.notify_all();
    }
}

impl<'f, Next, E> ListReading<'f, Next, E>
where
    Next: FnMut() -> Result<Option<Batch>, E>,
{
    /// Begins a file, given its number and path, with a draft without entries.
    fn new(file: (u32, &'f Arc<str>), next: Next, draft: Draft, size: u64) -> Self {
        Self {
            file,
            input: Mutex::new(ListInput {
                batches: next,
                next: 0,
                error: None,
            }),
            output: Mutex::new(ListEntries {
                draft,
                ..ListEntries::default()
            }),
            progress: Condvar::new(),
            size,
            is_declined: AtomicBool::new(false),
        }
    }

    /// Compiles batches until there are no more.
    fn work(&self) {
        while let Some((number, batch)) = self.next_batch() {
            let mut turn = Turn {
                reading: self,
                is_added: false,
            };
            let draft = Draft::with_hosts_of(&self.output().draft, batch.len());
            if let Some(entries) = self.compile(&batch, draft) {
                self.output().add(number, entries, self.size);
                turn.is_added = true;
            }
        }
    }

    fn next_batch(&self) -> Option<(usize, Batch)> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let is_ahead = |output: &mut ListEntries| {
            let is_far = input.next - output.batches >= MAX_AHEAD;
            is_far && !self.is_declined.load(Ordering::Relaxed)
        };
        // The worker that compiles the first batch waits for none, so it can always go on.
        let waited = self.progress.wait_while(self.output(), is_ahead);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        if input.error.is_some() || self.is_declined.load(Ordering::Relaxed) {
            return None;
        }
        match (input.batches)() {
            Ok(batch) => {
                let taken = (input.next, batch?);
                input.next += 1;
                Some(taken)
            }
            Err(error) => {
                input.error = Some(error);
                None
            }
        }
    }

    /// Compiles a batch; `None` if its text is needed to report what is wrong with it.
    fn compile(&self, batch: &Batch, draft: Draft) -> Option<ListEntries> {
        let (number, path) = self.file;
        let mut entries = ListEntries::default();
        let mut problems = Problems::default();
        let before = problems.checkpoint(path);
        let mut document = Document::without_entries(number, path, draft);
        document.entries.reserve(batch.len());
        for (piece, text) in batch.pieces() {
            entries.pieces.push(piece);
            entries.parts.push(Part::New(Piece {
                id: Some(piece.id),
                warnings: None,
                start: document.entries.targets.end(),
                length: index(piece.length),
                line: piece.line,
            }));
            let text = (text?, piece.line);
            let mut reader = Reader::piece(path, batch.indent, text, &mut problems);
            document.read_entries(&mut reader).ok()?;
            reader.end_piece().ok()?;
        }
        let (found, are_all) = problems.since(&before);
        if !are_all || found.iter().any(Diagnostic::is_error) {
            return None;
        }
        entries.problems = found.to_vec();
        entries.draft = document.entries;
        Some(entries)
    }

    /// Returns the entries of all batches; `None` if text is needed.
    fn finish(self) -> Result<Option<ListEntries>, E> {
        let input = self.input.into_inner();
        let input = input.unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = input.error {
            return Err(error);
        }
        let output = self.output.into_inner();
        let output = output.unwrap_or_else(PoisonError::into_inner);
        let is_declined = self.is_declined.into_inner();
        Ok((!is_declined).then_some(output))
    }
}

impl ListEntries {
    /// Adds the entries of a batch once those before it are there; `size` is that of the file.
    fn add(&mut self, number: usize, entries: Self, size: u64) {
        self.waiting.insert(number, entries);
        while let Some(next) = self.waiting.remove(&self.batches) {
            let moved = self.draft.append(next.draft);
            if self.batches == 0 {
                self.draft.reserve(usize::try_from(size).unwrap_or(0));
            }
            let parts = next.parts.into_iter().map(|part| match part {
                Part::New(piece) => Part::New(Piece {
                    start: moved.of(piece.start),
                    ..piece
                }),
                known @ Part::Known { .. } => known,
            });
            self.parts.extend(parts);
            self.pieces.extend(next.pieces);
            self.problems.extend(next.problems);
            self.batches += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::thread;

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::super::random_edits::{a_file, an_edit, apply, source};
    use super::super::super::same_table::assert_same;
    use super::*;
    use crate::mapping::value::SourceFile;
    use crate::mapping::{compile, compile_after};

    struct Threads(usize);

    impl Workers for Threads {
        fn run(&self, job: &(dyn Fn() + Sync)) {
            thread::scope(|scope| {
                for _ in 0..self.0 {
                    scope.spawn(job);
                }
            });
        }
    }

    /// Compiles files while they are read in parts of a length.
    fn compile_first(
        files: &[SourceFile],
        threads: usize,
        step: usize,
    ) -> Result<Compilation, TextNeeded> {
        let first = FirstReading::default();
        first.begin();
        let read = |file: &SourceFile| {
            let mut steps = file.bytes.chunks(step);
            let read = |buffer: &mut Vec<u8>| {
                let step = steps.next().unwrap_or_default();
                buffer.extend_from_slice(step);
                Ok::<_, Infallible>(step.len())
            };
            let size = file.bytes.len() as u64;
            let Ok(cut) = first.read(&file.path, size, read, &Threads(threads));
            match cut {
                Some(cut) => {
                    assert_eq!(cut, Cut::of(&file.bytes));
                    TableFile::known(Arc::clone(&file.path), Arc::new(cut))
                }
                None => TableFile::whole(file.clone()),
            }
        };
        let read: Vec<_> = files.iter().map(read).collect();
        first.compile(&read)
    }

    /// Compiles files that were cut before.
    fn compile_cut(files: &[SourceFile], threads: usize) -> Result<Compilation, TextNeeded> {
        let first = FirstReading::default();
        first.begin();
        let read = |file: &SourceFile| {
            let cut = Cut::of(&file.bytes);
            let read = |range: Range<usize>| Ok::<_, Infallible>(file.bytes[range].to_vec());
            let Ok(is_read) = first.read_cut(&file.path, &cut, read, &Threads(threads));
            match is_read {
                true => TableFile::known(Arc::clone(&file.path), Arc::new(cut)),
                false => TableFile::whole(file.clone()),
            }
        };
        let read: Vec<_> = files.iter().map(read).collect();
        first.compile(&read)
    }

    fn file(path: &str, head: &str, entries: impl Iterator<Item = String>) -> SourceFile {
        let text = format!("{head}mapping:\n{}", entries.collect::<String>());
        SourceFile::new(path.into(), text.into_bytes())
    }

    #[test]
    fn a_site_does_not_keep_the_hosts_of_those_before_it() {
        let first = FirstReading::default();
        first.begin();
        for site in 0..3 {
            let entries = (0..40).map(|it| format!("- url: https://{}.s{site}.org/{it}\n", it % 4));
            let head = format!("base_url: https://s{site}.example/\n");
            let file = file(&format!("{site}.yaml"), &head, entries);
            let mut text = Some(&file.bytes);
            let read = |buffer: &mut Vec<u8>| {
                let bytes = text.take().map(Vec::as_slice).unwrap_or_default();
                buffer.extend_from_slice(bytes);
                Ok::<_, Infallible>(bytes.len())
            };
            let size = file.bytes.len() as u64;
            let Ok(cut) = first.read(&file.path, size, read, &Threads(1));
            assert!(cut.is_some());
        }
        let sites = &first.entries().sites;
        let hosts: Vec<_> = sites
            .iter()
            .map(|it| it.draft.targets.host_count())
            .collect();
        assert_eq!(hosts, [hosts[0]; 3]);
    }

    #[test]
    fn a_slow_worker_holds_the_others_back() {
        let entries = (0..5_000).map(|it| format!("- url: https://e.org/{it}\n"));
        let file = file("a.yaml", "base_url: https://s.example/\n", entries);
        let mut text = file.bytes.chunks(100);
        let read = |buffer: &mut Vec<u8>| {
            let bytes = text.next().unwrap_or_default();
            buffer.extend_from_slice(bytes);
            Ok::<_, Infallible>(bytes.len())
        };
        let size = file.bytes.len() as u64;
        let mut batches = Batches::new(read);
        let next = || batches.next();
        let reading = ListReading::new((0, &file.path), next, Draft::default(), size);
        let (number, batch) = reading.next_batch().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| reading.work());
            let waiting = || {
                let waiting = reading.output().waiting.len();
                assert!(waiting < MAX_AHEAD, "{waiting}");
                waiting
            };
            while waiting() < MAX_AHEAD - 1 {
                thread::yield_now();
            }
            for _ in 0..1_000 {
                waiting();
                thread::yield_now();
            }
            let turn = Turn {
                reading: &reading,
                is_added: true,
            };
            let entries = reading.compile(&batch, Draft::default()).unwrap();
            reading.output().add(number, entries, size);
            drop(turn);
        });
        let Ok(read) = reading.finish();
        let list = read.unwrap();
        assert!(list.batches > 2 * MAX_AHEAD);
        assert_eq!(list.draft.entries().count(), 5_000);
    }

    #[test]
    fn a_table_of_many_batches_is_as_compiled_from_its_text() {
        let entries = |from: usize, hosts: usize| {
            (from..from + 3_000).map(move |it| match it % 7 {
                0 => format!(
                    "- url: https://{}.org/{it}\n  short-code: c{it}\n",
                    it % hosts
                ),
                1 => format!("- url: https://{}.org/{it}\n  title: T{it}\n", it % hosts),
                2 if it % 300 == 2 => format!("- url: http://10.0.0.1/{it}\n"),
                _ => format!("- url: https://{}.org/{it}\n", it % hosts),
            })
        };
        let here = "base_url: https://short.code/\n";
        let there = "base_url: https://other.code/\n";
        let named = |path, hosts| file(path, here, entries(0, hosts));
        for files in [
            vec![named("a.yaml", 1)],
            vec![named("a.yaml", 40)],
            vec![named("a.yaml", 1_000)],
            vec![named("a.yaml", 10_000)],
            vec![
                named("a.yaml", 100),
                file("b.yaml", "", entries(3_000, 200)),
                file("c.yaml", here, entries(6_000, 50)),
            ],
            vec![
                file("a.yaml", "", entries(3_000, 200)),
                named("b.yaml", 100),
            ],
            vec![
                named("a.yaml", 100),
                file("b.yaml", there, entries(3_000, 200)),
                file("c.yaml", here, entries(6_000, 50)),
            ],
        ] {
            let whole = compile(&files);
            assert!(whole.table.is_some(), "{:?}", whole.diagnostics);
            for threads in [1, 3] {
                let first = compile_first(&files, threads, 1_000).unwrap();
                assert_same(&first, &whole);
                assert_same(&compile_cut(&files, threads).unwrap(), &whole);
                let mut files = files.clone();
                files[0].bytes.extend(b"- url: https://new.org/\n");
                let next = compile_after(&files, first.table.as_ref());
                assert_same(&next, &compile(&files));
            }
        }
    }

    #[test]
    fn text_is_needed_where_batches_are_not_enough() {
        let entries = |last: &str| {
            let many = (0..200).map(|it| format!("- url: https://e.org/{it}\n"));
            many.chain([last.to_owned()]).collect::<Vec<_>>()
        };
        let named = "base_url: https://short.code/\n";
        for (head, last, is_enough) in [
            (named, "", true),
            (named, "tests:\n- from: /a\n  to: gone\n", true),
            // A conflict is found without the text.
            (named, "- url: https://e.org/7\n", true),
            // Neither other forms nor errors of an entry.
            (named, "- {url: https://e.org/}\n", false),
            (named, "- ur1: https://e.org/\n", false),
            (named, "tests: 1\n", false),
            ("base_url: [\n", "", false),
        ] {
            let other = file("a.yaml", named, entries("").into_iter());
            let files = [other, file("b.yaml", head, entries(last).into_iter())];
            match compile_first(&files, 2, 100) {
                Ok(compiled) => {
                    assert!(is_enough, "{head}{last}");
                    assert_same(&compiled, &compile(&files));
                }
                Err(TextNeeded) => assert!(!is_enough, "{head}{last}"),
            }
        }
    }

    proptest! {
        #[test]
        fn a_first_table_is_as_compiled_from_its_text(
            files in prop::collection::vec(a_file(60), 1..4),
            edits in prop::collection::vec((any::<Index>(), an_edit()), 0..4),
            threads in 1..3_usize,
            step in 1..2_000_usize,
        ) {
            let mut files: Vec<_> = files.into_iter().enumerate().collect();
            let mut before = None;
            for (at, edit) in edits {
                apply(edit, at, &mut files);
                let source = source(&files);
                if let Ok(first) = compile_first(&source, threads, step) {
                    assert_same(&first, &compile(&source));
                    assert_same(&compile_cut(&source, threads).unwrap(), &first);
                    before = first.table;
                } else {
                    let changed = compile_after(&source, before.as_ref());
                    assert_same(&changed, &compile(&source));
                }
            }
        }
    }
}
