//! Parks open states when memory is short: their memory is dropped, decisions and inputs are kept, and they are taken up
//! later (`take_up.rs`). No path is lost.
//!
//! Replaying costs instructions, so what is parked is chosen by subtrees of the decisions: about half of the states stay,
//! those of one subtree as far as possible, and the others are taken up when it is explored, neighbours together. How many
//! are taken up at a time is halved if states had to be parked again since the last time, and doubled if not.
use super::Engine;
use super::checkpoint::share_at;
use super::decide::open_path::OpenPath;
use super::decide::search::Search;
use super::decide::strings::{StringId, Strings};
use super::record::unnamed_file;
use super::state::State;
use crate::encoding::Decoder;
use rustc_hash::FxHashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of parked paths that are kept in memory; others are in a file.
const MAX_IN_MEMORY: usize = 16 << 20;
/// Most paths that are taken up at once.
pub(super) const MAX_BATCH: usize = 64;

/// Parked paths, in the order of the decision tree, as `encode_paths` makes them.
struct Chunk {
    bytes: Bytes,
    count: usize,
    share: f64,
}

enum Bytes {
    InMemory(Vec<u8>),
    InFile { at: u64, length: usize },
}

pub(super) struct Parking {
    chunks: Vec<Chunk>,
    /// Bytes of the chunks in memory.
    in_memory: usize,
    /// File without a name, and its length.
    file: Option<(File, u64)>,
    max_in_memory: usize,
    /// Number of paths to be taken up next time, and whether states were parked since the last time.
    pub batch: usize,
    has_parked: bool,
}

impl Default for Parking {
    fn default() -> Parking {
        Parking {
            chunks: Vec::new(),
            in_memory: 0,
            file: None,
            max_in_memory: MAX_IN_MEMORY,
            batch: MAX_BATCH,
            has_parked: false,
        }
    }
}

impl Parking {
    pub fn count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.count).sum()
    }

    /// Share of the decision tree that is parked.
    pub fn share(&self) -> f64 {
        self.chunks.iter().map(|chunk| chunk.share).sum()
    }

    fn add(&mut self, bytes: Vec<u8>, count: usize, share: f64) {
        let length = bytes.len();
        let place = match self.in_memory + length > self.max_in_memory {
            // Without room on the disk they stay in memory.
            true => self.write(&bytes).ok(),
            false => None,
        };
        let bytes = match place {
            Some(at) => Bytes::InFile { at, length },
            None => {
                self.in_memory += length;
                Bytes::InMemory(bytes)
            }
        };
        self.chunks.push(Chunk { bytes, count, share });
        self.has_parked = true;
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.file.is_none() {
            self.file = Some((unnamed_file("parked")?, 0));
        }
        let (file, end) = self.file.as_mut().expect("just made");
        let at = *end;
        file.write_all_at(bytes, at)?;
        *end += bytes.len() as u64;
        Ok(at)
    }

    fn read(&self, bytes: &Bytes) -> Vec<u8> {
        match bytes {
            Bytes::InMemory(bytes) => bytes.clone(),
            Bytes::InFile { at, length } => {
                let mut found = vec![0; *length];
                let (file, _) = self.file.as_ref().expect("a chunk is in it");
                file.read_exact_at(&mut found, *at).expect("the file of parked paths can be read");
                found
            }
        }
    }

    /// Removes a chunk: the newest one, or the oldest.
    fn take(&mut self, newest: bool) -> Option<Vec<u8>> {
        let chunk = match newest {
            true => self.chunks.pop()?,
            false if self.chunks.is_empty() => return None,
            false => self.chunks.remove(0),
        };
        let bytes = self.read(&chunk.bytes);
        match chunk.bytes {
            Bytes::InMemory(_) => self.in_memory -= bytes.len(),
            Bytes::InFile { at, length } => {
                // The end of the file is used again.
                if let Some((_, end)) = &mut self.file
                    && at + length as u64 == *end
                {
                    *end = at;
                }
            }
        }
        Some(bytes)
    }

    /// All parked paths, in parts.
    pub fn parts(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.chunks.iter().map(|chunk| self.read(&chunk.bytes))
    }

    /// Were states parked since paths were last taken up?
    pub fn has_parked(&self) -> bool {
        self.has_parked
    }

    /// Number of paths to take up now.
    pub fn next_batch(&mut self) -> usize {
        self.batch = match std::mem::take(&mut self.has_parked) {
            true => (self.batch / 2).max(1),
            false => (self.batch * 2).min(MAX_BATCH),
        };
        self.batch
    }
}

impl Engine {
    /// Can states be parked? What runs must be a function of the decisions, and of nothing outside.
    pub(super) fn can_park(&self) -> bool {
        let options = self.machine.options();
        options.hooked.is_empty()
            && options.preempt.is_none()
            && !options.write_host
            && self.machine.decider.certificate_tree.is_none()
            && !self.has_chooser
    }

    /// Parks about half of the states. Returns false if at most one is open.
    pub fn park_states(&mut self) -> bool {
        let mut open: Vec<(u64, StringId)> = Vec::with_capacity(self.search.len());
        self.search.each(&mut |state| open.push((state.id, state.string)));
        if open.len() < 2 {
            return false;
        }
        let kept = kept_states(&self.machine.decider.strings, &open);
        let (search, view) = self.search();
        let parked = search.extract(&|state: &State| !kept.contains(&state.id), &view);
        self.park(parked);
        self.search.set_limit(open.len() / 2);
        true
    }

