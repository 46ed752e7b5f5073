//! Processing an answer: the next request and its host, or a conclusion.

use std::time::Duration;

use super::choose::Chosen;
use super::reserved::Visit;
use crate::frontier::{Host, StoreError};
use crate::linkcheck::archive::Archive;
use crate::linkcheck::check::shared::{
    DatedAnswer, Known, LeasePurpose, RobotsAnswer, Work, host_of, known_sibling,
};
use crate::linkcheck::check::state::{Space, StateRow};
use crate::linkcheck::conclude::{Endings, Observation, Seen, Sibling};
use crate::linkcheck::polite::{MAX_CRAWL_DELAY, Robots};
use crate::linkcheck::request::{Finding, Question, RedirectProblem, RoundTrip, Step, UrlProblem};

/// The longest block of a host for the `Crawl-delay` of a robots.txt elsewhere: a run waits for it.
const MAX_BLOCK: Duration = Duration::from_secs(60);

impl Visit<'_> {
    /// Processes an answer.
    pub(super) async fn take_in(
        &mut self,
        chosen: Chosen,
        question: &Question,
        round_trip: RoundTrip,
    ) -> Result<(), StoreError> {
        let Chosen {
            work, inquiry, key, ..
        } = chosen;
        if let Some(key) = &key {
            self.drop_row(key);
        }
        let next = match inquiry.next(question, round_trip) {
            Step::Done(finding) => return self.conclude(&work.purpose, &finding).await,
            Step::Send(next) => next,
        };
        let Some(host) = host_of(next.url()) else {
            let astray = RedirectProblem::Url(UrlProblem::Invalid);
            return (self.conclude_without_request(&work.purpose, Seen::Astray(astray))).await;
        };
        match &work.purpose {
            LeasePurpose::Robots { origin, .. } => {
                self.answer::<RobotsAnswer>(Space::Origins, origin, None)
            }
            LeasePurpose::Sibling { host } => self.answer::<Sibling>(Space::Siblings, host, None),
            LeasePurpose::Link { .. } | LeasePurpose::Archive { .. } => {}
        }
        let work = Work {
            purpose: work.purpose,
            inquiry: Some(next),
        };
        self.put(work.queued(&host, 0));
        self.wants(&host, 0);
        Ok(())
    }

    /// Concludes from the end of an inquiry.
    async fn conclude(
        &mut self,
        purpose: &LeasePurpose,
        finding: &Finding,
    ) -> Result<(), StoreError> {
        match purpose {
            LeasePurpose::Robots { origin, host } => {
                let key = origin.as_bytes();
                let before: Option<DatedAnswer<RobotsAnswer>> =
                    self.access().read(Space::Origins, key).await?;
                let before = before.and_then(|row| row.answer);
                let robots = RobotsAnswer::after(before.as_ref(), finding);
                let wanted = robots.rules().and_then(Robots::crawl_delay);
                // With a longer one, the origin is not requested again.
                if let Some(wanted) = wanted.filter(|wanted| *wanted <= MAX_CRAWL_DELAY) {
                    match Host::parse(host) {
                        // Its robots.txt was requested from another host, which needs a pause like
                        // after any request.
                        Ok(host) if host != self.lease.host => {
                            self.access().block(&host, wanted.min(MAX_BLOCK)).await?;
                        }
                        _ => self.wanted_pause = wanted,
                    }
                }
                self.answer(Space::Origins, origin, Some(robots));
                self.wake(host);
            }
            LeasePurpose::Sibling { host } => {
                self.answer(Space::Siblings, host, Some(Sibling::of(finding)));
                self.wake(host);
            }
            LeasePurpose::Link { target } => {
                let observation = Observation::of(finding);
                let is_success = observation.is_success();
                let led = self.note_ending(finding).await?;
                let is_like = match (is_success, host_of(&finding.from)) {
                    (true, Some(host)) => {
                        let key = host.as_str().as_bytes();
                        let row = self.access().read(Space::Siblings, key).await?;
                        let sibling = known_sibling(row, self.now);
                        matches!(sibling, Known::Answer(it) if it.is_like(finding))
                    }
                    _ => false,
                };
                let observation = match is_success && (led || is_like) {
                    true => observation.as_not_found_page(),
                    false => observation,
                };
                self.observe(target, &observation).await?;
            }
            LeasePurpose::Archive { question, .. } => {
                let answer = Archive::at(&finding.from).answer(finding);
                self.answer(Space::Archives, question, Some(answer));
            }
        }
        Ok(())
    }

    /// Records where a deep link of its host ended, and returns whether several end there.
    ///
    /// Visits of other workers may record other links of that host at the same time, so the new
    /// value is computed from the stored one.
    async fn note_ending(&mut self, finding: &Finding) -> Result<bool, StoreError> {
        let Some(host) = host_of(&finding.from) else {
            return Ok(false);
        };
        let key = host.as_str().as_bytes();
        let access = self.access();
        let (before, bytes) = (access.read_with_bytes::<Endings>(Space::Endings, key)).await?;
        let before = before.unwrap_or_default();
        let mut endings = before.clone();
        let led = endings.note(finding);
        if endings != before {
            self.write.expected.push(StateRow {
                space: Space::Endings,
                key: key.to_vec(),
                value: bytes,
            });
            self.put(match endings == Endings::default() {
                true => StateRow::none(Space::Endings, key),
                false => StateRow::put(Space::Endings, key, &endings),
            });
        }
        Ok(led)
    }
}
