//! Reasons why the exploration is incomplete, counted by reason and place. A stopped run counts each of its
//! open states, up to millions: places stay numbers until a report asks for them.
use super::place_at;
use crate::program::{FuncId, Program};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

#[derive(Default)]
pub struct Incomplete {
    /// Counts by reason, then by instruction.
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

    pub fn contains(&self, why: &str, func: FuncId, pc: u32) -> bool {
        self.counts.get(why).is_some_and(|places| places.contains_key(&(func, pc)))
    }

    /// Reason, place and count, sorted by the first two.
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
