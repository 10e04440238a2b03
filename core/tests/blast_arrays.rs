//! Arrays in circuits: random queries with stores, `ite` of arrays, constant arrays, tables, word reads and
//! comparisons, compared with all assignments at small widths; and comparisons of arrays with wide indices.

use crate::chain::solver;
use partita_core::blast::Blaster;
use partita_core::budget::Budget;
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use partita_core::query::{Answer, Query};
use partita_core::random::Random;

/// Two arrays of four elements of one bit and two indices of two bits: 2^(4 + 4 + 2 + 2) assignments. Elements of
/// two bits would give 2^20, too many per query.
struct SmallArrays {
    arrays: [Expr; 2],
    indices: [Expr; 2],
    models: Vec<Model>,
}

impl SmallArrays {
    fn new(g: &mut Graph) -> SmallArrays {
        let arrays = ["a", "b"].map(|n| g.var(n, Sort::Array { index: 2, element: 1 }).expect("a new name"));
        let indices = ["i", "j"].map(|n| g.var(n, Sort::Bits(2)).expect("a new name"));
        let model = |bits: u64| {
            let mut model = Model::new();
            for (k, &array) in arrays.iter().enumerate() {
                for at in 0..4 {
                    let element = Bits::word(1, bits >> (4 * k as u64 + at));
                    model.set_element(g, array, &Bits::word(2, at), element);
                }
            }
            model.set_bits(indices[0], Bits::word(2, bits >> 8));
            model.set_bits(indices[1], Bits::word(2, bits >> 10));
            model
        };
        let models = (0..1 << 12).map(model).collect();
        SmallArrays { arrays, indices, models }
    }

    fn index(&self, g: &mut Graph, r: &mut Random) -> Expr {
        match r.below(7) {
            // Indices that cannot have every value.
            4 => {
                let three = g.word(2, 3);
                g.urem(self.indices[1], three)
            }
            5 => {
                let mask = g.word(2, r.word());
                g.and(self.indices[0], mask)
            }
            6 => {
                let (condition, one, two) =
                    (g.ult(self.indices[0], self.indices[1]), g.word(2, r.word()), g.word(2, r.word()));
                g.ite(condition, one, two)
            }
            0 => g.word(2, r.word()),
            1 => {
                let one = g.word(2, r.word());
                g.add(self.indices[0], one)
            }
            _ => self.indices[r.below(2) as usize],
        }
    }

    fn array(&self, g: &mut Graph, r: &mut Random, depth: u32) -> Expr {
        if depth == 0 {
            return match r.below(5) {
                0 => {
                    let bit = self.bit(g, r, 0);
                    g.const_array(2, bit)
                }
                1 => {
                    let elements: Vec<u64> = (0..1 + r.below(4)).map(|_| r.below(2)).collect();
                    g.table_over(self.arrays[0], elements.into())
                }
                _ => self.arrays[r.below(2) as usize],
            };
        }
        let below = self.array(g, r, depth - 1);
        match r.below(3) {
            0 => {
                let condition = self.truth(g, r, 0);
                let other = self.array(g, r, depth - 1);
                g.ite(condition, below, other)
            }
            _ => {
                let (index, bit) = (self.index(g, r), self.bit(g, r, 0));
                g.store(below, index, bit)
            }
        }
    }

    fn bit(&self, g: &mut Graph, r: &mut Random, depth: u32) -> Expr {
        let (array, index) = (self.array(g, r, depth), self.index(g, r));
        match r.below(3) {
            0 => {
                let word = g.read(array, index, 3);
                g.extract(word, r.below(3) as u32, 1)
            }
            _ => g.select(array, index),
        }
    }

