//! The columns of comma-separated values: the meaning of each, by the names that programs use.

use super::read_error::ReadError;
use super::row::excerpt;

/// The meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// The target.
    Url,
    /// The code.
    Code,
    /// The whole short link, which includes the code and the site.
    ShortUrl,
    /// The number from which the code is derived.
    Number,
    /// Further codes, separated by spaces.
    Aliases,
    /// The redirect status.
    Status,
    /// The parts of a request that are carried over.
    Forward,
    /// How long the redirect may be cached, in seconds.
    CacheMaxAge,
    /// The title.
    Title,
    /// The owner.
    Owner,
    /// Tags.
    Tags,
    /// The end of the link's validity.
    Expires,
    /// The time since when it is retired.
    Retired,
    /// An archived copy.
    Archive,
    /// The URL to which paths below the code lead.
    Below,
    /// The host of the short link, if that is not written whole.
    Domain,
}

/// The names of columns with limits of a link, or other targets for some requests, which no table has.
const LIMITS: [&str; 28] = [
    "password",
    "banned",
    "isbanned",
    "deleted",
    "isdeleted",
    "deletedat",
    "disabled",
    "maxvisits",
    "maxclicks",
    "clicklimit",
    "expiredurl",
    "validsince",
    "startsat",
    "startdate",
    "activefrom",
    "notbefore",
    "regex",
    "matching",
    "format",
    "cloaking",
    "passwordcontact",
    "spliturl",
    "ios",
    "iphoneurl",
    "android",
    "androidurl",
    "iosurl",
    "geo",
];

/// The names of columns that say whether a link is served at all.
const SWITCHES: [&str; 5] = ["enabled", "isenabled", "active", "isactive", "linkstatus"];

/// The name of the column of the status, which says in words whether a link is served if another column has
/// the status.
const STATUS: &str = "status";

/// Values of a limit that limit nothing, or of a switch that is off.
const NO: [&str; 9] = [
    "0", "false", "f", "no", "off", "null", "\\N", "exact", "plain",
];

/// Values of a switch that is on.
const YES: [&str; 5] = ["1", "true", "t", "yes", "on"];

/// Values of a status in words, or of a switch, with which a link is served.
const SERVED: [&str; 2] = ["active", "enabled"];

/// Returns whether a status says in words that a link is served.
pub(crate) fn is_served(status: &str) -> bool {
    SERVED.iter().any(|it| status.eq_ignore_ascii_case(it))
}

/// A column because of which a link may not be what a table can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restriction {
    /// Limits of a link, or other targets for some requests.
    Limit,
    /// Whether a link is served.
    Switch,
    /// Whether a link is served, in words, or a status that is not read.
    Status,
}

impl Restriction {
    /// Returns what a column with this name is.
    fn of(name: &str) -> Option<Self> {
        let name = &*folded(name);
        match (LIMITS.contains(&name), SWITCHES.contains(&name)) {
            (true, _) => Some(Self::Limit),
            (_, true) => Some(Self::Switch),
            _ => None,
        }
    }

    /// Returns whether a link with this value is like any other.
    pub(crate) fn allows(self, value: &str) -> bool {
        let value = value.trim();
        let is_among = |values: &[&str]| values.iter().any(|it| value.eq_ignore_ascii_case(it));
        let is_number = || value.bytes().all(|byte| byte.is_ascii_digit());
        let is_allowed = match self {
            Self::Limit => is_among(&NO),
            Self::Switch => is_among(&YES) || is_served(value),
            Self::Status => is_among(&YES) || is_served(value) || is_number(),
        };
        value.is_empty() || is_allowed
    }
}

/// The name of Bitly's column of further short links.
const CUSTOM_BITLINKS: &str = "custombitlinks";

/// Each column with its names, its own first, in lower case without punctuation; if a header has
/// several, the first here is read, except that one of several of codes, or of URLs, must be chosen.
const NAMES: [(Column, &[&str]); 16] = [
    (
        Column::Url,
        &[
            "url",
            "longurl",
            "target",
            "targeturl",
            "destination",
            "destinationurl",
            "originalurl",
            "to",
        ],
    ),
    (
        Column::Code,
        &[
            "shortcode",
            "code",
            "slug",
            "keyword",
            "source",
            "key",
            "alias",
            "slashtag",
            "backhalf",
            "path",
            "from",
        ],
    ),
    (
        Column::ShortUrl,
        &[
            "shorturl",
            "shortlink",
            "bitlink",
            "link",
            "tinyurl",
            "shortenedurl",
        ],
    ),
    (Column::Number, &["number"]),
    (
        Column::Aliases,
        &["aliases", CUSTOM_BITLINKS, "custombitlink"],
    ),
    (
        Column::Status,
        &[
            STATUS,
            "statuscode",
            "httpstatus",
            "httpstatuscode",
            "httpcode",
            "redirectcode",
        ],
    ),
    (Column::Forward, &["forward"]),
    (Column::CacheMaxAge, &["cachemaxage"]),
    (Column::Title, &["title", "description"]),
    (Column::Owner, &["owner"]),
    (Column::Tags, &["tags"]),
    (
        Column::Expires,
        &[
            "expires",
            "expiresat",
            "expireson",
            "expiry",
            "expirydate",
            "expiration",
            "expirationdate",
            "validuntil",
        ],
    ),
    (Column::Retired, &["retired"]),
    (Column::Archive, &["archive"]),
    (Column::Below, &["below"]),
    (
        Column::Domain,
        &["domain", "domainname", "domainfullname", "host", "hostname"],
    ),
];

