//! Targets of the expression graph: nodes interned per second, bytes per node, columns compared with `eval`.
//!
//! Each figure is the median of five runs after a warm-up. Exits with status 1 if one misses its target by more
//! than 20 %.

use partita_core::expr::columns::{Columns, Plan};
use partita_core::expr::walk::Atom;
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use std::hint::black_box;
use std::time::Instant;

const NODES: usize = 2_000_000;
const LANES: usize = 256;

/// A target, and whether larger or smaller figures are better.
enum Target {
    AtLeast(f64),
    AtMost(f64),
}

struct Report {
    failed: bool,
}

impl Report {
    fn figure(&mut self, name: &str, value: f64, unit: &str, target: Target) {
        let (word, limit, bad) = match target {
            Target::AtLeast(limit) => ("at least", limit, value < limit / 1.2),
            Target::AtMost(limit) => ("at most", limit, value > limit * 1.2),
        };
        let verdict = if bad { "FAILED" } else { "ok" };
        println!("{name:<44} {value:>10.2} {unit:<16} target {word} {limit:<6} {verdict}");
        self.failed |= bad;
    }
}

fn median(mut run: impl FnMut() -> f64) -> f64 {
    run();
    let mut values: Vec<f64> = (0..5).map(|_| run()).collect();
    values.sort_by(f64::total_cmp);
    values[2]
}

/// CPU time of this thread where available, so that other processes do not count; otherwise wall-clock time.
/// Precise to tenths of a second.
struct Clock(Instant);

impl Clock {
    fn new() -> Clock {
        Clock(Instant::now())
    }

    fn seconds(&self) -> f64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let nanoseconds = text.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        nanoseconds.map_or_else(|| self.0.elapsed().as_secs_f64(), |ns| ns / 1e9)
    }
}

/// Arithmetic over the last few thousand nodes, as when a program is interpreted: nearly all calls create a node.
fn build(nodes: usize, mut checkpoint: impl FnMut(&Graph)) -> Graph {
    let mut g = Graph::new();
    let mut recent: Vec<Expr> = (0..4096).map(|i| g.var(&format!("v{i}"), Sort::Bits(32)).unwrap()).collect();
    let (mut state, mut next) = (1_u64, nodes / 64);
    while g.len() < nodes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (a, b) = (recent[(state >> 33) as usize % 4096], recent[(state >> 45) as usize % 4096]);
        let e = match state >> 62 {
            0 => g.add(a, b),
            1 => g.mul(a, b),
            2 => g.xor(a, b),
            _ => g.sub(a, b),
        };
        recent[(state >> 20) as usize % 4096] = e;
        if g.len() >= next {
            checkpoint(&g);
            next += nodes / 64;
        }
    }
    g
}

fn interning(report: &mut Report) {
    let clock = Clock::new();
    let speed = median(|| {
        let began = clock.seconds();
        let g = build(NODES, |_| {});
        g.len() as f64 / (clock.seconds() - began) / 1e6
    });
    report.figure("interning new nodes", speed, "million/s", Target::AtLeast(5.0));

    let mut g = build(100_000, |_| {});
    let known: Vec<Expr> = (0..256).map(|i| g.lookup(&format!("v{i}")).unwrap()).collect();
    let again = median(|| {
        let began = Instant::now();
        for _ in 0..16 {
            for pair in known.windows(2) {
                black_box(g.mul(pair[0], pair[1]));
            }
        }
        (16 * 255) as f64 / began.elapsed().as_secs_f64() / 1e6
    });
    report.figure("finding nodes that exist", again, "million/s", Target::AtLeast(5.0));
}

/// The worst moment counts: just after the tables have grown. Every node has two operands of four bytes.
fn bytes(report: &mut Report) {
    let (mut worst, mut sum, mut count) = (0_f64, 0.0, 0);
    build(NODES, |g| {
        let each = g.memory() as f64 / g.len() as f64 - 8.0;
        worst = worst.max(each);
        (sum, count) = (sum + each, count + 1);
    });
    report.figure(
        "bytes per node beyond its operands, mean",
        sum / f64::from(count),
        "bytes",
        Target::AtMost(32.0),
    );
    report.figure("bytes per node beyond its operands, worst", worst, "bytes", Target::AtMost(32.0));
}

