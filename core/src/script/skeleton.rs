//! Boolean skeleton: one-bit words become booleans, and constraints are used inside other constraints.
//!
//! Scripts that come from circuits state everything in one assertion over words of one bit (`x & y = 1`). Their
//! operators `~`, `&`, `|`, `^` and `ite` are those of booleans, so `x & y = 1` is two constraints. A *fact* is a
//! constraint, which is true wherever it occurs in another constraint, or `t = c`, where `t` is `c` elsewhere. A comparison
//! with zero that asks for the sign is an equation of the sign bit.
//!
//! Equivalent: a fact is kept, with the facts about smaller terms replaced in it. So by induction on the size of
//! terms each fact holds in every model of the result.

use crate::expr::{Expr, Graph, Op};
use rustc_hash::FxHashMap;

/// Rewrites of the skeleton of one set of constraints.
#[derive(Default)]
pub(super) struct Skeleton {
    /// Number of words that became booleans, and of constraints that facts changed.
    pub(super) booleans: u64,
    pub(super) facts: u64,
}

impl Skeleton {
    /// The constraints with one-bit words as booleans.
    pub(super) fn with_booleans(&mut self, graph: &mut Graph, constraints: &[Expr]) -> Vec<Expr> {
        let mut rewritten: FxHashMap<Expr, Expr> = FxHashMap::default();
        let mut booleans = FxHashMap::default();
        let mut order = Vec::new();
        graph.post_order(constraints, |e| order.push(e));
        for e in order {
            let kids = graph.kids(e);
            let new: Vec<Expr> = kids.iter().map(|kid| rewritten[kid]).collect();
            let mut value = if new[..] == kids[..] { e } else { graph.rebuild(e, &new) };
            if let Some(sign) = sign_bit(graph, value) {
                value = sign;
                self.booleans += 1;
            }
            if graph.op(value) == Op::Eq && is_bit(graph, graph.kid(value, 0)) {
                let sides = [graph.kid(value, 0), graph.kid(value, 1)];
                if sides.iter().any(|&side| is_boolean_operator(graph, side)) {
                    let [a, b] = sides.map(|side| self.boolean(graph, &mut booleans, side));
                    value = graph.eq(a, b);
                }
            }
            rewritten.insert(e, value);
        }
        constraints.iter().map(|constraint| rewritten[constraint]).collect()
    }

    /// The boolean that a one-bit word is 1.
    fn boolean(&mut self, graph: &mut Graph, booleans: &mut FxHashMap<Expr, Expr>, word: Expr) -> Expr {
        let mut stack = vec![(word, false)];
        while let Some((e, opened)) = stack.pop() {
            if booleans.contains_key(&e) {
                continue;
            }
            let kids = graph.kids(e).to_vec();
            let words: &[Expr] = match graph.op(e) {
                Op::Not | Op::And | Op::Or | Op::Xor => &kids,
                Op::Ite => &kids[1..],
                _ => &[],
            };
            if !opened && !words.is_empty() {
                stack.push((e, true));
                stack.extend(words.iter().map(|&kid| (kid, false)));
                continue;
            }
            let new: Vec<Expr> = words.iter().map(|kid| booleans[kid]).collect();
            let value = match graph.op(e) {
                Op::Not => graph.not(new[0]),
                Op::And => graph.and(new[0], new[1]),
                Op::Or => graph.or(new[0], new[1]),
                Op::Xor => graph.xor(new[0], new[1]),
                Op::Ite => graph.ite(kids[0], new[0], new[1]),
                _ => {
                    let one = graph.word(1, 1);
                    graph.eq(e, one)
                }
            };
            self.booleans += u64::from(!words.is_empty());
            booleans.insert(e, value);
        }
        booleans[&word]
    }

    /// The constraints with facts used inside other constraints.
    pub(super) fn with_facts(&mut self, graph: &mut Graph, constraints: &[Expr]) -> Vec<Expr> {
        let mut facts: FxHashMap<Expr, Expr> = FxHashMap::default();
        // The term that each constraint is a fact about.
        let mut terms = Vec::with_capacity(constraints.len());
        for &constraint in constraints {
            let (term, value) = match graph.op(constraint) {
                Op::Not => (graph.kid(constraint, 0), graph.boolean(false)),
                Op::Eq => {
                    let (a, b) = (graph.kid(constraint, 0), graph.kid(constraint, 1));
                    if graph.is_const(b) {
                        (a, b)
                    } else if graph.is_const(a) {
                        (b, a)
                    } else {
                        (constraint, graph.boolean(true))
                    }
                }
                _ => (constraint, graph.boolean(true)),
            };
            let is_fact = !graph.is_const(term) && !facts.contains_key(&term);
            if is_fact {
                facts.insert(term, value);
                if term == constraint {
                    let opposite = graph.not(constraint);
                    facts.entry(opposite).or_insert(graph.boolean(false));
                }
            }
            terms.push(is_fact.then_some(term));
        }
        let mut replaced = facts.clone();
        let mut result = Vec::with_capacity(constraints.len());
        for (&constraint, &term) in constraints.iter().zip(&terms) {
            let new = match term {
                None => graph.substitute_cached(constraint, &mut replaced),
                Some(term) => {
                    // The fact itself is kept.
                    let kids = graph.kids(term);
                    let below: Vec<Expr> =
                        kids.iter().map(|&kid| graph.substitute_cached(kid, &mut replaced)).collect();
                    if below[..] == kids[..] {
                        constraint
                    } else {
                        let kept = graph.rebuild(term, &below);
                        graph.eq(kept, facts[&term])
                    }
                }
            };
            self.facts += u64::from(new != constraint);
            result.push(new);
        }
        result
    }
}

