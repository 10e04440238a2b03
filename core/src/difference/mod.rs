//! Difference constraints `x - y <= c` between integers.
//!
//! A constraint is an edge from `y` to `x` of length `c`. The constraints are satisfiable iff no cycle is negative
//! (`assignment.rs`). Variable 0 stands for the number zero, so that bounds are edges too; bounds from the width of
//! a term need no edge. Edges are linked into lists, newest first, and unlinked in the opposite order, which is how
//! the active path changes (`active_path.rs`).

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

/// Maximum number of variables from which bounds are propagated for one new constraint.
const MAX_PROPAGATED: usize = 16;
/// Bounds with more reasons are not kept.
const MAX_REASONS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    Signed,
    Unsigned,
}

/// Meaning of a variable: an expression of at most 64 bits as a signed or unsigned integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerTerm {
    pub expr: Expr,
    pub signedness: Signedness,
}

/// Facts about terms from outside the difference constraints: a model and sets of values.
pub trait ExternalBounds {
    /// Value of the term before any change. These values satisfy the constraints of the nearest feasible node.
    fn initial_value(&mut self, term: IntegerTerm) -> i128;

    /// Least and greatest value, if tighter than the width implies.
    fn bounds(&mut self, term: IntegerTerm) -> Option<(i128, i128)>;

    /// Reasons of those bounds.
    fn reasons(&mut self, term: IntegerTerm) -> Reasons;
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
    /// Previous edges in the lists of those that leave `y` and enter `x`. For a bound: the previous bound, at index
    /// 0.
    before: [u32; 2],
}

#[derive(Debug)]
struct Variable {
    /// `None` for zero.
    term: Option<IntegerTerm>,
    /// Least and greatest value of the width.
    range: (i128, i128),
    /// The newest edges that leave it, enter it, bound it from below and from above.
    out: u32,
    into: u32,
    least: u32,
    greatest: u32,
    /// Number of linked edges at this variable.
    links: u32,
}

impl Variable {
    fn new(term: Option<IntegerTerm>, range: (i128, i128)) -> Variable {
        Variable { term, range, out: NONE, into: NONE, least: NONE, greatest: NONE, links: 0 }
    }
}

