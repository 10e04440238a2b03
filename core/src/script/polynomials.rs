//! Equal sums and products: one term for each polynomial.
//!
//! `a * (b + c)` and `a * b + a * c` have the same value. The rewriter decides equations of such terms; in a comparison, under a
//! bitwise operator, as an index of an array a SAT solver would have to find it out from the circuits. Here the sums and products
//! that other operators use are expanded to polynomials modulo 2^w (`expr/rewrite/polynomial.rs`). Terms whose polynomials
//! differ by a constant at most become one of them, the one with the fewest products, plus the constant; a term
//! whose polynomial is a constant or another term plus a constant becomes that.
//!
//! Equivalent: a term is replaced by one that has the same value. The constraints do not grow: the term that stands
//! for the others is one of them.

use crate::expr::{Bits, Expr, Graph, Monomial, Op, Polynomial};
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes that are expanded for each node of the constraints, and at least.
const EXPANDED_PER_NODE: usize = 2;
const MIN_EXPANDED: usize = 4_096;
/// Most nodes that are expanded for one term.
const MAX_EXPANDED: u32 = 512;
/// Products of coefficients take time quadratic in the width.
const MAX_WIDTH: u32 = 512;

/// A polynomial without its constant, as a sorted list.
type Key = (u32, Vec<(Monomial, Bits)>);

/// A term that stands for all with its polynomial, with the constant of the polynomial and its cost.
struct Representative {
    term: Expr,
    constant: Bits,
    cost: (u32, u32),
}

/// Constraints in which terms with equal polynomials are one term. `None` if nothing changes.
pub(super) fn unite(graph: &mut Graph, constraints: &[Expr], count: &mut u64) -> Option<Vec<Expr>> {
    let mut order = Vec::new();
    graph.post_order(constraints, |e| order.push(e));
    let used = terms(graph, &order);
    if !used.iter().any(|&e| graph.has_product(e)) {
        return None;
    }
    let mut left = (order.len() * EXPANDED_PER_NODE).max(MIN_EXPANDED);
    let mut found: FxHashMap<Key, Representative> = FxHashMap::default();
    let mut keys = Vec::new();
    // Terms are replaced in terms that contain them first, so that these have equal monomials.
    let mut rewritten: FxHashMap<Expr, Expr> = FxHashMap::default();
    for &e in &order {
        let kids = graph.kids(e);
        let new: Vec<Expr> = kids.iter().map(|kid| rewritten[kid]).collect();
        let mut value = if new[..] == kids[..] { e } else { graph.rebuild(e, &new) };
        if used.contains(&e)
            && left > 0
            && is_arithmetic(graph, value)
            && let Some(polynomial) = expand(graph, value, &mut left)
        {
            value = representative(graph, value, polynomial, &mut found, &mut keys);
        }
        rewritten.insert(e, value);
    }
    // Where a later term is cheaper, it replaces the first one.
    let mut cheaper: FxHashMap<Expr, Expr> = FxHashMap::default();
    for (first, constant, key) in keys {
        let best = &found[&key];
        if best.term != first {
            let term = with_constant(graph, best.term, &constant.sub(&best.constant));
            cheaper.insert(first, term);
        }
    }
    let mut result: Vec<Expr> = constraints.iter().map(|e| rewritten[e]).collect();
    if !cheaper.is_empty() {
        result = result.into_iter().map(|e| graph.substitute_cached(e, &mut cheaper)).collect();
    }
    *count += rewritten.iter().filter(|(e, value)| used.contains(e) && e != value).count() as u64;
    (result != constraints).then_some(result)
}

/// Sums and products that other operators use.
fn terms(graph: &Graph, order: &[Expr]) -> FxHashSet<Expr> {
    let mut used = FxHashSet::default();
    for &e in order {
        let kids = graph.kids(e);
        // An amount is no factor.
        let inside = match graph.op(e) {
            Op::Shl if is_arithmetic(graph, e) => 1,
            _ if is_arithmetic(graph, e) => kids.len(),
            _ => 0,
        };
        used.extend(kids[inside..].iter().filter(|&&kid| is_arithmetic(graph, kid)));
    }
    used
}

fn is_arithmetic(graph: &Graph, e: Expr) -> bool {
    !graph.is_array(e)
        && !graph.is_bool(e)
        && graph.width(e) <= MAX_WIDTH
        && match graph.op(e) {
            Op::Add | Op::Sub | Op::Mul | Op::Shl => true,
            Op::Not => matches!(graph.op(graph.kid(e, 0)), Op::Add | Op::Sub | Op::Mul),
            _ => false,
        }
}

fn expand(graph: &mut Graph, e: Expr, left: &mut usize) -> Option<Polynomial> {
    let most = MAX_EXPANDED.min(u32::try_from(*left).unwrap_or(u32::MAX));
    let mut unused = most;
    let polynomial = graph.polynomial(e, &mut unused);
    *left -= (most - unused) as usize;
    polynomial
}

