//! Rewriting at construction: one card per rule, counted by name.
//!
//! A rule matches an operator and its simplified operands and may return a simpler expression with the same
//! meaning. The card gives pattern and result. `tests/rewrite.rs` fails for a rule without a test case, and
//! compares every rewritten expression with `eval` over all values at small widths.

mod arith;
mod array;
mod bits;
mod compare;
mod float;
mod polynomial;
pub(crate) use polynomial::{Monomial, Polynomial};
mod shape;
mod shift;

use super::{ArithOp, BitsOp, CompareOp, Expr, Family, Graph, LeafOp, Op, ShapeOp, ShiftOp, Sort};

macro_rules! rules {
    ($( $name:ident: $card:literal; )*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Rule { $( #[doc = $card] $name, )* }

        impl Rule {
            pub const ALL: &'static [Rule] = &[ $( Rule::$name, )* ];

            /// The pattern and the result of the rule; `c` and `d` are constants.
            pub const fn card(self) -> &'static str { match self { $( Rule::$name => $card, )* } }
        }
    };
}

rules! {
    // bits
    NotNot: "~~x = x";
    NotLess: "~(x < y) = y <= x; ~(x <= y) = y < x; signed and unsigned";
    NotIte: "~ite(p, c, d) = ite(p, ~c, ~d)";
    BitsZero: "x & 0 = 0; x | 0 = x; x ^ 0 = x";
    BitsOnes: "x & ~0 = x; x | ~0 = ~0; x ^ ~0 = ~x";
    BitsSame: "x & x = x | x = x; x ^ x = 0";
    BitsOpposite: "x & ~x = 0; x | ~x = ~0; x ^ ~x = ~0";
    BitsConstants: "(x op c) op d = x op (c op d) for &, |, ^";
    Absorb: "x & (x & y) = x & y; x & (x | y) = x; likewise for |";
    XorNot: "~x ^ y = ~(x ^ y)";
    BitsIte: "ite(p, c, 0) op ite(q, c, 0) = ite(p op q, c, 0); ite(p, c, d) op e = ite(p, c op e, d op e)";
    MaskLow: "x & 0..01..1 = zext(low bits of x)";
    MaskExtended: "zext(x) & c = zext(x & low(c))";
    Disjoint: "words without common bits combined by |, ^ or + are a concatenation";
    // arith
    AddZero: "x + 0 = x - 0 = x";
    AddConstants: "(x + c) + d = x + (c + d); (c - x) + d = (c + d) - x";
    AddHoist: "(x + c) + y = (x + y) + c";
    AddSelf: "x + x = x << 1";
    AddNegated: "x + (0 - y) = x - y";
    AddSub: "(x - y) + y = x";
    SubSelf: "x - x = 0";
    SubConstant: "x - c = x + (-c)";
    SubNegated: "x - (0 - y) = x + y";
    SubAdd: "(x + ... + y) - x = ... + y; x - (x + y) = 0 - y";
    SubHoist: "(x + c) - y = (x - y) + c; x - (y + c) = (x - y) + (-c)";
    SubSub: "0 - (x - y) = y - x; x - (x - y) = y; c - (d - x) = x + (c - d)";
    MulZero: "x * 0 = 0";
    MulOne: "x * 1 = x; x * ~0 = 0 - x";
    MulPower: "x * 2^k = x << k";
    MulNegated: "(0 - x) * (0 - y) = x * y; (0 - x) * y = 0 - x * y; (0 - x) * c = x * -c";
    MulShifted: "x * (2^j << y) = (x << j) << y";
    MulChoice: "x * ite(p, c, d) = ite(p, x * c, x * d) if c and d are 0, 1 or ~0, also for an extended bit";
    MulConstants: "(x * c) * d = x * (c * d); (x << k) * c = x * (c << k)";
    DivZero: "x / 0 and x % 0 as SMT-LIB defines them";
    DivOne: "x / 1 = x; x % 1 = 0";
    DivPower: "x / 2^k = zext(high bits); x % 2^k = zext(low bits), unsigned";
    DivShifted: "x / (2^j << y) = ite(y < w - j, x >> (y + j), ~0); x % (2^j << y) = x & ((2^j << y) - 1), unsigned, w bits";
    DivUnsigned: "signed / and % of nonnegative words are unsigned / and %";
    DivNarrow: "zext(x) / c = zext(x / c), likewise %, unsigned";
    DivSelf: "x / x = ite(x = 0, ~0, 1); x % x = 0";
    DivIte: "ite(p, x, y) / ite(p, x, z) = ite(p, x / x, y / z), likewise %, the other arm, and both complemented";
    ZeroDivided: "0 / x = ite(x = 0, ~0, 0); 0 % x = 0";
    // shift
    ShiftZero: "x shifted by 0 is x; 0 shifted is 0";
    ShiftOut: "x << c = x >> c = 0 for c at least the width";
    ShiftSelf: "x >> x = 0, or sext(top bit of x) if it is signed, since x < 2^x";
    ShiftTwice: "(x << c) << d = x << (c + d)";
    ShiftRight: "x >> c = zext or sext(high bits of x)";
    // compare
    EqSame: "x = x";
    EqTruth: "p = true is p; p = false is ~p";
    EqOpposite: "(x = ~x) is false";
    EqBothNot: "(~x = ~y) is x = y";
    EqIte: "(ite(p, x, y) = e) is ite(p, x = e, y = e) if one of these is a constant, p or ~p";
    EqNot: "(~x = c) is x = ~c";
    EqXor: "(x ^ c = d) is x = c ^ d; (x ^ y = 0) is x = y";
    EqAdd: "(x + c = d) is x = d - c";
    EqAddSame: "(x + y = x) is y = 0; (x + y = x + z) is y = z";
    EqSub: "(x - y = 0) is x = y; (c - x = d) is x = c - d";
    EqMulOdd: "(x * c = d) is x = d / c modulo 2^w, for odd c";
    EqShl: "(x << c = d) is (low bits of x = d >> c), or false";
    EqExtended: "(ext(x) = ext(y)) is x = y; (ext(x) = c) is x = low(c), or false";
    EqConcat: "(x ++ y = z ++ w) is x = z and y = w; likewise for a constant";
    EqMask: "(x & c = d) for a run of ones c is (those bits of x = d >> k), or false";
    EqPolynomials: "(x = y) is true if x and y are the same polynomial, false if they differ by a constant";
    EqOr: "(x | y = 0) is x = 0 and y = 0";
    LessSame: "x < x is false, x <= x is true";
    LessExtreme: "x < min and max < x are false; x < min + 1 is x = min; x < max is x != max";
    LessConstant: "x <= c is x < c + 1; c < x is c + 1 <= x";
    LessExtended: "(ext(x) < ext(y)) is x < y; (ext(x) < c) is x < low(c), or a constant";
    LessUnsigned: "signed comparison of nonnegative words is unsigned comparison";
    LessRem: "x % y < y is y != 0; x < x % y is false; y <= x % y is y = 0; x % y <= x is true; unsigned";
    LessIte: "(ite(p, c, y) < e) is ite(p, c < e, y < e)";
    // shape
    ExtractExtract: "an extract of an extract is one extract";
    ExtractConcat: "bits of a concatenation are bits of its parts";
    ExtractExtended: "bits of an extension are bits of what it extends";
    ExtractIte: "bits of ite(p, c, d) = ite(p, bits of c, bits of d)";
    ExtractRead: "whole elements of a word read are a narrower read";
    ExtractBits: "bits of x op y = bits of x op bits of y, for &, |, ^, ~, if that is simpler";
    ExtractArith: "low bits of x op y = low bits of x op low bits of y, for + - *, if that is simpler";
    ExtractShl: "bits of x << c are bits of x, or zeros";
    ExtendExtended: "an extension of an extension is one extension";
    ExtendIte: "extension of ite(p, c, d) = ite(p, extension of c, extension of d)";
    SignExtendNonnegative: "sext(x) = zext(x) for nonnegative x";
    ConcatZero: "0 ++ x = zext(x)";
    ConcatNest: "(x ++ y) ++ z = x ++ (y ++ z)";
    ConcatExtended: "zext(x) ++ y = zext(x ++ y)";
    ConcatAdjacent: "adjacent bits of one word are one extract";
    ConcatConstants: "c ++ (d ++ x) = cd ++ x";
    ConcatSign: "sext(top bit of x) ++ x = sext(x)";
    ConcatReads: "adjacent reads of one array are one read";
    IteSame: "ite(p, x, x) = x";
    IteNot: "ite(~p, x, y) = ite(p, y, x)";
    IteBool: "an ite with a constant arm, of booleans, is a conjunction or disjunction";
    IteNested: "ite(p, ite(p, x, y), z) = ite(p, x, z)";
    IteCondition: "ite(p, p, x) = p | x; ite(p, x, p) = p & x";
    IteBit: "for one bit x, ite(x = 1, 1, 0) = zext(x); ite(x = 1, ~0, 0) = sext(x); their complements; ite(x = 0, c, d) = ite(x = 1, d, c)";
    IteArm: "ite(x = c, x, z) = ite(x = c, c, z), also for x in a concatenation or extension; for one bit x in both arms";
    // array
    ReadStore: "read over write, if the indices are equal or known to differ";
    ReadSwapped: "read(store(store(b, i, read(a, j)), j, read(a, i)), i) = read(a, j)";
    ReadConst: "any element of a constant array is its value";
    ReadTable: "a table read at a constant index";
    ReadIte: "read(ite(p, a, b), i) = ite(p, read(a, i), read(b, i))";
    ReadWord: "a word read of a written array is a concatenation of element reads";
    StoreSame: "store(a, i, read(a, i)) = a";
    StoreTwice: "store(store(a, i, x), i, y) = store(a, i, y)";
    StoreOverwritten: "store(store(store(a, i, x), j, y), i, z) = store(store(a, j, y), i, z), also with several writes between";
    // float
    FloatSame: "x < x is false; x <= x and x = x say that x is not NaN";
    FloatExtreme: "comparisons with NaN are false; x < -inf is false; x <= inf says that x is not NaN; likewise reversed";
    FloatNegated: "-x < -y is y < x, likewise <= and =; -x < c is -c < x";
    FloatWidened: "comparisons of exactly converted numbers are those of the numbers; (wide(x) < c) is x < the next number above c";
    FloatOfInteger: "comparisons of exactly converted integers are those of the integers; (float(x) < c) is x < the next integer";
    FloatCommuted: "operands of compared sums and products are ordered: only the bits of NaN depend on the order";
    FloatIte: "(ite(p, c, y) < d) is ite(p, c < d, y < d), likewise <= and =";
    FloatConverted: "a conversion of an exactly converted number is one conversion";
    FloatNarrowed: "narrow(wide(x) op wide(y)) = x op y, for + - * / and roots, if wide has twice the precision and two bits more";
    FloatIntegral: "rounding an integral number to an integral number changes nothing";
    FloatToInteger: "an integer that was converted exactly to a number and back is the integer";
}

/// Largest depth of nested rewrites; deeper expressions are not rewritten, so no input can overflow the
/// stack.
const MAX_DEPTH: u32 = 24;

/// Most rewrites per builder call. Shared operands would be rewritten once per path to them, which is
/// exponential in the depth. Long concatenations stay well below.
const MAX_STEPS: u32 = 2048;

/// Number of applications of each rule, and the state of the current builder call.
pub(super) struct Counters {
    fired: [u64; Rule::ALL.len()],
    depth: u32,
    steps: u32,
    skipped: u64,
    max_depth: u32,
    max_steps: u32,
}

impl Default for Counters {
    fn default() -> Counters {
        let fired = [0; Rule::ALL.len()];
        Counters { fired, depth: 0, steps: 0, skipped: 0, max_depth: MAX_DEPTH, max_steps: MAX_STEPS }
    }
}

impl Counters {
    /// Starts a rewrite, which `leave` ends; returns false at a limit.
    #[inline]
    pub(super) fn enter(&mut self) -> bool {
        if self.depth == 0 {
            self.steps = 0;
        }
        if self.depth >= self.max_depth || self.steps >= self.max_steps {
            self.skipped += 1;
            return false;
        }
        self.depth += 1;
        self.steps += 1;
        true
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Rule, u64)> + '_ {
        Rule::ALL.iter().map(|&rule| (rule, self.fired[rule as usize]))
    }
}

impl Graph {
    /// Number of rewrites skipped at a limit. Unless it is zero, expressions may not be canonical.
    pub fn rewrites_cut(&self) -> u64 {
        self.rules.skipped
    }

    /// Sets other limits, for tests: a rule must not depend on earlier rules having been applied.
    #[doc(hidden)]
    pub fn limit_rewriting(&mut self, depth: u32, steps: u32) {
        (self.rules.max_depth, self.rules.max_steps) = (depth, steps);
    }

    fn fire(&mut self, rule: Rule, result: Expr) -> Option<Expr> {
        self.rules.fired[rule as usize] += 1;
        Some(result)
    }

    pub(super) fn rewrite1(&mut self, op: Op, sort: Sort, a: Expr, low: u32) -> Option<Expr> {
        match op.family() {
            Family::Bits(op) => match op {
                BitsOp::Not => self.rewrite_not(a),
                BitsOp::And | BitsOp::Or | BitsOp::Xor => unreachable!("{op:?} is not unary"),
            },
            Family::Shape(shape) => match shape {
                ShapeOp::Extract => self.rewrite_extract(a, low, self.bits_width(sort)),
                ShapeOp::ZExt | ShapeOp::SExt => self.rewrite_extend(op, a, self.bits_width(sort)),
                ShapeOp::Concat | ShapeOp::Ite => unreachable!("{op:?} is not unary"),
            },
            Family::Leaf(_) | Family::Array(_) | Family::Arith(_) | Family::Shift(_) | Family::Compare(_) => {
                unreachable!("{op:?} is not unary")
            }
            Family::Float(_) => unreachable!("{op:?} is rewritten by `rewrite_float`"),
        }
    }

    pub(super) fn rewrite2(&mut self, op: Op, sort: Sort, a: Expr, b: Expr) -> Option<Expr> {
        match op.family() {
            Family::Bits(bits) => match bits {
                BitsOp::And | BitsOp::Or | BitsOp::Xor => self.rewrite_bits(op, sort, a, b),
                BitsOp::Not => unreachable!("{op:?} is not binary"),
            },
            Family::Arith(arith) => match arith {
                ArithOp::Add => self.rewrite_add(a, b),
                ArithOp::Sub => self.rewrite_sub(a, b),
                ArithOp::Mul => self.rewrite_mul(a, b),
                ArithOp::UDiv | ArithOp::URem | ArithOp::SDiv | ArithOp::SRem => {
                    self.rewrite_division(op, a, b)
                }
            },
            Family::Shift(shift) => match shift {
                ShiftOp::Shl | ShiftOp::LShr | ShiftOp::AShr => self.rewrite_shift(op, a, b),
            },
            Family::Compare(compare) => match compare {
                CompareOp::Eq => self.rewrite_eq(a, b),
                CompareOp::Ult | CompareOp::Ule | CompareOp::Slt | CompareOp::Sle => {
                    self.rewrite_less(op, a, b)
                }
            },
            Family::Shape(shape) => match shape {
                ShapeOp::Concat => self.rewrite_concat(a, b),
                ShapeOp::Extract | ShapeOp::ZExt | ShapeOp::SExt | ShapeOp::Ite => {
                    unreachable!("{op:?} is not binary")
                }
            },
            Family::Float(_) => unreachable!("{op:?} is rewritten by `rewrite_float`"),
            Family::Leaf(_) | Family::Array(_) => unreachable!("{op:?} is not a function of words"),
        }
    }

    fn bits_width(&self, sort: Sort) -> u32 {
        match sort {
            Sort::Bits(width) => width,
            Sort::Bool | Sort::Array { .. } => unreachable!("a bit-vector"),
        }
    }

    fn zero_like(&mut self, e: Expr) -> Expr {
        if self.is_bool(e) {
            return self.boolean(false);
        }
        self.word(self.width(e), 0)
    }

    fn ones_like(&mut self, e: Expr) -> Expr {
        if self.is_bool(e) {
            return self.boolean(true);
        }
        self.constant(super::Bits::ones(self.width(e)))
    }

    fn is_zero(&self, e: Expr) -> bool {
        match self.const_word(e) {
            Some(word) => word == 0,
            None => self.const_bits(e).is_some_and(|bits| bits.is_zero()),
        }
    }

    fn is_ones(&self, e: Expr) -> bool {
        match self.const_word(e) {
            Some(word) => word == super::bits::mask(self.width(e)),
            None => self.const_bits(e).is_some_and(|bits| bits.is_ones()),
        }
    }

    /// Returns whether `a` is `Not(b)` or `b` is `Not(a)`.
    fn are_complements(&self, a: Expr, b: Expr) -> bool {
        (self.op(a) == Op::Not && self.kid(a, 0) == b) || (self.op(b) == Op::Not && self.kid(b, 0) == a)
    }

    /// Splits `x + c` into `x` and `c`.
    fn split_sum(&self, e: Expr) -> (Expr, Option<Expr>) {
        if self.op(e) == Op::Add && self.is_const(self.kid(e, 1)) {
            return (self.kid(e, 0), Some(self.kid(e, 1)));
        }
        (e, None)
    }

    /// Returns `p`, `c`, `d` of `ite(p, c, d)` with constant arms.
    fn constant_ite(&self, e: Expr) -> Option<(Expr, Expr, Expr)> {
        if self.op(e) != Op::Ite {
            return None;
        }
        let (p, c, d) = (self.kid(e, 0), self.kid(e, 1), self.kid(e, 2));
        (self.is_const(c) && self.is_const(d)).then_some((p, c, d))
    }

    /// Returns whether the structure of `e` shows that its top bit is always zero.
    fn is_nonnegative(&self, e: Expr) -> bool {
        let kid = |i| self.kid(e, i);
        match self.op(e).family() {
            Family::Leaf(LeafOp::Const) => self.is_nonnegative_constant(e),
            Family::Bits(BitsOp::And) => self.is_nonnegative_constant(kid(1)),
            Family::Arith(ArithOp::URem) => self.op(kid(0)) == Op::ZExt,
            Family::Arith(ArithOp::UDiv) => {
                self.op(kid(0)) == Op::ZExt && self.is_const(kid(1)) && !self.is_zero(kid(1))
            }
            Family::Shape(op) => match op {
                ShapeOp::ZExt => true,
                ShapeOp::Concat => self.is_nonnegative_constant(kid(0)),
                ShapeOp::Ite => [1, 2].into_iter().all(|i| self.is_nonnegative_constant(kid(i))),
                ShapeOp::Extract | ShapeOp::SExt => false,
            },
            // Unknown.
            Family::Leaf(_) | Family::Array(_) | Family::Bits(_) | Family::Arith(_) => false,
            Family::Shift(_) | Family::Compare(_) | Family::Float(_) => false,
        }
    }

    fn is_nonnegative_constant(&self, e: Expr) -> bool {
        self.const_bits(e).is_some_and(|bits| !bits.sign())
    }
}