/// `x < 0` as an equation of the sign bit, and `0 <= x`: scripts write both, and equal conditions should be one.
fn sign_bit(graph: &mut Graph, e: Expr) -> Option<Expr> {
    let (x, zero, sign) = match graph.op(e) {
        Op::Slt => (graph.kid(e, 0), graph.kid(e, 1), 1),
        Op::Sle => (graph.kid(e, 1), graph.kid(e, 0), 0),
        _ => return None,
    };
    if !graph.const_bits(zero).is_some_and(|bits| bits.is_zero()) {
        return None;
    }
    let (bit, sign) = (graph.extract(x, graph.width(x) - 1, 1), graph.word(1, sign));
    Some(graph.eq(bit, sign))
}

fn is_bit(graph: &Graph, e: Expr) -> bool {
    !graph.is_bool(e) && !graph.is_array(e) && graph.width(e) == 1
}

fn is_boolean_operator(graph: &Graph, e: Expr) -> bool {
    matches!(graph.op(e), Op::Not | Op::And | Op::Or | Op::Xor | Op::Ite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Bits, Evaluator, Model, Sort};

    /// Random constraints over bits, words of two bits and booleans have the same models before and after, each step
    /// alone and both.
    #[test]
    fn models_are_the_same() {
        let (mut booleans, mut facts) = (0, 0);
        for seed in 0..300u64 {
            let (mut state, mut g) = (seed, Graph::new());
            let mut below = |n: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % n
            };
            let bits = ["b", "c", "d"].map(|name| g.var(name, Sort::Bits(1)).unwrap());
            let words = ["x", "y"].map(|name| g.var(name, Sort::Bits(2)).unwrap());
            let (mut pool, mut conditions) = (bits.to_vec(), Vec::new());
            let one = g.word(1, 1);
            pool.push(one);
            for _ in 0..12 {
                let [a, b] = [(); 2].map(|()| pool[below(pool.len() as u64) as usize]);
                let two = g.word(2, below(4));
                let p = match below(5) {
                    0 => g.eq(words[0], two),
                    1 => g.ult(words[1], two),
                    2 => g.slt(words[1], two),
                    3 => g.sle(two, words[0]),
                    _ => g.eq(a, b),
                };
                conditions.push(p);
                let e = match below(5) {
                    0 => g.and(a, b),
                    1 => g.or(a, b),
                    2 => g.xor(a, b),
                    3 => g.not(a),
                    _ => g.ite(p, a, b),
                };
                pool.push(e);
            }
            let mut constraints: Vec<Expr> = pool[8..].iter().map(|&e| g.eq(e, one)).collect();
            constraints.extend_from_slice(&conditions[8..10]);
            let mut skeleton = Skeleton::default();
            let with_booleans = skeleton.with_booleans(&mut g, &constraints);
            let with_facts = skeleton.with_facts(&mut g, &constraints);
            let both = skeleton.with_facts(&mut g, &with_booleans);
            (booleans, facts) = (booleans + skeleton.booleans, facts + skeleton.facts);
            let mut evaluator = Evaluator::new();
            for value in 0..1u64 << 7 {
                let mut model = Model::new();
                for (at, &x) in bits.iter().enumerate() {
                    model.set_bits(x, Bits::word(1, value >> at & 1));
                }
                model.set_bits(words[0], Bits::word(2, value >> 3 & 3));
                model.set_bits(words[1], Bits::word(2, value >> 5));
                let mut session = evaluator.under(&g, &model);
                let [expected, others @ ..] = [&constraints, &with_booleans, &with_facts, &both]
                    .map(|list| list.iter().all(|&e| !session.bits(e).is_zero()));
                assert_eq!(others, [expected; 3], "seed {seed}, value {value}");
            }
        }
        assert!(booleans > 100 && facts > 100, "{booleans} {facts}");
    }

    #[test]
    fn circuits_become_constraints() {
        let mut g = Graph::new();
        let [b, c] = ["b", "c"].map(|name| g.var(name, Sort::Bits(1)).unwrap());
        let not_c = g.not(c);
        let (both, one) = (g.and(b, not_c), g.word(1, 1));
        let constraint = g.eq(both, one);
        let found = Skeleton::default().with_booleans(&mut g, &[constraint]);
        let (b_holds, c_holds) = (g.eq(b, one), g.eq(c, one));
        let c_fails = g.not(c_holds);
        assert_eq!(found, [g.and(b_holds, c_fails)]);
    }
}
