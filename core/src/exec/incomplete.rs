//! What keeps the exploration from being complete, counted by reason and place. A run that is stopped counts each of its
//! open states, of which there may be a million: so places stay numbers until somebody reads them.
use super::finish::place_at;
use crate::program::{FuncId, Program};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Incomplete {
    /// By reason, then by instruction.
    counts: FxHashMap<String, FxHashMap<(FuncId, u32), u64>>,
}

impl Incomplete {
    pub fn add(&mut self, why: &str, func: FuncId, pc: u32) {
        let places = match self.counts.get_mut(why) {
            Some(places) => places,
            None => self.counts.entry(why.to_string()).or_default(),
        };
        *places.entry((func, pc)).or_default() += 1;
    }

    /// Reason, line and how often, in the order of the first two.
    pub fn rows(&self, program: &Program) -> Vec<(String, String, u64)> {
        let mut rows: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (why, places) in &self.counts {
            for (&(func, pc), count) in places {
                let place = place_at(program, func, pc).to_string();
                *rows.entry((why.clone(), place)).or_default() += count;
            }
        }
        rows.into_iter().map(|((why, place), count)| (why, place, count)).collect()
    }
}
