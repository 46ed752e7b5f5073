//! Notes on a push, for people.

use crate::git::RemoteUrl;
use crate::registry::{NewBranch, Published, review_address};

/// Returns notes on where a change was pushed: to `base`, a full name, or to a branch for review.
pub(crate) fn pushed(
    review: Option<&NewBranch>,
    address: Option<&RemoteUrl>,
    base: &str,
    published: &Published,
) -> Vec<String> {
    let commit = published.commit.short();
    let Some(new) = review else {
        let base = base.strip_prefix("refs/heads/").unwrap_or(base);
        return vec![format!("pushed to {base} as {commit}")];
    };
    let mut notes = vec![format!(
        "pushed to the new branch {} as {commit}",
        new.short()
    )];
    let page = address.and_then(|it| review_address(it, base, new, &published.said));
    if let Some(page) = page {
        notes.push(format!("to have it reviewed, open a pull request: {page}"));
    }
    notes
}
