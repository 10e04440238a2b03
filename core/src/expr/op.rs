//! The operator table: one row per operator. Everything else about operators derives from it.
//!
//! The set is small on purpose. Other SMT-LIB functions (`bvnand`, `bvsmod`, rotates, overflow predicates,
//! ...) are built from these operators in `build.rs`, so sets, circuits, columns and back ends have few cases.
//! `And`, `Or`, `Xor`, `Not`, `Eq` and `Ite` take booleans and bit-vectors: a boolean is one bit whose sort is
//! `Bool`.
//!
//! Operators are grouped in families. `Op::family` returns the family with the operator as a member of it, so
//! that code can match on families and attributes, and list the members of one family only.

use smallvec::{SmallVec, smallvec};

/// Sort of the result of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultSort {
    /// The sort of the first operand.
    Operand,
    Bool,
    /// A sort that the node states: it depends on parameters or on several operands.
    Node,
}

/// Properties of an operator; absent ones are false.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Flag {
    /// The operands can be swapped.
    Commutes = 1,
    /// Takes booleans as well as bit-vectors.
    Bools = 2,
    /// The node has a number beside its sort and operands.
    Parameter = 4,
    /// Interprets its operands as signed numbers.
    Signed = 8,
    /// An order that is irreflexive.
    Strict = 16,
}

