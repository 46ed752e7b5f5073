//! Rules: the kinds of problems that a table can have.
//!
//! A rule is part of the public interface, as a flag is: its name is what scripts, dashboards and
//! `--allow` refer to, so it never changes once it is released. Each rule is described in one place,
//! a constant of the folder below; the command line, the formats of `check` and `docs/rules.md` show
//! that description.

mod answers;
mod codes;
mod description;
mod expiries;
mod files;
mod keys;
mod layouts;
mod links;
mod owners;
mod promises;
mod severity;
mod sites;
mod urls;
mod values;
mod yaml;

use std::fmt;

pub use description::{Description, Example};
pub use severity::Severity;

/// Defines the rules: each variant with its description.
macro_rules! rules {
    ($($rule:ident = $description:path,)*) => {
        /// The kind of a problem; see [`Rule::description`] for what each means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(
                #[doc = concat!("Described by `", stringify!($description), "`.")]
                $rule,
            )*
        }

        impl Rule {
            /// Every rule, ordered by subject.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// Returns everything that is known about the rule.
            pub fn description(self) -> &'static Description {
                match self {
                    $(Self::$rule => &$description,)*
                }
            }
        }
    };
}

rules! {
    FileEmpty = files::EMPTY,
    FileNotUtf8 = files::NOT_UTF8,
    FileWithNul = files::WITH_NUL,
    FileSymlink = files::SYMLINK,
    ConflictUnresolved = files::CONFLICT_UNRESOLVED,
    TableTooLarge = files::TABLE_TOO_LARGE,

    YamlInvalid = yaml::INVALID,
    YamlUnclosed = yaml::UNCLOSED,
    YamlTab = yaml::TAB,
    YamlLookalike = yaml::LOOKALIKE,
    YamlTooDeep = yaml::TOO_DEEP,
    YamlSecondDocument = yaml::SECOND_DOCUMENT,
    YamlDirective = yaml::DIRECTIVE,
    YamlAnchor = yaml::ANCHOR,
    YamlAlias = yaml::ALIAS,
    YamlTag = yaml::TAG,
    YamlMergeKey = yaml::MERGE_KEY,

    KeyUnknown = keys::UNKNOWN,
    KeyTwice = keys::TWICE,
    KeyMissing = keys::MISSING,
    KeyNotAWord = keys::NOT_A_WORD,
    CodeAndNumber = keys::CODE_AND_NUMBER,
    BelowAndForward = keys::BELOW_AND_FORWARD,
    BelowOfVariantOnly = keys::BELOW_OF_VARIANT_ONLY,

    ValueMissing = values::MISSING,
    ValueWrongType = values::WRONG_TYPE,
    ValueUnknown = values::UNKNOWN,
    NumberInvalid = values::NUMBER_INVALID,
    NumberTooLarge = values::NUMBER_TOO_LARGE,
    DateInvalid = values::DATE_INVALID,
    TextDirection = values::TEXT_DIRECTION,
    MediaTypeInvalid = values::MEDIA_TYPE_INVALID,
    MediaTypeTwice = values::MEDIA_TYPE_TWICE,

    CodeEmpty = codes::EMPTY,
    CodeTooLong = codes::TOO_LONG,
    CodeNotNfc = codes::NOT_NFC,
    CodeEmptySegment = codes::EMPTY_SEGMENT,
    CodeForbiddenSegment = codes::FORBIDDEN_SEGMENT,
    CodeForbiddenCharacter = codes::FORBIDDEN_CHARACTER,
    CodeReserved = codes::RESERVED,
    CodeTaken = codes::TAKEN,
    CodeDiffersInCase = codes::DIFFERS_IN_CASE,
    CodeMixedScripts = codes::MIXED_SCRIPTS,
    CodeEndsInFullStop = codes::ENDS_IN_FULL_STOP,
    AliasTwice = codes::ALIAS_TWICE,
    EntryTwice = codes::ENTRY_TWICE,

    UrlNotAbsolute = urls::NOT_ABSOLUTE,
    UrlSchemeUnsupported = urls::SCHEME_UNSUPPORTED,
    UrlSlashesInvalid = urls::SLASHES_INVALID,
    UrlSchemeRepeated = urls::SCHEME_REPEATED,
    UrlBackslash = urls::BACKSLASH,
    UrlHostMissing = urls::HOST_MISSING,
    UrlHostInvalid = urls::HOST_INVALID,
    UrlPortInvalid = urls::PORT_INVALID,
    UrlUserInfo = urls::USER_INFO,
    UrlControlCharacter = urls::CONTROL_CHARACTER,
    UrlSurroundingSpace = urls::SURROUNDING_SPACE,
    UrlTooLong = urls::TOO_LONG,
    UrlFragmentComment = urls::FRAGMENT_COMMENT,
    UrlNotCanonical = urls::NOT_CANONICAL,
    UrlPrivateAddress = urls::PRIVATE_ADDRESS,
    ArchiveWithoutUrl = urls::ARCHIVE_WITHOUT_URL,
    BelowWithoutUrl = urls::BELOW_WITHOUT_URL,
    VariantsWithoutUrl = urls::VARIANTS_WITHOUT_URL,

    CodeHidesSpelling = links::HIDES_SPELLING,
    CodeHidesTruncation = links::HIDES_TRUNCATION,
    CodeHidesFullStop = links::HIDES_FULL_STOP,
    CodeHidesPath = links::HIDES_PATH,
    CodeUnreachable = links::UNREACHABLE,
    TargetShared = links::TARGET_SHARED,
    TargetChain = links::TARGET_CHAIN,
    TargetRetired = links::TARGET_RETIRED,
    TargetUnknown = links::TARGET_UNKNOWN,
    TargetLoop = links::TARGET_LOOP,
    ForwardUrlEnding = links::FORWARD_URL_ENDING,
    ForwardUrlFragment = links::FORWARD_URL_FRAGMENT,

    BaseUrlQuery = sites::BASE_URL_QUERY,
    BaseUrlReserved = sites::BASE_URL_RESERVED,
    BaseUrlSlashMissing = sites::BASE_URL_SLASH_MISSING,
    NameInvalid = sites::NAME_INVALID,
    ContactInvalid = sites::CONTACT_INVALID,
    ProposeInvalid = sites::PROPOSE_INVALID,
    FallbackUrlEnding = sites::FALLBACK_URL_ENDING,
    SitesIndistinct = sites::INDISTINCT,
    DocumentsDisagree = sites::DOCUMENTS_DISAGREE,
    TestFromInvalid = sites::TEST_FROM_INVALID,
    TestToInvalid = sites::TEST_TO_INVALID,
    TestAcceptInvalid = sites::TEST_ACCEPT_INVALID,
    TestFailed = sites::TEST_FAILED,

    PublishedCodeGone = promises::CODE_GONE,
    PublishedCodeRetargeted = promises::CODE_RETARGETED,
    PublishedPathShadowed = promises::PATH_SHADOWED,
    RetiredCodeRetargeted = promises::RETIRED_CODE_RETARGETED,
    RetiredCodeRefilled = promises::RETIRED_CODE_REFILLED,
    PublishedCaseExact = promises::CASE_EXACT,

    OwnerEntryChanged = owners::ENTRY_CHANGED,
    OwnerEntryAdded = owners::ENTRY_ADDED,
    OwnerFileChanged = owners::FILE_CHANGED,
    ExpiryPast = expiries::PAST,
    ExpiryNear = expiries::NEAR,

    LinkDead = answers::DEAD,
    LinkGone = answers::GONE,
    LinkFailing = answers::FAILING,
    LinkMoved = answers::MOVED,
    LinkSoft404 = answers::SOFT_404,
    LinkInsecure = answers::INSECURE,
    LinkBlocked = answers::BLOCKED,
    LinkRobotsDisallowed = answers::ROBOTS_DISALLOWED,

    LayoutFlowStyle = layouts::FLOW_STYLE,
    LayoutBlockText = layouts::BLOCK_TEXT,
    LayoutDashAlone = layouts::DASH_ALONE,
    LayoutListApart = layouts::LIST_APART,
    LayoutCarriageReturn = layouts::CARRIAGE_RETURN,
}

