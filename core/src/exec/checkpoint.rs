//! Checkpoints: the results so far and the open paths, as bytes. What is not below an open path is finished.
//!
//! A checkpoint is complete by itself. A run that goes on from one explores exactly what was open then: no path is lost, and
//! none is counted twice. The same bytes are what workers send to their coordinator and take from it.
use super::Engine;
use super::decide::open_path::OpenPath;
use super::decide::search::Search;
use super::record::results::Committed;
use super::state::State;
use crate::encoding::{Decoder, put_bytes};

/// Names the format.
const HEAD: &[u8; 4] = b"PCP7";

impl Engine {
    /// Keeps a checkpoint from before the run stops, for `take_last_checkpoint`.
    pub fn keep_checkpoints(&mut self) {
        self.keeps_checkpoints = true;
    }

    /// The checkpoint from before the run stopped. `None` if a turn or a query was cut: then an earlier one counts.
    pub fn take_last_checkpoint(&mut self) -> Option<Vec<u8>> {
        self.last_checkpoint.take()
    }

    /// Is a checkpoint quick, because few tests wait to be written?
    pub fn is_checkpoint_quick(&self) -> bool {
        self.recorder().is_flushed_soon()
    }

    /// Checkpoint of the run, between two calls of `advance`.
    pub fn checkpoint(&mut self) -> Vec<u8> {
        self.recorder_mut().flush_tests();
        let parts = self.open_paths();
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let found = self.recorder().found_bytes();
        self.checkpoint_of(&parts, self.open_states() as u64, self.explored_share(), found)
    }

