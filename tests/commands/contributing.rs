//! The page for people who propose links, compared with the output of the check.
//!
//! The first `yaml` block of the page is the published table. Each further one is a proposal: a whole
//! table, or entries to write at the end. The `text` block after one is what the check says to it;
//! where there is none, the check has nothing to say. `WAYPOST_REWRITE=1 cargo test` writes those texts
//! anew.

#![allow(clippy::unwrap_used)]

use std::fs;

use crate::fixture::Fixture;

const PAGE: &str = "docs/contributing-links.md";

#[test]
fn the_page_shows_what_the_check_says() {
    let page = fs::read_to_string(PAGE).unwrap();
    let mut rewritten = page.clone();
    let blocks = blocks(&page);
    let ("yaml", published) = blocks[0] else {
        panic!("the page does not begin with a table");
    };
    let fixture = Fixture::committed(published);
    fixture.git("branch published");
    let (mut report, mut differing) = (0, Vec::new());
    for (at, (language, proposal)) in blocks.iter().enumerate().skip(1) {
        if *language != "yaml" {
            continue;
        }
        let table = match proposal.starts_with("- ") {
            true => format!("{published}{proposal}"),
            false => (*proposal).to_owned(),
        };
        fixture.write("mapping.yaml", &table);
        let got = fixture.waypost(".", "check --base published");
        let (status, printed) = got.split_once("\n--- stdout\n").unwrap();
        let printed = printed.replace("--- stderr\n", "");
        match blocks.get(at + 1) {
            Some(("text", expected)) => {
                let block = format!("{proposal}```\n\n```text\n");
                let (was, is) = (format!("{block}{expected}"), format!("{block}{printed}"));
                if was != is {
                    differing.push(format!("{is}--- expected\n{expected}"));
                    rewritten = rewritten.replace(&was, &is);
                }
                report += 1;
            }
            _ => assert!(
                status == "status 0" && !printed.contains("warning"),
                "{proposal}{printed}"
            ),
        }
    }
    if std::env::var_os("WAYPOST_REWRITE").is_some() {
        fs::write(PAGE, &rewritten).unwrap();
    } else {
        assert!(differing.is_empty(), "{}", differing.join("\n"));
    }
    let texts = blocks.iter().filter(|(language, _)| *language == "text");
    assert_eq!(texts.count(), report, "a text without a proposal before it");
}

/// Returns the fenced blocks of a page: their language and their content.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced
        .map(|block| block.split_once('\n').unwrap())
        .collect()
}
