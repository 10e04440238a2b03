//! The operator table: one row per operator, everything else about operators derives from it.
//!
//! The set is small on purpose. What SMT-LIB has beyond it (`bvnand`, `bvsmod`, rotates, overflow
//! predicates, ...) is built from these rows in `build.rs`, so that sets, circuits, columns and back ends
//! have few cases to get right. `And`, `Or`, `Xor`, `Not`, `Eq` and `Ite` serve booleans and bit-vectors
//! alike: a boolean is one bit whose sort says `Bool`.

/// How an operator's meaning is grouped; files that split by operator use the same names.
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
        /// What a node does. The meaning of each is in `eval.rs`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $( $(#[$doc])* $name, )* }

        impl Op {
            /// Every operator, in table order.
            pub const ALL: &'static [Op] = &[ $( Op::$name, )* ];

            /// How many of a node's operands are expressions.
            #[inline]
            pub const fn arity(self) -> usize { match self { $( Op::$name => $arity, )* } }

            pub const fn family(self) -> Family { match self { $( Op::$name => Family::$family, )* } }

            /// The SMT-LIB name on bit-vectors (on booleans `Not`, `And`, `Or`, `Xor` lose their `bv`).
            pub const fn smtlib(self) -> &'static str { match self { $( Op::$name => $smt, )* } }

            pub const fn commutes(self) -> bool { match self { $( Op::$name => $commutes, )* } }
        }
    };
}

operators! {
    /// A boolean or bit-vector constant.
    Const, 0, Leaf, "", false;
    /// A variable of any sort, known by its name.
    Var, 0, Leaf, "", false;
    /// Constant elements 0..n over a base array that answers every other index.
    Table, 1, Array, "", false;
    /// The array that holds one value everywhere.
    ConstArray, 1, Array, "const", false;
    /// `Read(array, index)`: n adjacent elements as one word, the element at `index` lowest; n is the word's
    /// width divided by the element's. `select` is the case n = 1.
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
    /// Zero when the amount is at least the width; likewise `LShr`.
    Shl, 2, Shift, "bvshl", false;
    LShr, 2, Shift, "bvlshr", false;
    /// The sign everywhere when the amount is at least the width.
    AShr, 2, Shift, "bvashr", false;
    Eq, 2, Compare, "=", true;
    Ult, 2, Compare, "bvult", false;
    Ule, 2, Compare, "bvule", false;
    Slt, 2, Compare, "bvslt", false;
    Sle, 2, Compare, "bvsle", false;
    /// The first operand takes the high bits.
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
