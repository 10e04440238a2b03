//! Rewrite rules of float operators, for all values of tiny formats and all rounding modes: what the builders make is
//! compared with the operators applied to the values of the operands.

use super::apply;
use partita_core::expr::float::{FloatParameter, Format, Rounding};
use partita_core::expr::{Bits, Evaluator, Expr, FloatOp, Graph, Model, Rule, Sort};

const COMPARISONS: [FloatOp; 3] = [FloatOp::FLt, FloatOp::FLe, FloatOp::FEq];

/// A graph with a few variables, and how often its rules applied.
struct Bench {
    graph: Graph,
    evaluator: Evaluator,
    compared: u64,
}

/// Applies an operator to values, without a graph.
fn value(op: FloatOp, from: Format, to: Format, rounding: Rounding, width: u32, args: &[Bits]) -> Bits {
    let rounds = op.rounds() && !(op == FloatOp::FToF && from.is_contained_in(to));
    let rounding = if rounds { rounding } else { Rounding::NearestEven };
    let source = if op == FloatOp::FToF { from } else { to };
    apply(op, FloatParameter { format: to, rounding, source }, width, args)
}

fn compared(op: FloatOp, format: Format, a: &Bits, b: &Bits) -> Bits {
    value(op, format, format, Rounding::NearestEven, 1, &[a.clone(), b.clone()])
}

fn all(width: u32) -> impl Iterator<Item = Bits> {
    (0..1u64 << width).map(move |word| Bits::word(width, word))
}

impl Bench {
    fn new() -> Bench {
        Bench { graph: Graph::new(), evaluator: Evaluator::new(), compared: 0 }
    }

    fn variable(&mut self, name: &str, width: u32) -> Expr {
        self.graph.var(&format!("{name}{width}"), Sort::Bits(width)).unwrap()
    }

    fn comparison(&mut self, op: FloatOp, format: Format, a: Expr, b: Expr) -> Expr {
        self.graph.float(op, FloatParameter::new(format, Rounding::NearestEven), 0, &[a, b])
    }

    /// Compares an expression under all values of its variables.
    #[track_caller]
    fn check(&mut self, e: Expr, variables: &[Expr], expected: impl Fn(&[Bits]) -> Bits) {
        let widths: Vec<u32> = variables.iter().map(|&x| self.graph.width(x)).collect();
        for word in 0..1u64 << widths.iter().sum::<u32>() {
            let mut model = Model::new();
            let mut values = Vec::new();
            let mut rest = word;
            for (&x, &width) in variables.iter().zip(&widths) {
                let bits = Bits::word(width, rest & ((1 << width) - 1));
                rest >>= width;
                model.set_bits(x, bits.clone());
                values.push(bits);
            }
            let found = self.evaluator.under(&self.graph, &model).word(e);
            let right = expected(&values);
            assert_eq!(found, right.low(), "{} for {values:?}", crate::terms::show(&self.graph, e));
            self.compared += 1;
        }
    }

