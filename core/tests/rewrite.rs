//! Every rewrite preserves values: the result of each builder is compared with the operator applied to the values
//! of the operands, under all models if there are few and at random otherwise. A rule that is never applied fails
//! the test. Then the canonical forms that the rules guarantee.

use crate::terms;
use crate::terms::{Make, Random, World, from_value};
use partita_core::expr::{Evaluator, Expr, Family, Graph, Op, ResultSort, Rule, Sort};
use rustc_hash::FxHashMap;

/// Number of applications of each rule, over many graphs.
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

/// Sorts for a few variables of at most `bits` bits in total, with widths up to `widest`.
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

/// The evaluator agrees with the table under a few models.
fn check_evaluator(world: &mut World, evaluator: &mut Evaluator, e: Expr) {
    let table = world.table(e);
    for _ in 0..4 {
        let i = world.random.below(world.models.len() as u64) as usize;
        let value = evaluator.under(&world.graph, &world.models[i]).value(e);
        assert_eq!(from_value(&value), table[i], "evaluating {}", world.show(e));
    }
}

/// A comparison with a constant has it right of `<` and left of `<=`; double negation is removed; a node built
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
    run_world(World::new(seed, sorts, widest, samples), steps, fired);
}

fn run_world(mut world: World, steps: u32, fired: &mut Fired) {
    let mut evaluator = Evaluator::new();
    for step in 0..steps {
        let e = world.step();
        if step % 8 == 0 {
            check_evaluator(&mut world, &mut evaluator, e);
            if world.graph.rewrites_cut() == 0 {
                check_canonical(&mut world, e);
            }
        }
    }
    fired.add(&world.graph);
}

#[test]
fn random_terms_keep_their_values_and_every_rule_applies() {
    let mut fired = Fired::default();
    let mut random = Random::new(1);
    for seed in 0..600 {
        // Mostly 2^8 models, sometimes all 2^12.
        let bits = if seed % 16 == 0 { 12 } else { 8 };
        let sorts = some_sorts(&mut random, bits, 8);
        run(seed, &sorts, 10, 0, 250, &mut fired);
    }
    for seed in 0..100 {
        let sorts = some_sorts(&mut random, 60, 8);
        run(1000 + seed, &sorts, 16, 64, 250, &mut fired);
    }
    polynomial_identities(&mut fired);
    swaps(&mut fired);
    divided_choices(&mut fired);
    shifted_bits(&mut fired);
    for (rule, count) in crate::float::rules::small_cases() {
        *fired.0.entry(rule as u8).or_default() += count;
    }
    let missing = fired.missing();
    assert!(missing.is_empty(), "no case applies these rules: {missing:?}");
}

/// Places of a memory that are swapped there and back again; `World::make` compares all values.
fn swaps(fired: &mut Fired) {
    let bits = Sort::Bits(1);
    let mut world = World::new(0, &[Sort::Array { index: 1, element: 2 }, bits, bits, bits, bits], 8, 0);
    let [memory, p, q, r, s] = [0, 1, 2, 3, 4].map(|i| world.variables[i]);
    let mut swap = |memory: Expr, i: Expr, j: Expr| {
        let [x, y] = [i, j].map(|at| world.make(&Make::Read(1), &[memory, at]));
        let half = world.make(&Make::Plain(Op::Store), &[memory, i, y]);
        world.make(&Make::Plain(Op::Store), &[half, j, x])
    };
    // Writes of two swaps of one place are merged, so that it is not seen that they are undone.
    for (steps, is_seen) in [(&[(p, q)][..], true), (&[(p, q), (r, s)], true), (&[(p, q), (q, r)], false)] {
        let there = steps.iter().fold(memory, |memory, &(i, j)| swap(memory, i, j));
        let back = steps.iter().rev().fold(there, |memory, &(i, j)| swap(memory, i, j));
        let other_order = steps.iter().rev().fold(there, |memory, &(i, j)| swap(memory, j, i));
        assert_eq!([back == memory, other_order == memory], [is_seen; 2], "{steps:?}");
    }
    fired.add(&world.graph);
}

