//! A store on a server that machines share, through an exchange with its client.
//!
//! The layer waits for a row at most as long as solving it took, at most `wait_ms`, and after a wait without success not
//! again before the server has answered something: a slow or dead server costs little time. What it delivers is not
//! trusted: the layer evaluates models, and an unsat row without a valid signature is proved again.

use super::Verdict;
use super::backend::{Backend, Change, Found, Put};
use super::canonical::Key;
use super::exchange::{Exchange, State};
use super::row::Row;
use crate::tuning::StoreOptions;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Limit on changes that the client has not taken; more are refused.
const MAX_PENDING: usize = 1024;
/// How long `flush` waits.
const MAX_FLUSH: Duration = Duration::from_secs(5);

pub struct Shared {
    exchange: Arc<Exchange>,
    max_wait: Duration,
    /// Whether every wait may take `max_wait`: for tests.
    is_patient: bool,
}

impl Shared {
    pub fn new(exchange: Arc<Exchange>, options: &StoreOptions) -> Shared {
        let max_wait = Duration::from_millis(options.wait_ms);
        Shared { exchange, max_wait, is_patient: options.eager }
    }

    /// Whether this process started the client: a forked one has no such thread.
    fn has_client(&self) -> bool {
        self.exchange.process == std::process::id()
    }
}

impl Backend for Shared {
    fn name(&self) -> String {
        self.exchange.name.clone()
    }

    fn is_empty(&self) -> bool {
        !self.has_client() || self.exchange.lock().index.is_empty()
    }

    fn cost_us(&self, shape: u64) -> Option<u32> {
        self.exchange.lock().index.cost_us(shape)
    }

    fn find(&mut self, _shape: u64, key: &Key) -> Result<Found, String> {
        let mut state = self.exchange.lock();
        let Some(cost_us) = state.index.cost_of(key) else { return Ok(Found::Nothing) };
        if !state.rows.contains_key(key) {
            state.ask(key);
            self.exchange.work.notify_all();
            if !state.is_responsive {
                return Ok(Found::Nothing);
            }
            let cost = Duration::from_micros(cost_us.into());
            let wait = if self.is_patient { self.max_wait } else { cost.min(self.max_wait) };
            let is_open = |state: &mut State| state.asked.contains(key) && state.is_responsive;
            let waited = self.exchange.delivery.wait_timeout_while(state, wait, is_open);
            state = waited.expect("no panic while locked").0;
        }
        let Some(row) = state.rows.get(key) else {
            if state.asked.contains(key) {
                state.late += 1;
                state.is_responsive = false;
            }
            return Ok(Found::Nothing);
        };
        let is_trusted = row.is_trusted;
        Ok(match Row::decode(&row.bytes).filter(|row| row.key == *key) {
            Some(row) if is_trusted || row.verdict == Verdict::Sat => Found::Row(row),
            Some(row) => Found::Unproved(row),
            None => {
                state.index.remove(key);
                Found::Damaged
            }
        })
    }

    fn put(&mut self, change: Change) -> Put {
        let is_useful = match &change {
            Change::Insert(row) => self.exchange.takes_unsat || row.verdict == Verdict::Sat,
            Change::Remove(..) => true,
            // Servers know themselves which rows are used.
            Change::Used(..) => false,
        };
        if !is_useful || !self.has_client() {
            return Put::Refused;
        }
        let mut state = self.exchange.lock();
        if state.changes.len() >= MAX_PENDING {
            return Put::Full;
        }
        state.changes.push(change);
        state.accepted += 1;
        self.exchange.work.notify_all();
        Put::Accepted
    }

    fn flush(&self) {
        if !self.has_client() {
            return;
        }
        let deadline = Instant::now() + MAX_FLUSH;
        let mut state = self.exchange.lock();
        while state.settled < state.accepted {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let pending = state.accepted - state.settled;
                let (name, limit) = (&self.exchange.name, MAX_FLUSH.as_secs());
                let message = format!("the store {name} has not taken {pending} answers within {limit} s");
                state.errors.push_back(message);
                return;
            }
            state = self.exchange.delivery.wait_timeout(state, left).expect("no panic while locked").0;
        }
    }

    fn take_error(&self) -> Option<String> {
        self.exchange.lock().errors.pop_front()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let state = self.exchange.lock();
        vec![("fetched", state.fetched), ("late", state.late), ("lost", state.lost)]
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.has_client() {
            self.exchange.close();
        }
    }
}