    fn same_and_constants(&mut self, format: Format) {
        let width = format.width();
        let (x, y) = (self.variable("x", width), self.variable("y", width));
        for op in COMPARISONS {
            let e = self.comparison(op, format, x, x);
            self.check(e, &[x], |v| compared(op, format, &v[0], &v[0]));
            let (minus_x, minus_y) = (self.graph.f_neg(format, x), self.graph.f_neg(format, y));
            let minus = |v: &Bits| v.zip(&format.zero(true), |a, b| a ^ b);
            let e = self.comparison(op, format, minus_x, minus_y);
            self.check(e, &[x, y], |v| compared(op, format, &minus(&v[0]), &minus(&v[1])));
            for c in all(width) {
                let constant = self.graph.constant(c.clone());
                let e = self.comparison(op, format, x, constant);
                self.check(e, &[x], |v| compared(op, format, &v[0], &c));
                let e = self.comparison(op, format, constant, x);
                self.check(e, &[x], |v| compared(op, format, &c, &v[0]));
                let e = self.comparison(op, format, minus_x, constant);
                self.check(e, &[x], |v| compared(op, format, &minus(&v[0]), &c));
                let e = self.comparison(op, format, constant, minus_x);
                self.check(e, &[x], |v| compared(op, format, &c, &minus(&v[0])));
            }
            let p = self.graph.var("p", Sort::Bool).unwrap();
            for c in all(width) {
                let d = Bits::word(width, c.low() * 5 + 3);
                let (then, limit) = (self.graph.constant(c.clone()), self.graph.constant(d.clone()));
                let chosen = self.graph.ite(p, then, x);
                let e = self.comparison(op, format, chosen, limit);
                for (truth, is_then) in [(0, false), (1, true)] {
                    let mut model = Model::new();
                    model.set_bits(p, Bits::word(1, truth));
                    for bits in all(width) {
                        model.set_bits(x, bits.clone());
                        let right = compared(op, format, if is_then { &c } else { &bits }, &d);
                        assert_eq!(self.evaluator.under(&self.graph, &model).word(e), right.low());
                    }
                }
            }
        }
    }

    fn commuted(&mut self, format: Format, mode: Rounding) {
        let (x, y) = (self.variable("x", format.width()), self.variable("y", format.width()));
        for op in [FloatOp::FAdd, FloatOp::FMul] {
            let computed = |v: &[Bits]| value(op, format, format, mode, format.width(), v);
            let parameter = FloatParameter::new(format, mode);
            let one = self.graph.float(op, parameter, 0, &[x, y]);
            let other = self.graph.float(op, parameter, 0, &[y, x]);
            for comparison in COMPARISONS {
                for (a, b) in [(one, other), (other, one), (other, x), (x, other)] {
                    let e = self.comparison(comparison, format, a, b);
                    self.check(e, &[x, y], |v| {
                        let of = |e: Expr| match e {
                            e if e == one => computed(v),
                            e if e == other => computed(&[v[1].clone(), v[0].clone()]),
                            _ => v[0].clone(),
                        };
                        compared(comparison, format, &of(a), &of(b))
                    });
                }
            }
        }
    }

    fn widened(&mut self, narrow: Format, wide: Format) {
        let (x, y) = (self.variable("x", narrow.width()), self.variable("y", narrow.width()));
        let widen = |v: &Bits| {
            value(FloatOp::FToF, narrow, wide, Rounding::NearestEven, wide.width(), std::slice::from_ref(v))
        };
        let [wide_x, wide_y] = [x, y].map(|e| self.graph.f_to_f(narrow, wide, Rounding::NearestEven, e));
        for op in COMPARISONS {
            let e = self.comparison(op, wide, wide_x, wide_y);
            self.check(e, &[x, y], |v| compared(op, wide, &widen(&v[0]), &widen(&v[1])));
            for c in all(wide.width()) {
                let constant = self.graph.constant(c.clone());
                let e = self.comparison(op, wide, wide_x, constant);
                self.check(e, &[x], |v| compared(op, wide, &widen(&v[0]), &c));
                let e = self.comparison(op, wide, constant, wide_x);
                self.check(e, &[x], |v| compared(op, wide, &c, &widen(&v[0])));
            }
        }
    }

