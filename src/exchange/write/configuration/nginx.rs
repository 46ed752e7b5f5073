//! `map` blocks for nginx, one per status, with the lines that use them in a comment.
//!
//! nginx folds the case of the strings in a map, so codes that differ only in case become regular
//! expressions, which are case-sensitive but tried in order; so do codes with other letters than those of ASCII that
//! are found in any case. In the value of a map `$` begins a
//! variable, and the only way to escape it is a variable that contains it.

use std::io::{self, Write};

use crate::mapping::{Case, Site, Status, Timestamp};

use super::below::{Leads, Prefixes, UNSOUND};
use super::case::Alike;
use super::destination::{Destination, Destinations, QueryStart};
use super::negotiation::{self, NO_PAGE, Negotiations};
use crate::exchange::write::rows::matching;
use crate::exchange::write::rows::{CodeRow, SortedEntries, base_path};

/// The statuses of redirects.
const STATUSES: [Status; 5] = [
    Status::MovedPermanently,
    Status::Found,
    Status::SeeOther,
    Status::TemporaryRedirect,
    Status::PermanentRedirect,
];

/// The header of each file.
const USE: &str = "\
# Include this file in the http block, and in the server block write:
#
#   if ($waypost_301) { return 301 $waypost_301; }
#   if ($waypost_302) { return 302 $waypost_302; }
#   if ($waypost_303) { return 303 $waypost_303; }
#   if ($waypost_307) { return 307 $waypost_307; }
#   if ($waypost_308) { return 308 $waypost_308; }
#   if ($waypost_410) { return 410; }

";

/// What the header adds if requests choose among variants.
const USE_VARY: &str = "\
# and before everything else:
#
#   add_header Vary $waypost_vary always;

";

/// The variable that expands to `$`: `geo` takes its values literally.
const DOLLAR: &str = "geo $waypost_dollar { default \"$\"; }\n";

/// The size of an entry in an nginx hash table besides its key, in bytes: a pointer, a length, up
/// to seven bytes of padding, and the mark at the end of a bucket.
const OVERHEAD: usize = 8 + 2 + 7 + 8;

/// The maximum number of bytes between quotes: nginx reads its files through a buffer of 4,096,
/// which must contain a string and its terminator (ngx_conf_file.c, NGX_CONF_BUFFER).
const LONGEST: usize = 4093;

/// The map of what precedes the query of a request, which is inserted after the query of a URL.
const MORE_ARGS: &str = "map $args $waypost_more_args { \"\" \"\"; default \"&$args\"; }\n";

/// Returns whether nginx can read a row. Keys are measured as expressions, their longest form.
pub(crate) fn fits(row: &CodeRow<'_>, now: Timestamp) -> bool {
    let of_code = |it: &Destination<'_>| code_value(it).len() <= LONGEST;
    let below = |it: &Destination<'_>| it.written(value, "$1", "&$2").len() <= LONGEST;
    let all_fit = |all: Option<Destinations<'_>>, fits: &dyn Fn(&Destination<'_>) -> bool| {
        all.is_none_or(|all| all.choices().all(|(_, it)| fits(it)))
    };
    if row.expression().len() + 4 >= LONGEST || !all_fit(row.destinations(now), &of_code) {
        return false;
    }
    // What follows in an expression is much shorter.
    let length = || row.below_decoded().len() + row.below_sent().len() + 512;
    !row.entry.takes_below()
        || (length() <= LONGEST && all_fit(row.destinations_below(now), &below))
}

/// What the maps are written from.
struct Maps<'t> {
    order: SortedEntries<'t>,
    prefixes: Prefixes<'t>,
    negotiations: Negotiations<'t>,
    alike: Alike,
    /// Whether the table finds codes in any case.
    folds: bool,
    now: Timestamp,
}

/// Writes a site as it is at `now`, except for rows that do not fit.
pub(crate) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    let order = SortedEntries::of(site);
    let maps = Maps {
        prefixes: Prefixes::of(&order, now),
        negotiations: Negotiations::of(&order, now),
        alike: Alike::of(&order),
        folds: site.about().case() == Case::Fold,
        now,
        order,
    };
    out.write_all(USE.as_bytes())?;
    maps.write_use_below(out)?;
    if !maps.negotiations.is_empty() {
        out.write_all(USE_VARY.as_bytes())?;
    }
    maps.write_sizes(out)?;
    out.write_all(DOLLAR.as_bytes())?;
    // A code is also found with a slash after it.
    let base = matching(&base_path(site));
    let map = "map $uri $waypost_path";
    writeln!(
        out,
        "{map} {{ \"~^({base}.*[^/])/\\z\" $1; default $uri; }}"
    )?;
    if maps.order.entries().any(|it| it.forward().query()) {
        out.write_all(MORE_ARGS.as_bytes())?;
    }
    if !maps.negotiations.is_empty() {
        maps.write_choices(out)?;
        maps.write_variants(out)?;
        maps.write_vary(out)?;
    }
    maps.write_codes(site, out)?;
    maps.write_below(out)
}

