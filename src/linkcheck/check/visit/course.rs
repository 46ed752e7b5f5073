//! The course of a visit, to the end of its lease.

use std::time::Duration;

use tokio::time::Instant;

use super::choose::NextStep;
use super::reserved::Visit;
use crate::frontier::StoreError;
use crate::linkcheck::check::shared::HostState;
use crate::linkcheck::check::state::{Space, StateRow, WriteState};

impl Visit<'_> {
    /// Sends the request that is due, and ends the lease.
    pub(crate) async fn run(mut self) -> Result<(), StoreError> {
        let chosen = match self.choose().await? {
            NextStep::Send(chosen) => *chosen,
            NextStep::Nothing => {
                let due = self.rest.due(self.access()).await?;
                self.wants_at(due);
                return self.release(Duration::ZERO).await.map(drop);
            }
            // The visit that gets the answer wakes the host earlier.
            NextStep::Wait(until) => {
                self.wants_at(Some(until));
                return self.release(Duration::ZERO).await.map(drop);
            }
        };
        if self.access().is_stopping() {
            self.wants_at(Some(self.now));
            return self.release(Duration::ZERO).await.map(drop);
        }
        let mut host: HostState = self.row(Space::Hosts).await?.unwrap_or_default();
        let question = match host.head_misleads {
            true => chosen.inquiry.question_by_get(),
            false => chosen.inquiry.question(),
        };
        let begun = Instant::now();
        let Some(round_trip) = self.send(&question).await? else {
            // The check must stop, or the lease has ended: there is no result.
            self.wants_at(Some(self.now));
            let pause = chosen.pace.after(begun.elapsed());
            return self.release(pause).await.map(drop);
        };
        self.checker.count_answer(&round_trip);
        self.now = self.checker.now();
        let rest = round_trip.rest(chosen.pace);
        if let Some(block) = rest.block {
            self.access().block(&self.lease.host, block).await?;
        }
        if !host.head_misleads && chosen.inquiry.shows_misled_head(&question, &round_trip) {
            host.head_misleads = true;
            let key = self.lease.host.as_str();
            self.put(StateRow::put(Space::Hosts, key, &host));
        }
        loop {
            let mut visit = self.clone();
            (visit.take_in(chosen.clone(), &question, round_trip.clone())).await?;
            let due = visit.rest.due(visit.access()).await?;
            visit.wants_at(due);
            // The store counts whole milliseconds, and the current one has begun already.
            let pause = rest.pause.max(visit.wanted_pause) + Duration::from_millis(1);
            let pace = round_trip.took + pause;
            self.checker.note_pace(&self.lease.host, pace);
            // A visit to another host may have changed the rows with which the answer was compared.
            if visit.release(pause).await? != WriteState::Conflict {
                return Ok(());
            }
        }
    }

    /// Ends the lease and writes what has changed. If the lease has ended, the worker that now has
    /// the host repeats this work.
    async fn release(&self, pause: Duration) -> Result<WriteState, StoreError> {
        let next_in = self.next.map(|due| due.saturating_sub(self.now));
        let next_in = next_in.map(Duration::from_millis);
        let access = self.access();
        let written = (access.release(self.lease, pause, next_in, &self.write)).await?;
        if written == WriteState::Written {
            for (url, before, after) in &self.concluded {
                self.checker.count_link(url);
                self.checker.concluded(url, before.as_ref(), after);
            }
        }
        Ok(written)
    }
}