    /// Checkpoint of these open paths, encoded in any number of parts, and the results so far. `found` is the number of bytes
    /// of tests that workers have found and that have no number yet.
    pub fn checkpoint_of(&self, paths: &[&[u8]], open: u64, explored: f64, found: u64) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        // Numbers for those who cannot decode the rest: tests, open paths, ended paths, explored share, bytes of tests
        // without a number, tests that have one.
        let stats = self.stats();
        let ended = stats.completed + stats.bugs + stats.limits + stats.unsupported;
        let numbered = self.recorder().numbered.unwrap_or(stats.tests);
        for number in [stats.tests, open, ended, explored.to_bits(), found, numbered] {
            out.extend(number.to_be_bytes());
        }
        let mut results = self.recorder().encode_results(&Committed::default());
        self.machine.encode_host_reads(0, &mut results);
        put_bytes(&mut out, &results);
        paths.iter().for_each(|part| put_bytes(&mut out, part));
        out
    }

    /// Encodes all open paths, in parts.
    pub fn open_paths(&mut self) -> Vec<Vec<u8>> {
        let mut paths = std::mem::take(&mut self.parked);
        let parked = paths.len();
        let decider = &mut self.machine.decider;
        self.search.each(&mut |state: &State| paths.push(decider.open_path(state)));
        let out = decider.encode_paths(&paths);
        for path in paths.drain(parked..) {
            decider.strings.release(path.string);
        }
        self.parked = paths;
        std::iter::once(out).chain(self.parking.parts()).collect()
    }

    /// Goes on from a checkpoint of a run with the same program and options, instead of from the beginning: adds its
    /// results, and explores its open paths only. Errors: it is damaged.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<(), String> {
        self.add_checkpoint(checkpoint).ok_or_else(|| "the checkpoint is damaged".to_string())
    }

    fn add_checkpoint(&mut self, checkpoint: &[u8]) -> Option<()> {
        for part in self.restore_results(checkpoint)? {
            self.add_open_paths(&part).ok()?;
        }
        Some(())
    }

    /// Adds the results of a checkpoint, and returns its open paths in parts as `add_open_paths` takes them. `None` if it
    /// is damaged.
    pub fn restore_results(&mut self, checkpoint: &[u8]) -> Option<Vec<Vec<u8>>> {
        let mut from = Decoder::new(checkpoint);
        (from.bytes(HEAD.len())? == HEAD).then_some(())?;
        from.bytes(6 * size_of::<u64>())?;
        let count = from.count()?;
        self.add_results(from.bytes(count)?).ok()?;
        let mut parts = Vec::new();
        while !from.is_at_end() {
            let count = from.count()?;
            parts.push(from.bytes(count)?.to_vec());
        }
        self.drop_start();
        self.time_earlier = self.stats().explore;
        Some(parts)
    }

    /// Adds results that another process committed, and what it read of the host's files. Errors: the bytes are damaged, or
    /// a file has changed.
    pub fn add_results(&mut self, results: &[u8]) -> Result<(), String> {
        let mut from = Decoder::new(results);
        self.recorder_mut().add_results(&mut from).ok_or_else(|| "the results are damaged".to_string())?;
        self.host_committed = self.machine.add_host_reads(&mut from)?;
        Ok(())
    }

    /// Reads of the host's files from this one on, and the number of all.
    pub fn host_reads(&self, first: usize) -> (Vec<u8>, usize) {
        let mut out = Vec::new();
        let count = self.machine.encode_host_reads(first, &mut out);
        (out, count)
    }

    /// Adds what other processes read of the host's files. Errors: the bytes are damaged, or a file has changed.
    pub fn add_host_reads(&mut self, reads: &[u8]) -> Result<(), String> {
        self.host_committed = self.machine.add_host_reads(&mut Decoder::new(reads))?;
        Ok(())
    }

    /// Explores nothing but what `add_open_paths` adds.
    pub fn drop_start(&mut self) {
        for state in self.search.drain() {
            let path = self.decider().park(state);
            self.decider().strings.release(path.string);
        }
    }

    /// Removes up to `count` open paths and returns them for another worker, those with the fewest forks first. At least
    /// one stays.
    pub fn give(&mut self, count: usize) -> Vec<u8> {
        let mut given: Vec<OpenPath> = Vec::new();
        let left = self.open_states().saturating_sub(1).min(count);
        while given.len() < left {
            if self.parked.is_empty() {
                self.unpark(false);
            }
            let shallow = self.parked.iter().enumerate().min_by_key(|(_, path)| path.depth).map(|(at, _)| at);
            if let Some(at) = shallow {
                given.push(self.parked.remove(at));
                continue;
            }
            let (search, view) = self.search();
            let Some(state) = search.shallowest(&view) else { break };
            given.push(self.decider().park(state));
        }
        let out = self.machine.decider.encode_paths(&given);
        for path in given {
            self.decider().strings.release(path.string);
        }
        out
    }

    /// Adds open paths that another worker gave. Errors: the bytes are damaged.
    pub fn add_open_paths(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut from = Decoder::new(bytes);
        let paths = self.decider().decode_paths(&mut from).filter(|_| from.is_at_end());
        self.add_parked(paths.ok_or("the open paths are damaged")?);
        Ok(())
    }

    /// Number of open paths in these bytes, and their share of the decision tree. Errors: the bytes are damaged.
    pub fn weigh(&mut self, bytes: &[u8]) -> Result<(usize, f64), String> {
        let mut from = Decoder::new(bytes);
        let paths = self.decider().decode_paths(&mut from).filter(|_| from.is_at_end());
        let paths = paths.ok_or("the open paths are damaged")?;
        let share = paths.iter().map(|path| share_at(path.depth)).sum();
        let count = paths.len();
        paths.into_iter().for_each(|path| self.decider().strings.release(path.string));
        Ok((count, share))
    }

    /// Share of the decision tree that is explored: Knuth's estimate, in which each side of a fork has half of it.
    pub fn explored_share(&self) -> f64 {
        let mut open = 0.0;
        let mut add = |depth: u32| open += share_at(depth);
        self.search.each(&mut |state| add(state.depth));
        self.parked.iter().for_each(|path| add(path.depth));
        1.0 - open - self.parking.share()
    }
}

/// Share of the decision tree below a path with this number of forks.
pub(super) fn share_at(depth: u32) -> f64 {
    0.5f64.powi(i32::try_from(depth).unwrap_or(i32::MAX))
}
