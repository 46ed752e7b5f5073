//! Looking up dead links in an archive, after a check.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::conclusions::Conclusions;
use super::progress;
use crate::cli::terminal::complain;
use crate::frontier::StoreError;
use crate::linkcheck::{
    Archive, ArchiveAnswer, Checker, Scope, SystemResolver, Verdict, WebUrl, may_be_named,
};

/// Looks up the dead links that name no copy in an archive, until `deadline`, and records the
/// results.
pub(super) async fn run(
    checker: &Arc<Checker>,
    archive: &Archive,
    conclusions: &mut Conclusions,
    scope: Scope,
    deadline: Option<Instant>,
) -> Result<(), StoreError> {
    let dead = conclusions.reported.iter().filter(|it| {
        let lacks_copy = it.link.uses.iter().any(|entry| entry.archive.is_none());
        it.verdict == Verdict::Dead && lacks_copy
    });
    let dead = dead.filter_map(|it| it.link.resolution.url());
    let urls = nameable(dead.map(str::to_owned).collect(), scope).await;
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    if urls.is_empty() {
        return Ok(());
    }
    let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
    if left != Some(Duration::ZERO) {
        progress::show(checker, checker.look_up(archive, &urls, left)).await?;
    }
    let answers = checker.archived(archive, &urls).await?;
    let answers: BTreeMap<_, _> = urls.iter().zip(answers).collect();
    for conclusion in &mut conclusions.reported {
        let answer = conclusion
            .link
            .resolution
            .url()
            .and_then(|url| answers.get(&url));
        conclusion.archive = answer.cloned().flatten();
    }
    conclusions.count_requests(checker);
    report_problems(answers.values().flatten());
    Ok(())
}

/// Returns the URLs that may be disclosed to an archive.
async fn nameable(urls: Vec<String>, scope: Scope) -> Vec<String> {
    let resolver = Arc::new(SystemResolver::default());
    let mut questions = JoinSet::new();
    for url in urls {
        let resolver = Arc::clone(&resolver);
        questions.spawn(async move {
            let page = WebUrl::parse(&url).ok()?;
            let may = may_be_named(&page, scope, &*resolver).await;
            may.then_some(url)
        });
    }
    let mut nameable: Vec<_> = questions.join_all().await.into_iter().flatten().collect();
    nameable.sort_unstable();
    nameable
}

/// Warns of each kind of problem with the archive, with the number of links.
fn report_problems<'a>(answers: impl Iterator<Item = &'a ArchiveAnswer>) {
    let mut counts = BTreeMap::<_, usize>::new();
    for answer in answers {
        if let ArchiveAnswer::Failed(problem) = answer {
            *counts.entry(problem.to_string()).or_default() += 1;
        }
    }
    for (problem, count) in counts {
        let links = if count == 1 { "link" } else { "links" };
        complain(&format!(
            "warning: no answer from the archive for {count} dead {links}: {problem}"
        ));
    }
}
