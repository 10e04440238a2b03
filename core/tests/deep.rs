//! A chain of a million operators with 256 KB of stack: built, evaluated, substituted, walked, evaluated in
//! columns, collected and dropped. No function may recurse over the expression.

use partita_core::expr::columns::{Columns, Plan};
use partita_core::expr::walk::{Atom, Supports};
use partita_core::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use rustc_hash::FxHashMap;

const DEPTH: u64 = 1_000_000;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(test).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Applies every operation to `e`, which has the value `right` where `x` is 7.
fn check_all_operations(mut g: Graph, e: Expr, x: Expr, nodes: u64, right: u64) {
    let mut model = Model::new();
    model.set_bits(x, Bits::word(32, 7));
    let mut evaluator = Evaluator::new();
    assert_eq!(evaluator.under(&g, &model).word(e), right);

    let mut count = 0;
    g.post_order(&[e], |_| count += 1);
    assert!(count >= nodes, "{count} nodes");
    assert!(Supports::default().of(&g, e).contains(&Atom::Variable(x)));

    let plan = Plan::new(&g, &[e]);
    let mut columns = Columns::new();
    let mut tile = columns.tile(&plan, 2);
    assert!(tile.bind(Atom::Variable(x), &[7, 7]));
    assert_eq!(tile.words(0), [right, right]);

    let y = g.var("y", Sort::Bits(32)).unwrap();
    let renamed = g.substitute(e, &FxHashMap::from_iter([(x, y)]));
    assert!(renamed != e);
    let mut other = Model::new();
    other.set_bits(y, Bits::word(32, 7));
    assert_eq!(evaluator.under(&g, &other).word(renamed), right);

    let alive = g.mark([e]);
    assert!(g.collect(&alive) > 0);
    assert_eq!(evaluator.under(&g, &model).word(e), right);
    assert!(g.collect(&g.mark([])) as u64 >= nodes);
}

#[test]
fn sums_and_products() {
    on_a_small_stack(|| {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let (mut e, mut right) = (x, 7_u32);
        for i in 0..DEPTH / 2 {
            let c = g.word(32, 2 * (i % 7) + 3);
            let product = g.mul(e, x);
            e = g.add(product, c);
            right = right.wrapping_mul(7).wrapping_add(2 * (i % 7) as u32 + 3);
        }
        check_all_operations(g, e, x, DEPTH, right.into());
    });
}

#[test]
fn negations_and_conjunctions() {
    on_a_small_stack(|| {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let parts: Vec<(Expr, bool)> = (0..32)
            .map(|i| {
                let bit = g.extract(x, i, 1);
                (g.bit_to_bool(bit), 7 >> i & 1 == 1)
            })
            .collect();
        let (mut e, mut right) = parts[31];
        for i in 0..DEPTH / 2 {
            let (p, truth) = parts[(i * 7 % 31) as usize];
            let both = g.and(e, p);
            e = g.not(both);
            right = !(right && truth);
        }
        check_all_operations(g, e, x, DEPTH, right as u64);
    });
}

#[test]
fn ites() {
    on_a_small_stack(|| {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let (mut e, mut right) = (x, 7);
        for i in 0..DEPTH / 2 {
            let c = g.word(32, 3 + i % 11);
            let p = g.ult(x, c);
            let moved = g.mul(e, x);
            e = g.ite(p, moved, x);
            right = if 7 < 3 + i % 11 { (right * 7) & 0xffff_ffff } else { 7 };
        }
        check_all_operations(g, e, x, DEPTH, right);
    });
}

#[test]
fn stores() {
    on_a_small_stack(|| {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let mut array = g.var("a", Sort::Array { index: 32, element: 32 }).unwrap();
        for i in 0..DEPTH {
            let at = g.word(32, i + 100);
            array = g.store(array, at, x);
        }
        // At the innermost store, at a computed index, and below all stores.
        let (first, far) = (g.word(32, 100), g.word(32, 5));
        assert_eq!(g.select(array, first), x);
        let below = g.select(array, far);
        let (hundred, ninety) = (g.word(32, 100), g.word(32, 90));
        let (in_it, under_it) = (g.add(x, hundred), g.add(x, ninety));
        let (a, b) = (g.select(array, in_it), g.select(array, under_it));
        let sum = g.add(a, b);
        let e = g.add(sum, below);
        check_all_operations(g, e, x, DEPTH, 7);
    });
}

/// A deep concatenation is a wide one.
#[test]
fn concatenations() {
    const WIDTH: u32 = 65_536;
    on_a_small_stack(|| {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let bit = g.extract(x, 1, 1);
        for leftwards in [false, true] {
            let mut e = bit;
            for i in 1..WIDTH {
                let y = g.extract(x, i * 13 % 31, 1);
                e = if leftwards { g.concat(e, y) } else { g.concat(y, e) };
            }
            let mut model = Model::new();
            model.set_bits(x, Bits::word(32, 7));
            let value = Evaluator::new().under(&g, &model).bits(e);
            for i in 0..WIDTH {
                let from_bit = if leftwards { WIDTH - 1 - i } else { i };
                let place = if from_bit == 0 { 1 } else { from_bit * 13 % 31 };
                assert_eq!(value.bit(i), 7_u32 >> place & 1 == 1, "bit {i}");
            }
            let low = g.extract(e, 40_000, 8);
            assert_eq!(Evaluator::new().under(&g, &model).bits(low), value.extract(40_000, 8));
        }
    });
}
