//! The baseline `intervals:paper`: the technique of PARTI, as published.
//!
//! Answers: slices in which every constraint is over one word read, with the operators that the paper learns from, and
//! conditions over such reads, with the operators that it folds. Passes on constraints with two reads, other operators
//! and overlapping reads. Learns again for each query; tries one value per read.
//! Why sound: as `intervals`. Errors of the paper's text (docs/intervals.md) are not followed. Conditions that mention a
//! read twice are passed on, since folding is exact only if none occurs twice.
//! When it helps: a baseline for `intervals`.
//! Cost: the whole slice for each query.
//! Source: PARTI (ASE 2018), Table 2; docs/intervals.md says where this differs.

use crate::expr::{ArithOp, ArrayOp, BitsOp, Expr, Family, Graph, Op, ShapeOp, ShiftOp};
use crate::interval::{Facts, GuessStrategy, Inventory, guess_model};
use crate::query::{Alive, Answer, Core, Query};
use crate::solve::{Layer, Rest};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Limit on nodes folded and visited for one query; the paper sets none.
const MAX_EFFORT: usize = 1 << 16;

#[derive(Default)]
pub struct Parti {
    passed: BTreeMap<&'static str, u64>,
}

/// Operators that constraints are learnt through. `Shl` is a multiplication by a power of two.
fn learns(op: Op) -> bool {
    match op.family() {
        Family::Leaf(_) | Family::Compare(_) => true,
        Family::Array(op) => op == ArrayOp::Read,
        Family::Bits(op) => op == BitsOp::Not,
        Family::Arith(op) => matches!(op, ArithOp::Add | ArithOp::Sub | ArithOp::Mul),
        Family::Shift(op) => op == ShiftOp::Shl,
        Family::Shape(op) => matches!(op, ShapeOp::ZExt | ShapeOp::SExt),
        Family::Float(_) => false,
    }
}

/// Operators that conditions are folded through.
fn folds(op: Op) -> bool {
    learns(op) || matches!(op, Op::Extract | Op::LShr | Op::UDiv)
}

/// Checks that every operator of `e` is allowed and that each node that is not a constant occurs once.
fn allowed(graph: &Graph, e: Expr, allows: fn(Op) -> bool) -> Result<(), &'static str> {
    let mut uses: FxHashMap<Expr, u32> = FxHashMap::default();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        let count = uses.entry(e).or_default();
        *count += 1;
        if *count > 1 {
            if !graph.is_const(e) {
                return Err("twice");
            }
            continue;
        }
        if !allows(graph.op(e)) || graph.is_array(e) || graph.width(e) > 64 {
            return Err("operator");
        }
        if graph.op(e) != Op::Read {
            stack.extend(graph.kids(e));
        }
    }
    Ok(())
}

impl Parti {
    pub fn new() -> Parti {
        Parti::default()
    }

    fn decide(&mut self, query: &Query, rest: &mut Rest<'_>) -> Result<Answer, &'static str> {
        rest.learner.set_effort(MAX_EFFORT);
        let mut facts = Facts::default();
        let mut leaves = Vec::new();
        for &constraint in query.constraints(rest.tree).iter() {
            allowed(rest.graph, constraint, learns)?;
            let inventory = Inventory::of(rest.graph, constraint);
            if inventory.leaves.len() != 1 || !inventory.complete {
                return Err("several");
            }
            leaves.extend(inventory.leaves);
            if !rest.learner.summary(rest.graph, constraint).implied.exact {
                return Err("inexact");
            }
            rest.learner.learn(rest.graph, &mut facts, constraint);
        }
        allowed(rest.graph, query.condition, folds)?;
        let inventory = Inventory::of(rest.graph, query.condition);
        if !inventory.complete {
            return Err("array");
        }
        leaves.extend(inventory.leaves);
        leaves.sort_unstable_by_key(|r| (r.base, r.low, r.width));
        leaves.dedup();
        if leaves.windows(2).any(|w| w[0].base == w[1].base && w[1].low < w[0].end()) {
            return Err("overlap");
        }
        let truth = rest.learner.values(rest.graph, &facts, query.condition);
        if let Some(because) = &facts.infeasible {
            return Ok(Answer::Unsat(Core { constraints: because.flatten(), condition: false }));
        }
        if !truth.set.contains(1) {
            return Ok(Answer::Unsat(Core { constraints: truth.reasons.flatten(), condition: true }));
        }
        rest.learner.learn(rest.graph, &mut facts, query.condition);
        let ancestor = rest.tree.feasible_ancestor(query.path);
        let base = rest.tree.model(ancestor).expect("a feasible node").clone();
        let about: Vec<u32> = leaves.into_iter().map(|leaf| rest.learner.ranges.number(leaf)).collect();
        let guess = guess_model(rest.learner, rest.graph, &facts, &base, &about, GuessStrategy::Current);
        match guess {
            Some((model, _)) if rest.satisfies(query, &model).is_ok() => Ok(Answer::Sat(model)),
            Some(_) | None => Err("model"),
        }
    }
}

impl Layer for Parti {
    fn name(&self) -> &str {
        "intervals:paper"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        match self.decide(query, rest) {
            Ok(answer) => answer,
            Err(why) => {
                *self.passed.entry(why).or_default() += 1;
                rest.check(query).answer
            }
        }
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}

    fn counters(&self) -> Vec<(String, f64)> {
        self.passed.iter().map(|(why, count)| (format!("passed_{why}"), *count as f64)).collect()
    }
}
