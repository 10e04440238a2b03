//! An integer assignment that satisfies difference constraints, updated one constraint at a time.
//!
//! A new edge lowers only the values that violate it, in order of distance, so that each value changes once. If the
//! relaxation reaches the start of the new edge, the edges on the way form a negative cycle and their reasons are
//! the conflict (Cotton and Maler, 2006). Whether a cycle is negative does not depend on the assignment, so
//! conflicts are sound for any start values. Bounds from the width of a term and external bounds count as edges.

use super::{Bound, Differences, ExternalBounds, NONE, Reasons, Variable, ZERO};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Stands for an edge: the width of a term.
pub(super) const WIDTH_BOUND: u32 = u32::MAX - 2;
/// Stands for an edge: an external bound.
const EXTERNAL_BOUND: u32 = u32::MAX - 1;

/// State of one variable.
#[derive(Clone, Copy, Default)]
struct VariableState {
    value: i128,
    /// Epoch in which `value` was set.
    epoch: u32,
    /// Round of relaxation that last reached the variable.
    round: u32,
    settled: bool,
    /// Pending decrease, and the variable and edge that cause it.
    decrease: i128,
    from: u32,
    edge: u32,
}

/// Values of the variables. The value of `ZERO` may change too: only differences from it count. Its memory is
/// reused.
pub struct Assignment {
    states: Vec<VariableState>,
    epoch: u32,
    round: u32,
    /// Changed variables with their values before.
    moves: Vec<(u32, i128)>,
    queue: BinaryHeap<Reverse<(i128, u32)>>,
    /// Are the values within the external bounds? If so, they are kept there.
    pub within_external_bounds: bool,
}

impl Default for Assignment {
    fn default() -> Assignment {
        let (states, moves, queue) = (Vec::new(), Vec::new(), BinaryHeap::new());
        Assignment { states, epoch: 1, round: 0, moves, queue, within_external_bounds: true }
    }
}