    /// Parks these states.
    fn park(&mut self, states: Vec<Box<State>>) {
        self.recorder_mut().stats.parked += states.len() as u64;
        let decider = self.decider();
        let paths: Vec<OpenPath> = states.into_iter().map(|state| decider.park(state)).collect();
        let bytes = decider.encode_paths(&paths);
        let (count, share) = (paths.len(), paths.iter().map(|path| share_at(path.depth)).sum());
        paths.into_iter().for_each(|path| decider.strings.release(path.string));
        self.parking.add(bytes, count, share);
    }

    /// Makes the newest parked paths, or the oldest ones, paths that wait to be taken up. Returns false if there are none.
    pub(super) fn unpark(&mut self, newest: bool) -> bool {
        let Some(bytes) = self.parking.take(newest) else { return false };
        let paths = self.decider().decode_paths(&mut Decoder::new(&bytes));
        self.add_parked(paths.expect("they were encoded by this process"));
        true
    }
}

/// States that stay: about half of them. Below the deepest decision that more than half have in common, the largest subtrees
/// stay. Memory is short, so what is counted stands in arrays.
fn kept_states(strings: &Strings, open: &[(u64, StringId)]) -> FxHashSet<u64> {
    let most = open.len() / 2;
    let mut counts = vec![0u32; strings.bound()];
    for &(_, string) in open {
        strings.up(string).for_each(|at| counts[at as usize] += 1);
    }
    counts[0] = open.len() as u32;
    let count = |at: StringId| counts[at as usize] as usize;
    let common = |string| strings.up(string).find(|&at| count(at) > most).unwrap_or(0);
    // Decisions that more than half of the states have are on one path, and the deepest has the fewest states.
    let deepest = open.iter().map(|&(_, string)| common(string)).min_by_key(|&at| count(at)).unwrap_or(0);
    let below = |string| {
        let mut group = None;
        for at in strings.up(string).chain([0]) {
            if at == deepest {
                return group;
            }
            group = Some(at);
        }
        None
    };
    let group_of: Vec<Option<StringId>> = open.iter().map(|&(_, string)| below(string)).collect();
    let groups: FxHashSet<StringId> = group_of.iter().flatten().copied().collect();
    let mut groups: Vec<StringId> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|&group| (std::cmp::Reverse(count(group)), group));
    let mut left = most;
    let mut stay = FxHashSet::default();
    for group in groups {
        if stay.is_empty() || count(group) <= left {
            stay.insert(group);
            left = left.saturating_sub(count(group));
        }
    }
    if stay.is_empty() {
        // All states end at one decision: it does not matter which stay.
        return open.iter().take(most).map(|&(id, _)| id).collect();
    }
    let stays = |group: &Option<StringId>| group.is_some_and(|group| stay.contains(&group));
    open.iter().zip(&group_of).filter(|(_, group)| stays(group)).map(|(&(id, _), _)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::decide::strings::{Choice, Decision};
    use crate::program::FuncId;

    fn decide(strings: &mut Strings, parent: StringId, step: u64, side: bool) -> StringId {
        strings.retain(parent);
        strings.push(
            parent,
            Decision { step, point: 0, choice: Choice::Truth(side), func: FuncId(0), pc: 0, course: 0 },
        )
    }

    /// The deepest half of a chain of forks stays, and one subtree of a balanced tree.
    #[test]
    fn a_subtree_stays() {
        let mut strings = Strings::default();
        let (mut at, mut open) = (0, Vec::new());
        for step in 0..8 {
            open.push((step, decide(&mut strings, at, step, false)));
            at = decide(&mut strings, at, step, true);
        }
        let kept = kept_states(&strings, &open);
        assert_eq!(kept.len(), 4);
        assert!((4..8).all(|id| kept.contains(&id)), "{kept:?}");

        let (mut strings, mut level) = (Strings::default(), vec![0]);
        for step in 0..3 {
            level = level
                .iter()
                .flat_map(|&at| [false, true].map(|side| (at, side)))
                .map(|(at, side)| decide(&mut strings, at, step, side))
                .collect();
        }
        let open: Vec<(u64, StringId)> = (0..).zip(level).collect();
        let mut kept: Vec<u64> = kept_states(&strings, &open).into_iter().collect();
        kept.sort_unstable();
        assert!(kept == [0, 1, 2, 3] || kept == [4, 5, 6, 7], "{kept:?}");
    }

    #[test]
    fn states_that_share_all_decisions_are_halved() {
        let open: Vec<(u64, StringId)> = (0..6).map(|id| (id, 0)).collect();
        assert_eq!(kept_states(&Strings::default(), &open).len(), 3);
    }

    #[test]
    fn parked_paths_beyond_the_bound_are_in_a_file() {
        let mut parking = Parking { max_in_memory: 10, ..Parking::default() };
        for byte in 0..4u8 {
            parking.add(vec![byte; 8], 2, 0.125);
        }
        assert_eq!((parking.count(), parking.share(), parking.in_memory), (8, 0.5, 8));
        assert_eq!(parking.parts().map(|part| part[0]).collect::<Vec<u8>>(), [0, 1, 2, 3]);
        assert_eq!(parking.take(true), Some(vec![3; 8]));
        parking.add(vec![9; 8], 1, 0.125);
        assert_eq!(parking.file.as_ref().map(|(_, end)| *end), Some(24));
        assert_eq!(parking.take(false), Some(vec![0; 8]));
        assert_eq!(parking.in_memory, 0);
        assert_eq!(parking.parts().map(|part| part[0]).collect::<Vec<u8>>(), [1, 2, 9]);
    }

    #[test]
    fn batches_shrink_while_states_are_parked_again() {
        let mut parking = Parking { has_parked: true, ..Parking::default() };
        assert_eq!(parking.next_batch(), 32);
        parking.has_parked = true;
        assert_eq!(parking.next_batch(), 16);
        assert_eq!((parking.next_batch(), parking.next_batch(), parking.next_batch()), (32, 64, 64));
    }
}
