//! Assignment that satisfy difference constraints, moved one constraint at a time.
//!
//! A new edge moves only the numbers that it pushes, in order of how far they move, so that each moves once; if the
//! push comes back to where it started, the edges it went along are a negative cycle, and their reasons are the
//! conflict (Cotton and Maler, 2006). That a cycle is negative does not depend on the assignment: a conflict is one
//! wherever they come from. Bounds by width and those known external the constraints count as edges.

use super::{Bound, Differences, ExternalBounds, NONE, Reasons, Variable, ZERO};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// In place of an edge: the width of a word.
pub(super) const WIDTH: u32 = u32::MAX - 2;
/// In place of an edge: bounds known external the constraints.
const EXTERNAL: u32 = u32::MAX - 1;

/// What is known of one variable's number.
#[derive(Clone, Copy, Default)]
struct Cell {
    value: i128,
    /// The value is of this epoch.
    epoch: u32,
    /// The push under way, if it reached the variable.
    round: u32,
    settled: bool,
    /// How far it must go down, and whence it is pushed.
    down: i128,
    from: u32,
    edge: u32,
}

/// Assignment for variables, zero's among them: what counts is how far they are from it. Reusable memory.
pub struct Assignment {
    cells: Vec<Cell>,
    epoch: u32,
    round: u32,
    /// What moved, with the number before.
    moves: Vec<(u32, i128)>,
    queue: BinaryHeap<Reverse<(i128, u32)>>,
    /// Are the numbers within the bounds that are known external the constraints? They are kept there, then.
    pub within_external_bounds: bool,
}

impl Default for Assignment {
    fn default() -> Assignment {
        let (cells, moves, queue) = (Vec::new(), Vec::new(), BinaryHeap::new());
        Assignment { cells, epoch: 1, round: 0, moves, queue, within_external_bounds: true }
    }
}

