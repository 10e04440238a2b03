//! Difference constraints `x - y <= c` over integers, kept satisfied one constraint at a time.
//!
//! A constraint is an edge from `y` to `x` of length `c`; numbers that satisfy all edges ("potentials") exist
//! exactly if no cycle is negative. Adding an edge moves only the potentials that it pushes, in order of how far
//! they move, so that each moves once; if the push comes back to where it started, the edges it went along are a
//! negative cycle, and their reasons are the conflict (Cotton and Maler, 2006). Variable 0 is the number zero.
//! Edges live in persistent maps: copies share everything.

pub mod read;
pub mod why;

use crate::persist::Map;
use crate::query::Reasons;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The variable that stands for the number zero.
pub const ZERO: u32 = 0;

/// Variables from which bounds are carried on for one new constraint.
const MAX_SPREAD: usize = 16;
/// Bounds that follow from more constraints than this are not kept.
const MAX_REASONS: usize = 32;

/// A bound and what it follows from.
pub type Limit<'a> = (i128, &'a Reasons);

#[derive(Clone, Debug)]
struct Edge {
    length: i128,
    reasons: Reasons,
}

/// A set of difference constraints.
#[derive(Clone, Default)]
pub struct Differences {
    /// `edges[y][x]` is the tightest known `c` of `x - y <= c`.
    edges: Map<Map<Edge>>,
    /// `into[x]` are those `y`, without zero.
    into: Map<Map<()>>,
}

/// Numbers for variables: somebody's, with changes on top.
pub struct Potentials<F: FnMut(u32) -> i128> {
    base: F,
    changed: FxHashMap<u32, i128>,
}

impl<F: FnMut(u32) -> i128> Potentials<F> {
    /// `base` must satisfy the constraints it will be used with.
    pub fn new(base: F) -> Potentials<F> {
        Potentials { base, changed: FxHashMap::default() }
    }

    pub fn get(&mut self, x: u32) -> i128 {
        match self.changed.get(&x) {
            Some(value) => *value,
            None => (self.base)(x),
        }
    }

    /// The value of `x` when zero is zero.
    pub fn value(&mut self, x: u32) -> i128 {
        self.get(x) - self.get(ZERO)
    }

    /// Variables that have moved.
    pub fn changed(&self) -> &FxHashMap<u32, i128> {
        &self.changed
    }

    /// Goes back to how variables had moved earlier.
    pub fn move_to(&mut self, changed: FxHashMap<u32, i128>) {
        self.changed = changed;
    }
}

impl Differences {
    pub fn new() -> Differences {
        Differences::default()
    }

    /// Adds `x - y <= c` and moves the potentials so that they satisfy it; or gives the reasons of a set of
    /// constraints, the new one among them, that cannot hold together. The constraints are unchanged then.
    pub fn add<F: FnMut(u32) -> i128>(
        &mut self,
        x: u32,
        y: u32,
        c: i128,
        reasons: &Reasons,
        potentials: &mut Potentials<F>,
    ) -> Result<(), Reasons> {
        if x == y {
            return if c >= 0 { Ok(()) } else { Err(reasons.clone()) };
        }
        if self.edge(y, x).is_some_and(|edge| edge.length <= c) {
            return Ok(());
        }
        self.push(x, y, c, reasons, potentials)?;
        self.insert(x, y, c, reasons.clone());
        Ok(())
    }

    fn edge(&self, from: u32, to: u32) -> Option<&Edge> {
        self.edges.get(from)?.get(to)
    }

    fn insert(&mut self, x: u32, y: u32, c: i128, reasons: Reasons) {
        let edge = Edge { length: c, reasons };
        match self.edges.get_mut(y) {
            Some(out) => out.insert(x, edge),
            None => {
                let mut out = Map::new();
                out.insert(x, edge);
                self.edges.insert(y, out);
                None
            }
        };
        if x != ZERO && y != ZERO {
            let mut into = self.into.get(x).cloned().unwrap_or_default();
            if into.insert(y, ()).is_none() {
                self.into.insert(x, into);
            }
        }
    }

    /// Carries bounds that follow from constraints (a width is known of every variable) along edges, from some
    /// variables on: a bounded number of steps. The variables whose bounds became tighter.
    pub fn spread(&mut self, from: &[u32]) -> Vec<u32> {
        let mut tighter = Vec::new();
        let mut queue: VecDeque<u32> = from.iter().copied().filter(|v| *v != ZERO).collect();
        for _ in 0..MAX_SPREAD {
            let Some(at) = queue.pop_front() else { break };
            for (x, y, c, reasons) in self.carried(at) {
                let changed = if x == ZERO { y } else { x };
                self.insert(x, y, c, reasons);
                queue.push_back(changed);
                if !tighter.contains(&changed) {
                    tighter.push(changed);
                }
            }
        }
        tighter
    }

