//! The layers `intervals` and `enumerate` on random queries, compared with all assignments.
//!
//! Variables have 14 bits in total, so that the truth of every constraint under every assignment is known: models
//! of sat answers are evaluated, cores of unsat answers are checked to be unsatisfiable by themselves. Words
//! overlap with their bytes (here elements of two and four bits), signed and unsigned order are mixed, sums and
//! products wrap at every boundary.

use crate::chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::columns::{Columns, Plan};
use partita_core::expr::walk::Atom;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Answer, Query, verify};
use partita_core::random::Random;
use partita_core::solve::Solver;
use rustc_hash::FxHashMap;

/// An array of three elements of four bits, read as elements and as words of two and three; a word of two bits.
const BITS: u32 = 14;
const ELEMENT_WIDTH: u32 = 4;

struct World {
    array: Expr,
    small: Expr,
    columns: Columns,
    truths: FxHashMap<Expr, Vec<u64>>,
}

impl World {
    fn new(g: &mut Graph) -> World {
        let array = g.var("a", Sort::Array { index: 4, element: ELEMENT_WIDTH }).expect("a new name");
        let small = g.var("s", Sort::Bits(2)).expect("a new name");
        World { array, small, columns: Columns::new(), truths: FxHashMap::default() }
    }

    /// The truth of a boolean under all assignments, as bits.
    fn truth(&mut self, g: &Graph, e: Expr) -> &Vec<u64> {
        let World { array, small, columns, truths } = self;
        truths.entry(e).or_insert_with(|| {
            let plan = Plan::new(g, &[e]);
            let mut tile = columns.tile(&plan, 1 << BITS);
            let part = |low: u32, width: u32| -> Vec<u64> {
                (0..1u64 << BITS).map(|v| v >> low & ((1 << width) - 1)).collect()
            };
            for i in 0..3 {
                tile.bind(Atom::Element(*array, i), &part(i as u32 * ELEMENT_WIDTH, ELEMENT_WIDTH));
            }
            tile.bind(Atom::Variable(*small), &part(12, 2));
            tile.truth(0).to_vec()
        })
    }

    fn satisfiable(&mut self, g: &Graph, all: &[Expr]) -> bool {
        let mut left = vec![u64::MAX; 1 << (BITS - 6)];
        for &e in all {
            left.iter_mut().zip(self.truth(g, e)).for_each(|(l, t)| *l &= t);
        }
        left.iter().any(|word| *word != 0)
    }

    /// A word of `width` bits, built from the leaves with random operators.
    fn word(&self, g: &mut Graph, r: &mut Random, width: u32, depth: u64) -> Expr {
        if depth == 0 || r.below(6) == 0 {
            return self.leaf(g, r, width);
        }
        let binary = |s: &World, g: &mut Graph, r: &mut Random| {
            let a = s.word(g, r, width, depth - 1);
            // Mostly with a constant, as in programs.
            let b = if r.below(3) > 0 { constant(g, r, width) } else { s.word(g, r, width, depth - 1) };
            if r.below(5) == 0 { (b, a) } else { (a, b) }
        };
        let (a, b) = binary(self, g, r);
        match r.below(18) {
            0 | 1 => g.add(a, b),
            2 => g.sub(a, b),
            3 => g.mul(a, b),
            4 => g.udiv(a, b),
            5 => g.urem(a, b),
            6 => g.sdiv(a, b),
            7 => g.srem(a, b),
            8 => g.shl(a, b),
            9 => g.lshr(a, b),
            10 => g.ashr(a, b),
            11 | 12 => g.and(a, b),
            13 => g.or(a, b),
            14 => g.xor(a, b),
            15 => g.not(a),
            16 => {
                let c = self.condition(g, r, 1);
                g.ite(c, a, b)
            }
            _ => {
                // A table of squares, zeros past its end.
                let index = self.word(g, r, 4, depth - 1);
                let zero = g.word(8, 0);
                let base = g.const_array(4, zero);
                let length = 1 + r.below(16);
                let table = g.table_over(base, (0..length).map(|v| v * v % 251).collect());
                let element = g.select(table, index);
                resize(g, r, element, width)
            }
        }
    }

    fn leaf(&self, g: &mut Graph, r: &mut Random, width: u32) -> Expr {
        let leaf = match r.below(8) {
            0 => self.small,
            1 | 2 => {
                let first = g.word(4, r.below(2));
                g.read(self.array, first, 2)
            }
            3 | 4 => {
                let first = g.word(4, 0);
                g.read(self.array, first, 3)
            }
            _ => {
                let at = g.word(4, r.below(3));
                g.select(self.array, at)
            }
        };
        resize(g, r, leaf, width)
    }

