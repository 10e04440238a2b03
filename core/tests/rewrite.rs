//! Every rewrite keeps the meaning: whatever a builder gives is compared, as soon as it is built, with the
//! operator applied to the operands' values, under all models where there are few and at random otherwise.
//! A rule that nothing here made fire fails the test. Then what the rules promise about canonical forms.

mod terms;

use partita_core::expr::{Evaluator, Expr, Graph, Op, Rule, Sort};
use rustc_hash::FxHashMap;
use terms::{Make, Random, World, from_value};

/// How often each rule fired, over many graphs.
#[derive(Default)]
struct Fired(FxHashMap<u8, u64>);

impl Fired {
    fn add(&mut self, graph: &Graph) {
        for (rule, count) in graph.rule_counts() {
            *self.0.entry(rule as u8).or_default() += count;
        }
    }

    fn missing(&self) -> Vec<Rule> {
        Rule::ALL.iter().copied().filter(|&rule| self.0.get(&(rule as u8)).is_none_or(|&n| n == 0)).collect()
    }
}

/// Sorts for a few variables that together have at most `bits` bits, with widths up to `widest`.
fn some_sorts(random: &mut Random, bits: u64, widest: u32) -> Vec<Sort> {
    let first = 1 + random.below(bits.min(widest.into())) as u32;
    let mut sorts = vec![Sort::Bits(first)];
    let mut left = bits - u64::from(first);
    loop {
        let sort = match random.below(5) {
            0 => Sort::Bool,
            1 => Sort::Array { index: 1 + random.below(3) as u32, element: 1 + random.below(3) as u32 },
            _ => Sort::Bits(1 + random.below(widest.into()) as u32),
        };
        let size = terms::sort_bits(sort);
        if size > left {
            return sorts;
        }
        left -= size;
        sorts.push(sort);
    }
}

/// The evaluator agrees with the table, under a few models.
fn check_evaluator(world: &mut World, evaluator: &mut Evaluator, e: Expr) {
    let table = world.table(e);
    for _ in 0..4 {
        let i = world.random.below(world.models.len() as u64) as usize;
        let value = evaluator.under(&world.graph, &world.models[i]).value(e);
        assert_eq!(from_value(&value), table[i], "evaluating {}", world.show(e));
    }
}

/// A comparison with a constant has it right of `<` and left of `<=`; negation twice is nothing; a node built
/// again from its own operands is itself.
fn check_canonical(world: &mut World, e: Expr) {
    let g = &mut world.graph;
    let mut nodes = Vec::new();
    g.post_order(&[e], |e| nodes.push(e));
    for e in nodes {
        match g.op(e) {
            Op::Ult | Op::Slt => assert!(!g.is_const(g.kid(e, 0)), "{}", terms::show(g, e)),
            Op::Ule | Op::Sle => assert!(!g.is_const(g.kid(e, 1)), "{}", terms::show(g, e)),
            _ => {}
        }
        let kids = g.kids(e);
        let again = g.rebuild(e, &kids);
        assert!(again == e, "{}\nbuilt again is\n{}", terms::show(g, e), terms::show(g, again));
        if !g.is_array(e) {
            let not = g.not(e);
            let back = g.not(not);
            assert!(back == e, "~~{}\nis\n{}", terms::show(g, e), terms::show(g, back));
        }
    }
}

fn run(seed: u64, sorts: &[Sort], widest: u32, samples: usize, steps: u32, fired: &mut Fired) {
    let mut world = World::new(seed, sorts, widest, samples);
    let mut evaluator = Evaluator::new();
    for step in 0..steps {
        let e = world.step();
        if step % 8 == 0 {
            check_evaluator(&mut world, &mut evaluator, e);
            check_canonical(&mut world, e);
        }
    }
    fired.add(&world.graph);
}

#[test]
fn random_terms_keep_their_meaning_and_every_rule_fires() {
    let mut fired = Fired::default();
    let mut random = Random::new(1);
    for seed in 0..600 {
        // Mostly 2^8 models, a few with all 2^12.
        let bits = if seed % 16 == 0 { 12 } else { 8 };
        let sorts = some_sorts(&mut random, bits, 8);
        run(seed, &sorts, 10, 0, 250, &mut fired);
    }
    for seed in 0..100 {
        let sorts = some_sorts(&mut random, 60, 8);
        run(1000 + seed, &sorts, 16, 64, 250, &mut fired);
    }
    let missing = fired.missing();
    assert!(missing.is_empty(), "no case made these rules fire: {missing:?}");
}

#[test]
fn random_wide_terms_keep_their_meaning() {
    let mut fired = Fired::default();
    let mut random = Random::new(2);
    for seed in 0..120 {
        let wide = Sort::Bits(65 + random.below(66) as u32);
        let half = Sort::Bits(1 + random.below(64) as u32);
        let array = Sort::Array { index: 1 + random.below(3) as u32, element: 8 + random.below(70) as u32 };
        let sorts = [wide, wide, half, Sort::Bits(64), Sort::Bool, array];
        run(2000 + seed, &sorts, 200, 64, 200, &mut fired);
    }
}

/// All terms of two operators over two variables and all constants, at width 2; at width 3 with one operand of
/// the outer operator a leaf.
#[test]
fn all_small_terms_keep_their_meaning() {
    for width in 1..=3 {
        let mut world = World::new(0, &[Sort::Bits(width), Sort::Bits(width)], 8, 0);
        let mut leaves = world.variables.clone();
        leaves.extend((0..1 << width).map(|c| world.graph.word(width, c)));
        let mut level = all_makes(&mut world, &leaves, &leaves);
        level.sort_unstable();
        level.dedup();
        let others = if width < 3 { level.clone() } else { leaves.clone() };
        all_makes(&mut world, &level, &others);
        if width == 3 {
            all_makes(&mut world, &leaves, &level);
        }
    }
}

/// Every operator over every fitting pair; what came out, with the operands.
fn all_makes(world: &mut World, first: &[Expr], second: &[Expr]) -> Vec<Expr> {
    let mut out: Vec<Expr> = first.to_vec();
    for &a in first {
        let sort = world.graph.sort(a);
        out.push(world.make(&Make::Plain(Op::Not), &[a]));
        if let Sort::Bits(width) = sort {
            for make in [Make::ZExt(width + 1), Make::SExt(width + 1), Make::SExt(width + 2)] {
                out.push(world.make(&make, &[a]));
            }
            for low in 0..width {
                for width in 1..=width - low {
                    out.push(world.make(&Make::Extract { low, width }, &[a]));
                }
            }
        }
        for &b in second {
            if matches!(sort, Sort::Bits(_)) && matches!(world.graph.sort(b), Sort::Bits(_)) {
                out.push(world.make(&Make::Plain(Op::Concat), &[a, b]));
            }
            if world.graph.sort(b) != sort {
                continue;
            }
            let ops: &[Op] = match sort {
                Sort::Bool => &[Op::And, Op::Or, Op::Xor, Op::Eq],
                Sort::Bits(_) | Sort::Array { .. } => &BINARY,
            };
            for &op in ops {
                out.push(world.make(&Make::Plain(op), &[a, b]));
            }
        }
    }
    out
}

const BINARY: [Op; 18] = [
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::URem,
    Op::SDiv,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::Eq,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
];