/// The term that stands for `e`.
fn representative(
    graph: &mut Graph,
    e: Expr,
    mut polynomial: Polynomial,
    found: &mut FxHashMap<Key, Representative>,
    keys: &mut Vec<(Expr, Bits, Key)>,
) -> Expr {
    let width = graph.width(e);
    let constant = polynomial.remove(&Monomial::new()).unwrap_or_else(|| Bits::zero(width));
    if polynomial.is_empty() {
        return graph.constant(constant);
    }
    if polynomial.len() == 1
        && let Some((monomial, coefficient)) = polynomial.first_key_value()
        && let [atom] = monomial[..]
        && *coefficient == Bits::word(width, 1)
    {
        return with_constant(graph, atom, &constant);
    }
    let key = (width, polynomial.into_iter().collect::<Vec<_>>());
    let cost = cost(graph, e);
    match found.get_mut(&key) {
        None => {
            keys.push((e, constant.clone(), key.clone()));
            found.insert(key, Representative { term: e, constant, cost });
            e
        }
        Some(known) => {
            let first = known.term;
            let difference = constant.sub(&known.constant);
            if cost < known.cost {
                keys.push((e, constant.clone(), key));
                *known = Representative { term: e, constant, cost };
                return e;
            }
            with_constant(graph, first, &difference)
        }
    }
}

fn with_constant(graph: &mut Graph, e: Expr, constant: &Bits) -> Expr {
    let constant = graph.constant(constant.clone());
    graph.add(e, constant)
}

/// Numbers of products of variables and of nodes of a sum or product.
fn cost(graph: &Graph, e: Expr) -> (u32, u32) {
    let (mut products, mut seen, mut stack) = (0, FxHashSet::default(), vec![e]);
    while let Some(e) = stack.pop() {
        if !is_arithmetic(graph, e) || seen.len() >= MAX_EXPANDED as usize || !seen.insert(e) {
            continue;
        }
        let kids = graph.kids(e);
        products += u32::from(graph.op(e) == Op::Mul && !graph.is_const(kids[1]));
        stack.extend(kids);
    }
    (products, seen.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Evaluator, Model, Sort};
    use crate::random::Random;

    /// Random constraints over sums and products: their values do not change, and many terms become one.
    #[test]
    fn values_do_not_change() {
        let mut random = Random::new(11);
        let (mut changed, mut count) = (0, 0);
        for case in 0..600 {
            let width = 1 + case % 4;
            let mut g = Graph::new();
            let variables = ["a", "b", "c"].map(|name| g.var(name, Sort::Bits(width)).unwrap());
            let mut terms = variables.to_vec();
            let pick = |random: &mut Random, of: &[Expr]| of[random.below(of.len() as u64) as usize];
            for _ in 0..12 {
                let (x, y) = (pick(&mut random, &terms), pick(&mut random, &terms));
                let constant = g.word(width, random.word());
                terms.push(match random.below(9) {
                    0 | 1 => g.mul(x, y),
                    2 | 3 => g.add(x, y),
                    4 => g.sub(x, y),
                    5 => g.shl(x, y),
                    6 => g.add(x, constant),
                    7 => g.not(x),
                    _ => {
                        let less = g.ult(x, y);
                        g.ite(less, x, y)
                    }
                });
            }
            let mut constraints = Vec::new();
            for _ in 0..4 {
                let (x, y) = (pick(&mut random, &terms), pick(&mut random, &terms));
                let both = g.and(x, variables[0]);
                constraints.push(if random.below(2) == 0 { g.ult(x, y) } else { g.slt(both, y) });
            }
            let Some(new) = unite(&mut g, &constraints, &mut count) else { continue };
            changed += 1;
            let mut evaluator = Evaluator::new();
            for values in 0..1u64 << (3 * width) {
                let mut model = Model::new();
                for (at, &variable) in variables.iter().enumerate() {
                    model.set_bits(variable, Bits::word(width, values >> (at as u32 * width)));
                }
                let mut session = evaluator.under(&g, &model);
                for (&old, &new) in constraints.iter().zip(&new) {
                    assert_eq!(session.truth(old), session.truth(new), "case {case}, values {values:b}");
                }
            }
        }
        assert!(changed > 30 && count > 40, "{changed} cases with {count} terms are too few");
    }

    /// The cheapest of equal terms stays, and no term is new.
    #[test]
    fn equal_terms_become_the_cheapest() {
        let mut g = Graph::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| g.var(name, Sort::Bits(32)).unwrap());
        let (ab, ac, both) = (g.mul(a, b), g.mul(a, c), g.add(b, c));
        let (long, short) = (g.add(ab, ac), g.mul(a, both));
        let one = g.word(32, 1);
        let next = g.add(long, one);
        for (x, y) in [(long, short), (short, long)] {
            let constraints = [g.ult(x, y)];
            let no = g.boolean(false);
            assert_eq!(unite(&mut g, &constraints, &mut 0), Some(vec![no]));
        }
        let constraints = [g.ult(long, c), g.ult(next, b), g.ult(short, b)];
        let after = g.add(short, one);
        let expected = vec![g.ult(short, c), g.ult(after, b), g.ult(short, b)];
        assert_eq!(unite(&mut g, &constraints, &mut 0), Some(expected.clone()));
        assert_eq!(unite(&mut g, &expected, &mut 0), None, "nothing is left to do");
    }
}
