//! A Caddyfile: a site block with a `map` of all codes.
//!
//! Caddy compares the codes of a `map` in order, which is fast enough for thousands. It replaces placeholders in what
//! a text is mapped to, but not in what an expression is: so a code with a slash after it, or in another case, is
//! first mapped to the code as the table has it.

use std::io::{self, Write};

use crate::mapping::{BaseUrl, Case, Site, Timestamp};

use super::below::{Leads, Prefixes, UNSOUND};
use super::case::Alike;
use super::destination::{Destinations, QueryStart};
use super::negotiation::{self, NO_PAGE, Negotiations};
use crate::exchange::write::rows::matching;
use crate::exchange::write::rows::{CodeRow, SortedEntries, base_path};

/// The end of a map.
const REST: &str = "\
\t\tdefault 404
\t}
";

/// Placeholders for the query, if any.
const QUERY: &str = "\
\tmap {query} {waypost_query} {waypost_more_query} {
\t\t`~^(.+)$` \"?$1\" \"&$1\"
\t\tdefault \"\" \"\"
\t}
";

/// The answers for codes: links redirect.
const ANSWERS: &str = "\
\t\t@link not vars {waypost_location} \"\"
\t\tredir @link {waypost_location} {waypost_status}
";

/// The answers for paths below codes.
const ANSWERS_BELOW: &str = "\
\t\t@gone vars {waypost_status} 410
\t\trespond @gone 410
\t\t@below not vars {waypost_below_location} \"\"
\t\tredir @below {waypost_below_location} {waypost_below_status}
";

