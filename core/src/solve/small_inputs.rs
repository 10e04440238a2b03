//! Restriction of a query to small inputs: the upper bits of all wide input words are zero.
//!
//! Hard queries are mostly arithmetic on wide words, and program conditions are mostly satisfied by small numbers. With
//! upper bits zero constants fold: a product of 32 bits becomes a circuit of 8 or 12, and the search is short. A model
//! of the restricted query is a model of the query. If there is none, nothing follows.

use crate::blast::Blaster;
use crate::expr::walk::Atom;
use crate::expr::{Expr, Graph, Op};
use rustc_hash::FxHashMap;

/// Widths tried, in this order.
pub const WIDTHS: [u32; 3] = [4, 8, 12];
/// Words of at most this width are not restricted.
const UNRESTRICTED_WIDTH: u32 = 8;
/// Limit of gates of a query that is restricted: they are built again for each width.
pub const MAX_GATES: u64 = 100_000;

/// The input words in `roots`: variables, and multi-element reads of arrays. Atoms of each from the lowest byte on.
pub fn words(graph: &Graph, roots: &[Expr]) -> Vec<Vec<Atom>> {
    let mut words = Vec::new();
    graph.post_order(roots, |e| match graph.op(e) {
        Op::Var if !graph.is_array(e) => words.push(vec![Atom::Variable(e)]),
        Op::Read if graph.op(graph.kid(e, 0)) == Op::Var => {
            if let Some(first) = graph.const_word(graph.kid(e, 1)) {
                let count = u64::from(graph.read_count(e));
                words.push((first..first + count).map(|i| Atom::Element(graph.kid(e, 0), i)).collect());
            }
        }
        _ => {}
    });
    words
}

