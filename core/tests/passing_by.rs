//! A layer that costs much more than what it leaves to those below is passed by, where one of those decides everything.

use partita_core::budget::Budget;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Alive, Answer, Core, Query, Reasons};
use partita_core::solve::{Layer, Rest, Solver, Spec, build_chain};

/// Answers nothing but one question, and takes its time.
struct Dear {
    work_ns: u64,
    /// Never true.
    knows: Option<Expr>,
}

impl Layer for Dear {
    fn name(&self) -> &str {
        "dear"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.charge(self.work_ns);
        if self.knows == Some(query.condition) {
            return Answer::Unsat(Core { constraints: Reasons::None, condition: true });
        }
        rest.check(query)
    }

    fn is_optional(&self) -> bool {
        true
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}
}

const QUESTIONS: u64 = 1000;

/// Asks whether a byte can be below each of some numbers; how often the first layer was asked, and passed by.
fn asked(work_ns: u64, below: &str, verdicts: [&str; 2]) -> (u64, f64) {
    let spec = Spec::parse(below, &Spec(Vec::new())).expect("a chain");
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(Dear { work_ns, knows: None })];
    layers.extend(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"));
    let mut solver = Solver::new(layers);
    let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
    for i in 0..QUESTIONS {
        let limit = solver.graph.word(8, i % 3);
        let condition = solver.graph.ult(x, limit);
        let answer = solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
        assert_eq!(answer.verdict(), verdicts[usize::from(i % 3 > 0)]);
    }
    let first = &solver.statistics()[0];
    let passed_by = first.counters.iter().find(|(name, _)| name == "passed_by").map_or(0.0, |(_, n)| *n);
    (first.meter.asked, passed_by)
}

#[test]
fn what_costs_more_than_it_saves_is_passed_by() {
    let (often, passed_by) = asked(1_000_000, "sat", ["unsat", "sat"]);
    assert!(often < 50, "asked {often} times");
    assert_eq!(often as f64 + passed_by, QUESTIONS as f64);
    assert_eq!(asked(1_000_000, "sat", ["unsat", "sat"]), (often, passed_by), "the same each time");
    assert_eq!(asked(1_000, "sat", ["unsat", "sat"]), (QUESTIONS, 0.0));
}

#[test]
fn nothing_is_passed_by_that_nobody_else_could_answer() {
    assert_eq!(asked(1_000_000, "intervals", ["unsat", "sat"]), (QUESTIONS, 0.0));
    assert_eq!(asked(1_000_000, "reuse", ["unknown"; 2]), (QUESTIONS, 0.0));
}

/// Two factors of a prime, neither of them one.
fn hard(graph: &mut Graph) -> Expr {
    let [x, y] = ["p", "q"].map(|name| graph.var(name, Sort::Bits(16)).expect("a new name"));
    let (wide_x, wide_y) = (graph.zext(x, 32), graph.zext(y, 32));
    let (product, prime, one) = (graph.mul(wide_x, wide_y), graph.word(32, 4_294_967_291), graph.word(16, 1));
    let parts = [graph.eq(product, prime), graph.ult(one, x), graph.ult(one, y)];
    graph.all(parts)
}

#[test]
fn a_hard_question_is_asked_of_those_that_were_passed_by() {
    let spec = Spec::parse("reuse sat", &Spec(Vec::new())).expect("a chain");
    // Variables are what a graph begins with, so it is the same expression in both.
    let knows = Some(hard(&mut Graph::new()));
    let mut layers: Vec<Box<dyn Layer>> = vec![Box::new(Dear { work_ns: 1_000_000, knows })];
    layers.extend(build_chain(&spec, &mut |_| Ok(None)).expect("layers of the core"));
    let mut solver = Solver::new(layers);
    let condition = hard(&mut solver.graph);
    assert_eq!(Some(condition), knows);
    let x = solver.graph.var("x", Sort::Bits(8)).expect("a new name");
    for i in 0..100 {
        let limit = solver.graph.word(8, i + 1);
        let easy = solver.graph.ult(x, limit);
        let answer = solver.check(&Query::new(solver.tree.root(), easy), &Budget::unlimited());
        assert_eq!(answer.verdict(), "sat");
    }
    let before = solver.statistics()[0].meter.clone();
    assert!(before.asked < 50, "asked {} times", before.asked);
    // By itself `sat` takes seconds for it.
    let answer = solver.check(&Query::new(solver.tree.root(), condition), &Budget::unlimited());
    assert_eq!(answer.verdict(), "unsat");
    let after = solver.statistics();
    assert_eq!((after[0].meter.asked, after[0].meter.unsat), (before.asked + 1, 1));
    assert_eq!(after[2].meter.unknown, 1, "`sat` has left it open");
}
