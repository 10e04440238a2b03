//! The conformance suite of layers: random queries along random path trees, over variables so small that all
//! assignments are enumerated.
//!
//! Checked: the model of a sat answer satisfies the query; an unsat answer is right, its core is a subset of the query and
//! unsatisfiable by itself; a complete chain answers every query; after the deadline and without effort the answer is
//! unknown; an effort limit is kept, and a larger one decides what a smaller one does; the same history gives the same
//! answers (`check_effort`: with the same effort); no answer uses dropped paths or collected expressions.

use super::{Layer, Reply, Solver};
use crate::budget::Budget;
use crate::cost;
use crate::expr::float::{Format, Rounding};
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use crate::query::{Answer, Path, Query};
use crate::random::Random;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// Number of answers by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub sat: u64,
    pub unsat: u64,
    pub unknown: u64,
}

const WIDTH: u32 = 3;
/// Format of four bits.
const TINY: Format = Format::ieee(2, 2);
/// Bits of all inputs: two words of three bits, a boolean, and an array of two elements of two bits.
const TOTAL_BITS: u32 = 2 * WIDTH + 1 + 4;

/// The inputs of the suite.
pub(super) struct Small {
    pub(super) words: [Expr; 2],
    pub(super) flag: Expr,
    pub(super) array: Expr,
    /// All assignments.
    pub(super) models: Vec<Model>,
    /// Whether terms have float operators, which not all layers outside of the core take in so small a format.
    floats: bool,
    tables: FxHashMap<Expr, Vec<bool>>,
}

impl Small {
    pub(super) fn new(graph: &mut Graph) -> Small {
        let words = ["x", "y"].map(|name| graph.var(name, Sort::Bits(WIDTH)).expect("a new name"));
        let flag = graph.var("p", Sort::Bool).expect("a new name");
        let array = graph.var("a", Sort::Array { index: 1, element: 2 }).expect("a new name");
        let mut models = Vec::new();
        for assignment in 0..1u64 << TOTAL_BITS {
            let mut model = Model::new();
            model.set_bits(words[0], Bits::word(WIDTH, assignment));
            model.set_bits(words[1], Bits::word(WIDTH, assignment >> WIDTH));
            model.set_bits(flag, Bits::word(1, assignment >> (2 * WIDTH)));
            for i in 0..2 {
                let element = Bits::word(2, assignment >> (2 * WIDTH + 1 + 2 * i as u32));
                model.set_element(graph, array, &Bits::word(1, i), element);
            }
            models.push(model);
        }
        Small { words, flag, array, models, floats: false, tables: FxHashMap::default() }
    }

    /// A word as the number of a tiny format.
    fn number(&self, g: &mut Graph, r: &mut Random, word: Expr) -> Expr {
        let last = g.word(1, r.word());
        if r.below(2) == 0 { g.concat(word, last) } else { g.concat(last, word) }
    }

    /// Three bits of the result of a float operator.
    fn float_word(&self, g: &mut Graph, r: &mut Random, a: Expr, b: Expr) -> Expr {
        let (x, y) = (self.number(g, r, a), self.number(g, r, b));
        let mode = r.pick(&Rounding::ALL);
        let result = match r.below(9) {
            0 => g.f_add(TINY, mode, x, y),
            1 => g.f_sub(TINY, mode, x, y),
            2 => g.f_mul(TINY, mode, x, y),
            3 => g.f_div(TINY, mode, x, y),
            4 => g.f_mul_add(TINY, mode, x, y, x),
            5 => g.f_sqrt(TINY, mode, x),
            6 => g.f_round(TINY, mode, x),
            7 => return g.f_to_sint(TINY, mode, WIDTH, x),
            _ => g.f_from_uint(TINY, mode, a),
        };
        g.extract(result, r.below(2) as u32, WIDTH)
    }

    fn roots(&self) -> Vec<Expr> {
        vec![self.words[0], self.words[1], self.flag, self.array]
    }

