//! The exchange between the layer and a client of a server, which runs in another thread and knows the server's protocol.
//!
//! The layer asks for rows and hands over changes; the client takes both in batches and delivers rows and entries of the
//! index. With a row, the rows written after it are asked for. `shared.rs` is the layer's side.

use super::backend::Change;
use super::canonical::Key;
use super::index::{self, Index};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Rows asked for together.
const PREFETCH: usize = 32;
/// Size of the rows that are kept; the oldest are dropped.
const MAX_CACHED_BYTES: usize = 32 << 20;

/// Requests that the client is to send.
#[derive(Default)]
pub struct Batch {
    /// Keys of rows to read.
    pub wanted: Vec<Key>,
    /// Rows to write: the key, whether it is unsat, and the bytes.
    pub rows: Vec<(Key, bool, Vec<u8>)>,
    /// Entries of `rows` for the index.
    pub entries: Vec<u8>,
    /// Keys of rows to remove.
    pub removed: Vec<Key>,
    /// The layer is gone: this is the last batch.
    pub is_last: bool,
}

/// A row as delivered, decoded when it is used.
pub(super) struct Delivered {
    pub(super) bytes: Vec<u8>,
    pub(super) is_trusted: bool,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) index: Index,
    pub(super) rows: FxHashMap<Key, Delivered>,
    /// Keys of `rows`, oldest first.
    arrived: VecDeque<Key>,
    cached_bytes: usize,
    wanted: Vec<Key>,
    /// Keys in `wanted` or taken by the client and not delivered.
    pub(super) asked: FxHashSet<Key>,
    pub(super) changes: Vec<Change>,
    /// Numbers of changes accepted, and written or given up by the client.
    pub(super) accepted: u64,
    pub(super) settled: u64,
    /// Whether the client has finished a batch since the last wait without success.
    pub(super) is_responsive: bool,
    is_closed: bool,
    pub(super) errors: VecDeque<String>,
    pub(super) fetched: u64,
    pub(super) late: u64,
    pub(super) lost: u64,
}

pub struct Exchange {
    pub(super) name: String,
    /// Whether unsat rows can be told from forged ones.
    pub(super) takes_unsat: bool,
    pub(super) process: u32,
    state: Mutex<State>,
    /// Notified when the client has something to do.
    pub(super) work: Condvar,
    /// Notified when the client has delivered.
    pub(super) delivery: Condvar,
}

impl Exchange {
    /// `name` is for messages. Without `takes_unsat` only models are exchanged.
    pub fn new(name: String, takes_unsat: bool) -> Exchange {
        let state = Mutex::new(State { is_responsive: true, ..State::default() });
        let (work, delivery) = (Condvar::new(), Condvar::new());
        Exchange { name, takes_unsat, process: std::process::id(), state, work, delivery }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic while locked")
    }

    /// Waits for work, `timeout` at most, and takes it. For the client.
    pub fn take_batch(&self, timeout: Duration) -> Batch {
        let idle =
            |state: &mut State| state.wanted.is_empty() && state.changes.is_empty() && !state.is_closed;
        let (mut state, _) =
            self.work.wait_timeout_while(self.lock(), timeout, idle).expect("no panic while locked");
        let mut batch =
            Batch { wanted: std::mem::take(&mut state.wanted), is_last: state.is_closed, ..Batch::default() };
        for change in std::mem::take(&mut state.changes) {
            match change {
                Change::Insert(row) => {
                    batch.entries.extend(index::entry(&row));
                    let is_unsat = row.verdict == super::Verdict::Unsat;
                    batch.rows.push((row.key, is_unsat, row.encode()));
                }
                Change::Remove(_, key) => batch.removed.push(key),
                Change::Used(..) => {}
            }
        }
        batch
    }

    /// Adds entries of the server's index. False if the bytes are no entries.
    pub fn add_index(&self, bytes: &[u8]) -> bool {
        self.lock().index.add(bytes, self.takes_unsat)
    }

    /// Delivers a row; `None` if the server does not have it. `is_trusted`: someone who knows the key has written it.
    pub fn deliver(&self, key: Key, row: Option<(Vec<u8>, bool)>) {
        let mut state = self.lock();
        if !state.asked.remove(&key) {
            return;
        }
        let Some((bytes, is_trusted)) = row else { return state.index.remove(&key) };
        state.fetched += 1;
        state.cached_bytes += bytes.len();
        state.rows.insert(key, Delivered { bytes, is_trusted });
        state.arrived.push_back(key);
        while state.cached_bytes > MAX_CACHED_BYTES {
            let Some(old) = state.arrived.pop_front() else { break };
            state.cached_bytes -= state.rows.remove(&old).map_or(0, |row| row.bytes.len());
        }
    }

    /// The batch is done. `settled` of its changes are written or given up, `lost` given up; rows that were not delivered
    /// may be asked for again. `is_answered`: the server has answered.
    pub fn finish_batch(&self, settled: u64, lost: u64, is_answered: bool) {
        let mut state = self.lock();
        state.settled += settled;
        state.lost += lost;
        state.is_responsive = is_answered;
        let wanted: FxHashSet<Key> = state.wanted.iter().copied().collect();
        state.asked.retain(|key| wanted.contains(key));
        self.delivery.notify_all();
    }

    /// A message for the user.
    pub fn report(&self, message: String) {
        self.lock().errors.push_back(message);
    }

    /// The layer is gone.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.work.notify_all();
    }
}

impl State {
    /// Asks for a row and for those written after it.
    pub(super) fn ask(&mut self, key: &Key) {
        for &key in self.index.from(key, PREFETCH) {
            let is_known = self.rows.contains_key(&key) || self.index.cost_of(&key).is_none();
            if !is_known && self.asked.insert(key) {
                self.wanted.push(key);
            }
        }
    }
}