    fn integers(&mut self, format: Format, width: u32, signed: bool) {
        let (op, name) = if signed { (FloatOp::FFromSInt, "s") } else { (FloatOp::FFromUInt, "u") };
        let (i, j) = (self.variable(name, width), self.variable("j", width));
        for rounding in Rounding::ALL {
            let number =
                |v: &Bits| value(op, format, format, rounding, format.width(), std::slice::from_ref(v));
            let build = |g: &mut Graph, e: Expr| {
                g.float(op, FloatParameter::new(format, rounding), format.width(), &[e])
            };
            let (x, y) = (build(&mut self.graph, i), build(&mut self.graph, j));
            for comparison in COMPARISONS {
                let e = self.comparison(comparison, format, x, y);
                self.check(e, &[i, j], |v| compared(comparison, format, &number(&v[0]), &number(&v[1])));
                for c in all(format.width()) {
                    let constant = self.graph.constant(c.clone());
                    let e = self.comparison(comparison, format, x, constant);
                    self.check(e, &[i], |v| compared(comparison, format, &number(&v[0]), &c));
                    let e = self.comparison(comparison, format, constant, x);
                    self.check(e, &[i], |v| compared(comparison, format, &c, &number(&v[0])));
                }
            }
            for to_width in 1..=width + 2 {
                for to in [FloatOp::FToSInt, FloatOp::FToUInt] {
                    let e = self.graph.float(to, FloatParameter::new(format, rounding), to_width, &[x]);
                    self.check(e, &[i], |v| value(to, format, format, rounding, to_width, &[number(&v[0])]));
                }
            }
            let e = self.graph.f_round(format, rounding, x);
            self.check(e, &[i], |v| {
                value(FloatOp::FRound, format, format, rounding, format.width(), &[number(&v[0])])
            });
        }
    }

    fn rounded_twice(&mut self, format: Format) {
        let x = self.variable("x", format.width());
        let round = |rounding: Rounding, v: &Bits| {
            value(FloatOp::FRound, format, format, rounding, format.width(), std::slice::from_ref(v))
        };
        for first in Rounding::ALL {
            for second in Rounding::ALL {
                let once = self.graph.f_round(format, first, x);
                let twice = self.graph.f_round(format, second, once);
                self.check(twice, &[x], |v| round(second, &round(first, &v[0])));
            }
        }
        let up = self.variable("up", 1);
        let one = self.graph.word(1, 1);
        let is_up = self.graph.eq(up, one);
        let [positive, negative] = [Rounding::TowardPositive, Rounding::TowardNegative]
            .map(|rounding| self.graph.f_round(format, rounding, x));
        let once = self.graph.ite(is_up, positive, negative);
        let twice = self.graph.f_round(format, Rounding::TowardZero, once);
        self.check(twice, &[x, up], |v| {
            let rounding = if v[1].is_zero() { Rounding::TowardNegative } else { Rounding::TowardPositive };
            round(Rounding::TowardZero, &round(rounding, &v[0]))
        });
    }

    fn converted(&mut self, a: Format, b: Format, c: Format) {
        let x = self.variable("x", a.width());
        for first in Rounding::ALL {
            for second in Rounding::ALL {
                let once = self.graph.f_to_f(a, b, first, x);
                let twice = self.graph.f_to_f(b, c, second, once);
                let convert = |from: Format, to: Format, rounding: Rounding, v: &Bits| {
                    value(FloatOp::FToF, from, to, rounding, to.width(), std::slice::from_ref(v))
                };
                self.check(twice, &[x], |v| convert(b, c, second, &convert(a, b, first, &v[0])));
            }
        }
        // A number that is not a signalling NaN.
        let root = self.graph.f_sqrt(a, Rounding::NearestEven, x);
        let wide = self.graph.f_to_f(a, b, Rounding::NearestEven, root);
        let back = self.graph.f_to_f(b, a, Rounding::NearestEven, wide);
        self.check(back, &[x], |v| {
            let even = Rounding::NearestEven;
            let root = value(FloatOp::FSqrt, a, a, even, a.width(), std::slice::from_ref(&v[0]));
            let wide = value(FloatOp::FToF, a, b, even, b.width(), &[root]);
            value(FloatOp::FToF, b, a, even, a.width(), &[wide])
        });
    }

