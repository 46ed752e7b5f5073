//! Problems for people, and for programs that parse compiler output.
//!
//! The first line of each problem is always `PATH:LINE:COLUMN: error: MESSAGE`; its other lines
//! begin with a space. Colour changes nothing else.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use super::excerpt::Excerpt;
use super::findings::Findings;
use super::lines::with_lines;
use crate::cli::terminal::legible;
use crate::mapping::{Diagnostic, Severity};

/// The style of each part.
#[derive(Default)]
pub(crate) struct Palette {
    place: Style,
    error: Style,
    warning: Style,
    gutter: Style,
    hint: Style,
}

impl Palette {
    /// Returns the palette for standard output: colours if it is a terminal, unless the
    /// environment says otherwise (`NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE`).
    pub(crate) fn for_stdout() -> Self {
        match AutoStream::choice(&io::stdout()) {
            ColorChoice::Never => Self::default(),
            _ => Self {
                place: Style::new().bold(),
                error: AnsiColor::Red.on_default().bold(),
                warning: AnsiColor::Yellow.on_default().bold(),
                gutter: AnsiColor::Blue.on_default(),
                hint: AnsiColor::Cyan.on_default(),
            },
        }
    }
}

pub(crate) fn write(findings: &Findings, palette: &Palette, out: &mut dyn Write) -> io::Result<()> {
    for (diagnostic, line) in with_lines(findings) {
        let Diagnostic {
            place,
            message,
            hint,
            ..
        } = diagnostic;
        let severity = diagnostic.severity();
        let weight = match severity {
            Severity::Error => palette.error,
            Severity::Warning => palette.warning,
        };
        let bold = palette.place;
        // A file's name is chosen by the author of a proposal, and may appear in any of these.
        let (shown, message) = (place.to_string(), legible(message));
        let shown = legible(&shown);
        writeln!(
            out,
            "{bold}{shown}:{bold:#} {weight}{severity}:{weight:#} {message}"
        )?;
        let position = place.position;
        if let Some(excerpt) = line.and_then(|line| Excerpt::around(&line, position.column)) {
            let Excerpt { text, indent } = excerpt;
            let number = position.line.to_string();
            let blank = " ".repeat(number.len());
            let gutter = palette.gutter;
            writeln!(out, "  {gutter}{number} |{gutter:#} {text}")?;
            writeln!(
                out,
                "  {gutter}{blank} |{gutter:#} {:indent$}{weight}^{weight:#}",
                ""
            )?;
        }
        if let Some(hint) = hint {
            let colour = palette.hint;
            let hint = legible(hint);
            writeln!(out, "  {colour}hint:{colour:#} {hint}")?;
        }
    }
    Ok(())
}
