//! Apache mod_rewrite rules, one per code.
//!
//! A `Redirect` line would also match paths under its code, and `RedirectMatch` encodes the `%` of
//! a URL once more. A `RewriteMap` would find a code in one step, but since 2.4.60 Apache refuses
//! results with a `?` in them. So each code has a rule that matches its whole path, and Apache
//! tries the rules in order, which is fast enough for thousands. If the table finds codes in any case, the rules of
//! those that it finds only as they are come first.

use std::io::{self, Write};

use crate::mapping::{Site, Timestamp};

use super::below::{Leads, Prefixes, UNSOUND};
use super::destination::{Destination, Destinations, QueryStart};
use super::negotiation::{self, NO_PAGE, Negotiations};
use crate::exchange::write::rows::{CodeRow, SortedEntries, base_path};
use crate::exchange::write::rows::{folded, matching};

/// The lines before the rules.
const USE: &str = "\
# For a server, a virtual host or the .htaccess of its root, with mod_rewrite.
RewriteEngine On
";

/// The same, if requests choose among variants.
const USE_VARIANTS: &str = "\
# For a server, a virtual host or the .htaccess of its root, with mod_rewrite and mod_headers.
RewriteEngine On
Header always merge Vary Accept env=WAYPOST_VARY
";

/// Inserts the query.
const QUERY: &str = "%{QUERY_STRING}";

/// The rules of one code.
struct Rules<'r, 't> {
    row: &'r CodeRow<'t>,
    /// The number of the list of types among which requests choose, if they do.
    list: Option<usize>,
    pattern: String,
    /// Says that case is ignored, if it is.
    any_case: &'static str,
}

/// Writes a site as it is at `now`.
pub(crate) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    let order = SortedEntries::of(site);
    let prefixes = Prefixes::of(&order, now);
    let negotiations = Negotiations::of(&order, now);
    match negotiations.is_empty() {
        true => out.write_all(USE.as_bytes())?,
        false => {
            out.write_all(USE_VARIANTS.as_bytes())?;
            write_choices(&order, &negotiations, out)?;
        }
    }
    if let Some(home) = site.about().home() {
        let (path, url) = (relative(&base_path(site)), escaped(home.url()));
        writeln!(out, "RewriteRule \"^/?{path}$\" {}", redirect(&url, "302"))?;
    }
    for row in order.rows_by_case() {
        let rules = Rules::of(&row, "/?$", &negotiations);
        match row.destinations(now) {
            Some(destinations) => rules.write(&destinations, out)?,
            None => rules.write_status("G", out)?,
        }
    }
    for (row, leads) in prefixes.rows() {
        let rules = Rules::of(row, "/.", &negotiations);
        writeln!(out, "RewriteCond \"%{{THE_REQUEST}}\" \"{UNSOUND}\"")?;
        rules.write_status("R=404,L", out)?;
        match leads {
            Leads::To(destinations) => rules.write(destinations, out)?,
            Leads::Gone => rules.write_status("G", out)?,
        }
        // No shorter code takes these paths.
        rules.write_status("R=404,L", out)?;
    }
    Ok(())
}

/// Writes rules that set, for each list of types that the path of a request concerns, a variable to the number of the
/// variant that the request chooses.
fn write_choices(
    order: &SortedEntries<'_>,
    negotiations: &Negotiations<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in order.rows() {
        if let Some(list) = negotiations.number(row.entry) {
            let variables = format!("E=WAYPOST_PAGE:{NO_PAGE},E=WAYPOST_CHOICE_{list}:0");
            Rules::of(&row, "(?:/|$)", negotiations).write_status(&variables, out)?;
        }
    }
    let qualities: Vec<_> = negotiation::page_qualities().collect();
    let after = qualities.len();
    writeln!(out, "RewriteCond \"%{{ENV:WAYPOST_PAGE}}\" \"^$\"")?;
    writeln!(out, "RewriteRule ^ - [S={after}]")?;
    for (number, (expression, quality)) in qualities.iter().enumerate() {
        let after = after - number - 1;
        writeln!(out, "RewriteCond \"%{{HTTP_ACCEPT}}\" \"{expression}\"")?;
        writeln!(out, "RewriteRule ^ - [E=WAYPOST_PAGE:{quality},S={after}]")?;
    }
    for (list, types) in negotiations.lists() {
        let choices: Vec<_> = negotiation::choices(types).collect();
        let after = choices.len();
        writeln!(out, "RewriteCond \"%{{ENV:WAYPOST_CHOICE_{list}}}\" \"^$\"")?;
        writeln!(out, "RewriteRule ^ - [S={after}]")?;
        for (number, (expression, choice)) in choices.iter().enumerate() {
            let after = after - number - 1;
            let accept = "%{ENV:WAYPOST_PAGE} %{HTTP_ACCEPT}";
            writeln!(out, "RewriteCond \"{accept}\" \"{expression}\"")?;
            writeln!(
                out,
                "RewriteRule ^ - [E=WAYPOST_CHOICE_{list}:{choice},S={after}]"
            )?;
        }
    }
    Ok(())
}

