//! The layer `differences` compared with all assignments: order, equality and difference constraints between four
//! words of three bits, signed and unsigned, with constants added at every wrap boundary.

use crate::chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use partita_core::query::{Answer, Query, Status, verify};
use partita_core::random::Random;

const WIDTH: u32 = 3;
const WORDS: usize = 4;

fn term(g: &mut Graph, r: &mut Random, words: &[Expr]) -> Expr {
    let x = words[r.below(words.len() as u64) as usize];
    match r.below(7) {
        0 => g.word(WIDTH, r.word()),
        // Only sets represent the effect on x.
        6 => {
            let mask = g.word(WIDTH, r.word());
            g.and(x, mask)
        }
        1 => {
            let c = g.word(WIDTH, r.word());
            g.add(x, c)
        }
        2 => {
            let y = words[r.below(words.len() as u64) as usize];
            g.sub(x, y)
        }
        _ => x,
    }
}

fn literal(g: &mut Graph, r: &mut Random, words: &[Expr]) -> Expr {
    let (mut a, mut b) = (term(g, r, words), term(g, r, words));
    if r.below(5) == 0 {
        let (x, y) = (r.below(2) == 0, r.below(2) == 0);
        a = if x { g.sext(a, WIDTH + 1) } else { g.zext(a, WIDTH + 1) };
        b = if y { g.sext(b, WIDTH + 1) } else { g.zext(b, WIDTH + 1) };
    }
    match r.below(6) {
        0 => g.ult(a, b),
        1 => g.ule(a, b),
        2 => g.slt(a, b),
        3 => g.sle(a, b),
        4 => g.eq(a, b),
        _ => g.ne(a, b),
    }
}

/// All assignments of the words.
fn models(words: &[Expr]) -> Vec<Model> {
    let model = |n: u64| {
        let mut model = Model::new();
        for (i, &w) in words.iter().enumerate() {
            model.set_bits(w, Bits::word(WIDTH, n >> (i as u32 * WIDTH)));
        }
        model
    };
    (0..1u64 << (WIDTH * WORDS as u32)).map(model).collect()
}

fn satisfying<'a>(
    g: &Graph,
    models: &'a [Model],
    all: &[Expr],
    evaluator: &mut Evaluator,
) -> Option<&'a Model> {
    models.iter().find(|model| {
        let mut session = evaluator.under(g, model);
        all.iter().all(|&e| session.truth(e))
    })
}

#[test]
fn random_paths_of_comparisons() {
    let (mut decided, mut asked, mut unsat) = (0, 0, 0);
    for seed in 0..1000 {
        let mut r = Random::new(seed + 1);
        let mut s = solver("differences");
        let words: Vec<Expr> =
            (0..WORDS).map(|i| s.graph.var(&format!("x{i}"), Sort::Bits(WIDTH)).unwrap()).collect();
        let models = models(&words);
        let mut path = s.tree.root();
        let mut earlier = vec![s.tree.retain(path)];
        for _ in 0..14 {
            // Returns to a fork now and then, and releases some or all of the nodes left behind.
            if r.below(8) == 0 {
                path = earlier[r.below(earlier.len() as u64) as usize];
                let left = earlier.iter().position(|p| *p != path && r.below(3) == 0);
                left.into_iter().for_each(|at| s.tree.release(earlier.swap_remove(at)));
                s.drop_paths();
            }
            let condition = literal(&mut s.graph, &mut r, &words);
            let query = Query::new(path, condition);
            let mut all = s.tree.constraints(path);
            let answer = s.check(&query, &Budget::unlimited());
            asked += 1;
            let mut evaluator = Evaluator::new();
            match &answer {
                Answer::Sat(model) => {
                    decided += 1;
                    assert_eq!(
                        verify(&s.graph, &s.tree, &query, model, &mut evaluator),
                        Ok(()),
                        "seed {seed}"
                    );
                }
                Answer::Unsat(core) => {
                    decided += 1;
                    unsat += 1;
                    all.retain(|e| core.constraints.contains(*e));
                    if core.condition {
                        all.push(condition);
                    }
                    let model = satisfying(&s.graph, &models, &all, &mut evaluator);
                    assert!(model.is_none(), "seed {seed}: wrong unsat, {model:?}");
                }
                Answer::Unknown(_) => {}
            }
            let negated = s.graph.not(condition);
            let side = if r.below(2) == 0 { condition } else { negated };
            let longer = s.tree.extend(&s.graph, path, side);
            let constraints = s.tree.constraints(longer);
            // Most nodes get a model, as in the executor; some stay unchecked, some are infeasible.
            match satisfying(&s.graph, &models, &constraints, &mut evaluator) {
                Some(model) => {
                    if r.below(4) > 0 {
                        s.tree.set_status(longer, Status::Feasible(model.clone()));
                    }
                    path = longer;
                }
                None if r.below(4) == 0 => path = longer,
                None => {}
            }
            earlier.push(s.tree.retain(path));
            s.tree.release(longer);
        }
    }
    println!("decided {decided} of {asked}, {unsat} unsat");
    assert!(unsat > 400, "only {unsat} unsat answers");
    assert!(decided * 100 >= asked * 50, "decided only {decided} of {asked}");
}