    /// A random word of `WIDTH` bits.
    fn word(&self, g: &mut Graph, r: &mut Random, depth: u32) -> Expr {
        if depth == 0 {
            return match r.below(5) {
                0 => g.word(WIDTH, r.word()),
                1 => {
                    let index = g.extract(self.words[0], r.below(WIDTH.into()) as u32, 1);
                    let element = g.select(self.array, index);
                    g.zext(element, WIDTH)
                }
                2 => {
                    let index = g.word(1, r.word());
                    let element = g.select(self.array, index);
                    g.sext(element, WIDTH)
                }
                _ => r.pick(&self.words),
            };
        }
        let (a, b) = (self.word(g, r, depth - 1), self.word(g, r, depth - 1));
        match r.below(if self.floats { 24 } else { 18 }) {
            0 => g.add(a, b),
            1 => g.sub(a, b),
            2 => g.mul(a, b),
            3 => g.udiv(a, b),
            4 => g.urem(a, b),
            5 => g.sdiv(a, b),
            6 => g.srem(a, b),
            7 => g.shl(a, b),
            8 => g.lshr(a, b),
            9 => g.ashr(a, b),
            10 => g.and(a, b),
            11 => g.or(a, b),
            12 => g.xor(a, b),
            13 => g.not(a),
            14 => {
                let (high, low) = (g.extract(a, 1, 1), g.extract(b, 0, 2));
                g.concat(high, low)
            }
            15 => {
                let c = self.truth(g, r, 1);
                g.ite(c, a, b)
            }
            16 => {
                let (index, element) = (g.extract(a, 0, 1), g.extract(b, 0, 2));
                let stored = g.store(self.array, index, element);
                let at = g.extract(a, 2, 1);
                let read = g.read(stored, at, 2);
                g.extract(read, r.below(2) as u32, WIDTH)
            }
            18.. => self.float_word(g, r, a, b),
            _ => a,
        }
    }

    /// A random condition.
    pub(super) fn truth(&self, g: &mut Graph, r: &mut Random, depth: u32) -> Expr {
        if depth > 0 && r.below(4) == 0 {
            let (a, b) = (self.truth(g, r, depth - 1), self.truth(g, r, depth - 1));
            return match r.below(5) {
                0 => g.and(a, b),
                1 => g.or(a, b),
                2 => g.xor(a, b),
                3 => g.not(a),
                _ => g.eq(a, b),
            };
        }
        let (da, db) = (r.below(2) as u32, r.below(2) as u32);
        let (a, b) = (self.word(g, r, da), self.word(g, r, db));
        match r.below(if self.floats { 13 } else { 7 }) {
            0 => g.eq(a, b),
            1 => g.ne(a, b),
            2 => g.ult(a, b),
            3 => g.ule(a, b),
            4 => g.slt(a, b),
            5 => g.sle(a, b),
            7.. => {
                let (x, y) = (self.number(g, r, a), self.number(g, r, b));
                match r.below(3) {
                    0 => g.f_lt(TINY, x, y),
                    1 => g.f_le(TINY, x, y),
                    _ => g.f_eq(TINY, x, y),
                }
            }
            _ => self.flag,
        }
    }

    /// Truth value of `e` under each assignment.
    fn table(&mut self, graph: &Graph, evaluator: &mut Evaluator, e: Expr) -> Vec<bool> {
        if let Some(known) = self.tables.get(&e) {
            return known.clone();
        }
        let table: Vec<bool> = self.models.iter().map(|m| evaluator.under(graph, m).truth(e)).collect();
        self.tables.insert(e, table.clone());
        table
    }

    fn satisfiable(&mut self, solver: &mut Solver, all: &[Expr]) -> bool {
        let mut left = vec![true; self.models.len()];
        for &e in all {
            let table = self.table(&solver.graph, &mut solver.evaluator, e);
            left.iter_mut().zip(table).for_each(|(l, t)| *l &= t);
        }
        left.into_iter().any(|l| l)
    }
}

/// Runs the suite on a chain. `make` returns a new chain with each call.
///
/// # Errors
/// Description of the first violation.
pub fn check(
    seed: u64,
    queries: u64,
    mut make: impl FnMut() -> Vec<Box<dyn Layer>>,
) -> Result<Tally, String> {
    let first = run(seed, queries, make(), false)?;
    let second = run(seed, queries, make(), false)?;
    compare(&first.1, &second.1, |(verdict, _)| *verdict)?;
    after_the_deadline(seed, make())?;
    with_limited_effort(seed, &mut make)?;
    Ok(first.0)
}

/// Runs the queries of the suite with float operators on a chain.
///
/// # Errors
/// Description of the first violation.
pub fn check_floats(
    seed: u64,
    queries: u64,
    mut make: impl FnMut() -> Vec<Box<dyn Layer>>,
) -> Result<Tally, String> {
    let first = run(seed, queries, make(), true)?;
    compare(&first.1, &run(seed, queries, make(), true)?.1, |(verdict, _)| *verdict)?;
    Ok(first.0)
}