impl Assignment {
    /// Resets all values to their initial ones.
    pub fn restart(&mut self) {
        self.moves.clear();
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.states.clear();
            self.epoch = 1;
        }
    }

    fn grow(&mut self, domain: &Differences) {
        if self.states.len() < domain.variables.len() {
            self.states.resize(domain.variables.len(), VariableState::default());
        }
    }

    fn get(&mut self, domain: &Differences, v: u32, external: &mut dyn ExternalBounds) -> i128 {
        self.grow(domain);
        let state = &mut self.states[v as usize];
        if state.epoch != self.epoch {
            state.epoch = self.epoch;
            state.value = domain.variables[v as usize].term.map_or(0, |term| external.initial_value(term));
        }
        state.value
    }

    /// Initialises a variable whose first edge was just linked: its initial value relative to zero, moved into its
    /// external bounds.
    fn initialise(&mut self, domain: &Differences, v: u32, external: &mut dyn ExternalBounds) {
        let variable = &domain.variables[v as usize];
        let (Some(term), 1) = (variable.term, variable.links) else { return };
        let zero = self.get(domain, ZERO, external);
        let value = zero + external.initial_value(term);
        let state = &mut self.states[v as usize];
        (state.epoch, state.value) = (self.epoch, value);
        if let Some((least, greatest)) = external.bounds(term)
            && !(least + zero..=greatest + zero).contains(&value)
        {
            self.moves.push((v, value));
            self.states[v as usize].value = value.clamp(least + zero, greatest + zero);
        }
    }

    /// Value of a variable relative to zero.
    pub fn value(&mut self, domain: &Differences, v: u32, external: &mut dyn ExternalBounds) -> i128 {
        match &domain.variables[v as usize] {
            Variable { term: Some(term), links: 0, .. } => external.initial_value(*term),
            _ => self.get(domain, v, external) - self.get(domain, ZERO, external),
        }
    }

    /// Number of changes so far.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// The changed variables; a variable may occur more than once.
    pub fn moved(&self) -> impl Iterator<Item = u32> {
        self.moves.iter().map(|(v, _)| *v)
    }

    /// Undoes all changes after the first `moves`.
    pub fn undo_to(&mut self, moves: usize) {
        for (v, before) in self.moves.drain(moves..).rev() {
            self.states[v as usize].value = before;
        }
    }

    /// Changes values that satisfy all constraints but `last` so that they satisfy it too. Errors: the reasons of
    /// constraints that contradict it; nothing changes then.
    pub(super) fn satisfy(
        &mut self,
        domain: &Differences,
        last: u32,
        external: &mut dyn ExternalBounds,
    ) -> Result<(), Reasons> {
        let bound = &domain.edges[last as usize].bound;
        let Bound { x, y, c, .. } = *bound;
        if x == y {
            return if c >= 0 { Ok(()) } else { Err(bound.reasons.clone()) };
        }
        let before = self.moves.len();
        self.initialise(domain, x, external);
        self.initialise(domain, y, external);
        let distance = self.get(domain, y, external) + c - self.get(domain, x, external);
        if distance >= 0 {
            return Ok(());
        }
        self.next_round();
        self.enqueue(x, distance, y, last);
        while let Some(Reverse((decrease, at))) = self.queue.pop() {
            let state = &mut self.states[at as usize];
            if state.settled || state.decrease != decrease {
                continue;
            }
            if at == y {
                self.queue.clear();
                self.undo_to(before);
                return Err(self.cycle_reasons(domain, bound, external));
            }
            state.settled = true;
            self.moves.push((at, state.value));
            state.value += decrease;
            let new = state.value;
            self.relax_from(domain, at, new, external);
        }
        Ok(())
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.states.iter_mut().for_each(|state| state.round = 0);
            self.round = 1;
        }
    }

    /// Relaxes the edges that leave a variable with a new value.
    fn relax_from(&mut self, domain: &Differences, at: u32, new: i128, external: &mut dyn ExternalBounds) {
        if at == ZERO {
            for &v in &domain.present {
                let (_, greatest) = self.tightest_bounds(domain, v, external);
                self.lower(domain, v, new + greatest.0, at, greatest.1, external);
            }
            return;
        }
        let mut id = domain.variables[at as usize].out;
        while id != NONE {
            let edge = &domain.edges[id as usize];
            self.lower(domain, edge.bound.x, new + edge.bound.c, at, id, external);
            id = edge.before[0];
        }
        let (least, _) = self.tightest_bounds(domain, at, external);
        self.lower(domain, ZERO, new - least.0, at, least.1, external);
    }

    /// The tightest bounds of a term, each with its edge or what stands for one.
    fn tightest_bounds(
        &self,
        domain: &Differences,
        v: u32,
        external: &mut dyn ExternalBounds,
    ) -> ((i128, u32), (i128, u32)) {
        let variable = &domain.variables[v as usize];
        let edge = |id: u32| if id == NONE { WIDTH_BOUND } else { id };
        let mut least = (domain.least(v).0, edge(variable.least));
        let mut greatest = (domain.greatest(v).0, edge(variable.greatest));
        if self.within_external_bounds
            && let Some((low, high)) = external.bounds(domain.term(v))
        {
            if low > least.0 {
                least = (low, EXTERNAL_BOUND);
            }
            if high < greatest.0 {
                greatest = (high, EXTERNAL_BOUND);
            }
        }
        (least, greatest)
    }

    /// Lowers a variable to `most` if its value is above it.
    fn lower(
        &mut self,
        domain: &Differences,
        v: u32,
        most: i128,
        from: u32,
        edge: u32,
        external: &mut dyn ExternalBounds,
    ) {
        let decrease = most - self.get(domain, v, external);
        if decrease < 0 {
            self.enqueue(v, decrease, from, edge);
        }
    }

    fn enqueue(&mut self, v: u32, decrease: i128, from: u32, edge: u32) {
        let state = &mut self.states[v as usize];
        if state.round == self.round && (state.settled || state.decrease <= decrease) {
            return;
        }
        *state = VariableState { round: self.round, settled: false, decrease, from, edge, ..*state };
        self.queue.push(Reverse((decrease, v)));
    }

    /// Reasons of the edges from the new edge `y -> x` back to `y`.
    fn cycle_reasons(&self, domain: &Differences, new: &Bound, external: &mut dyn ExternalBounds) -> Reasons {
        let mut reasons = new.reasons.clone();
        let mut at = new.y;
        while at != new.x {
            let VariableState { from, edge, .. } = self.states[at as usize];
            reasons = match edge {
                WIDTH_BOUND => reasons,
                EXTERNAL_BOUND => {
                    let v = if at == ZERO { from } else { at };
                    reasons.union(&external.reasons(domain.term(v)))
                }
                _ => reasons.union(&domain.edges[edge as usize].bound.reasons),
            };
            at = from;
        }
        reasons
    }
}
