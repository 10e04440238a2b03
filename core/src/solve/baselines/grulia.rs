//! The baseline `reuse:grulia`: Green's service Grulia.
//!
//! Answers: sat if the model of one of the ten nearest satisfiable queries satisfies this one; unsat if its constraints
//! include the core of one of the ten nearest unsatisfiable queries. Near means a similar distance from being satisfied
//! by three reference assignments.
//! Why sound: models are evaluated before they are returned, cores are compared as expressions.
//! When it helps: a baseline for `reuse` and `solutions`.
//! Cost: evaluates the query under the references and up to ten candidates.
//! Source: Grulia, after Utopia (ICSE 2017): K = 10, references -10000, 0 and 100, distances over integers.

use crate::expr::bits::{mask, signed};
use crate::expr::{Expr, Graph, Model, Op};
use crate::query::{Alive, Answer, Core, Query};
use crate::solve::{Layer, Rest};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

const NEAREST: usize = 10;
const REFERENCES: [i64; 3] = [-10_000, 0, 100];
/// Models, or cores, are cleared when there are more.
const MAX_ENTRIES: usize = 100_000;

/// Ordered by distance and insertion.
type Repository<V> = BTreeMap<(u128, u64), V>;

#[derive(Default)]
pub struct Grulia {
    models: Repository<(Model, usize)>,
    cores: Repository<Vec<Expr>>,
    /// The distance of each expression from each reference.
    distances: FxHashMap<Expr, [i128; 3]>,
    inserted: u64,
    sat: u64,
    unsat: u64,
}

impl Grulia {
    pub fn new() -> Grulia {
        Grulia::default()
    }

    /// The mean distance of a conjunction: the sum over its parts.
    fn distance(&mut self, graph: &Graph, all: &[Expr]) -> u128 {
        let mut sums = [0i128; 3];
        for &e in all {
            let distance = self.expression(graph, e);
            sums.iter_mut().zip(distance).for_each(|(sum, d)| *sum = sum.saturating_add(d));
        }
        let total = sums.iter().fold(0i128, |total, sum| total.saturating_add(*sum));
        total.unsigned_abs() / REFERENCES.len() as u128
    }

    fn expression(&mut self, graph: &Graph, root: Expr) -> [i128; 3] {
        let mut todo = Vec::new();
        graph.post_order(&[root], |e| todo.push(e));
        for e in todo {
            if !self.distances.contains_key(&e) {
                let kids = graph.kids(e);
                let kid = |i: usize, at: usize| self.distances[&kids[i]][at];
                let distance = std::array::from_fn(|at| distance(graph, e, REFERENCES[at], |i| kid(i, at)));
                self.distances.insert(e, distance);
            }
        }
        self.distances[&root]
    }
}

/// The distance of a condition, or the value of a number. 0 for operators that Grulia has no rule for.
fn distance(graph: &Graph, e: Expr, reference: i64, kid: impl Fn(usize) -> i128) -> i128 {
    let width = graph.width(e);
    let number = |word: u64| i128::from(signed(width, word & mask(width)));
    match graph.op(e) {
        Op::Const => graph.const_word(e).map_or(0, number),
        // Every read counts as a variable.
        Op::Var | Op::Read if !graph.is_array(e) && width <= 64 => number(reference as u64),
        Op::Ult | Op::Slt if kid(0) >= kid(1) => kid(0).saturating_sub(kid(1)).saturating_add(1),
        Op::Ule | Op::Sle if kid(0) > kid(1) => kid(0).saturating_sub(kid(1)),
        Op::Ult | Op::Slt | Op::Ule | Op::Sle => 0,
        Op::Eq if !graph.is_array(graph.kid(e, 0)) => kid(0).saturating_sub(kid(1)).saturating_abs(),
        Op::Not if graph.is_bool(e) => i128::from(kid(0) == 0),
        Op::And | Op::Or | Op::Add => kid(0).saturating_add(kid(1)),
        Op::Mul => kid(0).saturating_mul(kid(1)),
        Op::Sub => kid(1).saturating_abs().saturating_sub(kid(0).saturating_abs()).saturating_abs(),
        Op::URem | Op::SRem => kid(0).checked_rem_euclid(kid(1)).unwrap_or(0),
        Op::ZExt | Op::SExt => kid(0),
        // The paper defines no distance for other operators.
        _ => 0,
    }
}

/// The entries at the least distance from the anchor, nearest first.
fn nearest<V>(repository: &Repository<V>, anchor: u128) -> Vec<&V> {
    let mut above = repository.range((anchor, 0)..).peekable();
    let mut below = repository.range(..(anchor, 0)).rev().peekable();
    let mut found = Vec::new();
    while found.len() < NEAREST {
        let next = match (above.peek(), below.peek()) {
            (None, None) => break,
            (Some(_), None) => above.next(),
            (None, Some(_)) => below.next(),
            (Some((a, _)), Some((b, _))) if a.0 - anchor <= anchor - b.0 => above.next(),
            (Some(_), Some(_)) => below.next(),
        };
        found.extend(next.map(|(_, entry)| entry));
    }
    found
}

impl Layer for Grulia {
    fn name(&self) -> &str {
        "reuse:grulia"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        let constraints = query.constraints(rest.tree);
        let all: Vec<Expr> = constraints.iter().copied().chain([query.condition]).collect();
        let anchor = self.distance(rest.graph, &all);
        let mut atoms: Vec<_> = all.iter().flat_map(|&e| rest.supports.of(rest.graph, e).to_vec()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        for (model, size) in nearest(&self.models, anchor) {
            // Entries with fewer variables than the query are skipped.
            if *size >= atoms.len() && rest.satisfies(query, model).is_ok() {
                self.sat += 1;
                return Answer::Sat(model.clone());
            }
        }
        for core in nearest(&self.cores, anchor) {
            if core.iter().all(|e| all.contains(e)) {
                self.unsat += 1;
                let needed = constraints.iter().copied().filter(|e| core.contains(e)).collect();
                let condition = core.contains(&query.condition);
                return Answer::Unsat(Core { constraints: needed, condition });
            }
        }
        let answer = rest.check(query).answer;
        self.inserted += 1;
        match &answer {
            Answer::Sat(model) => {
                if self.models.len() >= MAX_ENTRIES {
                    self.models.clear();
                }
                self.models.insert((anchor, self.inserted), (model.clone(), atoms.len()));
            }
            Answer::Unsat(core) => {
                if self.cores.len() >= MAX_ENTRIES {
                    self.cores.clear();
                }
                let own = core.condition.then_some(query.condition);
                let core = core.constraints.as_slice().iter().copied().chain(own).collect();
                self.cores.insert((anchor, self.inserted), core);
            }
            Answer::Unknown(_) => {}
        }
        answer
    }

    fn sweep(&mut self, alive: &Alive<'_>) {
        self.distances.retain(|e, _| alive.expr(*e));
        self.cores.retain(|_, core| core.iter().all(|&e| alive.expr(e)));
        self.models.values_mut().for_each(|(model, _)| model.retain(|variable| alive.expr(variable)));
    }

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn forget(&mut self) {
        *self = Grulia { inserted: self.inserted, sat: self.sat, unsat: self.unsat, ..Grulia::default() };
    }

    fn counters(&self) -> Vec<(String, f64)> {
        [("sat_near", self.sat), ("unsat_near", self.unsat)]
            .map(|(name, count)| (name.to_string(), count as f64))
            .to_vec()
    }
}