/// Runs the suite on a chain twice and compares effort too. Not for chains with a store, which the first run fills.
///
/// # Errors
/// Description of the first violation.
pub fn check_effort(
    seed: u64,
    queries: u64,
    mut make: impl FnMut() -> Vec<Box<dyn Layer>>,
) -> Result<(), String> {
    compare(&run(seed, queries, make(), false)?.1, &run(seed, queries, make(), false)?.1, |&entry| entry)
}

fn compare<T: PartialEq + std::fmt::Debug>(
    first: &History,
    second: &History,
    of: impl Fn(&(&'static str, u64)) -> T,
) -> Result<(), String> {
    let pairs = first.iter().zip(second).map(|(first, second)| (of(first), of(second)));
    match pairs.enumerate().find(|(_, (first, second))| first != second) {
        None => Ok(()),
        Some((number, (first, second))) => {
            Err(format!("the same history gave {first:?} and then {second:?} for query {number}"))
        }
    }
}

fn after_the_deadline(seed: u64, layers: Vec<Box<dyn Layer>>) -> Result<(), String> {
    let mut solver = Solver::new(layers);
    let small = Small::new(&mut solver.graph);
    let mut random = Random::new(seed);
    let condition = small.truth(&mut solver.graph, &mut random, 1);
    let query = Query::new(solver.tree.root(), condition);
    match solver.check(&query, &Budget::for_time(Duration::ZERO)) {
        Answer::Unknown(_) => Ok(()),
        answer => Err(format!("after the deadline the answer was {}", answer.verdict())),
    }
}

/// Effort that a layer may spend after its limit: steps are not divided.
const MAX_OVERRUN: u64 = 200_000 * cost::VALUE;

/// A new chain for each limit: without effort the answer is unknown, a limit is kept, and a larger limit decides what a
/// smaller one does.
fn with_limited_effort(seed: u64, make: &mut dyn FnMut() -> Vec<Box<dyn Layer>>) -> Result<(), String> {
    let mut smaller: Option<(u64, &'static str)> = None;
    for limit in [0, 1_000, 20_000, 400_000, u64::MAX] {
        let mut solver = Solver::new(make());
        let mut small = Small::new(&mut solver.graph);
        let mut random = Random::new(seed);
        let mut path = solver.tree.root();
        for _ in 0..3 {
            let constraint = small.truth(&mut solver.graph, &mut random, 1);
            path = solver.tree.extend(&solver.graph, path, constraint);
        }
        let condition = small.truth(&mut solver.graph, &mut random, 2);
        let query = Query::new(path, condition);
        let reply = solver.reply(&query, &Budget::for_effort(limit));
        let verdict = reply.answer.verdict();
        judge(&mut solver, &mut small, &query, &reply.answer)
            .map_err(|e| format!("seed {seed}, effort limit {limit}: {e}"))?;
        if limit == 0 && verdict != "unknown" {
            return Err(format!("without effort the answer was {verdict}"));
        }
        if reply.effort > limit.saturating_add(MAX_OVERRUN) {
            return Err(format!("seed {seed}: the effort was {} with a limit of {limit}", reply.effort));
        }
        if let Some((smaller, known)) = smaller
            && verdict != known
        {
            return Err(format!(
                "seed {seed}: the answer was {known} with an effort limit of {smaller} and {verdict} with {limit}"
            ));
        }
        if verdict != "unknown" {
            smaller = Some((limit, verdict));
        }
    }
    Ok(())
}

/// Verdict and effort of each query.
type History = Vec<(&'static str, u64)>;

fn run(
    seed: u64,
    queries: u64,
    layers: Vec<Box<dyn Layer>>,
    floats: bool,
) -> Result<(Tally, History), String> {
    let mut solver = Solver::new(layers);
    let complete = solver.has_complete_layer();
    let mut small = Small { floats, ..Small::new(&mut solver.graph) };
    let mut random = Random::new(seed);
    let mut paths = vec![solver.tree.root()];
    let mut tally = Tally::default();
    let mut history = Vec::new();
    let budget = Budget::unlimited();
    for number in 0..queries {
        let path = random.pick(&paths);
        let condition = small.truth(&mut solver.graph, &mut random, 2);
        let query = Query::new(path, condition);
        let Reply { answer, effort, .. } = solver.reply(&query, &budget);
        judge(&mut solver, &mut small, &query, &answer)
            .map_err(|e| format!("seed {seed}, query {number}: {e}"))?;
        match &answer {
            Answer::Sat(_) => tally.sat += 1,
            Answer::Unsat(_) => tally.unsat += 1,
            Answer::Unknown(why) if complete => {
                return Err(format!("seed {seed}, query {number}: a complete chain answered unknown: {why}"));
            }
            Answer::Unknown(_) => tally.unknown += 1,
        }
        history.push((answer.verdict(), effort));
        grow(&mut solver, &mut random, &mut paths, path, condition, &budget);
        if number % 97 == 96 {
            let roots = small.roots();
            solver.collect(roots);
            small.tables.clear();
        }
        if number % 13 == 12 {
            solver.drop_paths();
        }
    }
    Ok((tally, history))
}

/// Extends `path` by the condition or its negation, checked or not, and releases a path if there are many.
fn grow(
    solver: &mut Solver,
    random: &mut Random,
    paths: &mut Vec<Path>,
    path: Path,
    condition: Expr,
    budget: &Budget,
) {
    if solver.tree.depth(path) < 8 {
        let negated = solver.graph.not(condition);
        let side = if random.below(2) == 0 { condition } else { negated };
        let child = solver.tree.extend(&solver.graph, path, side);
        if random.below(2) == 0 {
            solver.check_path(child, budget);
        }
        paths.push(child);
    }
    if paths.len() > 12 {
        let at = 1 + random.below(paths.len() as u64 - 1) as usize;
        solver.tree.release(paths.swap_remove(at));
    }
}

fn judge(solver: &mut Solver, small: &mut Small, query: &Query, answer: &Answer) -> Result<(), String> {
    let mut all = solver.tree.constraints(query.path);
    match answer {
        Answer::Unknown(_) => Ok(()),
        Answer::Sat(model) => {
            let Solver { graph, tree, evaluator, .. } = solver;
            crate::query::verify(graph, tree, query, model, evaluator)
                .map_err(|violated| format!("the model of a sat answer violates {violated:?}"))
        }
        Answer::Unsat(core) => {
            if let Some(foreign) = core.constraints.as_slice().iter().find(|e| !all.contains(e)) {
                return Err(format!("the core has {foreign:?}, which is not a constraint of the query"));
            }
            all.retain(|e| core.constraints.contains(*e));
            if core.condition {
                all.push(query.condition);
            }
            if small.satisfiable(solver, &all) {
                return Err(format!("answered unsat, but this core has a model: {all:?}"));
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Op;
    use crate::query::{Alive, Core, Reasons};
    use crate::solve::Rest;
    use crate::solve::spec::{Item, Spec};
    use crate::solve::table::build_chain;

    /// Complete layer that tries all assignments of the suite's inputs.
    #[derive(Default)]
    struct Exhaustive {
        small: Option<Small>,
    }

    impl Layer for Exhaustive {
        fn name(&self) -> &str {
            "exhaustive"
        }

        fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
            let small = self.small.get_or_insert_with(|| Small::new(rest.graph));
            let constraints = query.constraints(rest.tree);
            let mut left = vec![true; small.models.len()];
            for &e in constraints.iter().chain([&query.condition]) {
                let table = small.table(rest.graph, rest.evaluator, e);
                left.iter_mut().zip(table).for_each(|(l, t)| *l &= t);
            }
            if let Some(at) = left.iter().position(|l| *l) {
                return Answer::Sat(small.models[at].clone());
            }
            Answer::Unsat(Core { constraints: constraints.iter().copied().collect(), condition: true })
        }

        fn sweep(&mut self, _alive: &Alive<'_>) {
            if let Some(small) = &mut self.small {
                small.tables.clear();
            }
        }

        fn drop_paths(&mut self, _gone: &[u32]) {}

        fn is_complete(&self) -> bool {
            true
        }
    }

    fn chain(names: &str) -> Vec<Box<dyn Layer>> {
        let spec = Spec::parse(names, &Spec(Vec::new())).unwrap();
        let mut exhaustive = |item: &Item| -> Result<Option<Box<dyn Layer>>, _> {
            Ok((item.name == "exhaustive").then(|| Box::<Exhaustive>::default() as Box<dyn Layer>))
        };
        build_chain(&spec, &mut exhaustive).unwrap()
    }

    #[test]
    fn chains_conform() {
        for names in [
            "exhaustive",
            "simplify exhaustive",
            "split exhaustive",
            "simplify split exhaustive",
            "split simplify exhaustive",
            "differences exhaustive",
            "intervals exhaustive",
            "intervals(repair=off) exhaustive",
            "split intervals exhaustive",
            "simplify split intervals exhaustive",
            "verify(intervals) exhaustive",
            "intervals:paper exhaustive",
            "enumerate exhaustive",
            "simplify split intervals enumerate exhaustive",
            "verify(enumerate) exhaustive",
            "reuse exhaustive",
            "simplify split reuse exhaustive",
            "reuse:klee exhaustive",
            "split reuse:klee exhaustive",
            "reuse:grulia exhaustive",
            "split reuse:grulia exhaustive",
            "solutions exhaustive",
            "solutions(ks=2,variants=9) exhaustive",
            "simplify split solutions intervals exhaustive",
            "solutions:paper exhaustive",
            "simplify split solutions:paper exhaustive",
            "simplify split differences exhaustive",
            "verify(exhaustive) simplify split exhaustive",
        ] {
            for seed in 1..3 {
                let tally = check(seed, 300, || chain(names)).unwrap_or_else(|e| panic!("{names}: {e}"));
                assert!(
                    tally.sat > 50 && tally.unsat > 50,
                    "{names}: too few answers of one kind: {tally:?}"
                );
            }
        }
    }

    /// Layer that gives wrong answers.
    struct Liar(&'static str);

    impl Layer for Liar {
        fn name(&self) -> &str {
            "liar"
        }

        fn check(&mut self, query: &Query, _rest: &mut Rest<'_>) -> Answer {
            match self.0 {
                "unsat" => Answer::Unsat(Core { constraints: Reasons::None, condition: true }),
                "foreign" => {
                    Answer::Unsat(Core { constraints: Reasons::One(query.condition), condition: true })
                }
                _ => Answer::Unknown(crate::budget::Why::Incomplete),
            }
        }

        fn sweep(&mut self, _alive: &Alive<'_>) {}

        fn drop_paths(&mut self, _gone: &[u32]) {}

        fn is_complete(&self) -> bool {
            true
        }
    }

    #[test]
    fn wrong_answers_are_detected() {
        let liar = |kind| check(1, 50, || vec![Box::new(Liar(kind)) as Box<dyn Layer>]).unwrap_err();
        assert!(liar("unsat").contains("this core has a model"));
        assert!(liar("unknown").contains("a complete chain answered unknown"));
    }

    #[test]
    fn unchecked_paths_are_not_assumed_to_be_satisfiable() {
        let mut solver = Solver::new(chain("simplify split exhaustive"));
        let small = Small::new(&mut solver.graph);
        let g = &mut solver.graph;
        let (five, three) = (g.word(WIDTH, 5), g.word(WIDTH, 3));
        let above = g.ult(five, small.words[0]);
        let below = g.ult(small.words[0], three);
        let one = g.word(WIDTH, 1);
        let condition = g.eq(small.words[1], one);
        let path = solver.tree.extend(&solver.graph, solver.tree.root(), above);
        let path = solver.tree.extend(&solver.graph, path, below);
        match solver.check(&Query::new(path, condition), &Budget::unlimited()) {
            Answer::Unsat(core) => {
                assert_eq!(core.constraints.as_slice().len(), 2);
            }
            answer => panic!("x > 5, x < 3 with y = 1 is unsat, not {}", answer.verdict()),
        }
        assert_eq!(solver.graph.op(above), Op::Ule);
    }

    #[test]
    fn cores_of_rewritten_conditions_contain_the_equalities_used() {
        let mut solver = Solver::new(chain("simplify exhaustive"));
        let small = Small::new(&mut solver.graph);
        let g = &mut solver.graph;
        let (two, five) = (g.word(WIDTH, 2), g.word(WIDTH, 5));
        let pinned = g.eq(small.words[0], two);
        let sum = g.add(small.words[0], small.words[1]);
        let condition = g.ult(five, sum);
        let limit = g.ult(small.words[1], two);
        let path = solver.tree.extend(&solver.graph, solver.tree.root(), pinned);
        let path = solver.tree.extend(&solver.graph, path, limit);
        match solver.check(&Query::new(path, condition), &Budget::unlimited()) {
            Answer::Unsat(core) => assert!(core.constraints.contains(pinned)),
            answer => panic!("expected unsat, not {}", answer.verdict()),
        }
    }
}
