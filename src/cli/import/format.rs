//! The format of a file to import: the chosen one, or the detected one.

use std::io::{Write as _, stderr};

use clap::ValueEnum;

use crate::cli::terminal::Error;
use crate::exchange::read::{ImportFormat, is_text};

/// How many bytes of a file are used to detect its format.
const LOOKED_AT: usize = 64 << 10;

/// The formats by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ImportFormatArg {
    /// Comma-separated values with a header
    Csv,
    /// One JSON object per line, as export writes it
    Jsonl,
    /// CSV or SQL dump of YOURLS
    Yourls,
    /// CSV of Shlink's web client
    Shlink,
    /// JSON of Kutt's API
    Kutt,
    /// The export of golink
    Golink,
    /// A configuration of nginx
    Nginx,
    /// A configuration of Apache
    Apache,
    /// A Caddyfile
    Caddy,
    /// A _redirects file of Netlify or Cloudflare Pages
    Redirects,
    /// A BEACON link dump, or the text that URLTeam publishes
    Beacon,
    /// CSV of a table short_url(slug, url)
    Psql,
}

impl ImportFormatArg {
    /// Returns the chosen format, or else the only one that fits the file, which is reported.
    pub(super) fn of(chosen: Option<Self>, name: &str, bytes: &[u8]) -> Result<Self, Error> {
        if let Some(format) = chosen {
            return Ok(format);
        }
        if !is_text(&bytes[..bytes.len().min(LOOKED_AT)]) {
            return Err(Error::usage(format!(
                "{name}: this is not text: it contains control characters that no format has"
            )));
        }
        let guessed = ImportFormat::guess(name, bytes).map_err(|fitting| {
            let named: Vec<_> = Self::value_variants()
                .iter()
                .filter(|it| fitting.is_empty() || fitting.contains(&it.form()))
                .filter_map(|it| Some(it.to_possible_value()?.get_name().to_owned()))
                .collect();
            let question = match fitting.is_empty() {
                true => "the format of this file cannot be detected",
                false => "this file may have several formats",
            };
            let named = named.join(", ");
            Error::usage(format!(
                "{name}: {question}: name it with --format: {named}"
            ))
        })?;
        let format = Self::with_form(guessed);
        writeln!(
            stderr(),
            "{name}: read as {}; --format selects another format",
            format.name()
        )?;
        Ok(format)
    }

    /// Returns an error if a file of which no row can be read seems to have another format.
    pub(super) fn mismatch(self, name: &str, bytes: &[u8]) -> Option<Error> {
        let fitting = ImportFormat::guess("", bytes).map(Self::with_form).ok()?;
        let message = format!(
            "{name}: no row of this file can be read as {}: it looks like {}",
            self.name(),
            fitting.name()
        );
        let hint = format!("read it with --format {}", fitting.name());
        let are_tables = self.is_table() && fitting.is_table();
        (fitting != self && !are_tables).then(|| Error::refused(message).with_hint(Some(&hint)))
    }

    /// Returns whether it has columns, which may have the same names as those of other programs.
    fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Yourls | Self::Shlink | Self::Psql)
    }

    fn with_form(form: ImportFormat) -> Self {
        let variants = Self::value_variants().iter();
        let found = variants.copied().find(|it| it.form() == form);
        found.expect("each format has a name")
    }

    /// Returns its name on the command line.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |it| it.get_name().to_owned())
    }

    pub(super) fn form(self) -> ImportFormat {
        match self {
            Self::Csv => ImportFormat::Csv,
            Self::Jsonl => ImportFormat::JsonLines,
            Self::Yourls => ImportFormat::Yourls,
            Self::Shlink => ImportFormat::Shlink,
            Self::Kutt => ImportFormat::Kutt,
            Self::Golink => ImportFormat::Golink,
            Self::Nginx => ImportFormat::Nginx,
            Self::Apache => ImportFormat::Apache,
            Self::Caddy => ImportFormat::Caddy,
            Self::Redirects => ImportFormat::Redirects,
            Self::Beacon => ImportFormat::Beacon,
            Self::Psql => ImportFormat::Psql,
        }
    }
}