impl Assignment {
    /// All numbers are what is known external the constraints again.
    pub fn restart(&mut self) {
        self.moves.clear();
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.cells.clear();
            self.epoch = 1;
        }
    }

    fn grow(&mut self, domain: &Differences) {
        if self.cells.len() < domain.variables.len() {
            self.cells.resize(domain.variables.len(), Cell::default());
        }
    }

    fn get(&mut self, domain: &Differences, v: u32, external: &mut dyn ExternalBounds) -> i128 {
        self.grow(domain);
        let cell = &mut self.cells[v as usize];
        if cell.epoch != self.epoch {
            cell.epoch = self.epoch;
            cell.value = domain.variables[v as usize].word.map_or(0, |word| external.initial_value(word));
        }
        cell.value
    }

    /// A variable whose first edge was just linked starts external zero, wherever that is, and within its bounds.
    fn begin(&mut self, domain: &Differences, v: u32, external: &mut dyn ExternalBounds) {
        let variable = &domain.variables[v as usize];
        let (Some(word), 1) = (variable.word, variable.links) else { return };
        let zero = self.get(domain, ZERO, external);
        let number = zero + external.initial_value(word);
        let cell = &mut self.cells[v as usize];
        (cell.epoch, cell.value) = (self.epoch, number);
        if let Some((least, greatest)) = external.bounds(word)
            && !(least + zero..=greatest + zero).contains(&number)
        {
            self.moves.push((v, number));
            self.cells[v as usize].value = number.clamp(least + zero, greatest + zero);
        }
    }

    /// The number of a variable when zero is zero.
    pub fn value(&mut self, domain: &Differences, v: u32, external: &mut dyn ExternalBounds) -> i128 {
        match &domain.variables[v as usize] {
            Variable { word: Some(word), links: 0, .. } => external.initial_value(*word),
            _ => self.get(domain, v, external) - self.get(domain, ZERO, external),
        }
    }

    /// How many moves there were.
    pub fn moves(&self) -> usize {
        self.moves.len()
    }

    /// The variables that moved, some perhaps more than once.
    pub fn moved(&self) -> impl Iterator<Item = u32> {
        self.moves.iter().map(|(v, _)| *v)
    }

    /// Goes back to how it was after some moves.
    pub fn undo_to(&mut self, moves: usize) {
        for (v, before) in self.moves.drain(moves..).rev() {
            self.cells[v as usize].value = before;
        }
    }

    /// Moves numbers that satisfy all constraints but the last so that they satisfy that one, too; or gives the
    /// reasons of constraints that contradict it, and moves nothing.
    pub(super) fn push(
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
        self.begin(domain, x, external);
        self.begin(domain, y, external);
        let distance = self.get(domain, y, external) + c - self.get(domain, x, external);
        if distance >= 0 {
            return Ok(());
        }
        self.next_round();
        self.reach(x, distance, y, last);
        while let Some(Reverse((down, at))) = self.queue.pop() {
            let cell = &mut self.cells[at as usize];
            if cell.settled || cell.down != down {
                continue;
            }
            if at == y {
                self.queue.clear();
                self.undo_to(before);
                return Err(self.cycle(domain, bound, external));
            }
            cell.settled = true;
            self.moves.push((at, cell.value));
            cell.value += down;
            let new = cell.value;
            self.spread(domain, at, new, external);
        }
        Ok(())
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.cells.iter_mut().for_each(|cell| cell.round = 0);
            self.round = 1;
        }
    }

    /// Pushes what the edges from a variable push when it has a new number.
    fn spread(&mut self, domain: &Differences, at: u32, new: i128, external: &mut dyn ExternalBounds) {
        if at == ZERO {
            for &v in &domain.present {
                let (_, greatest) = self.ends(domain, v, external);
                self.pull(domain, v, new + greatest.0, at, greatest.1, external);
            }
            return;
        }
        let mut id = domain.variables[at as usize].out;
        while id != NONE {
            let edge = &domain.edges[id as usize];
            self.pull(domain, edge.bound.x, new + edge.bound.c, at, id, external);
            id = edge.before[0];
        }
        let (least, _) = self.ends(domain, at, external);
        self.pull(domain, ZERO, new - least.0, at, least.1, external);
    }

    /// The tightest bounds of a word, each with what stands for the edge.
    fn ends(
        &self,
        domain: &Differences,
        v: u32,
        external: &mut dyn ExternalBounds,
    ) -> ((i128, u32), (i128, u32)) {
        let variable = &domain.variables[v as usize];
        let edge = |id: u32| if id == NONE { WIDTH } else { id };
        let mut least = (domain.least(v).0, edge(variable.least));
        let mut greatest = (domain.greatest(v).0, edge(variable.greatest));
        if self.within_external_bounds
            && let Some((low, high)) = external.bounds(domain.term(v))
        {
            if low > least.0 {
                least = (low, EXTERNAL);
            }
            if high < greatest.0 {
                greatest = (high, EXTERNAL);
            }
        }
        (least, greatest)
    }

    /// A variable may be at most a number, by an edge.
    fn pull(
        &mut self,
        domain: &Differences,
        v: u32,
        most: i128,
        from: u32,
        edge: u32,
        external: &mut dyn ExternalBounds,
    ) {
        let down = most - self.get(domain, v, external);
        if down < 0 {
            self.reach(v, down, from, edge);
        }
    }

    fn reach(&mut self, v: u32, down: i128, from: u32, edge: u32) {
        let cell = &mut self.cells[v as usize];
        if cell.round == self.round && (cell.settled || cell.down <= down) {
            return;
        }
        *cell = Cell { round: self.round, settled: false, down, from, edge, ..*cell };
        self.queue.push(Reverse((down, v)));
    }

    /// The reasons along the way from the new edge `y -> x` back to `y`.
    fn cycle(&self, domain: &Differences, new: &Bound, external: &mut dyn ExternalBounds) -> Reasons {
        let mut reasons = new.reasons.clone();
        let mut at = new.y;
        while at != new.x {
            let Cell { from, edge, .. } = self.cells[at as usize];
            reasons = match edge {
                WIDTH => reasons,
                EXTERNAL => {
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
