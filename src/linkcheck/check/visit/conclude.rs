//! Storing the results of a link: an observation, or the record of a link that is no longer in the
//! table.

use super::reserved::Visit;
use crate::frontier::StoreError;
use crate::linkcheck::archive::{ArchiveAnswer, ArchiveProblem};
use crate::linkcheck::check::shared::{
    LeasePurpose, LinkKey, RobotsAnswer, host_of, millis, queued_link, seconds,
};
use crate::linkcheck::check::state::{Space, StateRow};
use crate::linkcheck::conclude::{LinkRecord, Observation, Seen, Sibling};
use crate::linkcheck::request::WebUrl;
use crate::mapping::Timestamp;

impl Visit<'_> {
    /// Concludes about a link that cannot be requested.
    pub(super) async fn conclude_without_request(
        &mut self,
        purpose: &LeasePurpose,
        seen: Seen,
    ) -> Result<(), StoreError> {
        match purpose {
            LeasePurpose::Robots { origin, host } => {
                let none = Some(RobotsAnswer::without_rules());
                self.answer(Space::Origins, origin, none);
                self.wake(host);
                Ok(())
            }
            LeasePurpose::Sibling { host } => {
                self.answer(Space::Siblings, host, Some(Sibling::Refused));
                self.wake(host);
                Ok(())
            }
            LeasePurpose::Link { target } => {
                self.observe(target, &Observation::without_request(seen))
                    .await
            }
            LeasePurpose::Archive { question, .. } => {
                let answer = ArchiveAnswer::Failed(ArchiveProblem::NotContacted(seen));
                self.answer(Space::Archives, question, Some(answer));
                Ok(())
            }
        }
    }

    /// Records an observation of a link, and queues its next check.
    pub(super) async fn observe(
        &mut self,
        target: &str,
        observation: &Observation,
    ) -> Result<(), StoreError> {
        let policy = self.checker.options().policy;
        let link = LinkKey::of(target);
        let before = self.record(link).await?;
        let mut record = before.clone().unwrap_or_default();
        let now = Timestamp::from_unix(seconds(self.now));
        record.observe(observation, now, policy);
        let host = WebUrl::parse(target).ok().and_then(|url| host_of(&url));
        if let Some(host) = host {
            let links = self.links.of_host(&host);
            let due = self.now + millis(record.next_check(policy, target, links)).max(1);
            self.put(queued_link(link, &host, due));
            self.wants(&host, due);
        }
        self.put(StateRow::put(Space::Links, link, &Some(&record)));
        (self.concluded).push((target.to_owned(), before, record));
        Ok(())
    }

    /// Removes a link that is no longer in the table from the queue, but keeps its record.
    pub(super) async fn park(&mut self, link: LinkKey, key: &[u8]) -> Result<(), StoreError> {
        let record = self.record(link).await?;
        self.drop_row(key);
        self.put(StateRow::none(Space::Links, link));
        if let Some(record) = record {
            self.put(StateRow::put(Space::Parked, link, &record));
        }
        Ok(())
    }

    async fn record(&self, link: LinkKey) -> Result<Option<LinkRecord>, StoreError> {
        let key = link.bytes();
        let row: Option<Option<LinkRecord>> = self.access().read(Space::Links, &key).await?;
        Ok(row.flatten())
    }
}
