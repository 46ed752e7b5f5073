//! The description of a collection of links: its name, where people report and propose links, and
//! where its base URL and unknown paths lead, and in which case its codes are found.

use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateString;
use iri_string::template::simple_context::SimpleContext;
use thiserror::Error;
use url::Url;

use crate::mapping::value::codes::Case;
use crate::mapping::value::diagnostics::{Place, Rule};
use crate::mapping::value::urls::{SiteTarget, Target, TargetError, direction_control};

/// The maximum length of a name, in characters.
const MAX_NAME: usize = 80;

/// The variables of a [`ProposalTemplate`].
const VARIABLES: [&str; 3] = ["filename", "content", "message"];

/// The description of a collection of links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    pub(crate) name: Option<CollectionName>,
    pub(crate) repository: Option<Target<'static>>,
    pub(crate) contact: Option<Contact>,
    pub(crate) propose: Option<ProposalTemplate>,
    pub(crate) home: Option<SiteTarget>,
    pub(crate) fallback: Option<SiteTarget>,
    /// Where `case: fold` is written first; `None` if the case of letters counts.
    pub(crate) folded_at: Option<Place>,
}

impl About {
    /// Returns the name of the collection.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(CollectionName::as_str)
    }

    /// Returns the web address of the repository to which people propose changes.
    pub fn repository(&self) -> Option<&str> {
        self.repository.as_ref().map(Target::as_str)
    }

    /// Returns the `https:` or `mailto:` address for reports about a link.
    pub fn contact(&self) -> Option<&str> {
        self.contact.as_ref().map(Contact::as_str)
    }

    /// Returns the template of the address at which a browser proposes a link.
    pub fn propose(&self) -> Option<&ProposalTemplate> {
        self.propose.as_ref()
    }

    /// Returns where the base URL itself leads, instead of to the landing page.
    pub fn home(&self) -> Option<&SiteTarget> {
        self.home.as_ref()
    }

    /// Returns where a path that is not found leads: a URL that ends in `/`, to which it is appended.
    pub fn fallback(&self) -> Option<&SiteTarget> {
        self.fallback.as_ref()
    }

    /// Returns whether the case of letters counts when a code is looked up.
    pub fn case(&self) -> Case {
        match self.folded_at {
            Some(_) => Case::Fold,
            None => Case::Exact,
        }
    }

    /// Returns where the collection says that the case of letters does not count, if it does.
    pub fn folded_at(&self) -> Option<&Place> {
        self.folded_at.as_ref()
    }
}

/// The name of a collection: one line of at most 80 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectionName(Box<str>);

impl CollectionName {
    /// Returns the text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Accepts a name as a person wrote it.
    pub(crate) fn parse(text: &str) -> Result<Self, AboutError> {
        let is_one_line = !text.contains(char::is_control) && direction_control(text).is_none();
        if text.trim().is_empty() || text.chars().count() > MAX_NAME || !is_one_line {
            return Err(AboutError::Name);
        }
        Ok(Self(text.into()))
    }
}

/// An address for reports: `https:`, or `mailto:` with one address and no header fields (RFC 6068).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contact(Box<str>);

impl Contact {
    /// Returns the canonical form.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Accepts an address as a person wrote it.
    pub(crate) fn parse(text: &str) -> Result<Self, AboutError> {
        let Ok(url) = Url::parse(text) else {
            return Err(AboutError::Contact);
        };
        match url.scheme() {
            "https" => Ok(Self(Target::parse(text)?.into_string().into())),
            "mailto" if is_mailbox(text) => Ok(Self(url.as_str().into())),
            _ => Err(AboutError::Contact),
        }
    }
}

/// Returns whether a `mailto:` URL names one mailbox and nothing else.
fn is_mailbox(url: &str) -> bool {
    let address = url.split_once(':').map_or("", |(_, address)| address);
    let is_plain = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"@,?#&<>\"\\".contains(&byte);
        !text.is_empty() && text.bytes().all(plain)
    };
    (address.split_once('@')).is_some_and(|(user, host)| is_plain(user) && is_plain(host))
}

/// The address at which a browser proposes a link: a URI template (RFC 6570) with the variables
/// `filename`, `content` and `message`, whose expansions are all `http` or `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalTemplate(UriTemplateString);