impl<'r, 't> Rules<'r, 't> {
    /// Returns those of a code, for paths that end with an expression after it.
    fn of(row: &'r CodeRow<'t>, end: &str, negotiations: &Negotiations<'t>) -> Self {
        let base = base_path(row.entry.site());
        let code = row
            .folds
            .then(|| folded(&row.code, str::to_owned))
            .flatten();
        let (path, any_case) = match code {
            Some(code) => (format!("{}{code}", in_own_case(&base)), ",NC"),
            None => (relative(&row.path()), ""),
        };
        Self {
            row,
            list: negotiations.number(row.entry),
            pattern: format!("\"^/?{path}{end}\""),
            any_case,
        }
    }

    /// Writes a rule that leads nowhere.
    fn write_status(&self, flags: &str, out: &mut dyn Write) -> io::Result<()> {
        let (pattern, any_case) = (&self.pattern, self.any_case);
        writeln!(out, "RewriteRule {pattern} - [{flags}{any_case}]")
    }

    /// Writes a rule for each choice, first for requests with a query, if it is inserted.
    fn write(&self, destinations: &Destinations<'_>, out: &mut dyn Write) -> io::Result<()> {
        for (choice, destination) in destinations.choices() {
            let start = destination.query_start();
            if let Some(start) = start.filter(|_| !destination.has_fragment())
                && let Some((queries, flag)) = appended(start)
            {
                let query = format!("RewriteCond \"%{{QUERY_STRING}}\" {queries}\n");
                let url = destination.written(escaped, "%1", "");
                let answer = |flags: &str| format!("\"{url}\" [R={flags},NE{flag},L]");
                self.write_choice((choice, destination), &query, answer, out)?;
            }
            // Of others, Apache refuses those with a `?` in them since 2.4.60.
            if let Some(start) =
                start.filter(|it| *it != QueryStart::Question || destination.has_fragment())
            {
                let query = "RewriteCond \"%{QUERY_STRING}\" .\n";
                let inserted = format!("{}{QUERY}", start.text());
                let url = destination.written(escaped, "%1", &inserted);
                let answer = |flags: &str| redirect(&url, flags);
                self.write_choice((choice, destination), query, answer, out)?;
            }
            let url = destination.written(escaped, "%1", "");
            let answer = |flags: &str| redirect(&url, flags);
            self.write_choice((choice, destination), "", answer, out)?;
        }
        Ok(())
    }

    /// Writes the rule of a choice for the queries of a condition.
    fn write_choice(
        &self,
        (choice, destination): (usize, &Destination<'_>),
        query: &str,
        answer: impl Fn(&str) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if let Some(list) = self.list.filter(|_| choice > 0) {
            let variable = format!("%{{ENV:WAYPOST_CHOICE_{list}}}");
            writeln!(out, "RewriteCond \"{variable}\" \"={choice}\"")?;
        }
        out.write_all(query.as_bytes())?;
        if destination.takes_path() {
            // Apache would decode what is after the code. A request line begins with the method.
            let sent = self.row.below_sent();
            writeln!(out, "RewriteCond \"%{{THE_REQUEST}}\" \"^[^ ]+ {sent}\"")?;
        }
        let status = self.row.entry.status().code();
        let vary = self.list.map_or("", |_| ",E=WAYPOST_VARY:1");
        let flags = format!("{status}{vary}{}", self.any_case);
        writeln!(out, "RewriteRule {} {}", self.pattern, answer(&flags))
    }
}

/// Returns an expression for the queries that Apache itself appends to a URL as they are, and the flag for it.
fn appended(start: QueryStart) -> Option<(&'static str, &'static str)> {
    match start {
        QueryStart::Question => Some((".", "")),
        // Apache drops a `&` at the end.
        QueryStart::Ampersand => Some(("[^&]$", ",QSA")),
        QueryStart::Nothing => None,
    }
}

/// Returns what a rule answers: a URL, with references escaped or not, and its flags, of which the status is the first.
fn redirect(url: &str, flags: &str) -> String {
    // Apache drops a `?` or `&` at the end of a query, but not before a `?` that it knows to be the last one.
    match url.contains('?') && (url.ends_with(['?', '&']) || references(url)) {
        true => format!("\"{url}?\" [R={flags},NE,QSD,QSL,L]"),
        false => format!("\"{url}\" [R={flags},NE,QSD,L]"),
    }
}

/// Returns whether a substitution ends in a reference.
fn references(url: &str) -> bool {
    url.ends_with("%1") || url.ends_with(QUERY)
}

/// Returns an expression for a path without its slash, which it does not have in a .htaccess file.
fn relative(path: &str) -> String {
    matching(path.trim_start_matches('/'))
}

/// Returns the same for a rule without regard to case, in which only the spelling of this path matches.
fn in_own_case(path: &str) -> String {
    match path.contains(|c: char| c.is_ascii_alphabetic()) {
        true => format!("(?-i:{})", relative(path)),
        false => relative(path),
    }
}

/// Returns a URL as the substitution of a rule, with the characters that begin a reference escaped.
fn escaped(url: &str) -> String {
    let mut escaped = String::with_capacity(url.len());
    for c in url.chars() {
        if "\\$%\"".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
