//! Difference constraints `x - y <= c` between words read as integers.
//!
//! A constraint is an edge from `y` to `x` of length `c`; numbers that satisfy all edges exist exactly if no cycle is
//! negative (`assignment.rs`). Variable 0 is the number zero, so that bounds are edges, too; what its width says of a word is
//! known without one. Edges are linked into lists, newest first, and taken out in the opposite order, which is how a
//! path is left for another (`active_path.rs`): an edge is made once and linked wherever its path is followed, and what paths
//! have in common stays as it is.

pub mod active_path;
pub mod assignment;
pub mod translate;
pub mod unsupported;

use crate::expr::Expr;
use crate::query::Reasons;
use assignment::Assignment;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The variable that stands for the number zero.
pub const ZERO: u32 = 0;
/// No edge.
const NONE: u32 = u32::MAX;
const NO_REASONS: &Reasons = &Reasons::None;

/// Variables from which bounds are carried on for one new constraint.
const MAX_SPREAD: usize = 16;
/// Bounds that follow from more constraints than this are not kept.
const MAX_REASONS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    Signed,
    Unsigned,
}

/// What a variable stands for: a term of at most 64 bits as an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerTerm {
    pub expr: Expr,
    pub signedness: Signedness,
}

/// What is known of words external the constraints.
pub trait ExternalBounds {
    /// Its number before any was moved. Those of all words satisfy the constraints that were there before.
    fn initial_value(&mut self, word: IntegerTerm) -> i128;

    /// The least and the greatest value, if more is known than the width says.
    fn bounds(&mut self, word: IntegerTerm) -> Option<(i128, i128)>;

    /// The constraints behind those bounds.
    fn reasons(&mut self, word: IntegerTerm) -> Reasons;
}

/// `x - y <= c`.
#[derive(Clone, Debug)]
pub struct Bound {
    pub x: u32,
    pub y: u32,
    pub c: i128,
    pub reasons: Reasons,
}

#[derive(Debug)]
struct Edge {
    bound: Bound,
    /// The edges before this one: of those that leave `y` and of those that enter `x`; of a bound, the bound before.
    before: [u32; 2],
}

#[derive(Debug)]
struct Variable {
    /// None for zero.
    word: Option<IntegerTerm>,
    /// What its width allows.
    range: (i128, i128),
    /// The newest edges: that leave it, that enter it, that bound it from below, from above.
    out: u32,
    into: u32,
    least: u32,
    greatest: u32,
    /// Linked edges at this variable.
    links: u32,
}

impl Variable {
    fn new(word: Option<IntegerTerm>, range: (i128, i128)) -> Variable {
        Variable { word, range, out: NONE, into: NONE, least: NONE, greatest: NONE, links: 0 }
    }
}

/// A set of difference constraints.
pub struct Differences {
    variables: Vec<Variable>,
    assignment: FxHashMap<IntegerTerm, u32>,
    edges: Vec<Edge>,
    free: Vec<u32>,
    /// Variables with linked edges, in the order in which they got the first.
    present: Vec<u32>,
}

impl Default for Differences {
    fn default() -> Differences {
        Differences::new()
    }
}

impl Differences {
    pub fn new() -> Differences {
        let variables = vec![Variable::new(None, (0, 0))];
        let (assignment, edges) = (FxHashMap::default(), Vec::new());
        Differences { variables, assignment, edges, free: Vec::new(), present: Vec::new() }
    }

    /// The variable for a word, whose width allows it the values of a range.
    pub fn variable(&mut self, word: IntegerTerm, range: (i128, i128)) -> u32 {
        *self.assignment.entry(word).or_insert_with(|| {
            self.variables.push(Variable::new(Some(word), range));
            u32::try_from(self.variables.len() - 1).expect("fewer than 2^32 words")
        })
    }

    /// The word of a variable that is not zero.
    pub fn term(&self, v: u32) -> IntegerTerm {
        self.variables[v as usize].word.expect("zero is no word")
    }