#[test]
fn wrapping_sums_are_respected() {
    // {x + 1 <=u y, y <=u x} holds at x = max; it is unsat only together with a bound on x.
    let mut s = solver("differences");
    let g = &mut s.graph;
    let (x, y) = (g.var("x", Sort::Bits(32)).unwrap(), g.var("y", Sort::Bits(32)).unwrap());
    let one = g.word(32, 1);
    let next = g.add(x, one);
    let (first, second) = (g.ule(next, y), g.ule(y, x));
    let limit = g.word(32, 100);
    let bound = g.ult(x, limit);
    let path = s.tree.extend(&s.graph, s.tree.root(), first);
    assert!(!matches!(s.check(&Query::new(path, second), &Budget::unlimited()), Answer::Unsat(_)));
    let path = s.tree.extend(&s.graph, s.tree.root(), bound);
    let path = s.tree.extend(&s.graph, path, first);
    match s.check(&Query::new(path, second), &Budget::unlimited()) {
        Answer::Unsat(core) => assert!(core.condition && core.constraints.contains(bound)),
        answer => panic!("expected unsat, not {}", answer.verdict()),
    }
}

#[test]
fn signed_and_unsigned_order_are_not_mixed() {
    // Both hold for x = -1.
    let mut s = solver("differences");
    let g = &mut s.graph;
    let x = g.var("x", Sort::Bits(32)).unwrap();
    let (zero, ten) = (g.word(32, 0), g.word(32, 10));
    let (negative, large) = (g.slt(x, zero), g.ult(ten, x));
    let path = s.tree.extend(&s.graph, s.tree.root(), negative);
    assert!(matches!(s.check(&Query::new(path, large), &Budget::unlimited()), Answer::Sat(_)));
}

#[test]
fn zero_moves_before_a_variable_has_a_value() {
    // All values start at zero. `c < b` lowers c below zero, so zero and the variables above it are lowered
    // instead; a, which has no value yet, must stay above b.
    let mut s = solver("differences");
    let g = &mut s.graph;
    let [a, b, c] = ["a", "b", "c"].map(|name| g.var(name, Sort::Bits(32)).unwrap());
    let (order, condition) = (g.ule(b, a), g.ult(c, b));
    let path = s.tree.extend(&s.graph, s.tree.root(), order);
    s.tree.set_status(path, Status::Feasible(Model::new()));
    let answer = s.check(&Query::new(path, condition), &Budget::unlimited());
    assert!(matches!(answer, Answer::Sat(_)), "expected sat, not {}", answer.verdict());
}