/// Conditions as in programs, over the bytes of an input; the first byte takes all its values.
fn conditions(g: &mut Graph) -> (Expr, Vec<(&'static str, Vec<Expr>)>) {
    let input = g.var("input", Sort::Array { index: 32, element: 8 }).unwrap();
    let bytes: Vec<Expr> = (0..8)
        .map(|i| {
            let at = g.word(32, i);
            g.select(input, at)
        })
        .collect();
    let words: Vec<Expr> = bytes.iter().map(|&b| g.zext(b, 32)).collect();

    // isalnum of each byte.
    let mut classes = Vec::new();
    for &b in &bytes {
        let mut any = g.boolean(false);
        for (low, high) in [(b'0', b'9'), (b'a', b'z'), (b'A', b'Z')] {
            let (low, high) = (g.word(8, low.into()), g.word(8, high.into()));
            let (above, below) = (g.ule(low, b), g.ule(b, high));
            let within = g.and(above, below);
            any = g.or(any, within);
        }
        classes.push(any);
    }

    // A hash of the bytes in a comparison.
    let mut hash = g.word(32, 5381);
    for &w in &words {
        let k = g.word(32, 33);
        let scaled = g.mul(hash, k);
        hash = g.xor(scaled, w);
    }
    let c = g.word(32, 0x8000_0000);
    let hashed = g.ult(hash, c);

    // A decimal number with a sign, in range.
    let (ten, ascii) = (g.word(32, 10), g.word(32, 48));
    let mut number = g.word(32, 0);
    for &w in &words[1..6] {
        let digit = g.sub(w, ascii);
        let shifted = g.mul(number, ten);
        number = g.add(shifted, digit);
    }
    let minus = g.word(8, b'-'.into());
    let negative = g.eq(bytes[0], minus);
    let negated = g.neg(number);
    let value = g.ite(negative, negated, number);
    let (low, high) = (g.word(32, -500_i32 as u32 as u64), g.word(32, 500));
    let (above, below) = (g.sle(low, value), g.slt(value, high));
    let parsed = vec![above, below];
    (input, vec![("character classes", classes), ("a hash", vec![hashed]), ("a number", parsed)])
}

fn columns(report: &mut Report) {
    let mut g = Graph::new();
    let (input, conditions) = conditions(&mut g);
    // All bytes vary: nothing is shared between lanes. Then only the first.
    for (what, varying) in [("all bytes vary", 8), ("one byte varies", 1)] {
        let value = |lane: usize, byte: u64| {
            let mixed = lane as u64 * (2 * byte + 1) + 31 * byte;
            if byte < varying { mixed & 255 } else { 48 + byte }
        };
        let models: Vec<Model> = (0..LANES)
            .map(|lane| {
                let mut model = Model::new();
                for byte in 0..8 {
                    let bits = Bits::word(8, value(lane, byte));
                    model.set_element(&g, input, &Bits::word(32, byte), bits);
                }
                model
            })
            .collect();
        let inputs: Vec<Vec<u64>> =
            (0..8).map(|byte| (0..LANES).map(|lane| value(lane, byte)).collect()).collect();
        for (name, roots) in &conditions {
            let mut evaluator = Evaluator::new();
            let slow = median(|| {
                let began = Instant::now();
                for model in &models {
                    let mut session = evaluator.under(&g, model);
                    for &root in roots {
                        black_box(session.truth(root));
                    }
                }
                began.elapsed().as_secs_f64()
            });
            let plan = Plan::new(&g, roots);
            let mut memory = Columns::new();
            let rounds = 200;
            let fast = median(|| {
                let began = Instant::now();
                for _ in 0..rounds {
                    let mut tile = memory.tile(&plan, LANES);
                    for (byte, column) in inputs.iter().enumerate() {
                        let atom = Atom::Element(input, byte as u64);
                        if (byte as u64) < varying {
                            tile.bind(atom, column);
                        } else {
                            tile.bind_same(atom, &Bits::word(8, column[0]));
                        }
                    }
                    for number in 0..roots.len() {
                        black_box(tile.truth(number));
                    }
                }
                began.elapsed().as_secs_f64() / f64::from(rounds)
            });
            let per_lane = |seconds: f64| seconds * 1e9 / LANES as f64;
            let title = format!("columns against eval: {name}, {what}");
            report.figure(&title, slow / fast, "times", Target::AtLeast(20.0));
            println!("    {:.1} ns per assignment in eval, {:.2} in columns", per_lane(slow), per_lane(fast));
        }
    }
}

fn main() {
    let mut report = Report { failed: false };
    interning(&mut report);
    bytes(&mut report);
    columns(&mut report);
    std::process::exit(report.failed as i32);
}
