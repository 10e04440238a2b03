//! A small CDCL solver, as MiniSat is built, that keeps the assignment at each conflict: `sat(engine=conflicts)`.
//!
//! "Partial solutions in the cache" (FSE 2024) takes the assignment when propagation meets a conflict, before the
//! conflict is analysed (its Algorithm 4, in a changed MiniSat). Neither batsat nor CaDiCaL shows it: batsat's theory
//! sees the trail between propagations and not the literals that lead to the conflict, and CaDiCaL's propagator is not
//! told of literals that are undone at once. Both offer the trail before the last decision. This solver is for the
//! baseline; it has no simplification and is slower than both.
//!
//! Two watched literals per clause, activities, saved phases (false first), first unique implication points, Luby
//! restarts, half of the learnt clauses dropped when there are many. Only inputs are decided: once all inputs of the query have a
//! value and nothing conflicts, gates follow.

use super::sample::{Sample, set_bit};
use super::sat_solver::{ClauseSink, SatResult, SatSolver, SatTask, Unit};
use crate::budget::BudgetPoller;

/// Conflicts before the first restart.
const RESTART: u64 = 100;
const DECAY: f64 = 0.95;
const RESCALE: f64 = 1e100;
/// Learnt clauses from which half are dropped; the limit grows by a tenth each time.
const FIRST_LEARNT: usize = 4_000;
const POLLS: u32 = 64;
const NO_CLAUSE: u32 = u32::MAX;

/// A variable times two, plus one if negated.
type Literal = u32;

fn literal(dimacs: i32) -> Literal {
    (dimacs.unsigned_abs() - 1) * 2 + u32::from(dimacs < 0)
}

fn variable(literal: Literal) -> usize {
    literal as usize / 2
}