/// A set of difference constraints, as a graph.
pub struct Differences {
    variables: Vec<Variable>,
    by_term: FxHashMap<IntegerTerm, u32>,
    edges: Vec<Edge>,
    free: Vec<u32>,
    /// Variables with linked edges, in the order of their first edges.
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
        let (by_term, edges) = (FxHashMap::default(), Vec::new());
        Differences { variables, by_term, edges, free: Vec::new(), present: Vec::new() }
    }

    /// The variable of a term; `range` are the least and the greatest value of its width.
    pub fn variable(&mut self, term: IntegerTerm, range: (i128, i128)) -> u32 {
        *self.by_term.entry(term).or_insert_with(|| {
            self.variables.push(Variable::new(Some(term), range));
            u32::try_from(self.variables.len() - 1).expect("fewer than 2^32 terms")
        })
    }

    /// The term of a variable other than zero.
    pub fn term(&self, v: u32) -> IntegerTerm {
        self.variables[v as usize].term.expect("zero is not a term")
    }

    /// The variables that constraints mention, without zero, in the order of their first edges.
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// Returns true if a constraint mentions the term.
    pub fn mentions(&self, term: IntegerTerm) -> bool {
        self.by_term.get(&term).is_some_and(|v| self.variables[*v as usize].links > 0)
    }

    /// Adds a constraint unless another one implies it. Returns the edge.
    pub fn add(&mut self, bound: Bound) -> Option<u32> {
        if self.implies(bound.x, bound.y, bound.c) {
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
                    .filter(|id| *id < assignment::WIDTH_BOUND)
                    .expect("few edges")
            }
        };
        self.link(id);
        Some(id)
    }

    /// Adds a constraint and adapts the assignment to it. Errors: the reasons of an unsatisfiable set of
    /// constraints that includes the new one; nothing changes then.
    pub fn assume(
        &mut self,
        bound: Bound,
        assignment: &mut Assignment,
        external: &mut dyn ExternalBounds,
    ) -> Result<Option<u32>, Reasons> {
        let Some(id) = self.add(bound) else { return Ok(None) };
        match assignment.satisfy(self, id, external) {
            Ok(()) => Ok(Some(id)),
            Err(reasons) => {
                self.retract([id].into_iter());
                Err(reasons)
            }
        }
    }

    /// Returns true if one edge or a width implies the constraint.
    fn implies(&self, x: u32, y: u32, c: i128) -> bool {
        if x == y {
            return c >= 0;
        }
        if y == ZERO {
            return self.greatest(x).0 <= c;
        }
        if x == ZERO {
            return -self.least(y).0 <= c;
        }
        // Walks both lists at once, so that the shorter one limits the cost.
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

    /// Unlinks the newest linked edge.
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

    /// Unlinks and drops the newest edges.
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

    /// Least value of `v` by the constraints on `v` alone, and its reasons.
    pub fn least(&self, v: u32) -> (i128, &Reasons) {
        let variable = &self.variables[v as usize];
        let edge = self.edges.get(variable.least as usize);
        edge.map_or((variable.range.0, NO_REASONS), |e| (-e.bound.c, &e.bound.reasons))
    }

    /// Greatest value of `v` by the constraints on `v` alone, and its reasons.
    pub fn greatest(&self, v: u32) -> (i128, &Reasons) {
        let variable = &self.variables[v as usize];
        let edge = self.edges.get(variable.greatest as usize);
        edge.map_or((variable.range.1, NO_REASONS), |e| (e.bound.c, &e.bound.reasons))
    }

    /// Propagates bounds other than widths along edges, starting at some variables, for a bounded number of steps.
    /// Adds the new edges to `edges`. Returns the variables with tighter bounds.
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
        for _ in 0..MAX_PROPAGATED {
            let Some(at) = queue.pop_front() else { break };
            for bound in self.propagated_bounds(at) {
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

    /// Tighter bounds of other variables that follow from the bounds of one variable.
    fn propagated_bounds(&self, at: u32) -> Vec<Bound> {
        let mut found = Vec::new();
        let mut note = |x: u32, y: u32, c: i128, because: &Reasons, edge: &Reasons| {
            if !self.implies(x, y, c) {
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

    /// Variables that constraints connect with one of `with`, including these.
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

    /// Every term has the value 2, and one of them has bounds around it.
    struct FixedBounds {
        bounded: IntegerTerm,
        bounds: (i128, i128),
        reason: Expr,
    }

    impl ExternalBounds for FixedBounds {
        fn initial_value(&mut self, _term: IntegerTerm) -> i128 {
            2
        }

        fn bounds(&mut self, term: IntegerTerm) -> Option<(i128, i128)> {
            (term == self.bounded).then_some(self.bounds)
        }

        fn reasons(&mut self, _term: IntegerTerm) -> Reasons {
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
        fn agrees_with_enumeration(
            constraints in proptest::collection::vec((0..=VARIABLES, 0..=VARIABLES, -4i128..5), 1..14),
            bounds in (0i128..3, 2i128..5),
            back in 0usize..14,
        ) {
            let mut graph = Graph::new();
            let names: Vec<Expr> = (0..constraints.len()).map(|i| graph.word(32, i as u64)).collect();
            let terms: Vec<IntegerTerm> = (0..VARIABLES)
                .map(|i| graph.var(&format!("x{i}"), Sort::Bits(8)).unwrap())
                .map(|expr| IntegerTerm { expr, signedness: Signedness::Unsigned })
                .collect();
            let mut domain = Differences::new();
            for &term in &terms {
                domain.variable(term, (0, RANGE - 1));
            }
            let mut external = FixedBounds { bounded: terms[0], bounds, reason: graph.word(8, 1) };
            let mut assignment = Assignment::default();
            // All constraints, then all again after the newer ones have been removed; values are kept.
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
            prop_assert!(terms.iter().all(|term| !domain.mentions(*term)) && domain.present.is_empty());
        }
    }
}