    fn narrowed(&mut self, narrow: Format, wide: Format, modes: &[Rounding]) {
        let (x, y) = (self.variable("x", narrow.width()), self.variable("y", narrow.width()));
        let even = Rounding::NearestEven;
        let widen =
            |v: &Bits| value(FloatOp::FToF, narrow, wide, even, wide.width(), std::slice::from_ref(v));
        let minus = |v: &Bits| v.zip(&wide.zero(true), |a, b| a ^ b);
        let [wide_x, wide_y] = [x, y].map(|e| self.graph.f_to_f(narrow, wide, even, e));
        for &mode in modes {
            let narrowed = |v: Bits| value(FloatOp::FToF, wide, narrow, mode, narrow.width(), &[v]);
            let computed =
                |op: FloatOp, args: &[Bits]| narrowed(value(op, wide, wide, mode, wide.width(), args));
            for op in [FloatOp::FAdd, FloatOp::FMul, FloatOp::FDiv] {
                let parameter = FloatParameter::new(wide, mode);
                let result = self.graph.float(op, parameter, 0, &[wide_x, wide_y]);
                let e = self.graph.f_to_f(wide, narrow, mode, result);
                assert_eq!(self.graph.op(e), op.into(), "not rewritten");
                self.check(e, &[x, y], |v| computed(op, &[widen(&v[0]), widen(&v[1])]));
                let minus_x = self.graph.f_neg(wide, wide_x);
                let result = self.graph.float(op, parameter, 0, &[minus_x, wide_y]);
                let e = self.graph.f_to_f(wide, narrow, mode, result);
                self.check(e, &[x, y], |v| computed(op, &[minus(&widen(&v[0])), widen(&v[1])]));
                for c in all(narrow.width()).map(|c| widen(&c)) {
                    let constant = self.graph.constant(c.clone());
                    let result = self.graph.float(op, parameter, 0, &[wide_x, constant]);
                    let e = self.graph.f_to_f(wide, narrow, mode, result);
                    self.check(e, &[x], |v| computed(op, &[widen(&v[0]), c.clone()]));
                }
            }
            let difference = self.graph.f_sub(wide, mode, wide_x, wide_y);
            let e = self.graph.f_to_f(wide, narrow, mode, difference);
            self.check(e, &[x, y], |v| {
                let b = widen(&v[1]);
                let b = if wide.is_nan(&b) { b } else { minus(&b) };
                computed(FloatOp::FAdd, &[widen(&v[0]), b])
            });
            let root = self.graph.f_sqrt(wide, mode, wide_x);
            let e = self.graph.f_to_f(wide, narrow, mode, root);
            self.check(e, &[x], |v| computed(FloatOp::FSqrt, &[widen(&v[0])]));
        }
    }
}

/// Words that are made in one format and read in another one of the same width.
#[test]
fn words_read_in_another_format_are_not_rewritten() {
    let (made, read) = (Format::ieee(2, 4), Format::ieee(3, 3));
    let (small, even) = (Format::ieee(2, 2), Rounding::NearestEven);
    let mut bench = Bench::new();
    let (x, i) = (bench.variable("x", small.width()), bench.variable("i", 2));
    let wide = bench.graph.f_to_f(small, made, even, x);
    let integer = bench.graph.f_from_sint(made, even, i);
    let widen = |v: &Bits| value(FloatOp::FToF, small, made, even, made.width(), std::slice::from_ref(v));
    let from_int =
        |v: &Bits| value(FloatOp::FFromSInt, made, made, even, made.width(), std::slice::from_ref(v));
    for c in all(read.width()) {
        let constant = bench.graph.constant(c.clone());
        for op in COMPARISONS {
            let e = bench.comparison(op, read, wide, constant);
            bench.check(e, &[x], |v| compared(op, read, &widen(&v[0]), &c));
            let e = bench.comparison(op, read, integer, constant);
            bench.check(e, &[i], |v| compared(op, read, &from_int(&v[0]), &c));
        }
    }
    let back = bench.graph.f_to_f(read, small, even, wide);
    bench.check(back, &[x], |v| value(FloatOp::FToF, read, small, even, small.width(), &[widen(&v[0])]));
    let rounded = bench.graph.f_round(read, even, integer);
    bench
        .check(rounded, &[i], |v| value(FloatOp::FRound, read, read, even, read.width(), &[from_int(&v[0])]));
    let word = bench.graph.f_to_sint(read, even, 4, integer);
    bench.check(word, &[i], |v| value(FloatOp::FToSInt, read, read, even, 4, &[from_int(&v[0])]));
}

