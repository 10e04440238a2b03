//! The operator table: one row per operator. Everything else about operators derives from it.
//!
//! The set is small on purpose. Other SMT-LIB functions (`bvnand`, `bvsmod`, rotates, overflow predicates, ...)
//! are built from these operators in `build.rs`, so sets, circuits, columns and back ends have few cases.
//! `And`, `Or`, `Xor`, `Not`, `Eq` and `Ite` take booleans and bit-vectors: a boolean is one bit whose sort is
//! `Bool`.

/// Group of operators; files that are split by operator use the same names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Leaf,
    Bits,
    Arith,
    Shift,
    Compare,
    Shape,
    Array,
}

macro_rules! operators {
    ($( $(#[$doc:meta])* $name:ident, $arity:literal, $family:ident, $smt:literal, $commutes:literal; )*) => {
        /// The operator of a node. `eval.rs` defines its meaning.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $( $(#[$doc])* $name, )* }

        impl Op {
            /// Every operator, in table order.
            pub const ALL: &'static [Op] = &[ $( Op::$name, )* ];

            /// Number of operands that are expressions.
            #[inline]
            pub const fn arity(self) -> usize { match self { $( Op::$name => $arity, )* } }

            pub const fn family(self) -> Family { match self { $( Op::$name => Family::$family, )* } }

            /// SMT-LIB name on bit-vectors; on booleans `Not`, `And`, `Or` and `Xor` have no `bv` prefix.
            pub const fn smtlib(self) -> &'static str { match self { $( Op::$name => $smt, )* } }

            pub const fn commutes(self) -> bool { match self { $( Op::$name => $commutes, )* } }
        }
    };
}

operators! {
    /// A boolean or bit-vector constant.
    Const, 0, Leaf, "", false;
    /// A variable of any sort, identified by its name.
    Var, 0, Leaf, "", false;
    /// An array with constant elements 0..n; all other elements are those of the base array.
    Table, 1, Array, "", false;
    /// An array with the same value at every index.
    ConstArray, 1, Array, "const", false;
    /// `Read(array, index)`: n adjacent elements as one word, the element at `index` lowest; n is the width of
    /// the word divided by the width of an element. `select` is the case n = 1.
    Read, 2, Array, "select", false;
    Store, 3, Array, "store", false;
    Not, 1, Bits, "bvnot", false;
    And, 2, Bits, "bvand", true;
    Or, 2, Bits, "bvor", true;
    Xor, 2, Bits, "bvxor", true;
    Add, 2, Arith, "bvadd", true;
    Sub, 2, Arith, "bvsub", false;
    Mul, 2, Arith, "bvmul", true;
    /// Unsigned quotient; all ones when the divisor is zero.
    UDiv, 2, Arith, "bvudiv", false;
    /// Unsigned remainder; the dividend when the divisor is zero.
    URem, 2, Arith, "bvurem", false;
    /// Signed quotient rounded towards zero, as SMT-LIB defines it through `UDiv`.
    SDiv, 2, Arith, "bvsdiv", false;
    /// Signed remainder with the sign of the dividend.
    SRem, 2, Arith, "bvsrem", false;
    /// Zero when the amount is at least the width, as for `LShr`.
    Shl, 2, Shift, "bvshl", false;
    LShr, 2, Shift, "bvlshr", false;
    /// All sign bits when the amount is at least the width.
    AShr, 2, Shift, "bvashr", false;
    Eq, 2, Compare, "=", true;
    Ult, 2, Compare, "bvult", false;
    Ule, 2, Compare, "bvule", false;
    Slt, 2, Compare, "bvslt", false;
    Sle, 2, Compare, "bvsle", false;
    /// The first operand becomes the high bits.
    Concat, 2, Shape, "concat", false;
    /// Bits `lo .. lo + width` of the operand; `lo` is a parameter of the node.
    Extract, 1, Shape, "extract", false;
    ZExt, 1, Shape, "zero_extend", false;
    SExt, 1, Shape, "sign_extend", false;
    Ite, 3, Shape, "ite", false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commuting_operators_take_two_operands() {
        for &op in Op::ALL.iter().filter(|op| op.commutes()) {
            assert_eq!(op.arity(), 2, "{op:?}");
        }
    }

    #[test]
    fn only_leaves_have_no_operands() {
        for &op in Op::ALL {
            assert_eq!(op.arity() == 0, op.family() == Family::Leaf, "{op:?}");
        }
    }
}