/// A blaster in which the words have `width` bits; `None` if no word is wider.
pub fn blaster(graph: &Graph, words: &[Vec<Atom>], width: u32) -> Option<Blaster> {
    let mut bits: FxHashMap<Atom, u32> = FxHashMap::default();
    for word in words {
        let whole: u32 = word.iter().map(|atom| graph.width(atom.variable())).sum();
        let mut left = if whole <= UNRESTRICTED_WIDTH { whole } else { width };
        for &atom in word {
            let own = graph.width(atom.variable());
            if left < own {
                bits.insert(atom, left);
            }
            left = left.saturating_sub(own);
        }
    }
    (!bits.is_empty()).then(|| Blaster::with_input_widths(bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expr::{Bits, Graph, Model, Sort, Value};
    use crate::query::{Answer, Query};
    use crate::solve::sat::Sat;
    use crate::solve::{Solver, Spec, build_chain};

    const WIDE: u32 = 9;

    fn variables(graph: &mut Graph) -> [Expr; 2] {
        ["x", "y"].map(|name| graph.var(name, Sort::Bits(WIDE)).expect("a new name"))
    }

    /// A random condition: satisfied by small numbers, by large ones only, or unsatisfiable.
    fn condition(graph: &mut Graph, [x, y]: [Expr; 2], random: &mut impl FnMut(u64) -> u64) -> Expr {
        let mut terms = vec![x, y, graph.word(WIDE, random(512))];
        for _ in 0..4 {
            let (a, b) =
                (terms[random(terms.len() as u64) as usize], terms[random(terms.len() as u64) as usize]);
            terms.push(match random(5) {
                0 => graph.mul(a, b),
                1 => graph.add(a, b),
                2 => graph.xor(a, b),
                3 => graph.lshr(a, b),
                _ => graph.urem(a, b),
            });
        }
        let (last, wanted) = (terms[terms.len() - 1], graph.word(WIDE, random(512)));
        let low = graph.ult(wanted, last);
        let equal = graph.eq(last, wanted);
        let order = graph.ult(y, x);
        if random(2) == 0 { graph.and(low, order) } else { graph.and(equal, order) }
    }

    #[test]
    fn restricted_queries_have_exactly_the_small_solutions() {
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut sat, mut unsat) = (0, 0);
        for width in [1, 3, 4].into_iter().cycle().take(600) {
            // The first nodes of a graph have the same handles in both graphs.
            let mut graph = Graph::new();
            let words = variables(&mut graph).map(|v| vec![Atom::Variable(v)]);
            let small = Sat::limited(blaster(&graph, &words, width).expect("wide words"), u64::MAX);
            let mut solver = Solver::new(vec![Box::new(small)]);
            let [x, y] = variables(&mut solver.graph);
            let asked = condition(&mut solver.graph, [x, y], &mut random);
            let query = Query::new(solver.tree.root(), asked);
            let mut holds = |a: u64, b: u64| {
                let mut model = Model::new();
                model.set(x, Value::Bits(Bits::word(WIDE, a)));
                model.set(y, Value::Bits(Bits::word(WIDE, b)));
                solver.evaluator.under(&solver.graph, &model).truth(asked)
            };
            let exists = (0..1 << width).any(|a| (0..1 << width).any(|b| holds(a, b)));
            match solver.check(&query, &Budget::unlimited()) {
                Answer::Sat(model) => {
                    sat += 1;
                    assert!(exists && model.word(x) < 1 << width && model.word(y) < 1 << width);
                }
                Answer::Unsat(_) => {
                    unsat += 1;
                    assert!(!exists, "small numbers satisfy it");
                }
                Answer::Unknown(why) => panic!("{why}"),
            }
        }
        assert!(sat > 50 && unsat > 50, "both kinds: {sat} and {unsat}");
    }

    #[test]
    fn a_read_at_another_index_sees_that_an_element_is_small() {
        // Reads a[5], and a[i] where i is 5 or another number, whose upper bits are `wanted`.
        for (least, wanted, verdict) in [(0, 7, "sat"), (6, 7, "sat"), (5, 0, "sat"), (5, 7, "unsat")] {
            for low_bits_are_read in [true, false] {
                let declared = |graph: &mut Graph| {
                    let a = graph.var("a", Sort::Array { index: 8, element: 16 }).expect("a new name");
                    (a, graph.var("i", Sort::Bits(8)).expect("a new name"))
                };
                let mut graph = Graph::new();
                let words = vec![vec![Atom::Element(declared(&mut graph).0, 5)]];
                let small = Sat::limited(blaster(&graph, &words, 4).expect("wide words"), u64::MAX);
                let mut solver = Solver::new(vec![Box::new(small)]);
                let graph = &mut solver.graph;
                let (a, i) = declared(graph);
                let five = graph.word(8, 5);
                let (fixed, moving) = (graph.read(a, five, 1), graph.read(a, i, 1));
                let (low, high) = if low_bits_are_read { (0, 3) } else { (12, 0) };
                let (part, digit) = (graph.extract(fixed, low, 4), graph.word(4, high));
                let fixed_is = graph.eq(part, digit);
                let (part, digit) = (graph.extract(moving, 4, 12), graph.word(12, wanted));
                let moving_is = graph.eq(part, digit);
                // The index is in no set of few values.
                let (square, limit) = (graph.mul(i, i), graph.word(8, 8));
                let (square_is, least) =
                    (graph.word(8, if least == 5 { 25 } else { 36 }), graph.word(8, least));
                let (square_is, below) = (graph.eq(square, square_is), graph.ult(i, limit));
                let above = graph.ule(least, i);
                let asked = graph.all([fixed_is, moving_is, square_is, below, above]);
                let query = Query::new(solver.tree.root(), asked);
                let answer = solver.check(&query, &Budget::unlimited());
                assert_eq!(answer.verdict(), verdict, "{wanted} at an index from {low}");
            }
        }
    }

    /// Condition on the product of two words of 32 bits.
    fn product(solver: &mut Solver, wanted: u64, least: u64) -> Query {
        let graph = &mut solver.graph;
        let [x, y] = ["x", "y"].map(|name| graph.var(name, Sort::Bits(32)).expect("a new name"));
        let (wide_x, wide_y) = (graph.zext(x, 64), graph.zext(y, 64));
        let (xy, wanted, least) = (graph.mul(wide_x, wide_y), graph.word(64, wanted), graph.word(32, least));
        let (equal, x_large, y_large) = (graph.eq(xy, wanted), graph.ult(least, x), graph.ult(least, y));
        let condition = graph.all([equal, x_large, y_large]);
        Query::new(solver.tree.root(), condition)
    }

    #[test]
    fn products_of_small_numbers_of_large_numbers_and_of_none() {
        for (wanted, least, verdict) in
            [(2003 * 2011, 1, "sat"), (65_537 * 65_539, 40_000, "sat"), (65_521, 1, "unsat")]
        {
            let spec = Spec::parse("sat", &Spec(Vec::new())).expect("a chain");
            let mut solver = Solver::new(build_chain(&spec, &mut |_| Ok(None)).expect("a layer of the core"));
            let query = product(&mut solver, wanted, least);
            let answer = solver.check(&query, &Budget::unlimited());
            assert_eq!(answer.verdict(), verdict, "{wanted}");
        }
    }
}