fn is_positive(literal: Literal) -> bool {
    literal & 1 == 0
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Assigned {
    Open,
    True,
    False,
}

struct Clause {
    literals: Vec<Literal>,
    is_learnt: bool,
    activity: f64,
}

/// Variables by activity, the most active first.
#[derive(Default)]
struct Order {
    heap: Vec<u32>,
    /// By variable: its position in the heap, plus one.
    position: Vec<u32>,
    activity: Vec<f64>,
}

impl Order {
    fn before(&self, a: u32, b: u32) -> bool {
        self.activity[a as usize] > self.activity[b as usize]
    }

    fn place(&mut self, at: usize, variable: u32) {
        self.heap[at] = variable;
        self.position[variable as usize] = at as u32 + 1;
    }

    fn up(&mut self, mut at: usize) {
        let variable = self.heap[at];
        while at > 0 {
            let parent = self.heap[(at - 1) / 2];
            if !self.before(variable, parent) {
                break;
            }
            self.place(at, parent);
            at = (at - 1) / 2;
        }
        self.place(at, variable);
    }

    fn down(&mut self, mut at: usize) {
        let variable = self.heap[at];
        loop {
            let left = 2 * at + 1;
            if left >= self.heap.len() {
                break;
            }
            let right = left + 1;
            let child = if right < self.heap.len() && self.before(self.heap[right], self.heap[left]) {
                right
            } else {
                left
            };
            if !self.before(self.heap[child], variable) {
                break;
            }
            let moved = self.heap[child];
            self.place(at, moved);
            at = child;
        }
        self.place(at, variable);
    }

    fn insert(&mut self, variable: u32) {
        if self.position[variable as usize] == 0 {
            self.heap.push(variable);
            self.position[variable as usize] = self.heap.len() as u32;
            self.up(self.heap.len() - 1);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let first = *self.heap.first()?;
        let last = self.heap.pop().expect("not empty");
        self.position[first as usize] = 0;
        if last != first {
            self.place(0, last);
            self.down(0);
        }
        Some(first)
    }
}

pub struct Cdcl {
    clauses: Vec<Clause>,
    learnt: usize,
    max_learnt: usize,
    /// By literal: clauses that watch it.
    watches: Vec<Vec<u32>>,
    values: Vec<Assigned>,
    levels: Vec<u32>,
    reasons: Vec<u32>,
    phases: Vec<bool>,
    is_input: Vec<bool>,
    seen: Vec<bool>,
    trail: Vec<Literal>,
    /// Length of the trail at the start of each level.
    limits: Vec<usize>,
    propagated: usize,
    order: Order,
    increment: f64,
    /// Whether the clauses contradict each other.
    is_unsat: bool,
    conflicts: u64,
    propagations: u64,
    sample: Sample,
    /// The row of the current conflict.
    row: Vec<u64>,
}

impl Default for Cdcl {
    fn default() -> Cdcl {
        Cdcl::new()
    }
}

impl Cdcl {
    pub fn new() -> Cdcl {
        Cdcl {
            clauses: Vec::new(),
            learnt: 0,
            max_learnt: FIRST_LEARNT,
            watches: Vec::new(),
            values: Vec::new(),
            levels: Vec::new(),
            reasons: Vec::new(),
            phases: Vec::new(),
            is_input: Vec::new(),
            seen: Vec::new(),
            trail: Vec::new(),
            limits: Vec::new(),
            propagated: 0,
            order: Order::default(),
            increment: 1.0,
            is_unsat: false,
            conflicts: 0,
            propagations: 0,
            sample: Sample::default(),
            row: Vec::new(),
        }
    }

    fn value(&self, literal: Literal) -> Assigned {
        match (self.values[variable(literal)], literal % 2) {
            (Assigned::Open, _) => Assigned::Open,
            (Assigned::True, 0) | (Assigned::False, 1) => Assigned::True,
            (Assigned::True | Assigned::False, _) => Assigned::False,
        }
    }

    fn level(&self) -> u32 {
        self.limits.len() as u32
    }

    fn assign(&mut self, literal: Literal, reason: u32) {
        let at = variable(literal);
        self.values[at] = if is_positive(literal) { Assigned::True } else { Assigned::False };
        self.levels[at] = self.level();
        self.reasons[at] = reason;
        self.trail.push(literal);
    }

    fn backtrack(&mut self, level: u32) {
        if self.level() <= level {
            return;
        }
        let length = self.limits[level as usize];
        for literal in self.trail.split_off(length) {
            let at = variable(literal);
            self.values[at] = Assigned::Open;
            self.phases[at] = is_positive(literal);
            if self.is_input[at] {
                self.order.insert(at as u32);
            }
        }
        self.limits.truncate(level as usize);
        self.propagated = length;
    }

    /// Propagates all assigned literals; the violated clause, if there is one.
    fn propagate(&mut self) -> Option<u32> {
        while self.propagated < self.trail.len() {
            let falsified = self.trail[self.propagated] ^ 1;
            self.propagated += 1;
            self.propagations += 1;
            let mut watching = std::mem::take(&mut self.watches[falsified as usize]);
            let (mut kept, mut at, mut violated) = (0, 0, None);
            'clauses: while at < watching.len() {
                let number = watching[at];
                at += 1;
                let literals = &mut self.clauses[number as usize].literals;
                if literals[0] == falsified {
                    literals.swap(0, 1);
                }
                let first = literals[0];
                let is_true = |literal: Literal| {
                    self.values[variable(literal)]
                        == if is_positive(literal) { Assigned::True } else { Assigned::False }
                };
                let is_false = |literal: Literal| {
                    self.values[variable(literal)]
                        == if is_positive(literal) { Assigned::False } else { Assigned::True }
                };
                if !is_true(first) {
                    for other in 2..literals.len() {
                        if !is_false(literals[other]) {
                            literals.swap(1, other);
                            let watched = literals[1];
                            self.watches[watched as usize].push(number);
                            continue 'clauses;
                        }
                    }
                }
                watching[kept] = number;
                kept += 1;
                if is_false(first) {
                    violated = Some(number);
                    break;
                }
                if !is_true(first) {
                    self.assign(first, number);
                }
            }
            // Clauses after a violated one stay.
            watching.copy_within(at.., kept);
            watching.truncate(kept + watching.len() - at);
            self.watches[falsified as usize] = watching;
            if violated.is_some() {
                self.propagated = self.trail.len();
                return violated;
            }
        }
        None
    }

    /// Keeps the values of the inputs; those that are open become zero.
    fn keep_assignment(&mut self, traced: &[Literal]) {
        if !self.sample.is_enabled() {
            return;
        }
        self.row.clear();
        self.row.resize(traced.len().div_ceil(64), 0);
        for (i, &input) in traced.iter().enumerate() {
            if self.value(input) == Assigned::True {
                set_bit(&mut self.row, i as u32, true);
            }
        }
        self.sample.offer(&self.row);
    }

    fn bump(&mut self, at: usize) {
        self.order.activity[at] += self.increment;
        if self.order.activity[at] > RESCALE {
            self.order.activity.iter_mut().for_each(|activity| *activity /= RESCALE);
            self.increment /= RESCALE;
        }
        match self.order.position[at] {
            0 => {}
            position => self.order.up(position as usize - 1),
        }
    }

    /// The clause learnt from a conflict, its asserting literal first, and the level to return to.
    fn analyze(&mut self, conflict: u32) -> (Vec<Literal>, u32) {
        let mut learnt = vec![0];
        let (mut open, mut clause, mut at) = (0, conflict, self.trail.len());
        let mut asserting = None;
        loop {
            self.clauses[clause as usize].activity = self.conflicts as f64;
            for i in 0..self.clauses[clause as usize].literals.len() {
                let literal = self.clauses[clause as usize].literals[i];
                let place = variable(literal);
                if Some(literal) == asserting || self.seen[place] || self.levels[place] == 0 {
                    continue;
                }
                self.seen[place] = true;
                self.bump(place);
                if self.levels[place] == self.level() {
                    open += 1;
                } else {
                    learnt.push(literal);
                }
            }
            loop {
                at -= 1;
                if self.seen[variable(self.trail[at])] {
                    break;
                }
            }
            let literal = self.trail[at];
            self.seen[variable(literal)] = false;
            asserting = Some(literal);
            open -= 1;
            if open == 0 {
                learnt[0] = literal ^ 1;
                break;
            }
            clause = self.reasons[variable(literal)];
        }
        learnt[1..].iter().for_each(|literal| self.seen[variable(*literal)] = false);
        // The second literal is one of the level to return to, so that it is watched.
        if let Some(second) = (1..learnt.len()).max_by_key(|&i| self.levels[variable(learnt[i])]) {
            learnt.swap(1, second);
        }
        let level = learnt.get(1).map_or(0, |literal| self.levels[variable(*literal)]);
        (learnt, level)
    }

    fn attach(&mut self, literals: Vec<Literal>, is_learnt: bool) -> u32 {
        let number = self.clauses.len() as u32;
        self.watches[literals[0] as usize].push(number);
        self.watches[literals[1] as usize].push(number);
        self.learnt += usize::from(is_learnt);
        self.clauses.push(Clause { literals, is_learnt, activity: self.conflicts as f64 });
        number
    }

    /// Drops the learnt clauses that were not used for longest, at level 0.
    fn reduce(&mut self) {
        self.max_learnt += self.max_learnt / 10;
        let mut used: Vec<f64> =
            self.clauses.iter().filter(|clause| clause.is_learnt).map(|clause| clause.activity).collect();
        used.sort_unstable_by(f64::total_cmp);
        let Some(&median) = used.get(used.len() / 2) else { return };
        // At level 0 no reason is needed again.
        self.clauses
            .retain(|clause| !clause.is_learnt || clause.literals.len() < 3 || clause.activity >= median);
        self.learnt = self.clauses.iter().filter(|clause| clause.is_learnt).count();
        self.watches.iter_mut().for_each(Vec::clear);
        for (number, clause) in self.clauses.iter().enumerate() {
            self.watches[clause.literals[0] as usize].push(number as u32);
            self.watches[clause.literals[1] as usize].push(number as u32);
        }
        self.trail.iter().for_each(|literal| self.reasons[variable(*literal)] = NO_CLAUSE);
    }

    /// Assumptions that imply the negation of one that was violated.
    fn failed(&mut self, violated: Literal, assumptions: &[Literal]) -> Vec<bool> {
        let mut needed = vec![false; self.values.len()];
        needed[variable(violated)] = true;
        for &literal in self.trail.iter().rev() {
            let at = variable(literal);
            if !needed[at] || self.levels[at] == 0 || self.reasons[at] == NO_CLAUSE {
                continue;
            }
            for &other in &self.clauses[self.reasons[at] as usize].literals {
                needed[variable(other)] = true;
            }
        }
        let decided = |&literal: &Literal| {
            let at = variable(literal);
            literal == violated
                || (needed[at]
                    && self.reasons[at] == NO_CLAUSE
                    && self.levels[at] > 0
                    && self.value(literal) == Assigned::True)
        };
        assumptions.iter().map(decided).collect()
    }

    fn search(&mut self, task: &SatTask<'_>, assumptions: &[Literal], traced: &[Literal]) -> SatResult {
        let poller = BudgetPoller::new(task.budget.clone(), POLLS);
        let (start, first_work) = (self.conflicts, self.propagations);
        let (mut restarts, mut until_restart) = (0, RESTART);
        loop {
            if let Some(conflict) = self.propagate() {
                self.keep_assignment(traced);
                self.conflicts += 1;
                if self.level() == 0 {
                    self.is_unsat = true;
                    return SatResult::Unsat(vec![false; assumptions.len()]);
                }
                let (learnt, level) = self.analyze(conflict);
                self.backtrack(level);
                let first = learnt[0];
                let reason = if learnt.len() == 1 { NO_CLAUSE } else { self.attach(learnt, true) };
                self.assign(first, reason);
                self.increment /= DECAY;
                // Conflicts that follow each other directly come before the restart.
                until_restart = until_restart.saturating_sub(1);
                continue;
            }
            if self.conflicts - start >= task.conflicts || self.propagations - first_work >= task.work {
                return SatResult::ConflictLimit;
            }
            if poller.spent() {
                let why = task.budget.spent().unwrap_or(crate::budget::Why::Deadline);
                return SatResult::Stopped(why);
            }
            if until_restart == 0 {
                restarts += 1;
                until_restart = RESTART * luby(restarts);
                self.backtrack(0);
                if self.learnt > self.max_learnt {
                    self.reduce();
                }
                continue;
            }
            let mut next = None;
            while (self.level() as usize) < assumptions.len() {
                let assumption = assumptions[self.level() as usize];
                match self.value(assumption) {
                    Assigned::True => self.limits.push(self.trail.len()),
                    Assigned::False => return SatResult::Unsat(self.failed(assumption, assumptions)),
                    Assigned::Open => {
                        next = Some(assumption);
                        break;
                    }
                }
            }
            if next.is_none() {
                if traced.iter().all(|&input| self.value(input) != Assigned::Open) {
                    return SatResult::Sat(traced.iter().map(|&i| self.value(i) == Assigned::True).collect());
                }
                next = self.decision();
            }
            let next = next.expect("an input of the query is open");
            self.limits.push(self.trail.len());
            self.assign(next, NO_CLAUSE);
        }
    }

    /// The most active input that is open, in its last phase.
    fn decision(&mut self) -> Option<Literal> {
        loop {
            let at = self.order.pop()?;
            if self.values[at as usize] == Assigned::Open {
                return Some(2 * at + u32::from(!self.phases[at as usize]));
            }
        }
    }
}

/// The Luby sequence: 1 1 2 1 1 2 4 ...
fn luby(mut at: u64) -> u64 {
    loop {
        let size = 64 - at.leading_zeros();
        if at + 1 == 1 << size {
            return 1 << (size - 1);
        }
        at -= (1 << (size - 1)) - 1;
    }
}

impl ClauseSink for Cdcl {
    fn variable(&mut self, input: bool) -> i32 {
        let number = self.values.len();
        self.values.push(Assigned::Open);
        self.levels.push(0);
        self.reasons.push(NO_CLAUSE);
        self.phases.push(false);
        self.is_input.push(input);
        self.seen.push(false);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.order.activity.push(0.0);
        self.order.position.push(0);
        if input {
            self.order.insert(number as u32);
        }
        number as i32 + 1
    }

    fn clause(&mut self, literals: &[i32]) {
        self.backtrack(0);
        let mut clause: Vec<Literal> = literals.iter().map(|&l| literal(l)).collect();
        clause.sort_unstable();
        clause.dedup();
        if clause.windows(2).any(|pair| pair[0] ^ 1 == pair[1])
            || clause.iter().any(|&l| self.value(l) == Assigned::True)
        {
            return;
        }
        clause.retain(|&l| self.value(l) == Assigned::Open);
        match clause[..] {
            [] => self.is_unsat = true,
            [only] => {
                self.assign(only, NO_CLAUSE);
                self.is_unsat |= self.propagate().is_some();
            }
            _ => {
                self.attach(clause, false);
            }
        }
    }
}

impl SatSolver for Cdcl {
    const UNIT: Unit = Unit::Propagation;

    fn solve(&mut self, task: &SatTask<'_>) -> SatResult {
        self.sample.start(task.max_samples);
        self.backtrack(0);
        if self.is_unsat {
            return SatResult::Unsat(vec![false; task.assumptions.len()]);
        }
        let literals = |all: &[i32]| all.iter().map(|&l| literal(l)).collect::<Vec<Literal>>();
        let (assumptions, traced) = (literals(task.assumptions), literals(task.traced));
        let result = self.search(task, &assumptions, &traced);
        self.backtrack(0);
        result
    }

    fn conflicts(&self) -> u64 {
        self.conflicts
    }

    fn propagations(&self) -> u64 {
        self.propagations
    }

    fn take_harvest(&mut self) -> Vec<Box<[u64]>> {
        self.sample.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::random::Random;

    #[test]
    fn the_luby_sequence() {
        assert_eq!((1..16).map(luby).collect::<Vec<_>>(), [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    /// Random clauses over ten variables under assumptions, compared with all assignments; several solves per solver.
    #[test]
    fn agrees_with_enumeration() {
        let (mut sat, mut unsat, mut kept) = (0, 0, 0);
        for seed in 1..300 {
            let mut r = Random::new(seed);
            let mut solver = Cdcl::new();
            let inputs: Vec<i32> = (0..10).map(|_| solver.variable(true)).collect();
            let mut clauses: Vec<Vec<i32>> = Vec::new();
            for _ in 0..6 {
                for _ in 0..2 + r.below(8) {
                    let mut any = || inputs[r.below(10) as usize] * if r.below(2) == 0 { 1 } else { -1 };
                    let clause = vec![any(), any(), any()];
                    solver.clause(&clause);
                    clauses.push(clause);
                }
                let assumptions: Vec<i32> = (0..r.below(4))
                    .map(|_| inputs[r.below(10) as usize] * if r.below(2) == 0 { 1 } else { -1 })
                    .collect();
                let holds = |bits: u32, literal: i32| {
                    (bits >> (literal.unsigned_abs() - 1) & 1 == 1) == (literal > 0)
                };
                let model = |bits: u32, also: &[i32]| {
                    clauses.iter().all(|clause| clause.iter().any(|&l| holds(bits, l)))
                        && also.iter().all(|&l| holds(bits, l))
                };
                let budget = Budget::unlimited();
                let task = SatTask {
                    assumptions: &assumptions,
                    traced: &inputs,
                    budget: &budget,
                    conflicts: u64::MAX,
                    work: u64::MAX,
                    max_samples: 100,
                };
                let before = solver.conflicts();
                match solver.solve(&task) {
                    SatResult::Sat(values) => {
                        sat += 1;
                        let bits = values
                            .iter()
                            .enumerate()
                            .fold(0, |bits, (i, &value)| bits | u32::from(value) << i);
                        assert!(model(bits, &assumptions));
                    }
                    SatResult::Unsat(failed) => {
                        unsat += 1;
                        let core: Vec<i32> = assumptions
                            .iter()
                            .zip(&failed)
                            .filter(|(_, failed)| **failed)
                            .map(|(l, _)| *l)
                            .collect();
                        assert!((0..1024).all(|bits| !model(bits, &core)), "{assumptions:?} {failed:?}");
                    }
                    other => panic!("{other:?}"),
                }
                let rows = solver.take_harvest();
                // Every conflict gives an assignment; equal ones are kept once.
                let conflicts = solver.conflicts() - before;
                assert!(rows.len() as u64 <= conflicts && (conflicts == 0) == rows.is_empty());
                kept += rows.len();
            }
        }
        assert!(sat > 300 && unsat > 200 && kept > 300, "{sat} {unsat} {kept}");
    }

    /// The pigeonhole problem: hard enough for restarts and for dropping clauses.
    #[test]
    fn pigeons() {
        let mut solver = Cdcl::new();
        let pigeons = 8;
        let holes: Vec<Vec<i32>> =
            (0..pigeons).map(|_| (0..pigeons - 1).map(|_| solver.variable(true)).collect()).collect();
        holes.iter().for_each(|one| solver.clause(one));
        for (a, first) in holes.iter().enumerate() {
            for second in &holes[..a] {
                first.iter().zip(second).for_each(|(one, other)| solver.clause(&[-one, -other]));
            }
        }
        let budget = Budget::unlimited();
        let traced: Vec<i32> = holes.concat();
        let task = SatTask {
            assumptions: &[],
            traced: &traced,
            budget: &budget,
            conflicts: u64::MAX,
            work: u64::MAX,
            max_samples: 20,
        };
        assert_eq!(solver.solve(&task), SatResult::Unsat(Vec::new()));
        assert!(solver.conflicts() > 500);
        assert_eq!(solver.take_harvest().len(), 20);
    }
}