impl Column {
    /// Returns the column with this name: a key of a table, or `short-url`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = folded(name);
        let found = NAMES.iter().find(|(_, names)| names[0] == name);
        found.map(|(column, _)| *column)
    }

    /// Returns whether a header's name is one of this column.
    pub(crate) fn has_name(self, name: &str) -> bool {
        let (_, names) = NAMES[self as usize];
        Self::rank(names, name).is_some()
    }

    /// Returns the rank of a header's name among the column's names, if it is one.
    fn rank(names: &[&str], name: &str) -> Option<usize> {
        let name = folded(name);
        names.iter().position(|known| *known == name)
    }
}

/// The positions of the columns in each record.
#[derive(Debug, Default)]
pub(crate) struct ColumnPlaces {
    places: [Option<usize>; NAMES.len()],
    /// The number of fields in a record; any number if none.
    pub(crate) width: Option<usize>,
    /// The positions of columns whose values a table cannot have.
    pub(crate) restrictions: Vec<(usize, Restriction)>,
    /// Whether the column of aliases has whole short links.
    pub(crate) has_alias_links: bool,
    /// Whether the column of codes has codes only, by its name, so that one with a dot is not a host.
    pub(crate) has_own_codes: bool,
}

impl ColumnPlaces {
    /// Returns the layout of records without a header.
    pub(crate) fn fixed(columns: &[Column]) -> Self {
        let mut layout = Self {
            has_own_codes: true,
            ..Self::default()
        };
        for (place, column) in columns.iter().enumerate() {
            layout.places[*column as usize] = Some(place);
        }
        layout
    }

    /// Reads a header. `chosen` are columns that the user named differently; an empty name omits a
    /// column.
    ///
    /// # Errors
    ///
    /// Fails if the header has no column of a chosen name, or if several columns may be that of the code, or of
    /// the target.
    pub(crate) fn of(header: &[&str], chosen: &[(Column, String)]) -> Result<Self, ReadError> {
        let mut layout = Self {
            width: Some(header.len()),
            ..Self::default()
        };
        for (column, names) in NAMES {
            let ranks = header.iter().enumerate();
            let ranks = ranks.filter_map(|(at, name)| Some((Column::rank(names, name)?, at)));
            layout.places[column as usize] = ranks.min().map(|(_, at)| at);
        }
        let restrictions = header.iter().enumerate();
        let restrictions = restrictions.filter_map(|(at, name)| Some((at, Restriction::of(name)?)));
        layout.restrictions = restrictions.collect();
        let is_named = |name: &str| header.iter().any(|own| folded(own) == name);
        let is_chosen = |at: Column| chosen.iter().any(|(column, _)| *column == at);
        layout.has_own_codes = is_named("shortcode") || is_chosen(Column::Code);
        if !is_chosen(Column::Code) && !is_named("shortcode") {
            let names = several(header, Column::Code);
            if let Some(names) = names {
                return Err(ReadError::SeveralCodeColumns { names });
            }
        }
        if !is_chosen(Column::Url)
            && let Some(names) = several(header, Column::Url)
        {
            return Err(ReadError::SeveralUrlColumns { names });
        }
        for (column, name) in chosen {
            let wanted = folded(name);
            let found = header.iter().position(|header| folded(header) == wanted);
            if found.is_none() && !name.is_empty() {
                return Err(ReadError::NoSuchColumn {
                    name: name.clone(),
                    header: shown(header),
                });
            }
            // A field is read only once.
            for place in &mut layout.places {
                *place = place.filter(|at| Some(*at) != found);
            }
            layout.restrictions.retain(|(at, _)| Some(*at) != found);
            layout.places[*column as usize] = found;
        }
        let aliases = layout.place(Column::Aliases).map(|at| folded(header[at]));
        layout.has_alias_links = aliases.is_some_and(|name| CUSTOM_BITLINKS.starts_with(&*name));
        let status = header.iter().position(|name| folded(name) == STATUS);
        if let Some(at) = status.filter(|at| !layout.places.contains(&Some(*at))) {
            layout.restrictions.push((at, Restriction::Status));
        }
        Ok(layout)
    }

    /// Returns the position of a column.
    pub(crate) fn place(&self, column: Column) -> Option<usize> {
        self.places[column as usize]
    }

