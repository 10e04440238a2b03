//! Effort of the chain along long paths: a constraint costs what it mentions, at any depth.
//!
//! A path is walked as the executor does: the model decides each branch, the other side is asked for, and the condition that
//! holds is added. Effort counts evaluated nodes, visited entries of the index, constraints put into lists and learning, and
//! no clock.

use crate::chain;
use partita_core::budget::Budget;
use partita_core::exec::DEFAULT_LAYERS;
use partita_core::expr::{Expr, Graph, Sort};
use partita_core::query::{Answer, Query, Status};

/// The condition of round `i` over the bytes of an input, and over what earlier rounds made.
type Round = fn(&mut Graph, &mut Rounds, u64) -> Expr;

struct Rounds {
    input: Expr,
    /// The value that a loop computes.
    state: Expr,
}

impl Rounds {
    fn byte(&self, g: &mut Graph, at: u64) -> Expr {
        let at = g.word(32, at);
        let byte = g.read(self.input, at, 1);
        g.zext(byte, 32)
    }
}

/// Walks a path of `rounds` branches. Returns the effort of all queries.
fn effort(rounds: u64, round: Round) -> u64 {
    let mut solver = chain::solver(&DEFAULT_LAYERS.replace(" store", ""));
    let input = solver.graph.var("in", Sort::Array { index: 32, element: 8 }).unwrap();
    let state = solver.graph.word(32, 1);
    let mut loop_state = Rounds { input, state };
    let mut path = solver.tree.root();
    let mut effort = 0;
    for i in 0..rounds {
        let condition = round(&mut solver.graph, &mut loop_state, i);
        let model = solver.tree.model(path).expect("a feasible path").clone();
        let holds = solver.evaluator.under(&solver.graph, &model).truth(condition);
        let negation = solver.graph.not(condition);
        let (own, other) = if holds { (condition, negation) } else { (negation, condition) };
        let reply = solver.reply(&Query::new(path, other), &Budget::unlimited());
        effort += reply.effort;
        assert!(!matches!(reply.answer, Answer::Unknown(_)), "round {i}");
        path = solver.tree.extend(&solver.graph, path, own);
        solver.tree.set_status(path, Status::Feasible(model));
    }
    effort
}

/// Four times the rounds take about four times the effort. With work in proportion to the depth it would be sixteen times.
fn is_linear(name: &str, round: Round) {
    let (short, long) = (effort(150, round), effort(600, round));
    assert!(long < 6 * short, "{name}: {short} for 150 rounds, {long} for 600");
}

#[test]
fn each_byte_by_itself() {
    is_linear("bytes", |g, rounds, i| {
        let (byte, x) = (rounds.byte(g, i), g.word(32, 120));
        g.eq(byte, x)
    });
}

#[test]
fn each_byte_with_the_one_before() {
    is_linear("pairs", |g, rounds, i| {
        let (byte, next) = (rounds.byte(g, i), rounds.byte(g, i + 1));
        g.ult(next, byte)
    });
}

#[test]
fn a_window_of_three_bytes() {
    is_linear("window", |g, rounds, i| {
        let [a, b, c] = [0, 1, 2].map(|k| rounds.byte(g, i + k));
        let (sum, limit) = (g.add(b, c), g.word(32, 100));
        let bound = g.add(a, limit);
        g.ult(bound, sum)
    });
}

#[test]
fn a_counter_up_to_an_input() {
    is_linear("counter", |g, rounds, i| {
        let at = g.word(32, 0);
        let bound = g.read(rounds.input, at, 4);
        let now = g.word(32, i);
        g.ult(now, bound)
    });
}

/// The state of round `i` depends on all bytes so far, and the newest byte decides the branch. Evaluating it takes all
/// earlier rounds, so this is the shape that is not linear; but the constraints before it are not evaluated, nor is it
/// solved.
#[test]
fn a_state_of_all_bytes_costs_its_own_size() {
    let round: Round = |g, rounds, i| {
        let (byte, five, zero) = (rounds.byte(g, i), g.word(32, 5), g.word(8, 0));
        let product = g.mul(rounds.state, five);
        let sum = g.add(product, byte);
        let narrow = g.extract(sum, 0, 8);
        rounds.state = g.zext(narrow, 32);
        g.eq(narrow, zero)
    };
    let (short, long) = (effort(150, round), effort(600, round));
    assert!(long < 20 * short, "{short} for 150 rounds, {long} for 600");
    // A round of 600 evaluates a few thousand nodes a few times.
    assert!(long < 600 * 300_000, "{long}");
}
