//! The formats in which a site is one text, and what each of them loses.

use std::io::{self, Write};

use crate::exchange::write::configuration::{fits_nginx, write_apache, write_caddy, write_nginx};
use crate::exchange::write::records::{
    write_beacon, write_csv_of_site, write_json_lines, write_redirects, write_urlteam, write_yaml,
};
use crate::exchange::write::rows::{CodeRow, Feature, Losses};
use crate::mapping::{Site, Timestamp};

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
            Self::Yaml => write_yaml(site, out),
            Self::JsonLines => write_json_lines(site, out),
            Self::Csv => write_csv_of_site(site, out),
            Self::Beacon => write_beacon(site, now, out),
            Self::UrlTeam => write_urlteam(site, now, out),
            Self::Nginx => write_nginx(site, now, out),
            Self::Caddy => write_caddy(site, now, out),
            Self::Redirects => write_redirects(site, now, out),
            Self::Apache => write_apache(site, now, out),
        }
    }

    /// Counts the features of a site that the format cannot represent, as the site is at `now`.
    pub fn losses(self, site: &Site, now: Timestamp) -> Losses {
        let fits = |row: &CodeRow<'_>| fits_nginx(row, now);
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
    use super::*;
    use crate::exchange::write::records::page_losses;
    use crate::exchange::write::rows::testing::site_of;
    use crate::mapping::{SourceFile, compile};

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

    #[test]
    fn only_nginx_has_a_longest_target() {
        let long = "a".repeat(5_000);
        let table = site_of(&format!(
            "- {{url: 'https://e.org/{long}', short-code: a}}\n"
        ));
        let (site, now) = (&table.sites()[0], Timestamp::MIN);
        let lost = |format: ExportFormat| format.losses(site, now).of(Feature::Length);
        assert_eq!(lost(ExportFormat::Nginx), 1);
        assert_eq!(lost(ExportFormat::Caddy), 0);
    }
}