    fn condition(&self, g: &mut Graph, r: &mut Random, depth: u64) -> Expr {
        if depth > 0 && r.below(5) == 0 {
            let (a, b) = (self.condition(g, r, depth - 1), self.condition(g, r, depth - 1));
            return match r.below(4) {
                0 => g.and(a, b),
                1 => g.or(a, b),
                2 => g.not(a),
                _ => g.eq(a, b),
            };
        }
        let width = [2, 4, 8, 12, 13, 16][r.below(6) as usize];
        let levels = r.below(3);
        let a = self.word(g, r, width, levels);
        let b = if r.below(3) > 0 { constant(g, r, width) } else { self.word(g, r, width, levels) };
        let (a, b) = if r.below(3) == 0 { (b, a) } else { (a, b) };
        match r.below(6) {
            0 => g.eq(a, b),
            1 => g.ne(a, b),
            2 => g.ult(a, b),
            3 => g.ule(a, b),
            4 => g.slt(a, b),
            _ => g.sle(a, b),
        }
    }
}

fn constant(g: &mut Graph, r: &mut Random, width: u32) -> Expr {
    let all = u64::MAX >> (64 - width);
    let value = match r.below(8) {
        0 => 0,
        1 => 1,
        2 => all,
        3 => all / 2,
        4 => all / 2 + 1,
        5 => 1 << r.below(width.into()),
        _ => r.word(),
    };
    g.word(width, value)
}

fn resize(g: &mut Graph, r: &mut Random, e: Expr, width: u32) -> Expr {
    let own = g.width(e);
    if own < width {
        return if r.below(2) == 0 { g.zext(e, width) } else { g.sext(e, width) };
    }
    let low = r.below(u64::from(own - width) + 1) as u32;
    g.extract(e, low, width)
}

/// Follows random paths with a query at each step. Returns how many were answered and how many left open.
fn run(chain: &str, seed: u64, queries: u64) -> (u64, u64, u64) {
    let mut solver = solver(chain);
    let mut world = World::new(&mut solver.graph);
    let mut random = Random::new(seed);
    let (mut sat, mut unsat, mut open) = (0, 0, 0);
    let mut path = solver.tree.retain(solver.tree.root());
    for number in 0..queries {
        if number % 12 == 0 {
            solver.tree.release(path);
            path = solver.tree.retain(solver.tree.root());
        }
        if number % 500 == 499 {
            solver.collect([world.array, world.small]);
            world.truths.clear();
        }
        let condition = world.condition(&mut solver.graph, &mut random, 2);
        let query = Query::new(path, condition);
        let mut all = solver.tree.constraints(path);
        let answer = solver.check(&query, &Budget::unlimited());
        let context = format!("{chain}, seed {seed}, query {number}");
        match &answer {
            Answer::Unknown(_) => open += 1,
            Answer::Sat(model) => {
                sat += 1;
                let Solver { graph, tree, evaluator, .. } = &mut solver;
                let verdict = verify(graph, tree, &query, model, evaluator);
                assert!(verdict.is_ok(), "{context}: the model violates {verdict:?}");
            }
            Answer::Unsat(core) => {
                unsat += 1;
                assert!(
                    core.constraints.as_slice().iter().all(|e| all.contains(e)),
                    "{context}: a foreign core"
                );
                all.retain(|e| core.constraints.contains(*e));
                all.extend(core.condition.then_some(condition));
                assert!(!world.satisfiable(&solver.graph, &all), "{context}: the core is satisfiable");
            }
        }
        // Extends the path: mostly where there is a model, sometimes into a contradiction.
        let negated = solver.graph.not(condition);
        let side = if random.below(4) == 0 { negated } else { condition };
        let longer = solver.tree.extend(&solver.graph, path, side);
        if random.below(2) == 0 {
            solver.check_path(longer, &Budget::unlimited());
        }
        solver.tree.release(path);
        path = longer;
    }
    (sat, unsat, open)
}

/// With `PARTITA_FUZZ_SEEDS=FROM..TO`, those seeds as well (`make fuzz`).
#[test]
fn random_queries_agree_with_enumeration() {
    if let Ok(seeds) = std::env::var("PARTITA_FUZZ_SEEDS") {
        let (from, to) = seeds.split_once("..").expect("a range of seeds, FROM..TO");
        for seed in from.parse::<u64>().expect("a number")..to.parse().expect("a number") {
            for chain in ["intervals", "split intervals enumerate", "enumerate"] {
                run(chain, seed, 1000);
            }
        }
    }
    for (chain, seeds) in [
        ("intervals", 1..4),
        ("split intervals", 4..6),
        ("simplify split intervals enumerate", 6..8),
        ("enumerate", 8..9),
    ] {
        let (mut sat, mut unsat, mut open) = (0, 0, 0);
        for seed in seeds {
            let counts = run(chain, seed, 800);
            sat += counts.0;
            unsat += counts.1;
            open += counts.2;
        }
        assert!(sat > 100 && unsat > 100, "{chain}: too few answers of one kind: {sat} sat, {unsat} unsat");
        assert!(open * 4 < sat + unsat, "{chain}: {open} open, {sat} sat and {unsat} unsat");
    }
}