/// Quotients and remainders of choices by one condition, with an equal arm; `World::make` compares all values.
fn divided_choices(fired: &mut Fired) {
    let mut world = World::new(0, &[Sort::Bool, Sort::Bits(2), Sort::Bits(2), Sort::Bits(2)], 8, 0);
    let [p, x, y, z] = [0, 1, 2, 3].map(|i| world.variables[i]);
    for op in [Op::UDiv, Op::URem, Op::SDiv, Op::SRem] {
        for arms in [[(x, y), (x, z)], [(y, x), (z, x)]] {
            let [a, b] = arms.map(|(then, other)| world.make(&Make::Plain(Op::Ite), &[p, then, other]));
            world.make(&Make::Plain(op), &[a, b]);
            let [a, b] = [a, b].map(|e| world.make(&Make::Plain(Op::Not), &[e]));
            let e = world.make(&Make::Plain(op), &[a, b]);
            assert_eq!(world.graph.op(e), Op::Ite, "{op:?}");
        }
    }
    fired.add(&world.graph);
}

/// Products, quotients and remainders of a power of two that is shifted are shifts and masks; `World::make` compares all values.
fn shifted_bits(fired: &mut Fired) {
    for width in 2..=4 {
        let mut world = World::new(0, &[Sort::Bits(width); 2], 8, 0);
        let [x, y] = [0, 1].map(|i| world.variables[i]);
        for j in 0..width {
            let power = world.graph.word(width, 1 << j);
            let divisor = world.make(&Make::Plain(Op::Shl), &[power, y]);
            for op in [Op::Mul, Op::UDiv, Op::URem] {
                let e = world.make(&Make::Plain(op), &[x, divisor]);
                assert_ne!(world.graph.op(e), op);
            }
        }
        fired.add(&world.graph);
    }
}

