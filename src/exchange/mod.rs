//! Tables in foreign formats, for export and import: one file per format; and a short link as a QR
//! code.
//!
//! The readers are separate, under [`read`] (docs/decisions/0009). A writer is given a site and
//! writes it entry by entry, in the order of codes, so that the same table always produces the same
//! text and a million entries are never in memory twice.
//!
//! # Invariants
//!
//! - Nothing here reads a clock or touches a file.
//! - Features that a format cannot represent are counted by [`Losses`], and a row that cannot be
//!   imported is reported: nothing is dropped silently.

mod apache;
mod beacon;
mod below;
mod caddy;
mod case;
mod csv;
mod destination;
mod expression;
mod html;
mod json_lines;
mod losses;
mod negotiation;
mod nginx;
mod order;
mod qr_code;
pub mod read;
mod redirects;
mod urlteam;
mod yaml;

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use self::order::CodeRow;

pub use case::alike_but_for_case;
pub use csv::write_entries as write_csv;
pub use html::{ExportedPage, PageWithoutPlace, page_losses, pages};
pub use losses::{Feature, Losses};
pub use qr_code::qr_svg;

/// A format in which a site is one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A Waypost table.
    Yaml,
    /// One JSON object per line.
    JsonLines,
    /// Comma-separated values with a header.
    Csv,
    /// A BEACON link dump.
    Beacon,
    /// The format that URLTeam publishes: a code, a bar and a URL per line.
    UrlTeam,
    /// `map` blocks for nginx.
    Nginx,
    /// A Caddyfile.
    Caddy,
    /// A `_redirects` file, as Netlify and Cloudflare Pages read it.
    Redirects,
    /// Rules for Apache's mod_rewrite.
    Apache,
}

impl ExportFormat {
    /// Writes a site as it is at `now`.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn write(self, site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Yaml => yaml::write(site, out),
            Self::JsonLines => json_lines::write(site, out),
            Self::Csv => csv::write(site, out),
            Self::Beacon => beacon::write(site, now, out),
            Self::UrlTeam => urlteam::write(site, now, out),
            Self::Nginx => nginx::write(site, now, out),
            Self::Caddy => caddy::write(site, now, out),
            Self::Redirects => redirects::write(site, now, out),
            Self::Apache => apache::write(site, now, out),
        }
    }

    /// Counts the features of a site that the format cannot represent, as the site is at `now`.
    pub fn losses(self, site: &Site, now: Timestamp) -> Losses {
        let fits = |row: &CodeRow<'_>| nginx::fits(row, now);
        Losses::count(site, now, |feature| self.carries(feature), fits)
    }

    /// Counts the features of a site that the format carries over, but not exactly.
    pub fn approximations(self, site: &Site, now: Timestamp) -> Losses {
        let is_approximate = |feature| {
            let compares_expressions = matches!(self, Self::Nginx | Self::Caddy | Self::Apache);
            compares_expressions && feature == Feature::Variants
        };
        Losses::count(site, now, |feature| !is_approximate(feature), |_| true)
    }

    fn carries(self, feature: Feature) -> bool {
        use Feature::{Below, Case, Fallback, Forward, Gone, Home, Length, Status, Variants};
        match self {
            Self::Yaml => true,
            Self::JsonLines => !matches!(feature, Home | Fallback | Case),
            Self::Csv => !matches!(feature, Home | Fallback | Case | Variants),
            Self::Beacon | Self::UrlTeam => feature == Length,
            Self::Redirects => matches!(feature, Status | Length),
            Self::Nginx => matches!(
                feature,
                Status | Gone | Forward | Below | Home | Variants | Case
            ),
            Self::Caddy | Self::Apache => matches!(
                feature,
                Status | Gone | Forward | Below | Home | Variants | Case | Length
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExportFormat, Feature, page_losses};
    use crate::mapping::{SourceFile, Table, Timestamp, compile};

    #[test]
    fn some_forms_carry_where_a_site_redirects() {
        let text = "base_url: https://short.code/\nhome: https://e.org/\nfallback: https://e.org/old/\ncase: fold\nmapping: []\n";
        let file = SourceFile::new("t.yaml".into(), text.into());
        let table = compile(&[file]).table.unwrap();
        let (site, now) = (&table.sites()[0], Timestamp::MIN);
        let of_site = [Feature::Home, Feature::Fallback, Feature::Case];
        for (format, expected) in [
            (ExportFormat::Yaml, [0, 0, 0]),
            (ExportFormat::JsonLines, [1, 1, 1]),
            (ExportFormat::Csv, [1, 1, 1]),
            (ExportFormat::Nginx, [0, 1, 0]),
            (ExportFormat::Caddy, [0, 1, 0]),
            (ExportFormat::Apache, [0, 1, 0]),
            (ExportFormat::Redirects, [1, 1, 1]),
        ] {
            let lost = format.losses(site, now);
            assert_eq!(of_site.map(|it| lost.of(it)), expected, "{format:?}");
        }
        let lost = page_losses(site, now);
        assert_eq!(of_site.map(|it| lost.of(it)), [1; 3]);
        let mut written = Vec::new();
        ExportFormat::Yaml.write(site, now, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    /// Returns a table of one site with these entries.
    pub(super) fn site_of(entries: &str) -> Table {
        let text = format!("base_url: https://short.code/\nmapping:\n{entries}");
        let file = SourceFile {
            path: "t.yaml".into(),
            bytes: text.into_bytes(),
        };
        compile(&[file]).table.unwrap()
    }
}