    fn truth(&self, g: &mut Graph, r: &mut Random, depth: u32) -> Expr {
        match r.below(4) {
            0 => {
                let (a, b) = (self.array(g, r, depth), self.array(g, r, depth));
                let same = g.eq(a, b);
                if r.below(2) == 0 { same } else { g.not(same) }
            }
            1 => {
                let (a, b) = (self.index(g, r), self.index(g, r));
                g.ult(a, b)
            }
            _ => {
                let (a, b) = (self.bit(g, r, depth), self.bit(g, r, depth));
                if r.below(2) == 0 { g.eq(a, b) } else { g.ne(a, b) }
            }
        }
    }
}

#[test]
fn random_array_queries_agree_with_enumeration() {
    let mut random = Random::new(3);
    let mut evaluator = Evaluator::new();
    let (mut sat, mut unsat) = (0, 0);
    for round in 0..40 {
        let mut solver = solver(if round % 2 == 0 { "sat" } else { "sat(engine=cadical)" });
        let small = SmallArrays::new(&mut solver.graph);
        for _ in 0..10 {
            let constraints: Vec<Expr> =
                (0..4).map(|_| small.truth(&mut solver.graph, &mut random, 2)).collect();
            let mut path = solver.tree.root();
            for &constraint in &constraints[1..] {
                path = solver.tree.extend(&solver.graph, path, constraint);
            }
            let holds = |model: &Model| {
                let mut session = evaluator.under(&solver.graph, model);
                constraints.iter().all(|&e| session.truth(e))
            };
            let expected = small.models.iter().any(holds);
            let query = Query::new(path, constraints[0]);
            match solver.check(&query, &Budget::unlimited()) {
                // The layer evaluates its models.
                Answer::Sat(_) => {
                    assert!(expected);
                    sat += 1;
                }
                Answer::Unsat(core) => {
                    let mut core: Vec<Expr> = core.constraints.as_slice().to_vec();
                    core.push(constraints[0]);
                    let holds = |model: &Model| {
                        let mut session = evaluator.under(&solver.graph, model);
                        core.iter().all(|&e| session.truth(e))
                    };
                    assert!(!small.models.iter().any(holds), "a core with a model");
                    unsat += 1;
                }
                Answer::Unknown(why) => panic!("unknown: {why}"),
            }
        }
    }
    assert!(sat > 40 && unsat > 40, "{sat} sat and {unsat} unsat answers are too few");
}

/// Impossible indices cost no gates, and few possible ones need no lemmas.
#[test]
fn circuits_contain_only_reachable_elements() {
    let mut g = Graph::new();
    let x = g.var("x", Sort::Bits(32)).expect("a new name");
    let array = g.var("a", Sort::Array { index: 32, element: 8 }).expect("a new name");
    let zero = g.word(8, 0);
    let zeros = g.const_array(32, zero);
    let mut random = Random::new(9);
    let table = g.table_over(zeros, (0..4096).map(|_| random.below(256)).collect());
    // From 2,001 to 2,010, although only the highest bits are constant.
    let (ten, first) = (g.word(32, 10), g.word(32, 2001));
    let digit = g.urem(x, ten);
    let few = g.add(digit, first);
    let gates = |g: &Graph, e: Expr| {
        let mut blaster = Blaster::new();
        blaster.word(g, digit).expect("enough gates");
        blaster.word(g, few).expect("enough gates");
        let before = blaster.gates.len();
        blaster.word(g, e).expect("enough gates");
        blaster.gates.len() - before
    };
    let (in_few, in_all) = (g.select(table, few), g.select(table, x));
    assert!(gates(&g, in_few) < 200, "{}", gates(&g, in_few));
    assert!(gates(&g, in_all) > 2_000, "{}", gates(&g, in_all));
    // Stores at impossible indices cost nothing.
    let stored = (0..100).fold(array, |array, i| {
        let (index, element) = (g.word(32, 3_000 + i), g.word(8, i));
        g.store(array, index, element)
    });
    let (with, without) = (g.select(stored, few), g.select(array, few));
    assert_eq!(gates(&g, with), gates(&g, without));

    let mut s = solver("sat");
    let x = s.graph.var("x", Sort::Bits(32)).expect("a new name");
    let array = s.graph.var("a", Sort::Array { index: 32, element: 8 }).expect("a new name");
    let ten = s.graph.word(32, 10);
    let digit = s.graph.urem(x, ten);
    let mut path = s.tree.root();
    for i in 0..10 {
        let (index, limit) = (s.graph.word(32, i), s.graph.word(8, 10 + i));
        let element = s.graph.select(array, index);
        let small = s.graph.ult(element, limit);
        path = s.tree.extend(&s.graph, path, small);
    }
    let found = s.graph.select(array, digit);
    for (limit, verdict) in [(17, "sat"), (18, "unsat")] {
        let limit = s.graph.word(8, limit);
        let large = s.graph.ult(limit, found);
        assert_eq!(s.check(&Query::new(path, large), &Budget::unlimited()).verdict(), verdict);
    }
    let counters = &s.statistics()[0].counters;
    assert!(counters.iter().any(|(name, count)| name == "refuted" && *count == 0.0), "{counters:?}");
}

