//! Sums that define a variable: in `j + 1 - k = 0`, with constant coefficients modulo 2^w, a variable whose coefficient is
//! 1 or -1 is the rest of the sum.
//!
//! Only these coefficients: the inverse of another odd one would multiply every summand by a dense constant. Products of
//! variables are summands like any other, so nothing is expanded.

use crate::expr::{Bits, Expr, Graph, Op};

/// Most nodes of sums that are visited, and most variables that are offered.
const MAX_NODES: usize = 64;
const MAX_SOLUTIONS: usize = 4;
/// Products of coefficients take time quadratic in the width.
const MAX_WIDTH: u32 = 4096;

/// Variables with their values by `a = b`; a value may contain its variable inside a summand.
pub(super) fn solutions(graph: &mut Graph, a: Expr, b: Expr) -> Vec<(Expr, Expr)> {
    let is_word = !graph.is_bool(a) && !graph.is_array(a) && graph.width(a) <= MAX_WIDTH;
    let is_sum = |e: Expr| matches!(graph.op(e), Op::Add | Op::Sub | Op::Not);
    if !is_word || !(is_sum(a) || is_sum(b)) {
        return Vec::new();
    }
    let Some((summands, constant)) = summands(graph, a, b) else { return Vec::new() };
    let one = Bits::word(graph.width(a), 1);
    let is_unit = |c: &Bits| *c == one || c.is_ones();
    let variables = summands.iter().filter(|(e, c)| graph.op(*e) == Op::Var && is_unit(c));
    let variables: Vec<(Expr, Bits)> = variables.take(MAX_SOLUTIONS).cloned().collect();
    variables
        .into_iter()
        .map(|(x, unit)| {
            // unit * x + rest = 0, and a unit is its own inverse.
            let factor = unit.neg();
            let mut value = graph.constant(constant.mul(&factor));
            for (e, c) in summands.iter().filter(|(e, _)| *e != x) {
                let c = c.mul(&factor);
                value = if c == one {
                    graph.add(value, *e)
                } else if c.is_ones() {
                    graph.sub(value, *e)
                } else {
                    let c = graph.constant(c);
                    let product = graph.mul(*e, c);
                    graph.add(value, product)
                };
            }
            (x, value)
        })
        .collect()
}

/// The summands of `a - b`, each once with its coefficient, and the constant.
fn summands(graph: &Graph, a: Expr, b: Expr) -> Option<(Vec<(Expr, Bits)>, Bits)> {
    let width = graph.width(a);
    let one = Bits::word(width, 1);
    let mut found: Vec<(Expr, Bits)> = Vec::new();
    let mut constant = Bits::zero(width);
    let mut stack = vec![(b, one.neg()), (a, one)];
    let mut nodes = 0;
    while let Some((e, c)) = stack.pop() {
        nodes += 1;
        if nodes > MAX_NODES {
            return None;
        }
        let op = graph.op(e);
        let factor = match op {
            Op::Mul | Op::Shl => graph.const_bits(graph.kid(e, 1)),
            _ => None,
        };
        match (op, factor) {
            (Op::Mul, Some(d)) => stack.push((graph.kid(e, 0), c.mul(&d))),
            (Op::Shl, Some(d)) => stack.push((graph.kid(e, 0), c.shl(d.to_u64().unwrap_or(u64::MAX)))),
            (Op::Const, _) => constant = constant.add(&c.mul(&graph.const_bits(e)?)),
            (Op::Add, _) => stack.extend([(graph.kid(e, 1), c.clone()), (graph.kid(e, 0), c)]),
            (Op::Sub, _) => stack.extend([(graph.kid(e, 1), c.neg()), (graph.kid(e, 0), c)]),
            // ~x = -x - 1
            (Op::Not, _) => {
                constant = constant.add(&c.neg());
                stack.push((graph.kid(e, 0), c.neg()));
            }
            _ => match found.iter_mut().find(|(other, _)| *other == e) {
                Some((_, coefficient)) => *coefficient = coefficient.add(&c),
                None => found.push((e, c)),
            },
        }
    }
    found.retain(|(_, c)| !c.is_zero());
    Some((found, constant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Evaluator, Model, Sort};

    /// Every solution of random equations of sums at three bits is equivalent to the equation.
    #[test]
    fn a_solution_is_equivalent_to_its_equation() {
        let mut count = 0;
        for seed in 0..400u64 {
            let (mut state, mut g) = (seed, Graph::new());
            let mut below = |n: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % n
            };
            let variables = ["x", "y", "z"].map(|name| g.var(name, Sort::Bits(3)).unwrap());
            let mut pool = variables.to_vec();
            for _ in 0..10 {
                let [a, b] = [(); 2].map(|()| pool[below(pool.len() as u64) as usize]);
                let c = g.word(3, below(8));
                let e = match below(7) {
                    0 | 1 => g.add(a, b),
                    2 => g.sub(a, b),
                    3 => g.not(a),
                    4 => g.mul(a, c),
                    5 => g.shl(a, c),
                    _ => g.mul(a, b),
                };
                pool.push(e);
            }
            let (a, b) = (pool[11], pool[12]);
            let equation = g.eq(a, b);
            for (x, value) in solutions(&mut g, a, b) {
                count += 1;
                let solution = g.eq(x, value);
                let mut evaluator = Evaluator::new();
                for values in 0..1u64 << 9 {
                    let mut model = Model::new();
                    for (at, &variable) in variables.iter().enumerate() {
                        model.set_bits(variable, Bits::word(3, values >> (3 * at) & 7));
                    }
                    let mut session = evaluator.under(&g, &model);
                    assert_eq!(
                        session.bits(equation),
                        session.bits(solution),
                        "seed {seed}, values {values}"
                    );
                }
            }
        }
        assert!(count > 200, "{count}");
    }
}