/// Equations of polynomials that always hold or never hold are constants; `World::make` compares all values. Random
/// terms rarely contain one.
fn polynomial_identities(fired: &mut Fired) {
    for width in 1..=4 {
        let mut world = World::new(0, &[Sort::Bits(width); 3], 8, 0);
        let [x, y, z] = [0, 1, 2].map(|i| world.variables[i]);
        let (zero, one) = (world.graph.word(width, 0), world.graph.word(width, 1));
        let mut op = |op: Op, a: Expr, b: Expr| world.make(&Make::Plain(op), &[a, b]);
        let (xy, xz, yz, xx) = (op(Op::Mul, x, y), op(Op::Mul, x, z), op(Op::Mul, y, z), op(Op::Mul, x, x));
        let sum = op(Op::Add, y, z);
        let (distributed, grouped) = (op(Op::Add, xy, xz), op(Op::Mul, x, sum));
        let (left, right) = (op(Op::Mul, xy, z), op(Op::Mul, x, yz));
        let (shifted, factor) = (op(Op::Shl, xx, y), op(Op::Shl, x, y));
        let shifted_factor = op(Op::Mul, x, factor);
        let (minus_x, minus_y, difference) = (op(Op::Sub, zero, x), op(Op::Sub, zero, y), op(Op::Sub, x, y));
        let both_negated = op(Op::Mul, minus_x, minus_y);
        let (plus, minus) = (op(Op::Add, x, y), difference);
        let (squares, yy) = (op(Op::Mul, plus, minus), op(Op::Mul, y, y));
        let difference_of_squares = op(Op::Sub, xx, yy);
        let (next, doubled) = (op(Op::Add, grouped, one), op(Op::Add, xy, xy));
        let (odd, even) = (op(Op::Add, doubled, one), op(Op::Add, left, left));
        let not_x = world.make(&Make::Plain(Op::Not), &[x]);
        let mut op = |op: Op, a: Expr, b: Expr| world.make(&Make::Plain(op), &[a, b]);
        let complement = op(Op::Mul, not_x, y);
        let complements = op(Op::Add, complement, xy);
        let (xz_sum, left_sum) = (op(Op::Add, z, x), op(Op::Add, plus, z));
        let (right_sum, minus_sum) = (op(Op::Add, xz_sum, y), op(Op::Sub, zero, plus));
        let sum_of_negated = op(Op::Add, minus_x, minus_y);
        let [not_y, not_sum] = [y, plus].map(|e| world.make(&Make::Plain(Op::Not), &[e]));
        let mut op = |op: Op, a: Expr, b: Expr| world.make(&Make::Plain(op), &[a, b]);
        let not_x_and_y = op(Op::Add, not_x, not_y);
        let sum_of_complements = op(Op::Add, not_x_and_y, one);
        let (and, or, xor) = (op(Op::And, x, y), op(Op::Or, x, y), op(Op::Xor, x, y));
        let (and_or, twice) = (op(Op::Add, and, or), op(Op::Add, and, and));
        let (half_adder, without_both) = (op(Op::Add, xor, twice), op(Op::Sub, or, and));
        let (only_x, with_minus) = (op(Op::And, x, not_y), op(Op::Or, y, minus_x));
        let (or_minus_y, rest) = (op(Op::Sub, or, y), op(Op::Add, x, with_minus));
        let [divided, signed] = [(Op::UDiv, Op::URem), (Op::SDiv, Op::SRem)].map(|(quotient, remainder)| {
            let mut op = |op: Op, a: Expr, b: Expr| world.make(&Make::Plain(op), &[a, b]);
            let (quotient, remainder) = (op(quotient, x, y), op(remainder, x, y));
            let product = op(Op::Mul, quotient, y);
            op(Op::Add, product, remainder)
        });
        let not_minus = world.make(&Make::Plain(Op::Not), &[minus_x]);
        let y_only = world.make(&Make::Plain(Op::And), &[y, not_minus]);
        for (a, b, expected) in [
            (distributed, grouped, true),
            (left, right, true),
            (shifted, shifted_factor, true),
            (both_negated, xy, true),
            (squares, difference_of_squares, true),
            (complements, minus_y, true),
            (left_sum, right_sum, true),
            (minus_sum, sum_of_negated, true),
            (not_sum, sum_of_complements, true),
            (not_sum, not_x_and_y, false),
            (and_or, plus, true),
            (half_adder, plus, true),
            (without_both, xor, true),
            (or_minus_y, only_x, true),
            (rest, y_only, true),
            (divided, x, true),
            (signed, x, true),
            (next, distributed, false),
            (odd, even, false),
        ] {
            let e = world.make(&Make::Plain(Op::Eq), &[a, b]);
            // One bit has simpler forms, of which not all are decided.
            let decided = world.graph.is_true(e) == expected && world.graph.is_const(e);
            assert!(decided || width == 1, "{} at {width} bits", world.show(e));
        }
        fired.add(&world.graph);
    }
}

#[test]
fn random_float_terms_keep_their_values() {
    let mut fired = Fired::default();
    for seed in 0..60 {
        let sorts = [Sort::Bits(4), Sort::Bits(4), Sort::Bits(3), Sort::Bool];
        let mut world = World::new(4000 + seed, &sorts, 10, 0);
        world.floats = true;
        run_world(world, 150, &mut fired);
    }
    for seed in 0..20 {
        let width = [16, 32, 64, 80][seed as usize % 4];
        let sorts = [Sort::Bits(width), Sort::Bits(width), Sort::Bits(6), Sort::Bool];
        let mut world = World::new(5000 + seed, &sorts, 128, 32);
        world.floats = true;
        run_world(world, 150, &mut fired);
    }
}

