//! Functions built from float operators: their constants are folded on concrete operands, so each is tested by what it
//! folds to.

use super::{samples, some_operands};
use crate::terms::Random;
use partita_core::expr::float::{Format, Rounding};
use partita_core::expr::{Bits, Expr, FloatOp, Graph};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, X87DoubleExtended};

fn truth(graph: &Graph, e: Expr) -> bool {
    assert!(graph.is_true(e) || graph.is_false(e), "a constant");
    graph.is_true(e)
}

fn to_f64(bits: &Bits) -> f64 {
    f64::from_bits(bits.low())
}

#[test]
fn doubles_are_classified_and_changed_as_the_standard_library_does() {
    let mut random = Random::new(50);
    let mut g = Graph::new();
    let format = Format::DOUBLE;
    for _ in 0..samples(2000) {
        let args = some_operands(&mut random, FloatOp::FAdd, format);
        let (x, y) = (to_f64(&args[0]), to_f64(&args[1]));
        let (a, b) = (g.constant(args[0].clone()), g.constant(args[1].clone()));
        type Check = (fn(&mut Graph, Format, Expr) -> Expr, bool);
        let checks: [Check; 8] = [
            (Graph::f_is_nan, x.is_nan()),
            (Graph::f_is_infinite, x.is_infinite()),
            (Graph::f_is_zero, x == 0.0),
            (Graph::f_is_subnormal, x.is_subnormal()),
            (Graph::f_is_normal, x.is_normal()),
            (Graph::f_is_negative, !x.is_nan() && x.is_sign_negative()),
            (Graph::f_is_positive, !x.is_nan() && x.is_sign_positive()),
            (Graph::f_is_signalling, x.is_nan() && args[0].low() >> 51 & 1 == 0),
        ];
        for (i, (f, right)) in checks.into_iter().enumerate() {
            let e = f(&mut g, format, a);
            assert_eq!(truth(&g, e), right, "check {i} of {x}");
        }
        let word = |g: &Graph, e: Expr| g.const_word(e).expect("a constant");
        let (neg, abs) = (g.f_neg(format, a), g.f_abs(format, a));
        assert_eq!((word(&g, neg), word(&g, abs)), ((-x).to_bits(), x.abs().to_bits()));
        let sign = g.f_copysign(format, a, b);
        assert_eq!(word(&g, sign), x.copysign(y).to_bits());
        let unordered = g.f_unordered(format, a, b);
        assert_eq!(truth(&g, unordered), x.is_nan() || y.is_nan());
        let sub = g.f_sub(format, Rounding::NearestEven, a, b);
        if x.is_nan() {
            assert_eq!(word(&g, sub), x.to_bits() | 1 << 51);
        } else if y.is_nan() {
            assert_eq!(word(&g, sub), y.to_bits() | 1 << 51);
        } else if (x - y).is_nan() {
            assert_eq!(word(&g, sub), format.nan().low());
        } else {
            assert_eq!(word(&g, sub), (x - y).to_bits());
        }
        let fmod = g.f_fmod(format, a, b);
        let right = x % y;
        if right.is_nan() {
            assert!(to_f64(&Bits::word(64, word(&g, fmod))).is_nan());
        } else {
            assert_eq!(word(&g, fmod), right.to_bits(), "fmod {x} {y}");
        }
        let canonical = g.f_canonical(format, a);
        assert_eq!(word(&g, canonical), if x.is_nan() { format.nan().low() } else { x.to_bits() });
    }
}

#[test]
fn extremes_order_zeros_by_sign() {
    let mut random = Random::new(51);
    let mut g = Graph::new();
    let format = Format::DOUBLE;
    for i in 0..samples(2000) {
        let mut args = some_operands(&mut random, FloatOp::FAdd, format);
        if i % 10 == 0 {
            args = vec![format.zero(i % 20 == 0), format.zero(i % 30 == 0)];
        }
        let (a, b) = (g.constant(args[0].clone()), g.constant(args[1].clone()));
        let [x, y] = [0, 1].map(|i: usize| Double::from_bits(args[i].low().into()));
        for max in [false, true] {
            let number = g.f_number_extreme(format, max, a, b);
            let number = g.const_word(number).expect("a constant");
            if !x.is_nan() || !y.is_nan() {
                let right = if max { x.max(y) } else { x.min(y) };
                let signed_zeros = x.is_zero() && y.is_zero();
                let right = match (signed_zeros, max) {
                    (true, false) => args[0].low() | args[1].low(),
                    (true, true) => args[0].low() & args[1].low(),
                    (false, _) => right.to_bits() as u64,
                };
                assert_eq!(number, right, "max {max} {args:?}");
            }
            let propagating = g.f_nan_extreme(format, max, a, b);
            let propagating = g.const_word(propagating).expect("a constant");
            let right = if max { x.maximum(y) } else { x.minimum(y) };
            if right.is_nan() {
                let first = if x.is_nan() { &args[0] } else { &args[1] };
                assert_eq!(propagating, first.low() | 1 << 51);
            } else {
                assert_eq!(propagating, right.to_bits() as u64, "max {max} {args:?}");
            }
        }
    }
}

#[test]
fn extended_numbers_are_classified_as_apfloat_does() {
    let mut random = Random::new(52);
    let mut g = Graph::new();
    let format = Format::X87;
    for _ in 0..samples(2000) {
        let args = some_operands(&mut random, FloatOp::FAdd, format);
        let wide = |bits: &Bits| u128::from(bits.low()) | u128::from(bits.words()[1]) << 64;
        let [x, y] = [0, 1].map(|i: usize| X87DoubleExtended::from_bits(wide(&args[i])));
        let (a, b) = (g.constant(args[0].clone()), g.constant(args[1].clone()));
        type Check = (fn(&mut Graph, Format, Expr) -> Expr, bool);
        // `rustc_apfloat` calls pseudo-denormal numbers normal.
        let checks: [Check; 5] = [
            (Graph::f_is_nan, x.is_nan()),
            (Graph::f_is_infinite, x.is_infinite()),
            (Graph::f_is_zero, x.is_zero()),
            (Graph::f_is_subnormal, x.is_denormal()),
            (Graph::f_is_normal, x.is_finite_non_zero() && !x.is_denormal()),
        ];
        for (i, (f, right)) in checks.into_iter().enumerate() {
            let e = f(&mut g, format, a);
            assert_eq!(truth(&g, e), right, "check {i} of {:?}", args[0]);
        }
        let fmod = g.f_fmod(format, a, b);
        let fmod = g.const_bits(fmod).expect("a constant");
        let right = x.c_fmod(y).value;
        if right.is_nan() {
            assert!(format.is_nan(&fmod), "fmod {args:?}");
        } else {
            assert_eq!(wide(&fmod), right.to_bits(), "fmod {args:?}");
        }
    }
}
