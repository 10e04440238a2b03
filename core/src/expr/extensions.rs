//! Functions that SMT-LIB does not define but other solvers read: reductions, rotations by a term, predicates of
//! products that fit. All are built from operators.

use super::{Bits, Expr, Graph};

impl Graph {
    /// Disjunction of all bits, as one bit.
    pub fn any_bit(&mut self, a: Expr) -> Expr {
        let zero = self.constant(Bits::zero(self.width(a)));
        let some = self.ne(a, zero);
        self.bool_to_bit(some)
    }

    /// Is this bit set?
    pub fn bit_at(&mut self, a: Expr, at: u32) -> Expr {
        let (bit, one) = (self.extract(a, at, 1), self.word(1, 1));
        self.eq(bit, one)
    }

    /// Conjunction of all bits, as one bit.
    pub fn all_bits(&mut self, a: Expr) -> Expr {
        let ones = self.constant(Bits::ones(self.width(a)));
        self.comp(a, ones)
    }

    /// Exclusive disjunction of all bits, as one bit. Folds halves, so that the graph has a logarithmic size.
    pub fn parity(&mut self, a: Expr) -> Expr {
        let mut rest = a;
        while self.width(rest) > 1 {
            let width = self.width(rest);
            let half = width.div_ceil(2);
            let low = self.extract(rest, 0, half);
            let high = self.extract(rest, half, width - half);
            let high = self.zext(high, half);
            rest = self.xor(low, high);
        }
        rest
    }

    /// Sum with a number of 64 bits in two's complement.
    pub fn plus(&mut self, a: Expr, number: u64) -> Expr {
        let width = self.width(a);
        let number = Bits::word(64, number);
        let number = if width <= 64 { number.extract(0, width) } else { number.sext(width) };
        let number = self.constant(number);
        self.add(a, number)
    }

    /// Choice by a condition of one bit.
    pub fn choose(&mut self, bit: Expr, then: Expr, otherwise: Expr) -> Expr {
        let one = self.word(1, 1);
        let condition = self.eq(bit, one);
        self.ite(condition, then, otherwise)
    }

    pub fn umul_fits(&mut self, a: Expr, b: Expr) -> Expr {
        let overflows = self.umul_overflows(a, b);
        self.not(overflows)
    }

    /// Whether the signed product is not too small (`below`), or not too large. The caller checks that twice the width
    /// is a width.
    pub fn smul_fits(&mut self, a: Expr, b: Expr, below: bool) -> Expr {
        let width = self.width(a);
        let (wa, wb) = (self.sext(a, width * 2), self.sext(b, width * 2));
        let product = self.mul(wa, wb);
        let smallest = Bits::word(width, 1).shl(u64::from(width) - 1);
        let limit = if below { smallest } else { smallest.not() };
        let limit = self.constant(limit.sext(width * 2));
        if below { self.sle(limit, product) } else { self.sle(product, limit) }
    }

    /// Rotation by a term, modulo the width.
    pub fn rotate_by(&mut self, a: Expr, amount: Expr, left: bool) -> Expr {
        let width = self.width(a);
        let size = self.word(width, width.into());
        let amount = self.urem(amount, size);
        let back = self.sub(size, amount);
        let (one, other) = if left { (amount, back) } else { (back, amount) };
        let (high, low) = (self.shl(a, one), self.lshr(a, other));
        self.or(high, low)
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::{Bits, Builtin, Evaluator, Graph, Model, Sort};

    /// The meaning of each function on numbers, at the width `w`.
    fn expected(f: Builtin, w: u32, a: u64, b: u64) -> u64 {
        let mask = (1u64 << w) - 1;
        let signed = |x: u64| crate::expr::bits::signed(w, x);
        let product = signed(a) * signed(b);
        let rotated =
            |by: u64| (a << (by % u64::from(w)) | a >> ((u64::from(w) - by % u64::from(w)) % 64)) & mask;
        match f {
            Builtin::BvRedor => u64::from(a != 0),
            Builtin::BvRedand => u64::from(a == mask),
            Builtin::BvRedxor => u64::from(a.count_ones() % 2),
            Builtin::BvInc => (a + 1) & mask,
            Builtin::BvDec => a.wrapping_sub(1) & mask,
            Builtin::BvUmulNoovfl => u64::from(a * b <= mask),
            Builtin::BvSmulNoovfl => u64::from(product < 1 << (w - 1)),
            Builtin::BvSmulNoudfl => u64::from(product >= -(1 << (w - 1))),
            Builtin::ExtRotateLeft => rotated(b),
            Builtin::ExtRotateRight => rotated(u64::from(w) - b % u64::from(w)),
            _ => unreachable!("not listed"),
        }
    }

    #[test]
    fn extensions_have_their_meaning_at_small_widths() {
        // The others have operands of other sorts, or an index.
        let of_words = |f: &Builtin| f.is_extension() && !matches!(f, Builtin::BvIte | Builtin::BitToBool);
        let functions: Vec<Builtin> = Builtin::ALL.iter().copied().filter(of_words).collect();
        assert_eq!(functions.len(), 10);
        for width in 1..=5 {
            let mut g = Graph::new();
            let [x, y] = ["x", "y"].map(|name| g.var(name, Sort::Bits(width)).unwrap());
            let mut evaluator = Evaluator::new();
            for &f in &functions {
                let unary = g.apply(f, &[], &[x]);
                let e = unary.unwrap_or_else(|_| g.apply(f, &[], &[x, y]).unwrap());
                for (a, b) in (0..1u64 << width).flat_map(|a| (0..1u64 << width).map(move |b| (a, b))) {
                    let mut model = Model::new();
                    model.set_bits(x, Bits::word(width, a));
                    model.set_bits(y, Bits::word(width, b));
                    let found = evaluator.under(&g, &model).bits(e).low();
                    assert_eq!(found, expected(f, width, a, b), "{} {a} {b} at {width} bits", f.name());
                }
            }
        }
    }
    #[test]
    fn bit2bool_is_the_bit_with_that_number() {
        for width in 1..=5 {
            let mut g = Graph::new();
            let x = g.var("x", Sort::Bits(width)).unwrap();
            for at in 0..width {
                let bit = g.apply(Builtin::BitToBool, &[at.into()], &[x]).unwrap();
                for a in 0..1u64 << width {
                    let mut model = Model::new();
                    model.set_bits(x, Bits::word(width, a));
                    let found = Evaluator::new().under(&g, &model).truth(bit);
                    assert_eq!(found, a >> at & 1 == 1, "bit {at} of {a} at {width} bits");
                }
            }
            assert!(g.apply(Builtin::BitToBool, &[width.into()], &[x]).is_err());
        }
    }
}