    /// The variables that constraints mention, without zero, in the order in which they came.
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// Does a constraint mention the word?
    pub fn mentions(&self, word: IntegerTerm) -> bool {
        self.assignment.get(&word).is_some_and(|v| self.variables[*v as usize].links > 0)
    }

    /// Adds a constraint unless it follows from one that is there. Gives the edge.
    pub fn add(&mut self, bound: Bound) -> Option<u32> {
        if self.has(bound.x, bound.y, bound.c) {
            return None;
        }
        let edge = Edge { bound, before: [NONE; 2] };
        let id = match self.free.pop() {
            Some(id) => {
                self.edges[id as usize] = edge;
                id
            }
            None => {
                self.edges.push(edge);
                u32::try_from(self.edges.len() - 1)
                    .ok()
                    .filter(|id| *id < assignment::WIDTH)
                    .expect("few edges")
            }
        };
        self.link(id);
        Some(id)
    }

    /// Adds a constraint and moves the numbers so that they satisfy it; or gives the reasons of a set of constraints,
    /// the new one among them, that cannot hold together. Nothing is changed then.
    pub fn assume(
        &mut self,
        bound: Bound,
        assignment: &mut Assignment,
        external: &mut dyn ExternalBounds,
    ) -> Result<Option<u32>, Reasons> {
        let Some(id) = self.add(bound) else { return Ok(None) };
        match assignment.push(self, id, external) {
            Ok(()) => Ok(Some(id)),
            Err(reasons) => {
                self.retract([id].into_iter());
                Err(reasons)
            }
        }
    }

    /// Is there an edge, or a width, that says as much?
    fn has(&self, x: u32, y: u32, c: i128) -> bool {
        if x == y {
            return c >= 0;
        }
        if y == ZERO {
            return self.greatest(x).0 <= c;
        }
        if x == ZERO {
            return -self.least(y).0 <= c;
        }
        // Along whichever list ends first.
        let (mut out, mut into) = (self.variables[y as usize].out, self.variables[x as usize].into);
        while out != NONE && into != NONE {
            let (leaves, enters) = (&self.edges[out as usize], &self.edges[into as usize]);
            if leaves.bound.x == x && leaves.bound.c <= c || enters.bound.y == y && enters.bound.c <= c {
                return true;
            }
            (out, into) = (leaves.before[0], enters.before[1]);
        }
        false
    }

    fn link(&mut self, id: u32) {
        let Differences { edges, variables, present, .. } = self;
        let edge = &mut edges[id as usize];
        let (x, y) = (edge.bound.x, edge.bound.y);
        for v in [x, y] {
            let variable = &mut variables[v as usize];
            variable.links += 1;
            if variable.links == 1 && v != ZERO {
                present.push(v);
            }
        }
        match (x, y) {
            _ if x == y => {}
            (_, ZERO) => edge.before[0] = std::mem::replace(&mut variables[x as usize].greatest, id),
            (ZERO, _) => edge.before[0] = std::mem::replace(&mut variables[y as usize].least, id),
            _ => {
                edge.before[0] = std::mem::replace(&mut variables[y as usize].out, id);
                edge.before[1] = std::mem::replace(&mut variables[x as usize].into, id);
            }
        }
    }

    /// Takes the newest of the linked edges out.
    fn unlink(&mut self, id: u32) {
        let Differences { edges, variables, present, .. } = self;
        let Edge { bound: Bound { x, y, .. }, before } = &edges[id as usize];
        let (x, y) = (*x, *y);
        match (x, y) {
            _ if x == y => {}
            (_, ZERO) => variables[x as usize].greatest = before[0],
            (ZERO, _) => variables[y as usize].least = before[0],
            _ => {
                variables[y as usize].out = before[0];
                variables[x as usize].into = before[1];
            }
        }
        for v in [y, x] {
            let variable = &mut variables[v as usize];
            variable.links -= 1;
            if variable.links == 0 && v != ZERO {
                let last = present.pop();
                debug_assert_eq!(last, Some(v), "edges are taken out newest first");
            }
        }
    }

