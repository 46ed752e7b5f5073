//! Content negotiation by rules with conditions on `Accept`: the variants of the entry with which the table
//! answers every client as Apache does.

use super::answer::Location;
use super::clients::{Clients, TOO_MANY};
use super::comparison::Comparison;
use super::probes::BROWSERS;
use super::rules::conditions::Conditions;
use super::server::Server;
use crate::exchange::read::rows::{Deviation, RowError, row};
use crate::mapping::{MediaType, OwnedVariant};

/// The maximum number of media types of one path, which bounds the effort.
const MOST_TYPES: usize = 24;

/// The reason for a path whose rules do not lead alike.
pub(super) const UNLIKE: RowError = RowError::NoLink(
    "the media types lead to answers with other statuses, or with another use of the query: \
     an entry has one for all its variants",
);

/// The reason for a rule that decides nothing.
pub(super) const UNUSED: RowError = RowError::NoLink(
    "no request is answered by this rule, or none that a table tells apart: no media type fulfils its \
     conditions before others",
);

/// The entry of a path whose rules have conditions on `Accept`.
#[derive(Debug, Clone)]
pub(super) struct Negotiated {
    /// Where requests lead that name none of the types.
    pub(super) location: Location,
    pub(super) variants: Vec<OwnedVariant>,
    pub(super) deviations: Vec<Deviation>,
    /// The locations to which the entry leads.
    pub(super) all: Vec<Location>,
}

/// A media type, where it alone leads, and the rule that decides that.
struct Single {
    media_type: MediaType,
    location: Location,
    line: usize,
}

/// Decides on the entry of a path; `None` if its rules have no conditions on what a client sends.
pub(super) fn negotiated(server: &Server, code: &str) -> Option<Result<Negotiated, RowError>> {
    let slashed = format!("{code}/");
    let is_general = server.answers_generally(&slashed);
    let paths = [code, &slashed];
    let clients = Clients::new(server, if is_general { &paths[..1] } else { &paths });
    if !clients.differ() {
        return None;
    }
    let found = types(&clients).and_then(|types| entry(&clients, types));
    let with_slash = |mut found: Negotiated| {
        found
            .deviations
            .extend(is_general.then_some(Deviation::Slash));
        found
    };
    Some(found.map(with_slash))
}

/// Returns the media types that the conditions of a path look for.
pub(super) fn types(clients: &Clients<'_>) -> Result<Vec<MediaType>, RowError> {
    let mut types: Vec<MediaType> = Vec::new();
    for matcher in clients.conditions().flat_map(Conditions::of_accept) {
        if matcher.occurrences.has_others {
            return Err(RowError::NoLink(
                "a condition on Accept looks for something else than media types",
            ));
        }
        for it in &matcher.occurrences.types {
            if !types.contains(it) {
                types.push(it.clone());
            }
        }
    }
    match types.len() > MOST_TYPES {
        true => Err(TOO_MANY),
        false => Ok(types),
    }
}

fn entry(clients: &Clients<'_>, types: Vec<MediaType>) -> Result<Negotiated, RowError> {
    let mut location = default_location(clients)?;
    let mut singles = Vec::new();
    for media_type in &types {
        if let Some(found) = clients.answer(media_type.as_str())? {
            let line = clients.line(media_type.as_str());
            singles.push(Single {
                media_type: media_type.clone(),
                location: found,
                line: line.unwrap_or(usize::MAX),
            });
        }
    }
    // The order in which Apache applies the rules.
    singles.sort_by_key(|it| it.line);
    let mut all: Vec<_> = singles.iter().map(|it| it.location.clone()).collect();
    all.push(location.clone());
    location.use_query_as(&all);
    if !all.iter().all(|it| it.fits(&location)) {
        return Err(UNLIKE);
    }
    all.dedup();
    let types: Vec<_> = types.iter().map(MediaType::as_str).collect();
    let alone = singles
        .iter()
        .map(|it| (it.media_type.as_str(), it.location.url.clone()));
    let alone: Vec<_> = alone.collect();
    let checked = |singles: &[&Single]| {
        let variants = variants(singles)?;
        let comparison = Comparison {
            clients,
            location: &location,
            variants: &variants,
            url: &|it| {
                it.map_or(&*location.url, |it| it.target.as_str())
                    .to_owned()
            },
        };
        comparison.agrees(&types, &alone).map(|()| variants)
    };
    let elsewhere = singles.iter().filter(|it| it.location.url != location.url);
    let variants = checked(&elsewhere.collect::<Vec<_>>())
        .or_else(|_| checked(&singles.iter().collect::<Vec<_>>()))?;
    Ok(Negotiated {
        deviations: clients.deviations(&location)?,
        location,
        variants,
        all,
    })
}