/// Arrays with 32-bit indices: conditions and whether they are satisfiable.
#[test]
fn comparisons_of_large_arrays() {
    let mut s = solver("sat");
    let g = &mut s.graph;
    let sort = Sort::Array { index: 32, element: 8 };
    let [a, b, c] = ["a", "b", "c"].map(|n| g.var(n, sort).expect("a new name"));
    let [i, j] = ["i", "j"].map(|n| g.var(n, Sort::Bits(32)).expect("a new name"));
    let x = g.var("x", Sort::Bits(8)).expect("a new name");
    let same = g.eq(a, b);
    let (ai, bj, ci) = (g.select(a, i), g.select(b, j), g.select(c, i));
    let (indices_equal, elements_differ) = (g.eq(i, j), g.ne(ai, bj));
    let stored = g.store(a, i, x);
    let back = g.eq(stored, b);
    let bi = g.select(b, i);
    let not_there = g.ne(bi, x);
    let zero = g.word(8, 0);
    let zeros = g.const_array(32, zero);
    let a_is_zero = g.eq(a, zeros);
    let ai_set = g.ne(ai, zero);
    let one = g.word(8, 1);
    let ones = g.const_array(32, one);
    let b_is_one = g.eq(b, ones);
    let transitive = g.eq(b, c);
    let a_and_c = g.ne(ai, ci);
    let table = g.table_over(zeros, vec![1, 2, 3, 4].into());
    let a_is_table = g.eq(a, table);
    let four = g.word(8, 4);
    let high = g.ult(four, ai);
    let three = g.word(32, 3);
    let at_three = g.eq(i, three);
    let low = g.ult(ai, four);
    let differ = g.ne(a, b);
    let cases: &[(&[Expr], bool)] = &[
        (&[same, elements_differ], true),
        (&[same, indices_equal, elements_differ], false),
        (&[back, not_there], false),
        (&[back, differ], true),
        (&[a_is_zero, ai_set], false),
        (&[a_is_zero, b_is_one, same], false),
        (&[a_is_zero, b_is_one], true),
        (&[same, transitive, a_and_c], false),
        (&[same, transitive], true),
        (&[a_is_table, high], false),
        (&[a_is_table, at_three, low], false),
        (&[a_is_table, at_three], true),
        (&[a_is_table, b_is_one, differ], true),
    ];
    for round in 0..2 {
        for (number, (constraints, expected)) in cases.iter().enumerate() {
            let mut path = s.tree.root();
            for &constraint in &constraints[1..] {
                path = s.tree.extend(&s.graph, path, constraint);
            }
            let answer = s.check(&Query::new(path, constraints[0]), &Budget::unlimited());
            let verdict = if *expected { "sat" } else { "unsat" };
            assert_eq!(answer.verdict(), verdict, "case {number}, round {round}");
        }
    }
}
