//! Data races: two accesses of the same bytes by two threads, one of them a write, that nothing orders.
//!
//! Every thread counts epochs; an operation publishes the thread's clock and learns those of its objects
//! (`state/threads.rs`). An access races with an earlier one if the epoch of that is not known. Every operation on an
//! object is taken to be ordered with the next one on it, also two that only read: schedules with the other order are
//! explored as well, and show what this order hides. A symbolic address accesses all bytes that it may be at.
use crate::exec::outcome::{Class, Outcome};
use crate::exec::record::place_at;
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::run::resolve::{Location, Offset};
use crate::exec::state::State;
use crate::exec::state::object::Origin;
use crate::exec::state::threads::{Record, Threads};
use crate::program::FuncId;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a cell.
const WORD: u64 = 8;

/// Words that a range touches, and the bytes in each.
fn words(range: Range<u64>) -> impl Iterator<Item = (u32, u8)> {
    (range.start / WORD..range.end.div_ceil(WORD)).map(move |word| {
        let from = range.start.max(word * WORD) - word * WORD;
        let to = range.end.min((word + 1) * WORD) - word * WORD;
        let bytes = ((1u16 << to) - (1u16 << from)) as u8;
        (word as u32, bytes)
    })
}

/// Adds an access of the running thread. Returns an earlier access that it races with.
fn add(threads: &mut Threads, location: &Location, range: Range<u64>, access: &Record) -> Option<Record> {
    let mut found = None;
    let mut all = std::mem::take(&mut threads.accesses);
    let cells = Arc::make_mut(&mut all).entry(location.id).or_default();
    for (word, bytes) in words(range) {
        let mut record = access.clone();
        record.bytes = bytes;
        let mut cell = cells.get(word).cloned().unwrap_or_default();
        let races = |earlier: &&Record| {
            earlier.thread != record.thread
                && earlier.bytes & bytes != 0
                && (earlier.is_write || record.is_write)
                && !threads.is_before(earlier)
        };
        if found.is_none() {
            found = cell.iter().find(races).cloned();
        }
        // Accesses that race with a record that is dropped here race with the new one as well.
        cell.retain(|earlier| {
            let is_covered = earlier.bytes & !bytes == 0 && (record.is_write || !earlier.is_write);
            !(is_covered
                && (earlier.thread == record.thread || record.is_write && threads.is_before(earlier)))
        });
        cell.push(record);
        cells.insert(word, cell);
    }
    threads.accesses = all;
    found
}

impl Machine {
    /// Notes an access of `count` bytes, and reports a race with an earlier one.
    #[inline]
    pub(in crate::exec::run) fn note_access(
        &mut self,
        state: &mut State,
        location: &Location,
        count: u64,
        access: Access,
    ) {
        if state.threads.is_some() && count > 0 {
            self.check_race(state, location, count, access);
        }
    }

    fn check_race(&mut self, state: &mut State, location: &Location, count: u64, access: Access) {
        let (func, pc) = (state.frame.func, state.frame.pc);
        let Some(object) = state.memory.get(location.id) else { return };
        let is_library = match object.origin {
            Some(Origin::Global(i)) => self.program.globals[i as usize].library,
            Some(Origin::Instruction(..)) | None => object.is_internal,
        };
        let is_own = self.synchronisation.is_internal(func) && is_library;
        if object.readonly || is_own || self.synchronisation.is_inside(func) {
            return;
        }
        let range = match &location.offset {
            Offset::Known(offset) => *offset..offset + count,
            Offset::Among { set, .. } => {
                let (least, most) = set.min().zip(set.max()).expect("an offset that is possible");
                least..most + count
            }
        };
        let Some(threads) = &mut state.threads else { return };
        let record = Record {
            thread: threads.current,
            epoch: threads.epoch(),
            bytes: 0,
            is_write: access == Access::Write,
            func,
            pc,
            caller: state.frame.caller.clone(),
        };
        if let Some(earlier) = add(threads, location, range, &record) {
            self.report_race(state, location, count, access, earlier);
        }
    }

    fn report_race(
        &mut self,
        state: &mut State,
        location: &Location,
        count: u64,
        access: Access,
        earlier: Record,
    ) {
        let here = (state.frame.func, state.frame.pc);
        self.synchronisation.racing.extend([here, (earlier.func, earlier.pc)]);
        if self.synchronisation.preempt.is_none() {
            let why = "data race: other orders of these accesses are not explored (see --preempt)";
            self.decider.incomplete(state, why);
        }
        let Some(threads) = &state.threads else { return };
        if threads.is_excluded || !self.options.checks.race {
            return;
        }
        let place = self.short_place(earlier.func, earlier.pc);
        let noun = if count == 1 { "byte" } else { "bytes" };
        let message = format!(
            "data race: {} of {count} {noun} by thread {}; nothing orders it after the {} by thread {} at {place}",
            access.verb(),
            threads.current,
            if earlier.is_write { "write" } else { "read" },
            earlier.thread,
        );
        let user = state.user_frame(&self.program);
        let known = place_at(&self.program, user.func, user.pc);
        if self.decider.recorder.bugs.is_known(Class::DataRace, &known) {
            return;
        }
        if let Some(threads) = &mut state.threads {
            threads.racing = Some(Box::new(earlier));
        }
        state.faulty.set(Some(location.id));
        self.decider.report(state, Outcome::bug(Class::DataRace, message));
        state.faulty.set(None);
        if let Some(threads) = &mut state.threads {
            threads.racing = None;
        }
    }

    /// File name without folders, and line.
    pub(super) fn short_place(&self, func: FuncId, pc: u32) -> String {
        let place = place_at(&self.program, func, pc).to_string();
        place.rsplit('/').next().unwrap_or_default().to_string()
    }

    /// Have new racing instructions been found? Threads switch at them from now on.
    pub fn switch_at_races(&mut self) -> bool {
        let synchronisation = &mut self.synchronisation;
        let grew = synchronisation.racing.len() > synchronisation.switches_at.len();
        synchronisation.switches_at.clone_from(&synchronisation.racing);
        grew && synchronisation.preempt.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_range_is_split_into_words() {
        assert_eq!(words(4..8).collect::<Vec<_>>(), [(0, 0xf0)]);
        assert_eq!(words(6..17).collect::<Vec<_>>(), [(0, 0xc0), (1, 0xff), (2, 1)]);
        assert_eq!(words(8..16).collect::<Vec<_>>(), [(1, 0xff)]);
    }
}