    /// Takes edges, the newest of all, out for good.
    pub fn retract(&mut self, edges: impl DoubleEndedIterator<Item = u32>) {
        for id in edges.rev() {
            self.unlink(id);
            self.drop_edge(id);
        }
    }

    fn drop_edge(&mut self, id: u32) {
        self.edges[id as usize].bound.reasons = Reasons::None;
        self.free.push(id);
    }

    fn list(&self, first: u32, which: usize) -> impl Iterator<Item = &Bound> {
        let edge = move |id: u32| (id != NONE).then(|| &self.edges[id as usize]);
        std::iter::successors(edge(first), move |e| edge(e.before[which])).map(|e| &e.bound)
    }

    /// The least value that the constraints on `v` alone allow it, and why.
    pub fn least(&self, v: u32) -> (i128, &Reasons) {
        let variable = &self.variables[v as usize];
        let edge = self.edges.get(variable.least as usize);
        edge.map_or((variable.range.0, NO_REASONS), |e| (-e.bound.c, &e.bound.reasons))
    }

    /// The greatest, and why.
    pub fn greatest(&self, v: u32) -> (i128, &Reasons) {
        let variable = &self.variables[v as usize];
        let edge = self.edges.get(variable.greatest as usize);
        edge.map_or((variable.range.1, NO_REASONS), |e| (e.bound.c, &e.bound.reasons))
    }

    /// Carries bounds that follow from constraints (a width is known of every variable) along edges, from some
    /// variables on: a bounded number of steps. Adds to the edges; gives the variables whose bounds became tighter.
    pub fn propagate_bounds(
        &mut self,
        from: impl IntoIterator<Item = u32>,
        edges: &mut impl Extend<u32>,
    ) -> Vec<u32> {
        let mut tighter = Vec::new();
        let bounded = |v: &u32| {
            let variable = &self.variables[*v as usize];
            variable.least != NONE || variable.greatest != NONE
        };
        let mut queue: VecDeque<u32> = from.into_iter().filter(bounded).collect();
        for _ in 0..MAX_SPREAD {
            let Some(at) = queue.pop_front() else { break };
            for bound in self.carried(at) {
                let changed = if bound.x == ZERO { bound.y } else { bound.x };
                edges.extend(self.add(bound));
                queue.push_back(changed);
                if !tighter.contains(&changed) {
                    tighter.push(changed);
                }
            }
        }
        tighter
    }

    /// Bounds of others that the bounds of one variable make tighter.
    fn carried(&self, at: u32) -> Vec<Bound> {
        let mut found = Vec::new();
        let mut note = |x: u32, y: u32, c: i128, because: &Reasons, edge: &Reasons| {
            if !self.has(x, y, c) {
                let reasons = because.union(edge);
                if reasons.as_slice().len() <= MAX_REASONS {
                    found.push(Bound { x, y, c, reasons });
                }
            }
        };
        let variable = &self.variables[at as usize];
        if variable.greatest != NONE {
            let (greatest, because) = self.greatest(at);
            for edge in self.list(variable.out, 0) {
                note(edge.x, ZERO, greatest + edge.c, because, &edge.reasons);
            }
        }
        if variable.least != NONE {
            let (least, because) = self.least(at);
            for edge in self.list(variable.into, 1) {
                note(ZERO, edge.y, edge.c - least, because, &edge.reasons);
            }
        }
        found
    }

    /// Variables that constraints between words connect with one of these, themselves included.
    pub fn connected(&self, with: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut visit = |v: u32, found: &mut Vec<u32>| {
            if v != ZERO && seen.insert(v) {
                found.push(v);
            }
        };
        with.into_iter().for_each(|v| visit(v, &mut found));
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            let variable = &self.variables[at as usize];
            self.list(variable.out, 0).for_each(|edge| visit(edge.x, &mut found));
            self.list(variable.into, 1).for_each(|edge| visit(edge.y, &mut found));
            next += 1;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Graph, Sort};
    use proptest::prelude::*;

