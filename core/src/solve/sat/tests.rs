use super::*;
use crate::budget::Budget;
use crate::expr::{Graph, Sort};
use crate::random::Random;
use crate::solve::Solver;

/// Makes each query twice: the first time with a limit of gates.
struct Interrupted(u64);

impl Layer for Interrupted {
    fn name(&self) -> &str {
        "interrupted"
    }

    fn check(&mut self, query: &Query, rest: &mut Rest<'_>) -> Answer {
        rest.check_within(query, self.0 * cost::GATE);
        rest.check(query).answer
    }

    fn sweep(&mut self, _alive: &Alive<'_>) {}

    fn drop_paths(&mut self, _gone: &[u32]) {}
}

/// Conditions on arrays, and whether they are satisfiable.
fn conditions(g: &mut Graph) -> Vec<(Expr, bool)> {
    let array = Sort::Array { index: 11, element: 3 };
    let [a, b] = ["a", "b"].map(|name| g.var(name, array).expect("a new name"));
    let [i, j] = ["i", "j"].map(|name| g.var(name, Sort::Bits(11)).expect("a new name"));
    let x = g.var("x", Sort::Bits(3)).expect("a new name");
    let (three, seven) = (g.word(11, 3), g.word(3, 7));
    let [at_i, at_j, at_3] = [i, j, three].map(|index| g.select(a, index));
    let (same_index, apart) = (g.eq(i, j), g.ne(i, j));
    let differ = g.ne(at_i, at_j);
    let (is_7, is_3, is_not_7) = (g.eq(at_3, seven), g.eq(i, three), g.ne(at_i, seven));
    let same = g.eq(a, b);
    let other = g.select(b, i);
    let differs_there = g.ne(at_i, other);
    let (left, right) = (g.store(a, i, x), g.store(a, j, x));
    let stores_agree = g.eq(left, right);
    let written = g.select(left, j);
    let is_other = g.ne(written, at_j);
    let mut all = |parts: &[Expr]| parts.iter().copied().reduce(|p, q| g.and(p, q)).expect("some");
    vec![
        (all(&[same_index, differ]), false),
        (all(&[apart, differ]), true),
        (all(&[is_7, is_3, is_not_7]), false),
        (all(&[is_7, is_not_7]), true),
        (all(&[same, differs_there]), false),
        (all(&[same, differ]), true),
        (all(&[stores_agree, apart]), true),
        (all(&[apart, is_other]), false),
        (differs_there, true),
    ]
}

#[test]
fn state_is_consistent_after_the_gate_limit() {
    for gates in 0..250 {
        let sat = Sat::new(SatOptions::default(), &ThrottleOptions::default());
        let mut solver = Solver::new(vec![Box::new(Interrupted(gates)), Box::new(sat)]);
        for (number, (condition, expected)) in conditions(&mut solver.graph).into_iter().enumerate() {
            let root = solver.tree.root();
            let answer = solver.check(&Query::new(root, condition), &Budget::unlimited());
            let verdict = if expected { "sat" } else { "unsat" };
            assert_eq!(answer.verdict(), verdict, "query {number} after {gates} gates");
        }
    }
}

/// A random array over `arrays` and a random index, with as many writes as given.
fn random_read(g: &mut Graph, random: &mut Random, arrays: &[Expr], words: &[Expr], writes: u64) -> Expr {
    let mut array = arrays[random.below(arrays.len() as u64) as usize];
    let word = |random: &mut Random| words[random.below(words.len() as u64) as usize];
    for _ in 0..writes {
        let (index, value) = (word(random), word(random));
        let written = g.store(array, index, value);
        array = if random.below(4) == 0 {
            let (p, q) = (word(random), word(random));
            let condition = g.ult(p, q);
            g.ite(condition, written, array)
        } else {
            written
        };
    }
    let index = word(random);
    g.select(array, index)
}

/// Reads on demand and multiplexers give the same answers. Models are evaluated by the layer.
#[test]
fn reads_on_demand_agree_with_multiplexers() {
    let mut random = Random::new(7);
    let mut answers = [0, 0];
    for case in 0..400 {
        let mut verdicts = Vec::new();
        let seed = random.below(1 << 32);
        for lazy_reads in [0, 1, 3] {
            let mut random = Random::new(seed);
            let options = SatOptions { lazy_reads, lazy_gates: 0, expand: 0, ..SatOptions::default() };
            let sat = Sat::new(options, &ThrottleOptions::default());
            let mut solver = Solver::new(vec![Box::new(sat)]);
            let g = &mut solver.graph;
            let arrays = ["a", "b"].map(|n| g.var(n, Sort::Array { index: 3, element: 3 }).unwrap());
            let mut words = ["i", "j", "k"].map(|n| g.var(n, Sort::Bits(3)).unwrap()).to_vec();
            words.push(g.word(3, 5));
            // Indices over one base, and over two.
            for (word, constant) in [(0, 1), (0, 7), (1, 2)] {
                let constant = g.word(3, constant);
                words.push(g.add(words[word], constant));
            }
            let mut all = g.boolean(true);
            for _ in 0..3 + random.below(4) {
                let writes = random.below(7);
                let read = random_read(g, &mut random, &arrays, &words, writes);
                let other = words[random.below(words.len() as u64) as usize];
                words.push(read);
                let condition = if random.below(2) == 0 { g.eq(read, other) } else { g.ult(read, other) };
                all = g.and(all, condition);
            }
            if random.below(3) == 0 {
                let same = g.eq(arrays[0], arrays[1]);
                all = g.and(all, same);
            }
            let root = solver.tree.root();
            let budget = Budget { whole_core: true, ..Budget::unlimited() };
            verdicts.push(solver.check(&Query::new(root, all), &budget).verdict());
        }
        assert!(verdicts.iter().all(|v| *v == verdicts[0] && *v != "unknown"), "{case}: {verdicts:?}");
        answers[usize::from(verdicts[0] == "sat")] += 1;
    }
    assert!(answers.iter().all(|&count| count > 50), "{answers:?}");
}