impl Maps<'_> {
    /// Returns the rows that are wanted and fit.
    fn rows(&self, wants: impl Fn(&CodeRow<'_>) -> bool) -> impl Iterator<Item = CodeRow<'_>> {
        let wanted = self.order.rows_by_case().filter(move |row| wants(row));
        wanted.filter(|row| fits(row, self.now))
    }

    /// Returns the statuses with which paths below codes are answered; `None` if they are gone.
    fn statuses_below(&self) -> impl Iterator<Item = Option<Status>> {
        let all = STATUSES.map(Some).into_iter().chain([None]);
        all.filter(|status| {
            self.prefixes.rows().any(|(row, leads)| match leads {
                Leads::To(_) => *status == Some(row.entry.status()),
                Leads::Gone => status.is_none(),
            })
        })
    }

    /// Writes what the header adds if paths below codes lead anywhere.
    fn write_use_below(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.prefixes.is_empty() {
            return Ok(());
        }
        out.write_all(b"# and after that:\n#\n")?;
        for status in self.statuses_below() {
            match status.map(Status::code) {
                Some(code) => {
                    let name = format!("$waypost_below_{code}");
                    writeln!(out, "#   if ({name}) {{ return {code} {name}; }}")?;
                }
                None => writeln!(out, "#   if ($waypost_below_410) {{ return 410; }}")?,
            }
        }
        out.write_all(b"\n")
    }

    /// Writes the sizes of hash tables that are large enough for each map.
    fn write_sizes(&self, out: &mut dyn Write) -> io::Result<()> {
        let (mut keys, mut longest) = (0, 0);
        for row in self.rows(|_| true) {
            let choices = row.entry.variants().count() + 1;
            keys += choices;
            longest = longest.max(match choices {
                1 => row.path().len(),
                _ => format!("{choices} {}", row.path()).len(),
            });
        }
        let bucket = (longest + OVERHEAD).next_power_of_two().max(64);
        writeln!(out, "map_hash_bucket_size {bucket};")?;
        let buckets = usize::next_power_of_two(keys).max(2048);
        writeln!(out, "map_hash_max_size {buckets};")
    }

    /// Writes the maps of the choices among lists of types.
    fn write_choices(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "map $http_accept $waypost_page {{\n    default {NO_PAGE};"
        )?;
        for (expression, quality) in negotiation::page_qualities() {
            writeln!(out, "    \"~{expression}\" {quality};")?;
        }
        out.write_all(b"}\n")?;
        for (list, types) in self.negotiations.lists() {
            let accept = "\"$waypost_page $http_accept\"";
            writeln!(
                out,
                "map {accept} $waypost_choice_{list} {{\n    default 0;"
            )?;
            for (expression, choice) in negotiation::choices(types) {
                writeln!(out, "    \"~{expression}\" {choice};")?;
            }
            out.write_all(b"}\n")?;
        }
        Ok(())
    }

    /// Writes, for each list of types, a map of the codes that choose from it.
    fn write_variants(&self, out: &mut dyn Write) -> io::Result<()> {
        for (list, _) in self.negotiations.lists() {
            writeln!(
                out,
                "map \"$waypost_choice_{list} $waypost_path\" $waypost_link_{list} {{"
            )?;
            let is_of_list = |row: &CodeRow<'_>| self.negotiations.number(row.entry) == Some(list);
            for row in self.rows(is_of_list) {
                let destinations = row.destinations(self.now);
                for (choice, it) in destinations.iter().flat_map(Destinations::choices) {
                    let key = self.key(&format!("{choice} "), &row);
                    writeln!(out, "    {key} \"{}\";", code_value(it))?;
                }
            }
            out.write_all(b"}\n")?;
        }
        Ok(())
    }

    /// Writes the map of the field `Vary`.
    fn write_vary(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"map $waypost_path $waypost_vary {\n")?;
        let vary = |row: &CodeRow<'_>| match self.negotiations.number(row.entry) {
            Some(_) => "Accept",
            None => "\"\"",
        };
        // Others need a line only if they are below a code with one.
        let is_concerned = |row: &CodeRow<'_>| {
            row.entry.has_variants() || self.prefixes.concern(&row.code) || self.precedes(row)
        };
        for row in self.rows(is_concerned) {
            writeln!(out, "    {} {};", self.key("", &row), vary(&row))?;
        }
        for (row, _) in self.prefixes.rows() {
            writeln!(out, "    \"~{}\" {};", row.below_decoded(), vary(row))?;
        }
        out.write_all(b"}\n")
    }

    /// Writes the maps of codes.
    fn write_codes(&self, site: &Site, out: &mut dyn Write) -> io::Result<()> {
        for status in STATUSES {
            writeln!(out, "map $waypost_path $waypost_{} {{", status.code())?;
            if let Some(home) = site.about().home().filter(|_| status == Status::Found) {
                let (path, url) = (base_path(site), value(home.url()));
                writeln!(out, "    \"{path}\" \"{url}\";")?;
            }
            let is_of_map = |row: &CodeRow<'_>| row.entry.status() == status || self.precedes(row);
            for row in self.rows(is_of_map) {
                let destinations = row.destinations(self.now);
                let destinations = destinations.filter(|_| row.entry.status() == status);
                let Some(Destinations { own, .. }) = destinations else {
                    self.write_preceding(&row, out)?;
                    continue;
                };
                let url = match self.negotiations.number(row.entry) {
                    Some(list) => format!("$waypost_link_{list}"),
                    None => code_value(&own),
                };
                writeln!(out, "    {} \"{url}\";", self.key("", &row))?;
            }
            out.write_all(b"}\n")?;
        }
        out.write_all(b"map $waypost_path $waypost_410 {\n")?;
        let is_gone = |row: &CodeRow<'_>| row.target(self.now).is_none();
        for row in self.rows(|row| is_gone(row) || self.precedes(row)) {
            if !is_gone(&row) {
                self.write_preceding(&row, out)?;
                continue;
            }
            writeln!(out, "    {} 1;", self.key("", &row))?;
        }
        out.write_all(b"}\n")
    }

    /// Returns whether a code is found only as it is, before one in another case.
    fn precedes(&self, row: &CodeRow<'_>) -> bool {
        self.folds && !row.folds && self.alike.contains(row)
    }

    /// Writes, in a map in which a code has no value, that such a code has none.
    fn write_preceding(&self, row: &CodeRow<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self.precedes(row) {
            true => writeln!(out, "    {} \"\";", self.key("", row)),
            false => Ok(()),
        }
    }

    /// Writes the maps of paths below codes.
    fn write_below(&self, out: &mut dyn Write) -> io::Result<()> {
        let lists = self.negotiations.lists();
        let choices: String = lists
            .map(|(list, _)| format!(" $waypost_choice_{list}"))
            .collect();
        for status in self.statuses_below() {
            let name = status.map_or(410, Status::code);
            writeln!(
                out,
                "map \"$uri $request_uri{choices}\" $waypost_below_{name} {{"
            )?;
            writeln!(out, "    \"~{UNSOUND}\" \"\";")?;
            for (row, leads) in self.prefixes.rows() {
                self.write_row_below(row, leads, status, out)?;
            }
            out.write_all(b"}\n")?;
        }
        Ok(())
    }

    /// Writes the lines for the paths below a code in the map of a status, or in that of paths that are gone.
    fn write_row_below(
        &self,
        row: &CodeRow<'_>,
        leads: &Leads<'_>,
        status: Option<Status>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut found = "\"\"";
        match leads {
            Leads::To(destinations)
                if status == Some(row.entry.status()) && fits(row, self.now) =>
            {
                for line in row.below_lines(destinations, &self.negotiations) {
                    let url = line.destination.written(value, "$1", &line.query);
                    writeln!(out, "    \"~{}\" \"{url}\";", line.expression)?;
                }
            }
            Leads::Gone if status.is_none() => found = "1",
            _ => {}
        }
        // No shorter code takes these paths.
        writeln!(out, "    \"~{}\" {found};", row.below_decoded())
    }

    /// Returns the map key for a text and the decoded path of a code.
    fn key(&self, before: &str, row: &CodeRow<'_>) -> String {
        match self.alike.contains(row) || row.folds && !row.code.is_ascii() {
            // A dollar sign would also match before a line break at the end.
            true => format!("\"~^{before}{}\\z\"", row.expression()),
            false => format!("\"{before}{}\"", row.path()),
        }
    }
}

