//! The reach of `intervals:paper`: what PARTI learns, decides, and must pass on; the left-shift attribute; and its worst
//! case. Soundness is tested by the conformance suite and here, over all assignments.

use crate::chain::solver;
use partita_core::budget::Budget;
use partita_core::expr::float::{Format, Rounding};
use partita_core::expr::{Bits, Expr, Graph, Model, Op, Sort};
use partita_core::query::{Answer, Query};
use partita_core::random::Random;
use partita_core::solve::Solver;

/// Inputs of the tables: three bytes, a boolean, an array of bytes, a word.
struct Inputs {
    x: Expr,
    y: Expr,
    z: Expr,
    p: Expr,
    a: Expr,
    w: Expr,
}

impl Inputs {
    fn new(g: &mut Graph) -> Inputs {
        let mut var = |name: &str, sort: Sort| g.var(name, sort).expect("a new name");
        Inputs {
            x: var("x", Sort::Bits(8)),
            y: var("y", Sort::Bits(8)),
            z: var("z", Sort::Bits(8)),
            p: var("p", Sort::Bool),
            a: var("a", Sort::Array { index: 8, element: 8 }),
            w: var("w", Sort::Bits(32)),
        }
    }
}

/// Makes a condition for a row.
type Make = fn(&mut Graph, &Inputs) -> Expr;
/// The operator that the condition must contain, the condition, and the reason for passing it on (empty: answered).
type TableRow = (Op, Make, &'static str);

fn byte(g: &mut Graph, value: u64) -> Expr {
    g.word(8, value)
}

/// Is a number of eight bits below 99? It is true or false for what rows use it for.
fn below(g: &mut Graph, e: Expr) -> Expr {
    let limit = g.word(g.width(e), 99);
    g.ult(e, limit)
}

fn with(g: &mut Graph, build: fn(&mut Graph, Expr, Expr) -> Expr, e: Expr, value: u64) -> Expr {
    let value = g.word(g.width(e), value);
    build(g, e, value)
}

/// Rows that differ between the stages are in the tables; these are the same in both.
const BOTH: &[TableRow] = &[
    (Op::Eq, |g, i| with(g, Graph::eq, i.x, 5), ""),
    (
        Op::Ult,
        |g, i| {
            let five = byte(g, 5);
            g.ult(i.x, five)
        },
        "",
    ),
    (
        Op::Ule,
        |g, i| {
            let five = byte(g, 5);
            g.ule(five, i.x)
        },
        "",
    ),
    (
        Op::Slt,
        |g, i| {
            let five = byte(g, 5);
            g.slt(i.x, five)
        },
        "",
    ),
    (
        Op::Sle,
        |g, i| {
            let five = byte(g, 5);
            g.sle(five, i.x)
        },
        "",
    ),
    (
        Op::Not,
        |g, i| {
            let five = with(g, Graph::eq, i.x, 5);
            g.not(five)
        },
        "",
    ),
    (Op::Var, |_, i| i.p, ""),
    (
        Op::Read,
        |g, i| {
            let at = byte(g, 3);
            let read = g.read(i.a, at, 4);
            below(g, read)
        },
        "",
    ),
    (
        Op::Read,
        |g, i| {
            let read = g.select(i.a, i.x);
            below(g, read)
        },
        "array",
    ),
    (
        Op::Store,
        |g, i| {
            let (at, one) = (byte(g, 3), byte(g, 1));
            let a = g.store(i.a, i.x, one);
            let r = g.select(a, at);
            below(g, r)
        },
        "array",
    ),
    (
        Op::Table,
        |g, i| {
            let t = g.table_over(i.a, vec![3, 1, 200].into());
            let r = g.select(t, i.x);
            below(g, r)
        },
        "array",
    ),
    (
        Op::ConstArray,
        |g, i| {
            let one = byte(g, 1);
            let c = g.const_array(8, one);
            let a = g.store(c, i.x, one);
            let five = byte(g, 5);
            let r = g.select(a, five);
            let s = g.add(r, i.y);
            below(g, s)
        },
        "several|operator|array",
    ),
    (
        Op::Add,
        |g, i| {
            let sum = with(g, Graph::add, i.x, 200);
            below(g, sum)
        },
        "",
    ),
    (
        Op::Sub,
        |g, i| {
            let c = byte(g, 200);
            let difference = g.sub(c, i.x);
            below(g, difference)
        },
        "",
    ),
    (
        Op::ZExt,
        |g, i| {
            let long = g.zext(i.x, 16);
            let sum = with(g, Graph::add, long, 300);
            with(g, Graph::ult, sum, 400)
        },
        "",
    ),
    (
        Op::SExt,
        |g, i| {
            let long = g.sext(i.x, 16);
            let sum = with(g, Graph::add, long, 300);
            with(g, Graph::slt, sum, 400)
        },
        "",
    ),
    (
        Op::Not,
        |g, i| {
            let not = g.not(i.x);
            let sum = g.add(not, i.x);
            let r = g.urem(sum, i.y);
            below(g, r)
        },
        "several|operator",
    ),
    (
        Op::And,
        |g, i| {
            let e = with(g, Graph::and, i.x, 0x55);
            below(g, e)
        },
        "operator",
    ),
    (
        Op::Or,
        |g, i| {
            let e = with(g, Graph::or, i.x, 0x15);
            below(g, e)
        },
        "operator",
    ),
    (
        Op::Xor,
        |g, i| {
            let e = with(g, Graph::xor, i.x, 0x15);
            below(g, e)
        },
        "operator",
    ),
    (
        Op::URem,
        |g, i| {
            let e = with(g, Graph::urem, i.x, 7);
            with(g, Graph::ult, e, 3)
        },
        "operator",
    ),
    (
        Op::SDiv,
        |g, i| {
            let e = with(g, Graph::sdiv, i.x, 7);
            with(g, Graph::slt, e, 3)
        },
        "operator",
    ),
    (
        Op::SRem,
        |g, i| {
            let e = with(g, Graph::srem, i.x, 7);
            with(g, Graph::slt, e, 3)
        },
        "operator",
    ),
    // The graph writes shifts to the right by constants as extracts.
    (
        Op::AShr,
        |g, i| {
            let e = g.ashr(i.x, i.y);
            below(g, e)
        },
        "several|operator",
    ),
    (
        Op::LShr,
        |g, i| {
            let e = g.lshr(i.x, i.y);
            below(g, e)
        },
        "several|operator",
    ),
    (
        Op::Concat,
        |g, i| {
            let e = g.concat(i.x, i.y);
            below(g, e)
        },
        "operator",
    ),
    (
        Op::Ite,
        |g, i| {
            let (one, nine) = (byte(g, 1), byte(g, 9));
            let c = below(g, i.x);
            let e = g.ite(c, one, nine);
            let s = g.add(e, i.y);
            below(g, s)
        },
        "several|operator",
    ),
];

const LEARN: &[TableRow] = &[
    // The product must not wrap.
    (
        Op::Mul,
        |g, i| {
            let long = g.zext(i.x, 16);
            let e = with(g, Graph::mul, long, 7);
            below(g, e)
        },
        "",
    ),
    (
        Op::Mul,
        |g, i| {
            let e = with(g, Graph::mul, i.x, 7);
            below(g, e)
        },
        "wraps",
    ),
    (
        Op::Shl,
        |g, i| {
            let long = g.zext(i.x, 16);
            let e = with(g, Graph::shl, long, 3);
            below(g, e)
        },
        "",
    ),
    // Two reads are no caterpillar.
    (Op::Ult, |g, i| g.ult(i.x, i.y), "several"),
    (
        Op::Add,
        |g, i| {
            let sum = g.add(i.x, i.y);
            below(g, sum)
        },
        "several",
    ),
    // These would need many intervals.
    (
        Op::UDiv,
        |g, i| {
            let e = with(g, Graph::udiv, i.x, 7);
            with(g, Graph::ult, e, 3)
        },
        "operator",
    ),
    (
        Op::Extract,
        |g, i| {
            let e = with(g, Graph::lshr, i.w, 5);
            with(g, Graph::ult, e, 3)
        },
        "operator",
    ),
    (
        Op::Extract,
        |g, i| {
            let e = g.extract(i.w, 0, 8);
            below(g, e)
        },
        "operator",
    ),
];

const DECIDE: &[TableRow] = &[
    (Op::Ult, |g, i| g.ult(i.x, i.y), ""),
    (Op::Eq, |g, i| g.eq(i.x, i.y), ""),
    (
        Op::Add,
        |g, i| {
            let sum = g.add(i.x, i.y);
            below(g, sum)
        },
        "",
    ),
    (
        Op::Sub,
        |g, i| {
            let difference = g.sub(i.x, i.y);
            below(g, difference)
        },
        "",
    ),
    (
        Op::UDiv,
        |g, i| {
            let e = with(g, Graph::udiv, i.x, 7);
            let s = g.add(e, i.y);
            below(g, s)
        },
        "",
    ),
    (
        Op::Extract,
        |g, i| {
            let e = with(g, Graph::lshr, i.w, 5);
            let long = g.zext(i.x, 32);
            let s = g.add(e, long);
            below(g, s)
        },
        "",
    ),
    (
        Op::Extract,
        |g, i| {
            let e = g.extract(i.w, 0, 8);
            below(g, e)
        },
        "",
    ),
    (
        Op::Extract,
        |g, i| {
            let e = g.extract(i.w, 5, 8);
            let s = g.add(e, i.x);
            below(g, s)
        },
        "",
    ),
    // Through the left-shift attribute.
    (
        Op::Shl,
        |g, i| {
            let e = with(g, Graph::shl, i.x, 3);
            below(g, e)
        },
        "",
    ),
    (
        Op::Shl,
        |g, i| {
            let e = with(g, Graph::shl, i.x, 3);
            let f = with(g, Graph::shl, i.y, 3);
            let s = g.add(e, f);
            below(g, s)
        },
        "",
    ),
    (
        Op::Shl,
        |g, i| {
            let e = with(g, Graph::shl, i.x, 3);
            let s = with(g, Graph::add, e, 0x40);
            below(g, s)
        },
        "",
    ),
    (
        Op::Shl,
        |g, i| {
            let e = with(g, Graph::shl, i.x, 3);
            let f = with(g, Graph::shl, i.y, 2);
            let s = g.add(e, f);
            below(g, s)
        },
        "attribute",
    ),
    (
        Op::Shl,
        |g, i| {
            let e = with(g, Graph::shl, i.x, 3);
            let s = with(g, Graph::add, e, 0x41);
            below(g, s)
        },
        "attribute",
    ),
    (
        Op::Shl,
        |g, i| {
            let e = g.shl(i.x, i.y);
            below(g, e)
        },
        "multiplication",
    ),
    (
        Op::Mul,
        |g, i| {
            let e = with(g, Graph::mul, i.x, 7);
            below(g, e)
        },
        "multiplication",
    ),
    (
        Op::Mul,
        |g, i| {
            let e = g.mul(i.x, i.y);
            below(g, e)
        },
        "multiplication",
    ),
    // Folding is exact only if no read occurs twice.
    (
        Op::Add,
        |g, i| {
            let e = with(g, Graph::udiv, i.x, 3);
            let s = g.add(e, i.x);
            below(g, s)
        },
        "twice",
    ),
];

fn contains(g: &Graph, root: Expr, op: Op) -> bool {
    let mut found = false;
    g.post_order(&[root], |e| found |= g.op(e) == op);
    found
}

/// The reason for passing on the last query; empty if it was answered.
fn passed(solver: &Solver) -> String {
    let layers = solver.statistics();
    let reasons =
        layers[0].counters.iter().filter(|(name, count)| name.starts_with("passed_") && *count > 0.0);
    reasons.map(|(name, _)| name["passed_".len()..].to_string()).collect::<Vec<_>>().join("|")
}

/// Learns from the row's condition, or decides it.
fn reach(spec: &str, make: Make, learns: bool) -> (Solver, Expr, String) {
    let mut solver = solver(spec);
    let inputs = Inputs::new(&mut solver.graph);
    let made = make(&mut solver.graph, &inputs);
    let condition = if learns { with(&mut solver.graph, Graph::eq, inputs.z, 1) } else { made };
    let root = solver.tree.root();
    let path = if learns { solver.tree.extend(&solver.graph, root, made) } else { root };
    let answer = solver.check(&Query::new(path, condition), &Budget::unlimited());
    let why = passed(&solver);
    match answer {
        Answer::Sat(_) => assert_eq!(why, ""),
        Answer::Unsat(_) => panic!("every row is satisfiable"),
        Answer::Unknown(_) => assert_ne!(why, ""),
    }
    (solver, made, why)
}

#[test]
fn every_operator_is_learnt_decided_or_passed_on() {
    let mut wrong = Vec::new();
    for (stage, learns, rows) in [("learn", true, LEARN), ("decide", false, DECIDE)] {
        let all: Vec<&TableRow> = BOTH.iter().chain(rows).collect();
        for (number, (op, make, expected)) in all.iter().enumerate() {
            let (solver, made, why) = reach("intervals:paper", *make, learns);
            let is_expected = expected.split('|').any(|one| one == why);
            if !is_expected || !contains(&solver.graph, made, *op) {
                let kept = contains(&solver.graph, made, *op);
                wrong.push(format!(
                    "{stage} row {number} {op:?}: expected `{expected}`, found `{why}`, has it {kept}"
                ));
            }
        }
        for &op in Op::ALL {
            let has_row =
                all.iter().any(|row| row.0 == op) || format!("{:?}", op.family()).starts_with("Float");
            if !has_row && op != Op::Const {
                wrong.push(format!("{stage}: no row for {op:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn floating_point_is_passed_on() {
    let mut solver = solver("intervals:paper");
    let x = solver.graph.var("f", Sort::Bits(32)).expect("a new name");
    let one = solver.graph.word(32, 0x3f80_0000);
    let single = Format::ieee(8, 24);
    let sum = solver.graph.f_add(single, Rounding::ALL[0], x, one);
    let condition = with(&mut solver.graph, Graph::eq, sum, 7);
    let root = solver.tree.root();
    solver.check(&Query::new(root, condition), &Budget::unlimited());
    assert_eq!(passed(&solver), "operator");
}

/// Section 4.1.1: without the attribute nothing with a multiplication is answered.
#[test]
fn without_the_left_shift_attribute() {
    for (_, make, expected) in DECIDE.iter().filter(|row| row.0 == Op::Shl) {
        let (_, _, why) = reach("intervals:paper(shift=off)", *make, false);
        assert_eq!(why, if *expected == "multiplication" { "multiplication" } else { "attribute" });
    }
    let (_, _, why) = reach("intervals:paper(shift=off)", DECIDE[0].1, false);
    assert_eq!(why, "");
}

#[test]
fn overlapping_reads_are_passed_on() {
    let reads = |second: u64, count: u32| {
        let mut solver = solver("intervals:paper");
        let inputs = Inputs::new(&mut solver.graph);
        let g = &mut solver.graph;
        let (at, other) = (byte(g, 4), byte(g, second));
        let (long, short) = (g.read(inputs.a, at, 4), g.read(inputs.a, other, count));
        let (constraint, condition) = (below(g, long), below(g, short));
        let root = solver.tree.root();
        let path = solver.tree.extend(&solver.graph, root, constraint);
        solver.check(&Query::new(path, condition), &Budget::unlimited());
        passed(&solver)
    };
    assert_eq!([reads(4, 4), reads(8, 1), reads(3, 1)], ["", "", ""]);
    assert_eq!([reads(4, 1), reads(7, 1), reads(7, 2), reads(2, 4), reads(3, 8)], ["overlap"; 5]);
}

/// A random word of three bits over one read, by operators that PARTI folds (and learns, if asked for).
fn word(g: &mut Graph, r: &mut Random, read: Expr, learns: bool, depth: u32) -> Expr {
    let mut e = read;
    for _ in 0..depth {
        let c = g.word(3, r.word());
        e = match r.below(if learns { 4 } else { 8 }) {
            0 => g.add(e, c),
            1 => g.sub(c, e),
            2 => {
                let long = g.zext(e, 6);
                let factor = g.word(6, 1 + r.below(7));
                if learns {
                    let limit = g.word(6, r.word());
                    let product = g.mul(long, factor);
                    return g.ult(product, limit);
                }
                g.extract(long, 0, 3)
            }
            3 => {
                let long = g.sext(e, 5);
                let limit = g.word(5, r.word());
                if learns {
                    return g.slt(limit, long);
                }
                g.extract(long, r.below(3) as u32, 3)
            }
            4 => {
                let amount = g.word(3, r.below(4));
                g.lshr(e, amount)
            }
            5 => {
                let divisor = g.word(3, 1 + r.below(7));
                g.udiv(e, divisor)
            }
            6 => {
                let amount = g.word(3, r.below(3));
                g.shl(e, amount)
            }
            _ => g.sub(e, c),
        };
    }
    e
}

fn comparison(g: &mut Graph, r: &mut Random, a: Expr, b: Expr) -> Expr {
    let made = match r.below(5) {
        0 => g.eq(a, b),
        1 => g.ult(a, b),
        2 => g.ule(b, a),
        3 => g.slt(a, b),
        _ => g.sle(b, a),
    };
    if r.below(2) == 0 { g.not(made) } else { made }
}

/// Random queries over three reads of three bits, compared with all 512 assignments. Sums of different attributes and
/// products that may wrap are passed on, everything else must be answered.
#[test]
fn supported_queries_are_answered_and_right() {
    let mut r = Random::new(5);
    let (mut sat, mut unsat, mut other) = (0, 0, 0);
    for round in 0..3000 {
        let mut solver = solver("intervals:paper");
        let reads = ["x", "y", "z"].map(|name| solver.graph.var(name, Sort::Bits(3)).expect("a new name"));
        let g = &mut solver.graph;
        let mut constraints = Vec::new();
        for _ in 0..r.below(4) {
            let depth = r.below(3) as u32;
            let read = r.pick(&reads);
            let e = word(g, &mut r, read, true, depth);
            let limit = g.word(3, r.word());
            constraints.push(if g.is_bool(e) { e } else { comparison(g, &mut r, e, limit) });
        }
        let [a, b, c] = reads.map(|read| {
            let depth = r.below(3) as u32;
            word(g, &mut r, read, false, depth)
        });
        let sum = if r.below(2) == 0 { g.add(a, b) } else { g.sub(a, b) };
        let condition =
            if r.below(3) == 0 { comparison(g, &mut r, a, c) } else { comparison(g, &mut r, sum, c) };
        let mut path = solver.tree.root();
        for &constraint in &constraints {
            path = solver.tree.extend(&solver.graph, path, constraint);
        }
        let models = (0..512u64).map(|bits| {
            let mut model = Model::new();
            reads
                .iter()
                .enumerate()
                .for_each(|(i, &read)| model.set_bits(read, Bits::word(3, bits >> (3 * i))));
            model
        });
        let mut holds = false;
        for model in models {
            let mut session = solver.evaluator.under(&solver.graph, &model);
            holds |= constraints.iter().chain([&condition]).all(|e| session.truth(*e));
        }
        match solver.check(&Query::new(path, condition), &Budget::unlimited()) {
            Answer::Sat(model) => {
                let mut session = solver.evaluator.under(&solver.graph, &model);
                assert!(constraints.iter().chain([&condition]).all(|e| session.truth(*e)), "round {round}");
                sat += 1;
            }
            Answer::Unsat(core) => {
                assert!(!holds, "round {round}: {constraints:?} {condition:?}");
                assert!(core.constraints.as_slice().iter().all(|e| constraints.contains(e)));
                unsat += 1;
            }
            Answer::Unknown(_) => {
                // Rewriting of the graph may make a multiplication or a mask of what was built.
                let why = passed(&solver);
                assert!(
                    ["attribute", "wraps", "operator", "multiplication", "several", "twice"].contains(&&*why),
                    "{why}"
                );
                other += 1;
            }
        }
    }
    assert!(sat > 1500 && unsat > 120 && other < 900, "{sat} sat, {unsat} unsat, {other} passed on");
}

/// Figures 4 and 5: each variable {0, 2^i} doubles the number of intervals of the sum, which is then of no use, because the
/// product with another variable is passed on.
#[test]
fn the_worst_case_explodes_within_the_budget() {
    let worst = |n: u32, multiplies: bool, budget: &Budget| {
        let mut solver = solver("intervals:paper");
        let (mut path, mut sum) = (solver.tree.root(), solver.graph.word(32, 0));
        for i in 1..=n {
            let v = solver.graph.var(&format!("v{i}"), Sort::Bits(32)).expect("a new name");
            let g = &mut solver.graph;
            // {0, 2^i}: below 2^i + 1, and not between.
            let (top, one) = (g.word(32, (1 << i) + 1), g.word(32, 1));
            let low = g.ult(v, top);
            let moved = g.sub(v, one);
            let between = g.word(32, (1 << i) - 1);
            let outside = g.ule(between, moved);
            sum = g.add(sum, v);
            path = solver.tree.extend(&solver.graph, path, low);
            path = solver.tree.extend(&solver.graph, path, outside);
        }
        let factor = solver.graph.var("factor", Sort::Bits(32)).expect("a new name");
        let product = if multiplies { solver.graph.mul(sum, factor) } else { sum };
        let five = solver.graph.word(32, 5);
        let condition = solver.graph.eq(product, five);
        let reply = solver.reply(&Query::new(path, condition), budget);
        let intervals =
            solver.statistics()[0].counters.iter().find(|(name, _)| name == "intervals").expect("it").1;
        (reply.answer.verdict(), reply.effort, intervals, passed(&solver))
    };
    let unlimited = Budget::unlimited();
    let (verdict, effort, intervals, _) = worst(8, false, &unlimited);
    assert_eq!(verdict, "unsat", "the sums are even");
    let (_, more, most, _) = worst(12, false, &unlimited);
    assert!(most >= 15.0 * intervals && more > 8 * effort, "{intervals} {most}, {effort} {more}");
    let (verdict, _, _, why) = worst(12, true, &unlimited);
    assert_eq!((verdict, why.as_str()), ("unknown", "multiplication"));
    let (verdict, effort, _, why) = worst(24, false, &Budget::for_effort(1_000_000));
    assert_eq!((verdict, why.as_str()), ("unknown", "effort"));
    assert!(effort < 3_000_000, "{effort}");
}