    const VARIABLES: u32 = 4;
    const RANGE: i128 = 5;

    /// Two for every word, and bounds around it for one of them.
    struct Known {
        bounded: IntegerTerm,
        bounds: (i128, i128),
        reason: Expr,
    }

    impl ExternalBounds for Known {
        fn initial_value(&mut self, _word: IntegerTerm) -> i128 {
            2
        }

        fn bounds(&mut self, word: IntegerTerm) -> Option<(i128, i128)> {
            (word == self.bounded).then_some(self.bounds)
        }

        fn reasons(&mut self, _word: IntegerTerm) -> Reasons {
            Reasons::One(self.reason)
        }
    }

    fn satisfiable(constraints: &[(u32, u32, i128)], bounds: (i128, i128)) -> bool {
        let total = RANGE.pow(VARIABLES);
        (0..total).any(|mut n| {
            let mut values = [0i128; VARIABLES as usize + 1];
            for value in &mut values[1..] {
                *value = n % RANGE;
                n /= RANGE;
            }
            (bounds.0..=bounds.1).contains(&values[1])
                && constraints.iter().all(|&(x, y, c)| values[x as usize] - values[y as usize] <= c)
        })
    }

    proptest! {
        #[test]
        fn agrees_with_trying_everything(
            constraints in proptest::collection::vec((0..=VARIABLES, 0..=VARIABLES, -4i128..5), 1..14),
            bounds in (0i128..3, 2i128..5),
            back in 0usize..14,
        ) {
            let mut graph = Graph::new();
            let names: Vec<Expr> = (0..constraints.len()).map(|i| graph.word(32, i as u64)).collect();
            let words: Vec<IntegerTerm> = (0..VARIABLES)
                .map(|i| graph.var(&format!("x{i}"), Sort::Bits(8)).unwrap())
                .map(|expr| IntegerTerm { expr, signedness: Signedness::Unsigned })
                .collect();
            let mut domain = Differences::new();
            for &word in &words {
                domain.variable(word, (0, RANGE - 1));
            }
            let mut external = Known { bounded: words[0], bounds, reason: graph.word(8, 1) };
            let mut assignment = Assignment::default();
            // All constraints, then all again after the newer ones have been taken out: numbers stay as they are.
            let mut all = Vec::new();
            let mut edges = Vec::new();
            let twice = names.iter().zip(&constraints).enumerate();
            for (i, (&name, &(x, y, c))) in twice.clone().chain(twice) {
                if i == 0 && !all.is_empty() {
                    let keep = back.min(all.len());
                    domain.retract(edges.drain(keep..).flatten().collect::<Vec<_>>().into_iter());
                    all.truncate(keep);
                }
                all.push((x, y, c));
                let bound = Bound { x, y, c, reasons: Reasons::One(name) };
                match domain.assume(bound, &mut assignment, &mut external) {
                    Ok(edge) => {
                        let mut made = Vec::from_iter(edge);
                        domain.propagate_bounds([x, y], &mut made);
                        edges.push(made);
                        prop_assert!(satisfiable(&all, bounds));
                        for &(x, y, c) in &all {
                            let value = |v| assignment.value(&domain, v, &mut external);
                            let [x, y] = [x, y].map(value);
                            prop_assert!(x - y <= c);
                        }
                    }
                    Err(reasons) => {
                        let core: Vec<_> = names.iter().zip(&constraints)
                            .filter(|(name, _)| reasons.contains(**name))
                            .map(|(_, constraint)| *constraint).collect();
                        let with = if reasons.contains(external.reason) { bounds } else { (0, RANGE - 1) };
                        prop_assert!(!satisfiable(&core, with), "the reasons alone are satisfiable: {:?}", core);
                        all.pop();
                    }
                }
            }
            domain.retract(edges.into_iter().flatten());
            prop_assert!(words.iter().all(|word| !domain.mentions(*word)) && domain.present.is_empty());
        }
    }
}