    /// Bounds of others, as edges, that the bounds of one variable make tighter.
    fn carried(&self, at: u32) -> Vec<(u32, u32, i128, Reasons)> {
        let mut found = Vec::new();
        let mut note = |x: u32, y: u32, c: i128, because: &Reasons, edge: &Reasons| {
            let reasons = because.union(edge);
            if reasons.as_slice().len() <= MAX_REASONS && self.edge(y, x).is_none_or(|known| c < known.length)
            {
                found.push((x, y, c, reasons));
            }
        };
        let (least, greatest) = self.bounds(at);
        if let Some((greatest, because)) = greatest.filter(|(_, because)| **because != Reasons::None) {
            for (x, edge) in self.edges.get(at).into_iter().flat_map(Map::iter).filter(|(x, _)| *x != ZERO) {
                note(x, ZERO, greatest + edge.length, because, &edge.reasons);
            }
        }
        if let Some((least, because)) = least.filter(|(_, because)| **because != Reasons::None) {
            for (y, ()) in self.into.get(at).into_iter().flat_map(Map::iter) {
                let edge = self.edge(y, at).expect("an edge that is known from its end");
                note(ZERO, y, edge.length - least, because, &edge.reasons);
            }
        }
        found
    }

    fn push<F: FnMut(u32) -> i128>(
        &self,
        x: u32,
        y: u32,
        c: i128,
        reasons: &Reasons,
        potentials: &mut Potentials<F>,
    ) -> Result<(), Reasons> {
        let from = potentials.get(y);
        let distance = from + c - potentials.get(x);
        if distance >= 0 {
            return Ok(());
        }
        // How far each variable must go down, and from which edge; those that went farthest first.
        let mut pushed: FxHashMap<u32, (i128, u32)> = FxHashMap::default();
        let mut settled: FxHashMap<u32, i128> = FxHashMap::default();
        let mut queue = BinaryHeap::new();
        pushed.insert(x, (distance, y));
        queue.push(Reverse((distance, x)));
        while let Some(Reverse((down, at))) = queue.pop() {
            if settled.contains_key(&at) || pushed[&at].0 != down {
                continue;
            }
            if at == y {
                return Err(self.cycle(x, y, reasons, &pushed));
            }
            let new = potentials.get(at) + down;
            settled.insert(at, new);
            let Some(out) = self.edges.get(at) else { continue };
            for (next, edge) in out.iter() {
                if settled.contains_key(&next) {
                    continue;
                }
                let down = new + edge.length - potentials.get(next);
                if down < pushed.get(&next).map_or(0, |(known, _)| *known) {
                    pushed.insert(next, (down, at));
                    queue.push(Reverse((down, next)));
                }
            }
        }
        potentials.changed.extend(settled);
        Ok(())
    }

    /// The reasons along the way from the new edge `y -> x` back to `y`.
    fn cycle(&self, x: u32, y: u32, new: &Reasons, pushed: &FxHashMap<u32, (i128, u32)>) -> Reasons {
        let mut reasons = new.clone();
        let mut at = y;
        while at != x {
            let before = pushed[&at].1;
            let edge = self.edge(before, at).expect("an edge that pushed");
            reasons = reasons.union(&edge.reasons);
            at = before;
        }
        reasons
    }

    /// The least and the greatest value that constraints against zero allow `x`, with their reasons.
    pub fn bounds(&self, x: u32) -> (Option<Limit<'_>>, Option<Limit<'_>>) {
        let least = self.edge(x, ZERO).map(|edge| (-edge.length, &edge.reasons));
        let greatest = self.edge(ZERO, x).map(|edge| (edge.length, &edge.reasons));
        (least, greatest)
    }

    pub fn knows(&self, x: u32) -> bool {
        self.edges.get(x).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, Graph};
    use proptest::prelude::*;

    const VARIABLES: u32 = 4;
    const RANGE: i128 = 5;

    fn satisfiable(constraints: &[(u32, u32, i128)]) -> bool {
        let total = RANGE.pow(VARIABLES);
        (0..total).any(|mut n| {
            let mut values = [0i128; VARIABLES as usize + 1];
            for value in &mut values[1..] {
                *value = n % RANGE;
                n /= RANGE;
            }
            constraints.iter().all(|&(x, y, c)| values[x as usize] - values[y as usize] <= c)
        })
    }

    proptest! {
        #[test]
        fn agrees_with_trying_everything(
            constraints in proptest::collection::vec((0..=VARIABLES, 0..=VARIABLES, -4i128..5), 1..14),
        ) {
            let mut graph = Graph::new();
            let names: Vec<Expr> = (0..constraints.len()).map(|i| graph.word(32, i as u64)).collect();
            let mut domain = Differences::new();
            let mut all = Vec::new();
            let mut potentials = Potentials::new(|_| 0);
            for v in 1..=VARIABLES {
                domain.add(v, ZERO, RANGE - 1, &Reasons::None, &mut potentials).unwrap();
                domain.add(ZERO, v, 0, &Reasons::None, &mut potentials).unwrap();
            }
            for (&(x, y, c), &name) in constraints.iter().zip(&names) {
                all.push((x, y, c));
                match domain.add(x, y, c, &Reasons::One(name), &mut potentials) {
                    Ok(()) => {
                        domain.spread(&[x, y]);
                        prop_assert!(satisfiable(&all));
                        for &(x, y, c) in &all {
                            prop_assert!(potentials.value(x) - potentials.value(y) <= c);
                        }
                    }
                    Err(reasons) => {
                        let core: Vec<_> = names.iter().zip(&constraints)
                            .filter(|(name, _)| reasons.contains(**name))
                            .map(|(_, constraint)| *constraint).collect();
                        prop_assert!(!satisfiable(&core), "the reasons alone are satisfiable: {:?}", core);
                        all.pop();
                    }
                }
            }
        }
    }
}
