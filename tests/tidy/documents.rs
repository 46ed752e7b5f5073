//! Links between documents lead to files and headings that exist, every page is in the table of
//! contents, images are small and shown, tables are whole, and the map of the code names files that
//! exist.

use super::{Violation, files_under, lines, none, read, report, root};

/// Where the files are to which the map of the code gives paths.
const MAPPED: [&str; 2] = ["src/", ""];

/// The table of contents of the documentation as a site.
const CONTENTS: &str = "docs/SUMMARY.md";

/// The most bytes that the images of documents may have together: a clone keeps each version of them.
const IMAGE_BYTES: u64 = 300_000;

/// Returns the documents in Markdown.
fn documents() -> Vec<String> {
    let top = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
    ];
    let below = files_under("docs");
    let below = below.into_iter().filter(|file| file.ends_with(".md"));
    top.into_iter().map(str::to_owned).chain(below).collect()
}

/// Returns the lines outside blocks of code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((index + 1, line))
    })
}

/// Returns the anchor of a heading, as Git hosts make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let is_kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    text.chars()
        .filter(is_kept)
        .collect::<String>()
        .replace(' ', "-")
}

/// Finds links to files or headings that do not exist; `text_of` reads a file, if there is one.
fn link_violations(
    file: &str,
    text: &str,
    text_of: impl Fn(&str) -> Option<String>,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (number, line) in prose(text) {
        let links = line
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains(':')) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => Some(text.to_owned()),
                _ => text_of(&joined(folder, path)),
            };
            let is_there = target.is_some_and(|target| {
                let mut headings = prose(&target).filter(|(_, line)| line.starts_with('#'));
                heading.is_empty() || headings.any(|(_, line)| anchor(line) == heading)
            });
            if !is_there {
                violations.push(Violation::new(file, number, format!("links to `{link}`")));
            }
        }
    }
    violations
}

/// Finds pages that the table of contents does not list, or lists more than once.
fn contents_violations(contents: &str, pages: &[String]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for page in pages.iter().filter(|page| *page != CONTENTS) {
        let path = page.strip_prefix("docs/").unwrap_or(page);
        let times = contents.matches(&format!("]({path})")).count();
        if times != 1 {
            let rule = format!("is listed {times} times in {CONTENTS}");
            violations.push(Violation::new(page, 1, rule));
        }
    }
    violations
}

/// Returns a path that is relative to a folder as one relative to the repository.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Finds rows of tables that have no head above them.
fn row_violations(file: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut lines = prose(text).peekable();
    let mut last = (0, "");
    while let Some((number, line)) = lines.next() {
        let begins = line.starts_with('|') && !(last.0 + 1 == number && last.1.starts_with('|'));
        let is_head = lines
            .peek()
            .is_some_and(|(_, next)| next.starts_with("| -"));
        if begins && !is_head {
            violations.push(Violation::new(file, number, "is a row without a table"));
        }
        last = (number, line);
    }
    violations
}

/// Finds paths of source files in back quotes that do not exist.
fn path_violations(file: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, line) in prose(text) {
        let quoted = line.split('`').skip(1).step_by(2);
        for path in quoted.filter(|path| path.contains('/') && path.ends_with(".rs")) {
            if !exists(path) {
                violations.push(Violation::new(file, number, format!("names `{path}`")));
            }
        }
    }
    violations
}

#[test]
fn links_between_documents_lead_somewhere() {
    let text_of = |path: &str| {
        let full = root().join(path);
        match full.extension().is_some_and(|it| it == "md") {
            true => full.is_file().then(|| read(path)),
            false => full.exists().then(String::new),
        }
    };
    let files = documents();
    assert!(files.len() > 40, "the documents are not where they were");
    let found = files
        .iter()
        .map(|file| link_violations(file, &read(file), text_of));
    report(found.flatten().collect());
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let pages = files_under("docs").into_iter();
    let pages: Vec<_> = pages.filter(|file| file.ends_with(".md")).collect();
    report(contents_violations(&read(CONTENTS), &pages));
}

#[test]
fn images_in_documents_are_small_and_shown() {
    let images = files_under("docs").into_iter();
    let images = images.filter(|file| !file.ends_with(".md") && !file.ends_with(".json"));
    let images: Vec<_> = images.collect();
    assert!(images.len() > 5, "the images are not where they were");
    let sizes = images.iter().map(|image| {
        let metadata = std::fs::metadata(root().join(image));
        metadata.expect("the image can be read").len()
    });
    let bytes: u64 = sizes.sum();
    assert!(bytes <= IMAGE_BYTES, "the images have {bytes} bytes");
    let pages: String = documents().iter().map(|file| read(file)).collect();
    let unused = images.into_iter().filter(|image| {
        let name = image.rsplit('/').next().unwrap_or(image);
        !pages.contains(&format!("/{name})")) && !pages.contains(&format!("({name})"))
    });
    none(&unused.collect::<Vec<_>>());
}

#[test]
fn tables_in_documents_are_whole() {
    let files = documents();
    let found = files.iter().map(|file| row_violations(file, &read(file)));
    report(found.flatten().collect());
}

#[test]
fn the_map_names_files_that_exist() {
    let layers: Vec<_> = std::fs::read_dir(root().join("src"))
        .expect("the sources are there")
        .map(|item| item.expect("the directory can be read").file_name())
        .map(|name| format!("src/{}/", name.to_string_lossy()))
        .collect();
    let exists = |path: &str| {
        let folders = MAPPED.into_iter().chain(layers.iter().map(String::as_str));
        folders
            .into_iter()
            .any(|folder| root().join(folder).join(path).exists())
    };
    let map = "docs/architecture.md";
    report(path_violations(map, &read(map), exists));
}

#[test]
fn catches_links_that_lead_nowhere() {
    let text = "\
# One heading, `so`
[a](b.md) and [c](../README.md#top)
```
[d](gone.md)
```
[e](gone.md), [f](#one-heading-so) and [g](#another)
[h](b.md#x)
[i](https://gone.example/)
";
    let text_of = |path: &str| match path {
        "docs/b.md" => Some("# B\n".to_owned()),
        "README.md" => Some("## Top\n".to_owned()),
        _ => None,
    };
    let found = link_violations("docs/a.md", text, text_of);
    assert_eq!(lines(&found), [6, 6, 7]);
}

#[test]
fn catches_pages_that_are_not_in_the_table_of_contents() {
    let contents = "# Contents\n- [A](a.md)\n- [B](b/b.md)\n- [A](a.md)\n";
    let pages = ["docs/SUMMARY.md", "docs/a.md", "docs/b/b.md", "docs/c.md"];
    let found = contents_violations(contents, &pages.map(str::to_owned));
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "docs/a.md:1: is listed 2 times in docs/SUMMARY.md",
            "docs/c.md:1: is listed 0 times in docs/SUMMARY.md"
        ]
    );
}

#[test]
fn catches_rows_that_are_cut_off() {
    let text = "| a |\n| --- |\n| b |\n\n| c |\n";
    assert_eq!(lines(&row_violations("docs/a.md", text)), [5]);
}

#[test]
fn catches_files_that_are_gone() {
    let text = "`a/b.rs`, `a/c.rs` and `d.rs`\n";
    let found = path_violations("docs/a.md", text, |path| path == "a/b.rs");
    assert_eq!(found, [Violation::new("docs/a.md", 1, "names `a/c.rs`")]);
}