impl Rule {
    /// Returns the rule with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }

    /// Returns its name: lower case, words joined by `-`.
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// Returns the severity of each of its diagnostics.
    pub fn severity(self) -> Severity {
        self.description().severity
    }

    /// Returns the rule whose name is most similar to a text, if one is similar at all.
    pub fn nearest(text: &str) -> Option<Self> {
        let text = text.to_lowercase().replace(['_', ' '], "-");
        let rules = Self::ALL.iter().copied();
        let similar = rules.map(|rule| (strsim::damerau_levenshtein(&text, rule.name()), rule));
        let nearest = similar.min_by_key(|&(distance, _)| distance);
        let is_near = |&(distance, rule): &(usize, Self)| distance <= 1 + rule.name().len() / 4;
        nearest
            .filter(|_| text.len() < 40)
            .filter(is_near)
            .map(|(_, rule)| rule)
    }
}

/// Writes its name.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_the_variants() {
        for &rule in Rule::ALL {
            let mut name = String::new();
            for character in format!("{rule:?}").chars() {
                if character.is_ascii_uppercase() && !name.is_empty() {
                    name.push('-');
                }
                name.push(character.to_ascii_lowercase());
            }
            let name = name.replace("utf8", "utf-8").replace("soft404", "soft-404");
            assert_eq!(rule.name(), name);
            assert_eq!(Rule::from_name(&name), Some(rule));
            assert_eq!(Rule::nearest(&name), Some(rule));
        }
    }

    #[test]
    fn descriptions_are_sentences() {
        for rule in Rule::ALL {
            let it = rule.description();
            let sentence =
                |text: &str| text.ends_with('.') && !text.starts_with(char::is_lowercase);
            assert!(sentence(it.meaning) && !it.meaning.contains('\n'), "{rule}");
            for text in [it.explanation, it.remedy] {
                assert!(text.lines().all(sentence), "{rule}: {text}");
            }
            for example in [&it.wrong, &it.right] {
                assert!(example.text().ends_with('\n'), "{rule}");
            }
        }
    }

    #[test]
    fn finds_the_nearest_name() {
        for (text, rule) in [
            ("code-takn", Some(Rule::CodeTaken)),
            ("Code_Taken", Some(Rule::CodeTaken)),
            ("key-unknow", Some(Rule::KeyUnknown)),
            ("warnings", None),
            ("", None),
        ] {
            assert_eq!(Rule::nearest(text), rule, "{text}");
        }
    }
}