/// Writes a site as it is at `now`.
pub(crate) fn write(site: &Site, now: Timestamp, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {{", address(site.base_url()))?;
    let order = SortedEntries::of(site);
    let prefixes = Prefixes::of(&order, now);
    let negotiations = Negotiations::of(&order, now);
    if order.entries().any(|it| it.forward().query()) {
        out.write_all(QUERY.as_bytes())?;
    }
    write_paths(site, &order, out)?;
    let varies = !negotiations.is_empty();
    if varies {
        write_choices(&negotiations, out)?;
        write_variants(&order, &negotiations, now, out)?;
    }
    let outputs = "{waypost_status} {waypost_location}";
    let vary = if varies { " {waypost_vary}" } else { "" };
    writeln!(out, "\tmap {{waypost_path}} {outputs}{vary} {{")?;
    if let Some(home) = site.about().home() {
        let (path, url) = (base_path(site), quoted(&literal(home.url())));
        writeln!(out, "\t\t\"{path}\" 302 {url}")?;
    }
    for row in order.rows() {
        write_code(&row, &negotiations, now, out)?;
    }
    out.write_all(REST.as_bytes())?;
    if !prefixes.is_empty() {
        write_below(&prefixes, &negotiations, out)?;
    }
    write_answers(&prefixes, varies, out)
}

/// Writes the directives after the maps: what leads nowhere is answered by its status.
fn write_answers(prefixes: &Prefixes<'_>, varies: bool, out: &mut dyn Write) -> io::Result<()> {
    let vary = |name: &str| match varies {
        true => {
            format!("\t\t@{name} vars {{waypost_{name}}} Accept\n\t\theader @{name} Vary Accept\n")
        }
        false => String::new(),
    };
    let below = if prefixes.is_empty() { "" } else { "below_" };
    write!(out, "\troute {{\n{}{ANSWERS}", vary("vary"))?;
    if !prefixes.is_empty() {
        write!(out, "{}{ANSWERS_BELOW}", vary("below_vary"))?;
    }
    write!(
        out,
        "\t\trespond \"\" {{waypost_{below}status}}\n\t}}\n}}\n"
    )
}

/// Writes the map of paths without a slash at the end, after which a code is also found, and in the spelling of their
/// code in the table, if it is found in any case.
fn write_paths(site: &Site, order: &SortedEntries<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\tmap {path} {waypost_path} {\n")?;
    if site.about().case() == Case::Fold {
        let alike = Alike::of(order);
        for row in order.rows_by_case() {
            let (path, expression) = (row.path(), row.expression());
            if row.folds && expression != matching(&path) {
                writeln!(out, "\t\t`~^{expression}/?$` \"{path}\"")?;
            } else if !row.folds && alike.contains(&row) {
                writeln!(out, "\t\t\"{path}\" \"{path}\"\n\t\t\"{path}/\" \"{path}\"")?;
            }
        }
    }
    let base = matching(&base_path(site));
    writeln!(out, "\t\t`~^({base}.*[^/])/$` \"$1\"")?;
    out.write_all(b"\t\t`~(?s)^.*$` \"$0\"\n\t}\n")
}

/// Writes the maps of the choices among lists of types.
fn write_choices(negotiations: &Negotiations<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\tmap {{header.Accept}} {{waypost_page}} {{")?;
    for (expression, quality) in negotiation::page_qualities() {
        writeln!(out, "\t\t`~{expression}` {quality}")?;
    }
    writeln!(out, "\t\tdefault {NO_PAGE}\n\t}}")?;
    for (list, types) in negotiations.lists() {
        writeln!(
            out,
            "\tmap \"{{waypost_page}} {{header.Accept}}\" {{waypost_choice_{list}}} {{"
        )?;
        for (expression, choice) in negotiation::choices(types) {
            writeln!(out, "\t\t`~{expression}` {choice}")?;
        }
        writeln!(out, "\t\tdefault 0\n\t}}")?;
    }
    Ok(())
}

/// Writes, for each list of types, a map of the codes that choose from it.
fn write_variants(
    order: &SortedEntries<'_>,
    negotiations: &Negotiations<'_>,
    now: Timestamp,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (list, _) in negotiations.lists() {
        writeln!(
            out,
            "\tmap \"{{waypost_choice_{list}}} {{waypost_path}}\" {{waypost_link_{list}}} {{"
        )?;
        let of_list = |row: &CodeRow<'_>| negotiations.number(row.entry) == Some(list);
        for row in order.rows().filter(of_list) {
            let destinations = row.destinations(now);
            for (choice, destination) in destinations.iter().flat_map(Destinations::choices) {
                let url = destination.written(literal, "", query(destination.query_start()));
                let url = quoted(&url);
                writeln!(out, "\t\t\"{choice} {}\" {url}", row.path())?;
            }
        }
        writeln!(out, "\t\tdefault \"\"\n\t}}")?;
    }
    Ok(())
}

/// Writes the lines for a code.
fn write_code(
    row: &CodeRow<'_>,
    negotiations: &Negotiations<'_>,
    now: Timestamp,
    out: &mut dyn Write,
) -> io::Result<()> {
    let answer = match (row.destinations(now), negotiations.number(row.entry)) {
        (None, _) => "410".to_owned(),
        (Some(_), Some(list)) => {
            let status = row.entry.status().code();
            format!("{status} \"{{waypost_link_{list}}}\" Accept")
        }
        (Some(Destinations { own, .. }), None) => {
            let url = own.written(literal, "", query(own.query_start()));
            format!("{} {}", row.entry.status().code(), quoted(&url))
        }
    };
    writeln!(out, "\t\t\"{}\" {answer}", row.path())
}

/// Returns the placeholder for the query.
fn query(start: Option<QueryStart>) -> &'static str {
    match start {
        None => "",
        Some(QueryStart::Question) => "{waypost_query}",
        Some(QueryStart::Ampersand) => "{waypost_more_query}",
        Some(QueryStart::Nothing) => "{query}",
    }
}

/// Writes the map of the paths below codes.
fn write_below(
    prefixes: &Prefixes<'_>,
    negotiations: &Negotiations<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let choices = negotiations
        .lists()
        .map(|(list, _)| format!(" {{waypost_choice_{list}}}"));
    let choices: String = choices.collect();
    let outputs = "{waypost_below_status} {waypost_below_location}";
    let vary = if choices.is_empty() {
        ""
    } else {
        " {waypost_below_vary}"
    };
    writeln!(
        out,
        "\tmap \"{{path}} {{uri}}{choices}\" {outputs}{vary} {{"
    )?;
    writeln!(out, "\t\t`~{UNSOUND}` 404 \"\"")?;
    for (row, leads) in prefixes.rows() {
        let (path, status) = (row.below_decoded(), row.entry.status().code());
        let Leads::To(destinations) = leads else {
            writeln!(out, "\t\t`~{path}` 410 \"\"")?;
            continue;
        };
        // Without a value, a later line would give it.
        let vary = match (vary, negotiations.number(row.entry)) {
            ("", _) => "",
            (_, Some(_)) => " Accept",
            (_, None) => " \"\"",
        };
        for line in row.below_lines(destinations, negotiations) {
            let url = line.destination.written(substitution, "$1", &line.query);
            let url = quoted(&url);
            writeln!(out, "\t\t`~{}` {status} {url}{vary}", line.expression)?;
        }
        writeln!(out, "\t\t`~{path}` 404 \"\"")?;
    }
    out.write_all(REST.as_bytes())
}

/// Returns the base URL without its path, which is the site address in Caddy.
fn address(base_url: &BaseUrl) -> &str {
    let whole = base_url.as_str();
    whole.strip_suffix(base_url.path()).unwrap_or(whole)
}

/// Returns a URL as a part of a value, in which braces begin a placeholder.
fn literal(url: &str) -> String {
    without_variables(url)
        .replace('{', "\\{")
        .replace('}', "\\}")
}

/// Returns a URL as a part of the value of an expression, in which a `$` begins a reference.
fn substitution(url: &str) -> String {
    without_variables(url).replace('$', "$$")
}

/// Returns a URL without environment variables, which are substituted before anything is parsed, whatever
/// precedes them: so the brace is encoded here, and only here.
fn without_variables(url: &str) -> String {
    url.replace("{$", "%7B$")
}

/// Returns a value in quotes. A URL has no double quotes.
fn quoted(value: &str) -> String {
    // A backslash is not escaped; only before a quote it would escape that.
    match value.strip_suffix('\\') {
        Some(start) if value.contains('`') => format!("\"{start}%5C\""),
        Some(_) => format!("`{value}`"),
        None => format!("\"{value}\""),
    }
}