/// Number of applications of each rule in cases of the smallest formats.
pub(crate) fn small_cases() -> Vec<(Rule, u64)> {
    let mut bench = Bench::new();
    let (tiny, wide) = (Format::ieee(2, 2), Format::ieee(4, 6));
    bench.same_and_constants(tiny);
    bench.commuted(tiny, Rounding::NearestEven);
    bench.widened(tiny, Format::ieee(3, 3));
    bench.integers(Format::ieee(3, 3), 3, true);
    bench.integers(Format::ieee(3, 3), 2, false);
    bench.rounded_twice(Format::ieee(3, 3));
    bench.converted(tiny, wide, Format::ieee(3, 3));
    bench.narrowed(tiny, wide, &[Rounding::NearestEven]);
    bench.graph.rule_counts().collect()
}

#[test]
fn comparisons_keep_their_values() {
    let mut bench = Bench::new();
    for (exponent, significand) in [(2, 2), (2, 3), (3, 2), (3, 3), (2, 4)] {
        bench.same_and_constants(Format::ieee(exponent, significand));
    }
    for mode in Rounding::ALL {
        bench.commuted(Format::ieee(2, 3), mode);
    }
    for ((e, p), (wide_e, wide_p)) in [
        ((2, 2), (3, 3)),
        ((2, 2), (3, 4)),
        ((2, 2), (2, 4)),
        ((3, 2), (4, 3)),
        ((2, 3), (3, 3)),
        ((3, 3), (3, 5)),
    ] {
        bench.widened(Format::ieee(e, p), Format::ieee(wide_e, wide_p));
    }
    assert!(bench.compared > 50_000, "{}", bench.compared);
}

#[test]
fn integers_keep_their_values() {
    let mut bench = Bench::new();
    for (exponent, significand) in [(2, 2), (2, 4), (3, 2), (3, 3), (3, 4)] {
        for width in 1..=4 {
            for signed in [false, true] {
                bench.integers(Format::ieee(exponent, significand), width, signed);
            }
        }
        bench.rounded_twice(Format::ieee(exponent, significand));
    }
    bench.rounded_twice(Format::ieee(2, 6));
    assert!(bench.compared > 100_000, "{}", bench.compared);
}

#[test]
fn conversions_keep_their_values() {
    let formats = [(2, 2), (2, 3), (3, 2), (3, 3), (4, 3), (3, 5), (4, 6)].map(|(e, p)| Format::ieee(e, p));
    let mut bench = Bench::new();
    for a in formats {
        for b in formats.into_iter().filter(|&b| b != a) {
            for c in formats.into_iter().filter(|&c| c != b) {
                bench.converted(a, b, c);
            }
        }
    }
    assert!(bench.compared > 100_000, "{}", bench.compared);
}

#[test]
fn narrowed_operations_keep_their_values() {
    let mut bench = Bench::new();
    for ((e, p), (wide_e, wide_p)) in [((2, 2), (4, 6)), ((3, 2), (5, 6)), ((2, 3), (4, 8)), ((2, 3), (5, 9))]
    {
        bench.narrowed(Format::ieee(e, p), Format::ieee(wide_e, wide_p), &Rounding::ALL);
    }
    let (narrow, wide) = (Format::ieee(3, 3), Format::ieee(5, 8));
    bench.narrowed(narrow, wide, &[Rounding::NearestEven, Rounding::NearestAway]);
    assert!(bench.compared > 50_000, "{}", bench.compared);
}
