//! `waypost man`: the manual pages, generated from the same definitions as the help.
//!
//! Intended for packagers, who run it once and ship its output.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::terminal::Error;

/// Write the manual pages into a directory
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(in crate::cli) struct Args {
    /// The directory for waypost.1 and a page for each command
    directory: PathBuf,
}

pub(in crate::cli) fn run(args: &Args, program: clap::Command) -> Result<(), Error> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set());
    for command in [&program].into_iter().chain(verbs) {
        let page = ManualPage(command.clone());
        let path = args.directory.join(format!("{}.1", page.name()));
        let written = page.render().and_then(|text| fs::write(&path, text));
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The page of one command.
struct ManualPage(clap::Command);

impl ManualPage {
    fn name(&self) -> &str {
        let name = self.0.get_display_name();
        name.unwrap_or_else(|| self.0.get_name())
    }

    /// Returns the page in roff.
    fn render(&self) -> io::Result<Vec<u8>> {
        let mut page = Vec::new();
        let man = Man::new(self.0.clone())
            .manual("Waypost")
            .source(concat!("waypost ", env!("CARGO_PKG_VERSION")));
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if self.0.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        if let Some(text) = self.0.get_after_help() {
            as_written("NOTES", &text.to_string(), &mut page)?;
        }
        Ok(page)
    }
}

/// Writes a section whose lines are kept: examples are not running text.
fn as_written(heading: &str, text: &str, page: &mut impl Write) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [heading]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff.to_writer(page)
}