impl ProposalTemplate {
    /// Accepts a template as a person wrote it.
    pub(crate) fn parse(text: &str) -> Result<Self, AboutError> {
        let template = UriTemplateString::try_from(text).map_err(|_| AboutError::Template)?;
        let mut used = template.variables();
        if let Some(name) = used.find(|name| !VARIABLES.contains(&name.as_str())) {
            let name = name.as_str().to_owned();
            return Err(AboutError::Variable { name });
        }
        if !template.variables().any(|name| name.as_str() == "content") {
            return Err(AboutError::NoContent);
        }
        let template = Self(template);
        // A variable in the scheme or the host could make it any address.
        let authority = |value: &str| {
            let url = template.expand(value, value, value);
            let target = Target::parse(&url).map(Target::into_string)?;
            let url = Url::parse(&target).map_err(TargetError::from)?;
            Ok::<_, TargetError>(url.origin())
        };
        if authority("a")? != authority("b")? {
            return Err(AboutError::Template);
        }
        Ok(template)
    }

    /// Returns the template as it is written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the address for a proposal: the name of the file with the link, its content, and the
    /// message of the commit.
    pub fn expand(&self, filename: &str, content: &str, message: &str) -> String {
        let mut values = SimpleContext::new();
        for (name, value) in VARIABLES.into_iter().zip([filename, content, message]) {
            values.insert(name, value);
        }
        let expanded = self.0.expand::<UriSpec, _>(&values);
        let expanded = expanded.expect("a template that was expanded once has valid operators");
        expanded.to_string()
    }
}

/// The reason why a value of [`About`] is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum AboutError {
    /// A name is blank, too long, or not one line.
    #[error("a name must be one line of at most {MAX_NAME} characters")]
    Name,
    /// A URL is invalid.
    #[error(transparent)]
    Url(#[from] TargetError),
    /// A contact is not an address for reports.
    #[error("a contact must be an \"https:\" or a \"mailto:\" address")]
    Contact,
    /// A template is not one of `http` and `https` URLs.
    #[error("\"propose\" is not a URI template (RFC 6570) of a URL")]
    Template,
    /// A template has an unknown variable.
    #[error("\"propose\" has the unknown variable {name:?}")]
    Variable {
        /// The variable.
        name: String,
    },
    /// A template does not carry the link.
    #[error("\"propose\" lacks the variable \"content\"")]
    NoContent,
}

impl AboutError {
    /// Returns the rule that the value breaks.
    pub(crate) fn rule(&self) -> Rule {
        match self {
            Self::Name => Rule::NameInvalid,
            Self::Url(error) => error.rule(),
            Self::Contact => Rule::ContactInvalid,
            Self::Template | Self::Variable { .. } | Self::NoContent => Rule::ProposeInvalid,
        }
    }

    /// Returns the remedy.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Url(error) => return error.hint(),
            Self::Name => "write a short name, as in \"name: Links of Example\"",
            Self::Contact => {
                "write it as in \"https://example.org/contact\" or \"mailto:links@example.org\""
            }
            Self::Template | Self::Variable { .. } | Self::NoContent => {
                "write it as in \"https://git.example.org/links/new{?filename,content,message}\""
            }
        };
        Some(hint.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_addresses_for_reports() {
        for contact in [
            "https://e.org/contact?about=links",
            "mailto:links+report@e.org",
        ] {
            assert_eq!(*Contact::parse(contact).unwrap().0, *contact);
        }
        for refused in [
            "http://e.org/",
            "mailto:",
            "mailto:a",
            "mailto:a@b@c",
            "mailto:a@e.org,b@e.org",
            "mailto:a@e.org?bcc=b@e.org",
            "mailto:a@e.org\n",
            "javascript:alert(1)",
            "links@e.org",
            "https://user@e.org/",
        ] {
            assert!(Contact::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_name_is_one_line() {
        assert!(CollectionName::parse(&"é".repeat(80)).is_ok());
        for refused in ["", " ", "a\nb", "a\u{202e}b", &"é".repeat(81)] {
            assert!(CollectionName::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn values_are_encoded_in_their_place() {
        let parsed = ProposalTemplate::parse;
        let template = parsed("https://git.e.org/new/{filename}{?content,message}#top").unwrap();
        assert_eq!(
            template.expand("a/b.yaml", "- url: \"é\"&#\n", "links: add"),
            "https://git.e.org/new/a%2Fb.yaml?content=-%20url%3A%20%22%C3%A9%22%26%23%0A\
             &message=links%3A%20add#top"
        );
    }

    #[test]
    fn refuses_templates_that_lead_elsewhere() {
        let refusal = |template: &str| ProposalTemplate::parse(template).unwrap_err();
        for template in [
            "https://{content}/",
            "{+content}",
            "https://e.org{content}/",
            "https://e.org:{content}/",
            "javascript:{content}",
            "https://e.org/{content",
        ] {
            assert!(ProposalTemplate::parse(template).is_err(), "{template}");
        }
        assert_eq!(refusal("https://e.org/").rule(), Rule::ProposeInvalid);
        let unknown = refusal("https://e.org/{content,branch}");
        assert_eq!(
            unknown.to_string(),
            "\"propose\" has the unknown variable \"branch\""
        );
    }
}
