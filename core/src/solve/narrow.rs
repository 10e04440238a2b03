//! Small numbers first: which bits of its inputs a question over narrow words has.
//!
//! What makes a question hard is mostly arithmetic on wide words, and what satisfies a program's conditions is mostly small
//! numbers. Where the upper bits of all input words are zero, constants fold: a product of 32 bits is a circuit of 8 or
//! 12, and the search for it short. A model of that is one of the question. That there is none says nothing.

use crate::blast::Blaster;
use crate::expr::walk::Atom;
use crate::expr::{Expr, Graph, Op};
use rustc_hash::FxHashMap;

/// Words of so many bits are tried, one after the other.
pub const WIDTHS: [u32; 3] = [4, 8, 12];
/// Conflicts of the question as it is, before any of this; and conflicts after which the next width is tried.
pub const BEFORE: u64 = 30;
pub const CONFLICTS: u64 = 300;
/// Words that stay as they are: characters are small enough.
const BYTE: u32 = 8;
/// Gates behind a question that are worth being built again.
pub const GATES: u64 = 100_000;
/// While fewer than one question in so many is answered, only every so manieth is tried.
pub const USE: u64 = 8;

/// The input words behind `roots`, variables and what is read of arrays at once: their atoms from the lowest byte on.
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

/// Gates in which the words have `width` bits. None if no word is wider.
pub fn blaster(graph: &Graph, words: &[Vec<Atom>], width: u32) -> Option<Blaster> {
    let mut bits: FxHashMap<Atom, u32> = FxHashMap::default();
    for word in words {
        let whole: u32 = word.iter().map(|atom| graph.width(atom.variable())).sum();
        let mut left = if whole <= BYTE { whole } else { width };
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

    /// A condition that chance makes, satisfied by some small numbers, by none, or by large ones only.
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
    fn a_narrow_question_is_about_small_numbers_and_no_others() {
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut sat, mut unsat) = (0, 0);
        for width in [1, 3, 4].into_iter().cycle().take(600) {
            // Variables are what a graph begins with, so they are the same ones in both.
            let mut graph = Graph::new();
            let words = variables(&mut graph).map(|v| vec![Atom::Variable(v)]);
            let small = Sat::brief(blaster(&graph, &words, width).expect("wide words"), u64::MAX);
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

    /// A product of two words of 32 bits, as a condition of a program.
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
    fn products_of_small_and_of_large_numbers_and_none_are_told_apart() {
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