#[test]
fn random_wide_terms_keep_their_values() {
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

/// All expressions of two operators over two variables and all constants at width 2; at width 3 with one operand of
/// the outer operator a leaf.
#[test]
fn all_small_terms_keep_their_values() {
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

/// Every operator over every fitting pair: the results with their operands.
fn all_makes(world: &mut World, first: &[Expr], second: &[Expr]) -> Vec<Expr> {
    let mut out: Vec<Expr> = first.to_vec();
    for &a in first {
        let sort = world.graph.sort(a);
        let unary = |op: &Op| {
            op.is_on_words() && op.arity() == 1 && op.result() == ResultSort::Operand && !is_float(op)
        };
        for &op in Op::ALL.iter().filter(|op| unary(op) && (sort != Sort::Bool || op.takes_bools())) {
            match op.has_parameter() {
                false => out.push(world.make(&Make::Plain(op), &[a])),
                true => (0..world.graph.width(a)).for_each(|parameter| {
                    out.push(world.make(&Make::Parameter(op, parameter), &[a]));
                }),
            }
        }
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
            for op in binary_operators(sort == Sort::Bool) {
                out.push(world.make(&Make::Plain(op), &[a, b]));
            }
        }
    }
    out
}

/// Formats need at least four bits: float operators are tested by random terms.
fn is_float(op: &Op) -> bool {
    matches!(op.family(), Family::Float(_))
}

/// Operators on two operands of one sort; if `bools`, only those that take booleans.
fn binary_operators(bools: bool) -> impl Iterator<Item = Op> {
    let on_one_sort =
        |op: &Op| op.is_on_words() && op.arity() == 2 && op.result() != ResultSort::Node && !is_float(op);
    Op::ALL.iter().copied().filter(on_one_sort).filter(move |op| !bools || op.takes_bools())
}

/// Where rewriting stops at a limit, unsimplified nodes remain (`x + 0`, shifts past the width): the rules must be
/// correct over those as well.
#[test]
fn rules_are_correct_over_operands_that_are_not_canonical() {
    let mut fired = Fired::default();
    let mut random = Random::new(5);
    for seed in 0..500 {
        let sorts = some_sorts(&mut random, if seed % 3 == 0 { 60 } else { 8 }, 8);
        let mut world = World::new(3000 + seed, &sorts, 12, 64);
        world.graph.limit_rewriting((seed % 4) as u32, u32::MAX);
        for step in 0..250 {
            // Sometimes all rules, over unsimplified nodes.
            let depth = if step % 3 == 0 { 24 } else { (seed % 4) as u32 };
            world.graph.limit_rewriting(depth, u32::MAX);
            world.step();
        }
        fired.add(&world.graph);
    }
}

/// An unsimplified `x + 0` is still the index `x`.
#[test]
fn an_unsimplified_index_is_compared_by_value() {
    let sorts = [Sort::Array { index: 2, element: 1 }, Sort::Bits(2), Sort::Bits(1)];
    let mut world = World::new(0, &sorts, 8, 0);
    let [array, x, v] = [0, 1, 2].map(|i| world.variables[i]);
    let zero = world.graph.word(2, 0);
    world.graph.limit_rewriting(0, u32::MAX);
    let same = world.make(&Make::Plain(Op::Add), &[x, zero]);
    assert!(same != x && world.graph.rewrites_cut() > 0);
    world.graph.limit_rewriting(24, u32::MAX);
    for (write, read) in [(same, x), (x, same)] {
        let stored = world.make(&Make::Plain(Op::Store), &[array, write, v]);
        world.make(&Make::Read(1), &[stored, read]);
    }
}

/// Builds `layers` levels with `grow`: the last half may not create many more nodes than the first, and no level
/// may apply rules without bound.
fn growth(layers: u32, mut grow: impl FnMut(&mut Graph, Expr, u32) -> Expr, start: Sort) {
    let mut g = Graph::new();
    let mut e = g.var("x", start).unwrap();
    let mut sizes = Vec::new();
    for layer in 0..layers {
        e = grow(&mut g, e, layer);
        sizes.push(g.slots());
    }
    let (half, full) = (sizes[layers as usize / 2], sizes[layers as usize - 1]);
    assert!(full <= 3 * half + 5000, "{half} nodes after half of the layers, {full} after all");
    let fired: u64 = g.rule_counts().map(|(_, count)| count).sum();
    assert!(fired < 5000 * u64::from(layers), "{layers} layers applied {fired} rules");
}

#[test]
fn rewriting_shared_nodes_is_not_exponential() {
    let bytes = Sort::Array { index: 8, element: 8 };
    // Each read takes both arms of each `ite`, down to the same array.
    growth(
        200,
        |g, array, layer| {
            let [p, q, r] = ["p", "q", "r"].map(|name| g.var(&format!("{name}{layer}"), Sort::Bool).unwrap());
            let (i, v) = (g.word(8, layer.into()), g.word(8, 7));
            let stored = g.store(array, i, v);
            let (a, b) = (g.ite(q, array, stored), g.ite(r, stored, array));
            let next = g.ite(p, a, b);
            let at = g.word(8, 250);
            g.read(next, at, 4);
            next
        },
        bytes,
    );
    // Slices of words that are composed of slices of one word, both halves of which are needed.
    growth(
        200,
        |g, x, layer| {
            let c = g.word(64, 0x0123_4567_89ab_cdef ^ u64::from(layer) << 30);
            let (high, low) = (g.extract(x, 24, 40), g.extract(x, 0, 24));
            let (a, b) = (g.concat(low, high), g.concat(high, low));
            let both = g.and(a, b);
            let either = g.xor(both, c);
            let moved = g.add(either, a);
            g.extract(moved, 3, 50);
            moved
        },
        Sort::Bits(64),
    );
    // Sums, shifts and `ite`s of one another.
    growth(
        200,
        |g, x, layer| {
            let p = g.var(&format!("p{layer}"), Sort::Bool).unwrap();
            let (one, two) = (g.word(32, 1), g.word(32, 2));
            let (a, b) = (g.add(x, one), g.shl(x, two));
            let sum = g.add(a, b);
            let difference = g.sub(sum, x);
            let e = g.ite(p, sum, difference);
            let (t, u) = (g.extract(e, 0, 16), g.extract(e, 16, 16));
            let back = g.concat(t, u);
            let same = g.eq(back, e);
            g.ite(same, back, e)
        },
        Sort::Bits(32),
    );
    // A word doubled up to the maximum width, then sliced.
    growth(
        15,
        |g, x, _| {
            let wide = g.concat(x, x);
            let width = g.width(wide);
            let cut = g.extract(wide, 1, width - 1);
            let zero = g.word(width - 1, 0);
            g.eq(cut, zero);
            wide
        },
        Sort::Bits(2),
    );
}

/// `(x == 0) | (x == 7)` and similar C expressions, whose booleans are words, become conjunctions or disjunctions.
#[test]
fn booleans_as_words_become_connectives() {
    let mut g = Graph::new();
    let x = g.var("x", Sort::Bits(32)).expect("a new name");
    let (zero, one, seven) = (g.word(32, 0), g.word(32, 1), g.word(32, 7));
    let (p, q) = (g.eq(x, zero), g.eq(x, seven));
    let [a, b] = [p, q].map(|truth| g.ite(truth, one, zero));
    let not_q = g.not(q);
    let c = g.ite(not_q, one, zero);
    let cases: [(Expr, Expr); 4] = [
        (g.or(a, b), g.or(p, q)),
        (g.and(a, b), g.and(p, q)),
        (g.xor(a, b), g.xor(p, q)),
        (g.or(a, c), g.or(p, not_q)),
    ];
    for (word, truth) in cases {
        assert_eq!(g.ne(word, zero), truth, "{}", terms::show(&g, word));
    }
    let y = g.var("y", Sort::Bits(32)).expect("a new name");
    let joined = g.or(x, y);
    let (x_is_0, y_is_0) = (g.eq(x, zero), g.eq(y, zero));
    assert_eq!(g.eq(joined, zero), g.and(x_is_0, y_is_0));
}