/// Returns where a request leads that accepts anything. One without `Accept` does so, too (RFC 9110, section
/// 12.5.1), even if Apache answers it otherwise.
pub(super) fn default_location(clients: &Clients<'_>) -> Result<Location, RowError> {
    match (clients.answer("")?, clients.answer("*/*")?) {
        (Some(none), Some(any)) if none != any && !clients.answer_anything() => {
            Err(RowError::NoLink(
                "Apache answers otherwise without Accept than to one that accepts anything (*/*)",
            ))
        }
        (_, Some(any)) => Ok(any),
        (Some(none), None) => Ok(none),
        (None, None) => clients.answer(BROWSERS[0])?.ok_or(RowError::NoLink(
            "Apache answers neither a browser nor a request that accepts anything (*/*)",
        )),
    }
}

/// Returns the variants for these types, in order: one for adjacent types with one location.
fn variants(singles: &[&Single]) -> Result<Vec<OwnedVariant>, RowError> {
    let mut variants: Vec<OwnedVariant> = Vec::new();
    for single in singles {
        let media_type = single.media_type.clone();
        match variants.last_mut() {
            Some(last) if last.target.as_str() == single.location.url => {
                last.types.push(media_type);
            }
            _ => variants.push(OwnedVariant {
                types: vec![media_type],
                target: row::target("url", &single.location.url)?.into_owned(),
                below: None,
            }),
        }
    }
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use crate::exchange::read::configuration::apache::read;
    use crate::exchange::read::rows::Deviation;
    use crate::exchange::read::rows::testing::{below_and_variants, read_by};
    use crate::mapping::{Forward, Status};

    /// Returns the accepted links of a file, each with its variants, and the refused lines with the
    /// reasons.
    fn decided(text: &str) -> Vec<String> {
        let rows = read_by(read, text.as_bytes());
        let shown = rows.iter().map(|row| match &row.link {
            Ok(link) => {
                let code = link.code.as_deref().unwrap_or_default();
                let url = link.url.as_deref().unwrap_or_default();
                let rest = below_and_variants(link);
                format!("{code} {url}{rest}").replace("https://e.org/", "/")
            }
            Err(error) => format!("{}: {error}", row.line),
        });
        shown.collect()
    }

    /// Returns a rule for the path `a` with conditions on `Accept`.
    fn rule(conditions: &[&str], target: &str) -> String {
        let conditions = conditions
            .iter()
            .map(|it| format!("RewriteCond %{{HTTP_ACCEPT}} {it}\n"));
        let rule = format!("RewriteRule ^a/?$ https://e.org/{target} [R=303,L]\n");
        conditions.chain([rule]).collect()
    }

    #[test]
    fn types_that_lead_elsewhere_become_variants_in_the_order_of_the_rules() {
        let rules = [
            rule(&["text/turtle [OR]", "application/x-turtle"], "ttl"),
            rule(&["^.*application/(rdf|owl)\\+xml.*$"], "rdf"),
            rule(
                &[
                    "application/ld\\+json [NC,OR]",
                    "\"json$\" [OR]",
                    "application/json",
                ],
                "json",
            ),
            rule(&[], "page"),
        ];
        let fragment = rules.concat();
        let reason = "a condition on Accept looks for something else than media types";
        let refused = [3, 5, 9, 10].map(|line| format!("{line}: {reason}"));
        assert_eq!(decided(&fragment), refused);
        let whole = fragment.replace("RewriteCond %{HTTP_ACCEPT} \"json$\" [OR]\n", "");
        let expected = "a /page, text/turtle,application/x-turtle /ttl, \
                        application/rdf+xml,application/owl+xml /rdf, \
                        application/ld+json,application/json /json";
        assert_eq!(decided(&whole), [expected]);
        let other_name = whole.replace("%{HTTP_ACCEPT}", "%{HTTP:accept}");
        assert_eq!(decided(&other_name), [expected]);
    }

    #[test]
    fn the_url_of_an_entry_is_for_requests_that_accept_anything() {
        let page = rule(&["text/html [OR]", "application/xhtml\\+xml"], "page");
        let turtle = rule(&["text/turtle"], "ttl");
        let any = rule(&["\\*/\\* [OR]", "^$ [OR]", "application/rdf\\+xml"], "rdf");
        let with_page = "a /rdf, text/html,application/xhtml+xml /page, text/turtle /ttl, \
                         application/rdf+xml /rdf";
        let found = decided(&[&*page, &turtle, &any].concat());
        assert_eq!(found, [with_page]);
        // Of a page and Turtle with the same quality, Apache takes the page here.
        let found = decided(&[&*page, &turtle, &rule(&[], "page")].concat());
        let both = "a /page, text/html,application/xhtml+xml /page, text/turtle /ttl";
        assert_eq!(found, [both]);
        let found = decided(&[&*turtle, &page, &rule(&[], "page")].concat());
        let both = "a /page, text/turtle /ttl, text/html,application/xhtml+xml /page";
        assert_eq!(found, [both]);
        // Where Apache answers 404, the entry answers, too.
        let found = decided(&[&*turtle, &page].concat());
        assert_eq!(found, [both]);
        let neither =
            "3: Apache answers neither a browser nor a request that accepts anything (*/*)";
        assert_eq!(decided(&turtle), [neither.replacen('3', "2", 1)]);
    }

    #[test]
    fn what_one_entry_cannot_answer_is_refused() {
        let turtle = rule(&["text/turtle"], "ttl");
        let all = |reason: &str, lines: &[usize]| -> Vec<String> {
            lines
                .iter()
                .map(|line| format!("{line}: {reason}"))
                .collect()
        };
        let found = decided(&[&*turtle.replace("303", "301"), &rule(&[], "page")].concat());
        let reason = "the media types lead to answers with other statuses, or with another use of the query: \
                      an entry has one for all its variants";
        assert_eq!(found, all(reason, &[2, 3]));
        // A browser would get another answer than a program that accepts the same.
        let reason = "a short link leads every program to the same target, whatever its User-Agent";
        for sniffed in ["^Mozilla/.*", "curl", "!Mozilla"] {
            let sniffing = format!("RewriteCond %{{HTTP_USER_AGENT}} {sniffed}\n");
            let page = format!("{sniffing}{}", rule(&[], "page"));
            assert_eq!(
                decided(&[&*page, &rule(&[], "ttl")].concat()),
                all(reason, &[2, 3])
            );
        }
        let sniffing = "RewriteCond %{HTTP_USER_AGENT} ^Mozilla/.*\n";
        let page = format!("{sniffing}{}", rule(&[], "page"));
        // It does not matter who is led to the same page.
        let found = decided(&[&*turtle, &page, &rule(&[], "page")].concat());
        assert_eq!(found, ["a /page, text/turtle /ttl"]);
        // Types other than the named ones lead elsewhere than a request that accepts anything.
        let found = decided(&[&*rule(&["!text/html"], "ttl"), &rule(&[], "page")].concat());
        assert_eq!(found.len(), 1, "{found:?}");
        let found = decided(
            &[
                &*rule(&["^text/turtle$"], "ttl"),
                &rule(&["^$ [OR]", "^\\*/\\*$"], "b"),
                &rule(&[], "page"),
            ]
            .concat(),
        );
        let reason = "a table would choose another media type than Apache";
        assert_eq!(found, all(reason, &[2, 5, 6]));
    }

    #[test]
    fn an_entry_has_the_temporary_status_of_its_default() {
        let turtle = rule(&["text/turtle"], "ttl");
        for (status, page, expected) in [
            ("302", "303", Some(Status::SeeOther)),
            ("303", "307", Some(Status::TemporaryRedirect)),
            ("301", "302", None),
            ("303", "308", None),
            ("301", "308", None),
        ] {
            let rules = [
                turtle.replace("303", status),
                rule(&[], "page").replace("303", page),
            ];
            let rows = read_by(read, rules.concat().as_bytes());
            let link = rows[0].link.as_ref().ok();
            assert_eq!(link.and_then(|it| it.status), expected);
            if let Some(link) = link {
                assert_eq!(&*link.deviations, [Deviation::Status]);
                assert_eq!(below_and_variants(link), ", text/turtle https://e.org/ttl");
            }
        }
        // The use of the query may not differ.
        let without_query = turtle.replace("303", "302,QSD");
        let found = decided(&[&*without_query, &rule(&[], "page")].concat());
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_url_with_a_fragment_does_not_decide_the_use_of_the_query() {
        let page = rule(&["text/html"], "page#a").replace("[", "[NE,");
        let without_query = |rule: &str| rule.replace("303", "303,QSD");
        let (turtle, rest) = (rule(&["text/turtle"], "ttl"), rule(&[], "rdf"));
        for (rules, forward) in [
            (
                [page.clone(), turtle.clone(), rest.clone()],
                Some(Forward::Query),
            ),
            (
                [page.clone(), without_query(&turtle), without_query(&rest)],
                Some(Forward::None),
            ),
            ([page, without_query(&turtle), rest], None),
        ] {
            let rows = read_by(read, rules.concat().as_bytes());
            let link = rows[0].link.as_ref().ok();
            assert_eq!(link.and_then(|it| it.forward), forward);
            let noted = link.is_some_and(|it| it.deviations.contains(&Deviation::Fragment));
            assert_eq!(noted, forward == Some(Forward::Query));
        }
    }

    #[test]
    fn a_rule_for_some_types_of_all_paths_does_not_keep_a_code_from_its_slash() {
        let turtle = "RewriteCond %{HTTP_ACCEPT} text/turtle\nRewriteRule ^(.*)$ https://e.org/$1.ttl [R=303,L]\n";
        let term = "RewriteRule ^a$ https://e.org/page [R=303,L]\n";
        let rows = read_by(read, [turtle, term].concat().as_bytes());
        let link = rows.iter().find_map(|row| row.link.as_ref().ok()).unwrap();
        assert_eq!(
            below_and_variants(link),
            ", text/turtle https://e.org/a.ttl"
        );
        assert_eq!(&*link.deviations, [Deviation::Slash]);
    }

    #[test]
    fn types_that_lead_somewhere_only_together_are_compared() {
        let both = rule(&["text/turtle", "application/rdf\\+xml"], "x");
        let page = rule(&["text/html"], "page");
        let found = decided(&[both, page].concat());
        let reason = "a table would choose another media type than Apache";
        assert_eq!(found, [3, 5].map(|line| format!("{line}: {reason}")));
    }

    #[test]
    fn an_answer_that_depends_on_what_follows_a_type_is_refused() {
        let reason = "a table would choose another media type than Apache";
        let found = decided(&[rule(&["text/turtle[,;]"], "x"), rule(&[], "page")].concat());
        assert_eq!(found, [2, 3].map(|line| format!("{line}: {reason}")));
    }

    #[test]
    fn the_order_of_types_with_one_quality_has_no_meaning() {
        let unused = "no request is answered by this rule, or none that a table tells apart: no media type \
                      fulfils its conditions before others";
        let page = rule(&[], "page");
        let condition = "!application/rdf\\+xml.*text/html";
        let found = decided(&[&*rule(&[condition], "x"), &page].concat());
        assert_eq!(found, ["a /x", &format!("3: {unused}")]);
        let found = decided(&[&*rule(&["^text/turtle"], "x"), &page].concat());
        assert_eq!(found, ["a /page, text/turtle /x"]);
        let rdf = rule(&["application/rdf\\+xml"], "rdf");
        let html = rule(&[condition, "text/html"], "page");
        let found = decided(&[&*html, &rdf, &page].concat());
        assert_eq!(found, ["a /page, application/rdf+xml /rdf"]);
    }

    #[test]
    fn a_request_of_a_browser_has_its_user_agent_and_its_accept() {
        let page = rule(&["text/html [OR]", "application/xhtml\\+xml [OR]"], "page");
        let sniffing = page.replace(
            "RewriteRule",
            "RewriteCond %{HTTP_USER_AGENT} ^Mozilla/.*\nRewriteRule",
        );
        let rows = read_by(
            read,
            [
                &*sniffing,
                &rule(&["text/turtle"], "ttl"),
                &rule(&[], "rdf"),
            ]
            .concat()
            .as_bytes(),
        );
        let link = rows[0].link.as_ref().unwrap();
        assert_eq!(
            (rows.len(), &*link.deviations),
            (1, &[Deviation::MixedClient][..])
        );
        assert_eq!(link.url.as_deref(), Some("https://e.org/rdf"));
        assert_eq!(
            below_and_variants(link),
            ", text/html,application/xhtml+xml https://e.org/page, text/turtle https://e.org/ttl"
        );
    }

    #[test]
    fn a_request_without_accept_accepts_anything() {
        let rules = [
            rule(&["text/turtle"], "ttl"),
            rule(&[".+"], "any"),
            rule(&[], "none"),
        ];
        let rows = read_by(read, rules.concat().as_bytes());
        let link = rows[0].link.as_ref().unwrap();
        assert_eq!(link.deviations, [Deviation::NothingNamed]);
        assert_eq!(link.url.as_deref(), Some("https://e.org/any"));
        // The last rule leads nowhere in a table.
        assert!(rows[1].link.is_err() && rows.len() == 2, "{rows:?}");
        // Other types may lead there, too, but one that is named must do so in a table.
        let any = rule(&["\\*/\\*"], "any");
        let rdf = rule(&["application/rdf\\+xml"], "none");
        let found = decided(&[&*rule(&["text/turtle"], "ttl"), &any, &rdf, &rules[2]].concat());
        let entry = "a /any, text/turtle /ttl, application/rdf+xml /none";
        assert_eq!(found, [entry]);
    }

    #[test]
    fn where_no_type_is_acceptable_the_entry_answers() {
        let refusal = rule(&[".+"], "406").replace("R=303", "R=406");
        let found = decided(
            &[
                &*rule(&["text/turtle"], "ttl"),
                &refusal,
                &rule(&[], "page"),
            ]
            .concat(),
        );
        let reason = "a table leads to the url of an entry if no type is acceptable (406)";
        assert_eq!(
            found,
            ["a /page, text/turtle /ttl", &format!("4: {reason}")]
        );
    }

    #[test]
    fn a_plus_sign_that_is_not_escaped_repeats_a_letter() {
        let found =
            decided(&[&*rule(&["application/rdf+xml"], "rdf"), &rule(&[], "page")].concat());
        let reason = "no request is answered by this rule, or none that a table tells apart: no media type \
                      fulfils its conditions before others";
        assert_eq!(found, [&format!("2: {reason}"), "a /page"]);
    }

    #[test]
    fn paths_below_a_code_with_variants_lead_to_one_url() {
        let rules = [
            rule(&["text/turtle"], "ttl"),
            rule(&[], "page"),
            "RewriteRule ^a/(.*)$ https://e.org/d/$1 [R=303,L]\n".to_owned(),
        ];
        assert_eq!(
            decided(&rules.concat()),
            ["a /page below /d/, text/turtle /ttl"]
        );
    }

    #[test]
    fn a_last_condition_with_an_alternative_is_fulfilled() {
        let found = decided(&[&*rule(&["text/turtle [OR]"], "ttl"), &rule(&[], "page")].concat());
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.contains(&"a /ttl".to_owned()), "{found:?}");
    }

    #[test]
    fn conditions_that_apache_refuses_break_all_rules() {
        for condition in ["text/html [NC, OR]", "text/html [X]", "text/html NC", ""] {
            let found = decided(&[&*rule(&[condition], "ttl"), &rule(&[], "page")].concat());
            assert!(
                found.iter().all(|it| !it.contains(" /")),
                "{condition}: {found:?}"
            );
        }
    }
}