/// Returns where a code leads, as the value of a map.
fn code_value(destination: &Destination<'_>) -> String {
    let query = match destination.query_start() {
        None => "",
        Some(QueryStart::Question) => "$is_args$args",
        Some(QueryStart::Ampersand) => "$waypost_more_args",
        Some(QueryStart::Nothing) => "$args",
    };
    destination.written(value, "", query)
}

fn value(url: &str) -> String {
    let url = url.replace('\\', "\\\\").replace('"', "\\\"");
    url.replace('$', "${waypost_dollar}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::write::rows::testing::site_of;
    use crate::exchange::write::rows::{Feature, Losses};

    #[test]
    fn leaves_out_and_counts_what_nginx_cannot_read() {
        // A `$` is written as the 17 bytes of a variable.
        let entries: String = [("fits", 0, 0), ("long", 1, 0), ("dollar", 0, 1)]
            .map(|(code, more, dollars)| {
                let path = "a".repeat(LONGEST - "https://e.org/".len() + more - dollars);
                let dollars = "$".repeat(dollars);
                format!("- url: https://e.org/{path}{dollars}\n  short-code: {code}\n")
            })
            .concat();
        let table = site_of(&entries);
        let site = &table.sites()[0];
        let now = Timestamp::parse_start("2026-01-01").unwrap();
        let mut out = Vec::new();
        write(site, now, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\"/fits\""), "{text}");
        assert!(!text.contains("/long") && !text.contains("/dollar"));
        let lost = Losses::count(site, now, |_| false, |row| fits(row, now));
        assert_eq!(lost.of(Feature::Length), 2);
    }
}
