//! Values that describe a site, on which its documents must agree.

use super::entries::Document;
use crate::mapping::parse::Located;
use crate::mapping::value::{
    About, Case, CollectionName, Contact, Diagnostic, Place, Problems, ProposalTemplate, Rule,
    Scheme, SiteTarget, Target,
};

/// Returns the scheme of a site for auto codes.
pub(super) fn agreed_scheme<'d>(
    documents: impl Iterator<Item = &'d Document<'d>>,
    problems: &mut Problems,
) -> Scheme {
    let stated = documents.filter_map(|it| Some((it, it.scheme.as_ref()?)));
    let agreed = agreed("code-scheme", stated, |scheme| scheme.name(), problems);
    agreed.copied().unwrap_or_default()
}

/// Returns what a site says about itself.
pub(super) fn agreed_about<'d>(
    documents: impl Iterator<Item = &'d Document<'d>> + Clone,
    problems: &mut Problems,
) -> About {
    let all = || documents.clone();
    let name = all().filter_map(|it| Some((it, it.about.name.as_ref()?)));
    let repository = all().filter_map(|it| Some((it, it.about.repository.as_ref()?)));
    let contact = all().filter_map(|it| Some((it, it.about.contact.as_ref()?)));
    let propose = all().filter_map(|it| Some((it, it.about.propose.as_ref()?)));
    let home = all().filter_map(|it| Some((it, it.about.home.as_ref()?)));
    let fallback = all().filter_map(|it| Some((it, it.about.fallback.as_ref()?)));
    let case = all().filter_map(|it| Some((it, it.about.case.as_ref()?)));
    let case = agreed_at("case", case, |it| it.name(), problems);
    About {
        name: agreed("name", name, CollectionName::as_str, problems).cloned(),
        repository: agreed("repository", repository, Target::as_str, problems).cloned(),
        contact: agreed("contact", contact, Contact::as_str, problems).cloned(),
        propose: agreed("propose", propose, ProposalTemplate::as_str, problems).cloned(),
        home: agreed_target("home", home, problems),
        fallback: agreed_target("fallback", fallback, problems),
        folded_at: case.and_then(|(case, place)| (*case == Case::Fold).then_some(place)),
    }
}

/// Returns the URL to which a key leads, and where it is stated first.
fn agreed_target<'d>(
    key: &str,
    stated: impl Iterator<Item = (&'d Document<'d>, &'d Located<Target<'static>>)>,
    problems: &mut Problems,
) -> Option<SiteTarget> {
    let (url, place) = agreed_at(key, stated, Target::as_str, problems)?;
    let url = url.clone();
    Some(SiteTarget { url, place })
}

/// Returns the first value that a document states for a key, and reports others.
fn agreed<'d, V: PartialEq>(
    key: &str,
    stated: impl Iterator<Item = (&'d Document<'d>, &'d Located<V>)>,
    show: impl Fn(&V) -> &str,
    problems: &mut Problems,
) -> Option<&'d V> {
    agreed_at(key, stated, show, problems).map(|(value, _)| value)
}

/// Does the same, and returns the place of the value.
fn agreed_at<'d, V: PartialEq>(
    key: &str,
    stated: impl Iterator<Item = (&'d Document<'d>, &'d Located<V>)>,
    show: impl Fn(&V) -> &str,
    problems: &mut Problems,
) -> Option<(&'d V, Place)> {
    let mut first: Option<(&V, Place)> = None;
    for (document, Located { value, position }) in stated {
        let place = Place::new(&document.file, *position);
        match &first {
            None => first = Some((value, place)),
            Some((agreed, _)) if *agreed == value => {}
            Some((agreed, stated_at)) => {
                let message = format!("the documents of a site disagree on {key:?}");
                let problem = Diagnostic::new(Rule::DocumentsDisagree, place, message);
                problems.push(problem.with_hint(format!("{stated_at} says {}", show(agreed))));
            }
        }
    }
    first
}
