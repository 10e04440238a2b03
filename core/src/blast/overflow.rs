//! Products that fit into the width of their operands, without the product in twice the width.
//!
//! Overflow predicates are `high(zext(a) * zext(b)) = 0` and `sext(a * b) = sext(a) * sext(b)`. Two digits at places that
//! add up to the width or more make the product overflow; without such digits it has one digit more than the width at
//! most, and that digit decides. For signed numbers the digits are those that differ from the sign, of which one place less is
//! enough, and the product fits if its two highest digits are equal.
//!
//! Source: Gok, Schulte, Balzola, "Efficient integer multiplication overflow detection circuits", 2001.

use super::circuit::{self, Word};
use super::gate::{Gates, Lit};
use crate::expr::{Expr, Graph, Op};

/// A comparison that says whether a product fits, by its factors.
pub struct Fits {
    pub factors: [Expr; 2],
    pub signed: bool,
}

impl Fits {
    /// Recognises the comparison as the overflow predicates build it.
    pub fn of(graph: &Graph, e: Expr) -> Option<Fits> {
        if graph.op(e) != Op::Eq {
            return None;
        }
        let sides = [graph.kid(e, 0), graph.kid(e, 1)];
        Fits::unsigned(graph, sides).or_else(|| {
            let [a, b] = sides;
            Fits::signed(graph, a, b).or_else(|| Fits::signed(graph, b, a))
        })
    }

    /// `high(zext(a) * zext(b)) = 0`.
    fn unsigned(graph: &Graph, sides: [Expr; 2]) -> Option<Fits> {
        let high = sides.into_iter().find(|&side| graph.op(side) == Op::Extract)?;
        let zero = sides.into_iter().find(|&side| graph.is_const(side))?;
        let width = graph.width(high);
        let product = graph.kid(high, 0);
        let is_high = graph.parameter(high) == Some(width) && graph.width(product) == 2 * width;
        let factors = extended_factors(graph, product, Op::ZExt, width)?;
        let is_zero = graph.const_bits(zero).is_some_and(|bits| bits.is_zero());
        (is_high && is_zero).then_some(Fits { factors, signed: false })
    }

    /// `sext(a * b) = sext(a) * sext(b)`.
    fn signed(graph: &Graph, back: Expr, product: Expr) -> Option<Fits> {
        if graph.op(back) != Op::SExt || graph.op(graph.kid(back, 0)) != Op::Mul {
            return None;
        }
        let low = graph.kid(back, 0);
        let factors = extended_factors(graph, product, Op::SExt, graph.width(low))?;
        let [a, b] = [graph.kid(low, 0), graph.kid(low, 1)];
        let is_low = factors == [a, b] || factors == [b, a];
        // In fewer digits the product itself may wrap.
        let is_wide = graph.width(product) >= 2 * graph.width(low);
        (is_low && is_wide).then_some(Fits { factors, signed: true })
    }

    /// The circuit of the comparison.
    pub fn circuit(&self, g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
        if self.signed { fits_signed(g, a, b) } else { fits_unsigned(g, a, b) }
    }
}

/// The factors of a product of extended words of this width.
fn extended_factors(graph: &Graph, product: Expr, extend: Op, width: u32) -> Option<[Expr; 2]> {
    if graph.op(product) != Op::Mul {
        return None;
    }
    let inner = |e: Expr| {
        let word = (graph.op(e) == extend).then(|| graph.kid(e, 0))?;
        (graph.width(word) == width).then_some(word)
    };
    Some([inner(graph.kid(product, 0))?, inner(graph.kid(product, 1))?])
}

fn fits_unsigned(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let extended = |word: &[Lit]| -> Word { word.iter().copied().chain([Lit::FALSE]).collect() };
    let product = circuit::multiply(g, &extended(a), &extended(b));
    let far = has_digits_from(g, a, b, a.len());
    !g.or(far, product[a.len()])
}

fn fits_signed(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let width = a.len();
    let extended = |word: &[Lit]| -> Word { word.iter().copied().chain([word[width - 1]]).collect() };
    let product = circuit::multiply(g, &extended(a), &extended(b));
    let mut digits =
        |word: &[Lit]| -> Word { word[..width - 1].iter().map(|&lit| g.xor(lit, word[width - 1])).collect() };
    let (a, b) = (digits(a), digits(b));
    let far = has_digits_from(g, &a, &b, width - 1);
    let turned = g.xor(product[width], product[width - 1]);
    !g.or(far, turned)
}

/// Whether a digit of `a` and one of `b` are set at places that add up to `sum` or more.
fn has_digits_from(g: &mut Gates, a: &[Lit], b: &[Lit], sum: usize) -> Lit {
    let mut found = Vec::new();
    let (mut above, mut lowest) = (Lit::FALSE, b.len());
    for (i, &digit) in a.iter().enumerate() {
        while lowest > 0 && lowest - 1 + i >= sum {
            lowest -= 1;
            above = g.or(above, b[lowest]);
        }
        found.push(g.and(digit, above));
    }
    g.any(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blast::Blaster;
    use crate::expr::{Bits, Evaluator, Model, Sort};

    /// All operands of 1 to 5 bits: the predicates are recognised, and their circuits agree with `eval`.
    #[test]
    fn predicates_are_recognised_and_right() {
        for width in 1..=5u32 {
            let mut g = Graph::new();
            let [a, b] = ["a", "b"].map(|name| g.var(name, Sort::Bits(width)).unwrap());
            let unsigned = g.umul_overflows(a, b);
            let signed = g.smul_overflows(a, b).unwrap();
            let square = g.umul_overflows(a, a);
            for overflows in [unsigned, signed, square] {
                let fits = g.not(overflows);
                // A product of single bits is no product any more: its factors are 0, 1 or -1.
                assert!(width == 1 || Fits::of(&g, fits).is_some(), "width {width}");
                let mut blaster = Blaster::new();
                let lit = blaster.literal(&g, fits).unwrap();
                for value in 0..1u64 << (2 * width) {
                    let (x, y) = (value & ((1 << width) - 1), value >> width);
                    let mut model = Model::new();
                    model.set_bits(a, Bits::word(width, x));
                    model.set_bits(b, Bits::word(width, y));
                    let of_input = |input: u32| {
                        let (slot, bit) = blaster.slot(input);
                        let is_a = slot.owner == crate::blast::Owner::Variable(a);
                        (if is_a { x } else { y }) >> bit & 1 == 1
                    };
                    let mut known = rustc_hash::FxHashMap::default();
                    let found = blaster.gates.evaluate(&[lit], &mut known, of_input)[0];
                    let mut evaluator = Evaluator::new();
                    let expected = !evaluator.under(&g, &model).bits(fits).is_zero();
                    assert_eq!(found, expected, "{width} bits, {x} and {y}");
                }
            }
        }
    }
}