macro_rules! operators {
    ($d:tt $(
        $(#[$family_doc:meta])*
        $family:ident($members:ident) {
            $(
                $(#[$doc:meta])*
                $name:ident $arity:literal $smtlib:literal $kquery:literal $result:ident $([$($flag:ident)*])?;
            )*
        }
    )*) => {
        /// The operator of a node. `eval.rs` defines its meaning.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($( $(#[$doc])* $name, )*)* }

        $(
            $(#[$family_doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            #[repr(u8)]
            pub enum $members { $( $(#[$doc])* $name = Op::$name as u8, )* }

            impl From<$members> for Op {
                #[inline(always)]
                fn from(member: $members) -> Op { match member { $( $members::$name => Op::$name, )* } }
            }
        )*

        /// A family of operators, with an operator of it. Files that are split by operator use the same names.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Family { $( $(#[$family_doc])* $family($members), )* }

        impl Family {
            pub const fn name(self) -> &'static str {
                match self { $( Family::$family(_) => stringify!($family), )* }
            }
        }

        impl Op {
            /// Every operator, in table order.
            pub const ALL: &'static [Op] = &[ $($( Op::$name, )*)* ];

            /// Number of operands that are expressions.
            #[inline]
            pub const fn arity(self) -> usize { match self { $($( Op::$name => $arity, )*)* } }

            #[inline(always)]
            pub const fn family(self) -> Family {
                match self { $($( Op::$name => Family::$family($members::$name), )*)* }
            }

            /// SMT-LIB name on bit-vectors and arrays.
            pub const fn smtlib(self) -> &'static str { match self { $($( Op::$name => $smtlib, )*)* } }

            /// KQuery name; empty if KQuery has no such operator.
            pub const fn kquery(self) -> &'static str { match self { $($( Op::$name => $kquery, )*)* } }

            /// Returns the operator with this KQuery name.
            #[allow(unreachable_patterns, reason = "several operators have no name")]
            pub fn from_kquery(name: &str) -> Option<Op> {
                match name { "" => None, $($( $kquery => Some(Op::$name), )*)* _ => None }
            }

            #[inline]
            pub const fn result(self) -> ResultSort {
                match self { $($( Op::$name => ResultSort::$result, )*)* }
            }

            #[inline]
            const fn flags(self) -> u8 {
                match self { $($( Op::$name => 0 $($( | Flag::$flag as u8 )*)?, )*)* }
            }
        }

        /// Expands to `$callback!(Name)` for the operator that `op` is, so that code can be specialised for each.
        macro_rules! with_operator {
            ($d op:expr, $d callback:ident) => { match $d op { $($( Op::$name => $d callback!($name), )*)* } };
        }
        pub(crate) use with_operator;
    };
}

// Name, number of operands, SMT-LIB name, KQuery name, sort of the result, properties. Stores encode operators by
// position in the table; they detect that the table has changed.
operators! { $
    /// Expressions without operands.
    Leaf(LeafOp) {
        /// A boolean or bit-vector constant.
        Const 0 "" "" Node;
        /// A variable of any sort, identified by its name.
        Var 0 "" "" Node;
    }
    /// Operators on arrays.
    Array(ArrayOp) {
        /// An array with constant elements 0..n; all other elements are those of the base array.
        Table 1 "" "" Operand;
        /// An array with the same value at every index.
        ConstArray 1 "const" "" Node;
        /// `Read(array, index)`: n adjacent elements as one word, the element at `index` lowest; n is the width
        /// of the word divided by the width of an element. `select` is the case n = 1.
        Read 2 "select" "Read" Node;
        Store 3 "store" "" Operand;
    }
    /// Bitwise operators.
    Bits(BitsOp) {
        Not 1 "bvnot" "Not" Operand [Bools];
        And 2 "bvand" "And" Operand [Commutes Bools];
        Or 2 "bvor" "Or" Operand [Commutes Bools];
        Xor 2 "bvxor" "Xor" Operand [Commutes Bools];
    }
    /// Arithmetic modulo 2^width.
    Arith(ArithOp) {
        Add 2 "bvadd" "Add" Operand [Commutes];
        Sub 2 "bvsub" "Sub" Operand;
        Mul 2 "bvmul" "Mul" Operand [Commutes];
        /// Unsigned quotient; all ones when the divisor is zero.
        UDiv 2 "bvudiv" "UDiv" Operand;
        /// Unsigned remainder; the dividend when the divisor is zero.
        URem 2 "bvurem" "URem" Operand;
        /// Signed quotient rounded towards zero, as SMT-LIB defines it through `UDiv`.
        SDiv 2 "bvsdiv" "SDiv" Operand [Signed];
        /// Signed remainder with the sign of the dividend.
        SRem 2 "bvsrem" "SRem" Operand [Signed];
    }
    /// Shifts by a word of the same width.
    Shift(ShiftOp) {
        /// Zero when the amount is at least the width, as for `LShr`.
        Shl 2 "bvshl" "Shl" Operand;
        LShr 2 "bvlshr" "LShr" Operand;
        /// All sign bits when the amount is at least the width.
        AShr 2 "bvashr" "AShr" Operand [Signed];
    }
    /// Equality and orders.
    Compare(CompareOp) {
        Eq 2 "=" "Eq" Bool [Commutes Bools];
        Ult 2 "bvult" "Ult" Bool [Strict];
        Ule 2 "bvule" "Ule" Bool;
        Slt 2 "bvslt" "Slt" Bool [Signed Strict];
        Sle 2 "bvsle" "Sle" Bool [Signed];
    }
    /// Operators that move bits.
    Shape(ShapeOp) {
        /// The first operand becomes the high bits.
        Concat 2 "concat" "Concat" Node;
        /// Bits `lo .. lo + width` of the operand; `lo` is a parameter of the node.
        Extract 1 "extract" "Extract" Node [Parameter];
        ZExt 1 "zero_extend" "ZExt" Node;
        SExt 1 "sign_extend" "SExt" Node [Signed];
        Ite 3 "ite" "Select" Node [Bools];
    }
    /// Floating-point operators on words. The parameter is a `FloatParameter`: format and rounding mode.
    Float(FloatOp) {
        /// Does not commute: of two NaNs, the first one is the result.
        FAdd 2 "fp.add" "" Operand [Parameter];
        FMul 2 "fp.mul" "" Operand [Parameter];
        FDiv 2 "fp.div" "" Operand [Parameter];
        /// `a * b + c`, rounded once.
        FMulAdd 3 "fp.fma" "" Operand [Parameter];
        FSqrt 1 "fp.sqrt" "" Operand [Parameter];
        /// To an integral number.
        FRound 1 "fp.roundToIntegral" "" Operand [Parameter];
        /// IEEE remainder: the quotient is rounded to nearest, ties to even.
        FRem 2 "fp.rem" "" Operand [Parameter];
        FLt 2 "fp.lt" "" Bool [Parameter];
        FLe 2 "fp.leq" "" Bool [Parameter];
        /// Zeros are equal, NaN equals nothing.
        FEq 2 "fp.eq" "" Bool [Commutes Parameter];
        /// To another format.
        FToF 1 "to_fp" "" Node [Parameter];
        /// To an unsigned integer; `1 << (width - 1)` if it does not fit, as for `FToSInt`.
        FToUInt 1 "fp.to_ubv" "" Node [Parameter];
        FToSInt 1 "fp.to_sbv" "" Node [Parameter];
        FFromUInt 1 "to_fp_unsigned" "" Node [Parameter];
        /// `to_fp` of a bit-vector with a rounding mode, in SMT-LIB.
        FFromSInt 1 "" "" Node [Parameter];
    }
}

impl Op {
    const fn has(self, flag: Flag) -> bool {
        self.flags() & flag as u8 != 0
    }

    /// Whether the operands can be swapped.
    #[inline]
    pub const fn commutes(self) -> bool {
        self.has(Flag::Commutes)
    }

    /// Whether it takes booleans as well as bit-vectors.
    pub const fn takes_bools(self) -> bool {
        self.has(Flag::Bools)
    }

    /// Whether the node has a number (`Graph::parameter`) beside its sort and operands.
    #[inline]
    pub const fn has_parameter(self) -> bool {
        self.has(Flag::Parameter)
    }

    /// Whether it interprets its operands as signed numbers.
    pub const fn is_signed(self) -> bool {
        self.has(Flag::Signed)
    }

    /// Whether it is a strict order.
    pub const fn is_strict(self) -> bool {
        self.has(Flag::Strict)
    }

    /// Whether it is a comparison.
    pub const fn is_comparison(self) -> bool {
        matches!(self.family(), Family::Compare(_))
    }

    /// Whether it is a signed or unsigned, strict or reflexive order.
    pub const fn is_order(self) -> bool {
        match self.family() {
            Family::Compare(CompareOp::Ult | CompareOp::Ule | CompareOp::Slt | CompareOp::Sle) => true,
            Family::Compare(CompareOp::Eq) | Family::Leaf(_) | Family::Array(_) | Family::Bits(_) => false,
            Family::Arith(_) | Family::Shift(_) | Family::Shape(_) | Family::Float(_) => false,
        }
    }

    /// Whether it is a function of booleans and bit-vectors, which `eval::word` defines.
    pub const fn is_on_words(self) -> bool {
        !matches!(self.family(), Family::Leaf(_) | Family::Array(_))
    }

    /// Indices of the SMT-LIB function for a node: its width, the width of its first operand, its parameter.
    pub fn smtlib_indices(self, width: u32, operand: u32, parameter: Option<u32>) -> SmallVec<[u64; 2]> {
        match self.family() {
            Family::Shape(ShapeOp::Extract) => {
                let low = u64::from(parameter.expect("an extract has a lowest bit"));
                smallvec![low + u64::from(width) - 1, low]
            }
            Family::Shape(ShapeOp::ZExt | ShapeOp::SExt) => smallvec![u64::from(width - operand)],
            Family::Leaf(_)
            | Family::Array(_)
            | Family::Bits(_)
            | Family::Arith(_)
            | Family::Shift(_)
            | Family::Compare(_)
            | Family::Float(_)
            | Family::Shape(_) => parameter.into_iter().map(u64::from).collect(),
        }
    }

    /// SMT-LIB name on booleans: `and` for `bvand`.
    pub fn smtlib_on_bools(self) -> &'static str {
        let name = self.smtlib();
        name.strip_prefix("bv").filter(|_| self.takes_bools()).unwrap_or(name)
    }
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
            assert_eq!(op.arity() == 0, matches!(op.family(), Family::Leaf(_)), "{op:?}");
        }
    }

    #[test]
    fn parameters_follow_the_operands_or_replace_the_index_width() {
        for &op in Op::ALL.iter().filter(|op| op.has_parameter()) {
            let in_payload = op.arity() < 3;
            assert!(in_payload || op.result() != ResultSort::Node, "an array has an index width: {op:?}");
        }
    }

    #[test]
    fn names_are_unique() {
        for &op in Op::ALL.iter().filter(|op| !op.smtlib().is_empty()) {
            let same = Op::ALL.iter().filter(|other| other.smtlib() == op.smtlib()).count();
            assert_eq!(same, 1, "{op:?}");
        }
    }
}