    /// Returns whether some column has the codes of links, or what they are derived from.
    pub(crate) fn has_codes(&self) -> bool {
        let of_codes = [
            Column::Code,
            Column::ShortUrl,
            Column::Number,
            Column::Aliases,
        ];
        of_codes.iter().any(|column| self.place(*column).is_some())
    }

    /// Returns the number of known columns.
    pub(crate) fn known(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Returns the names in a header that are not read.
    pub(crate) fn unread(&self, header: &[&str]) -> Vec<String> {
        let is_restriction = |at: usize| self.restrictions.iter().any(|(own, _)| *own == at);
        let unread = header.iter().enumerate();
        let unread =
            unread.filter(|(at, _)| !self.places.contains(&Some(*at)) && !is_restriction(*at));
        unread.map(|(_, name)| excerpt(name)).collect()
    }
}

/// Returns a header as shown in messages.
pub(crate) fn shown(header: &[&str]) -> String {
    excerpt(&header.join(", "))
}

/// Returns the names in a header that may all be that of a column; `None` if there is at most one.
fn several(header: &[&str], column: Column) -> Option<String> {
    let names = header.iter().filter(|name| column.has_name(name));
    let names: Vec<_> = names.map(|name| format!("{:?}", excerpt(name))).collect();
    (names.len() > 1).then(|| names.join(" and "))
}

/// Returns the letters and digits of a name in lower case.
fn folded(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_spelling() {
        for header in [
            ["Short Code", "Long URL"],
            ["slug", "DESTINATION"],
            ["short_code", "url"],
        ] {
            let layout = ColumnPlaces::of(&header, &[]).unwrap();
            let found = [Column::Code, Column::Url].map(|column| layout.place(column));
            assert_eq!(found, [Some(0), Some(1)], "{header:?}");
            assert_eq!(layout.unread(&header), [""; 0]);
        }
    }

    #[test]
    fn the_better_name_wins_and_the_rest_is_unread() {
        let header = ["description", "clicks", "url", "title"];
        let layout = ColumnPlaces::of(&header, &[]).unwrap();
        assert_eq!(layout.place(Column::Title), Some(3));
        assert_eq!(layout.unread(&header), ["description", "clicks"]);
    }

    #[test]
    fn one_of_several_columns_of_urls_must_be_chosen() {
        let header = ["slug", "URL", "Target"];
        let error = ColumnPlaces::of(&header, &[]).unwrap_err();
        let names = "\"URL\" and \"Target\"".to_owned();
        assert_eq!(error, ReadError::SeveralUrlColumns { names });
        let chosen = [(Column::Url, "target".to_owned())];
        let layout = ColumnPlaces::of(&header, &chosen).unwrap();
        assert_eq!(layout.place(Column::Url), Some(2));
    }

    #[test]
    fn a_status_in_words_is_a_switch_beside_another_status() {
        let header = ["source", "target", "code", "status"];
        let named = |column, name: &str| (column, name.to_owned());
        let chosen = [named(Column::Code, "source"), named(Column::Status, "code")];
        let layout = ColumnPlaces::of(&header, &chosen).unwrap();
        assert_eq!(layout.restrictions, [(3, Restriction::Status)]);
        for (value, is_allowed) in [("active", true), ("301", true), ("disabled", false)] {
            assert_eq!(Restriction::Status.allows(value), is_allowed, "{value}");
        }
    }

    #[test]
    fn a_code_beside_a_source_may_be_a_status() {
        let header = ["source", "target", "code"];
        let error = ColumnPlaces::of(&header, &[]).unwrap_err();
        let names = "\"source\" and \"code\"".to_owned();
        assert_eq!(error, ReadError::SeveralCodeColumns { names });
        let named = |column, name: &str| (column, name.to_owned());
        let chosen = [named(Column::Code, "source"), named(Column::Status, "code")];
        let layout = ColumnPlaces::of(&header, &chosen).unwrap();
        let places = [Column::Code, Column::Status].map(|column| layout.place(column));
        assert_eq!(places, [Some(0), Some(2)]);
        let layout = ColumnPlaces::of(&["source", "target", "Status Code"], &[]).unwrap();
        assert_eq!(layout.place(Column::Status), Some(2));
        assert_eq!(layout.place(Column::Code), Some(0));
    }

    #[test]
    fn a_person_has_the_last_word() {
        let header = ["status", "url", "Final URL"];
        let named = |column, name: &str| (column, name.to_owned());
        let chosen = [named(Column::Url, "final url"), named(Column::Status, "")];
        let layout = ColumnPlaces::of(&header, &chosen).unwrap();
        assert_eq!(layout.place(Column::Url), Some(2));
        assert_eq!(layout.place(Column::Status), None);
        assert!(ColumnPlaces::of(&header, &[named(Column::Url, "there is none")]).is_err());
    }

    #[test]
    fn every_column_is_at_its_number() {
        for (at, (column, names)) in NAMES.iter().enumerate() {
            assert_eq!(*column as usize, at);
            assert_eq!(Column::from_name(names[0]), Some(*column));
        }
    }
}
