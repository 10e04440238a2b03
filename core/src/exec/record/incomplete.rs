//! Reasons why the exploration is incomplete, counted by reason and place. A stopped run counts each of its
//! open states, up to millions: places stay numbers until a report asks for them.
use super::place_at;
use crate::program::{FuncId, Program};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

#[derive(Clone, Default)]
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

    /// Reason, place and count since `before` as numbers, sorted.
    pub fn since(&self, before: &Incomplete) -> Vec<(&str, FuncId, u32, u64)> {
        let mut rows: Vec<(&str, FuncId, u32, u64)> = Vec::new();
        for (why, places) in &self.counts {
            let old = before.counts.get(why);
            let new = |place, count: &u64| count - old.and_then(|old| old.get(place)).copied().unwrap_or(0);
            let changed = places.iter().map(|(place, count)| (place, new(place, count)));
            let changed = changed.filter(|(_, count)| *count > 0);
            rows.extend(changed.map(|(&(func, pc), count)| (why.as_str(), func, pc, count)));
        }
        rows.sort_unstable_by_key(|row| (row.0, row.1.0, row.2));
        rows
    }

    /// Adds what was counted elsewhere.
    pub fn add_count(&mut self, why: &str, func: FuncId, pc: u32, count: u64) {
        *self.counts.entry(why.to_string()).or_default().entry((func, pc)).or_default() += count;
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
