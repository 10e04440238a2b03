//! SMT-LIB functions on booleans, bit-vectors and arrays, by name, with checked arguments.
//!
//! One row per function: SMT-LIB name, number of indices, number of arguments, sorts of arguments, sort of the
//! result, and the operator or the builder. All input from outside (scripts, Python) is built with
//! `Graph::apply`, so that the unchecked builders of `build.rs` only get matching operands. Errors name what was
//! expected and what was found.

use super::{Expr, Graph, MAX_WIDTH, Op, Sort, SortError};
use smallvec::SmallVec;

/// Number of arguments of a function. Functions with more than the minimum associate to the left, to the right
/// (`=>`), chain (`=`) or are pairwise (`distinct`), as SMT-LIB defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    Exactly(usize),
    AtLeast(usize),
}

/// Sorts of the arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ArgumentSorts {
    Bools,
    /// Bit-vectors of one width.
    Words,
    /// Bit-vectors of any widths.
    AnyWords,
    /// Any sort, the same for all.
    Same,
    /// A condition and two expressions of one sort.
    Choice,
    /// A condition of one bit and two bit-vectors of one width.
    BitChoice,
    ArrayIndex,
    ArrayIndexElement,
}

/// Sort of the result of a function on bit-vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WordResult {
    /// The sort of the arguments.
    Operand,
    Bool,
    /// A bit-vector of one bit.
    Bit,
    /// A width that depends on the indices.
    Indexed,
    /// The arguments are not bit-vectors of one width.
    Arguments,
}

/// How a function is built from checked arguments.
enum Builder {
    /// An operator, associated to the left.
    Operator(Op),
    /// From arguments and indices.
    Function(fn(&mut Graph, &[Expr], &[u64]) -> Expr),
}

/// Most arguments of `distinct`, which compares all pairs.
const MAX_DISTINCT: usize = 4096;

macro_rules! builtins {
    ($(
        $name:ident $smt:literal, $params:literal, $arity:ident($least:literal), $takes:ident, $result:ident
        $(= $op:ident)? $(=> $build:expr)?;
    )*) => {
        /// A function of SMT-LIB.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Builtin { $( $name, )* }

        impl Builtin {
            pub const ALL: &'static [Builtin] = &[ $( Builtin::$name, )* ];

            /// Returns the function with this name.
            pub fn lookup(name: &str) -> Option<Builtin> {
                match name { $( $smt => Some(Builtin::$name), )* _ => None }
            }

            pub const fn name(self) -> &'static str { match self { $( Builtin::$name => $smt, )* } }

            /// Number of numerals that index the function: 2 for `(_ extract 7 0)`.
            pub const fn params(self) -> usize { match self { $( Builtin::$name => $params, )* } }

            pub const fn arity(self) -> Arity { match self { $( Builtin::$name => Arity::$arity($least), )* } }

            const fn result_of_words(self) -> WordResult {
                match self { $( Builtin::$name => WordResult::$result, )* }
            }

            fn builder(self) -> Builder {
                match self { $( Builtin::$name => builtins!(@builder $($op)? $(=> $build)?), )* }
            }

            const fn argument_sorts(self) -> ArgumentSorts { match self { $( Builtin::$name => ArgumentSorts::$takes, )* } }
        }
    };
    (@builder $op:ident) => { Builder::Operator(Op::$op) };
    (@builder => $build:expr) => { Builder::Function($build) };
}

builtins! {
    Not "not", 0, Exactly(1), Bools, Bool = Not;
    And "and", 0, AtLeast(1), Bools, Bool = And;
    Or "or", 0, AtLeast(1), Bools, Bool = Or;
    Xor "xor", 0, AtLeast(2), Bools, Bool = Xor;
    Implies "=>", 0, AtLeast(2), Bools, Bool => Graph::implies_all;
    Equal "=", 0, AtLeast(2), Same, Bool => Graph::equal_all;
    Distinct "distinct", 0, AtLeast(2), Same, Bool => |g, args, _| g.distinct(args);
    Ite "ite", 0, Exactly(3), Choice, Arguments => |g, args, _| g.ite(args[0], args[1], args[2]);
    BvNot "bvnot", 0, Exactly(1), Words, Operand = Not;
    BvNeg "bvneg", 0, Exactly(1), Words, Operand => |g, args, _| g.neg(args[0]);
    BvAnd "bvand", 0, AtLeast(2), Words, Operand = And;
    BvOr "bvor", 0, AtLeast(2), Words, Operand = Or;
    BvXor "bvxor", 0, AtLeast(2), Words, Operand = Xor;
    BvNand "bvnand", 0, Exactly(2), Words, Operand => |g, args, _| g.nand(args[0], args[1]);
    BvNor "bvnor", 0, Exactly(2), Words, Operand => |g, args, _| g.nor(args[0], args[1]);
    BvXnor "bvxnor", 0, AtLeast(2), Words, Operand => |g, args, _| args[1..].iter().fold(args[0], |all, &e| g.xnor(all, e));
    BvAdd "bvadd", 0, AtLeast(2), Words, Operand = Add;
    BvSub "bvsub", 0, Exactly(2), Words, Operand = Sub;
    BvMul "bvmul", 0, AtLeast(2), Words, Operand = Mul;
    BvUdiv "bvudiv", 0, Exactly(2), Words, Operand = UDiv;
    BvUrem "bvurem", 0, Exactly(2), Words, Operand = URem;
    BvSdiv "bvsdiv", 0, Exactly(2), Words, Operand = SDiv;
    BvSrem "bvsrem", 0, Exactly(2), Words, Operand = SRem;
    BvSmod "bvsmod", 0, Exactly(2), Words, Operand => |g, args, _| g.smod(args[0], args[1]);
    BvShl "bvshl", 0, Exactly(2), Words, Operand = Shl;
    BvLshr "bvlshr", 0, Exactly(2), Words, Operand = LShr;
    BvAshr "bvashr", 0, Exactly(2), Words, Operand = AShr;
    BvUlt "bvult", 0, Exactly(2), Words, Bool = Ult;
    BvUle "bvule", 0, Exactly(2), Words, Bool = Ule;
    BvUgt "bvugt", 0, Exactly(2), Words, Bool => |g, args, _| g.ult(args[1], args[0]);
    BvUge "bvuge", 0, Exactly(2), Words, Bool => |g, args, _| g.ule(args[1], args[0]);
    BvSlt "bvslt", 0, Exactly(2), Words, Bool = Slt;
    BvSle "bvsle", 0, Exactly(2), Words, Bool = Sle;
    BvSgt "bvsgt", 0, Exactly(2), Words, Bool => |g, args, _| g.slt(args[1], args[0]);
    BvSge "bvsge", 0, Exactly(2), Words, Bool => |g, args, _| g.sle(args[1], args[0]);
    BvRedor "bvredor", 0, Exactly(1), Words, Bit => |g, args, _| g.any_bit(args[0]);
    BvRedand "bvredand", 0, Exactly(1), Words, Bit => |g, args, _| g.all_bits(args[0]);
    BvRedxor "bvredxor", 0, Exactly(1), Words, Bit => |g, args, _| g.parity(args[0]);
    BvInc "bvinc", 0, Exactly(1), Words, Operand => |g, args, _| g.plus(args[0], 1);
    BvDec "bvdec", 0, Exactly(1), Words, Operand => |g, args, _| g.plus(args[0], u64::MAX);
    BvIte "bvite", 0, Exactly(3), BitChoice, Arguments => |g, args, _| g.choose(args[0], args[1], args[2]);
    BvComp "bvcomp", 0, Exactly(2), Words, Bit => |g, args, _| g.comp(args[0], args[1]);
    BvNego "bvnego", 0, Exactly(1), Words, Bool => |g, args, _| g.neg_overflows(args[0]);
    BvUaddo "bvuaddo", 0, Exactly(2), Words, Bool => |g, args, _| g.uadd_overflows(args[0], args[1]);
    BvSaddo "bvsaddo", 0, Exactly(2), Words, Bool => |g, args, _| g.sadd_overflows(args[0], args[1]);
    BvUmulo "bvumulo", 0, Exactly(2), Words, Bool => |g, args, _| g.umul_overflows(args[0], args[1]);
    BvSmulo "bvsmulo", 0, Exactly(2), Words, Bool => |g, args, _| g.smul_overflows(args[0], args[1]).expect("the width was checked");
    BvUsubo "bvusubo", 0, Exactly(2), Words, Bool => |g, args, _| g.usub_overflows(args[0], args[1]);
    BvSsubo "bvssubo", 0, Exactly(2), Words, Bool => |g, args, _| g.ssub_overflows(args[0], args[1]);
    BvUmulNoovfl "bvumul_noovfl", 0, Exactly(2), Words, Bool => |g, args, _| g.umul_fits(args[0], args[1]);
    BvSmulNoovfl "bvsmul_noovfl", 0, Exactly(2), Words, Bool => |g, args, _| g.smul_fits(args[0], args[1], false);
    BvSmulNoudfl "bvsmul_noudfl", 0, Exactly(2), Words, Bool => |g, args, _| g.smul_fits(args[0], args[1], true);
    BvSdivo "bvsdivo", 0, Exactly(2), Words, Bool => |g, args, _| g.sdiv_overflows(args[0], args[1]);
    Concat "concat", 0, AtLeast(2), AnyWords, Arguments => Graph::concat_all;
    Extract "extract", 2, Exactly(1), Words, Indexed => |g, args, at| g.extract(args[0], at[1] as u32, (at[0] - at[1]) as u32 + 1);
    ZeroExtend "zero_extend", 1, Exactly(1), Words, Indexed => |g, args, by| g.zext(args[0], g.width(args[0]) + by[0] as u32);
    SignExtend "sign_extend", 1, Exactly(1), Words, Indexed => |g, args, by| g.sext(args[0], g.width(args[0]) + by[0] as u32);
    RotateLeft "rotate_left", 1, Exactly(1), Words, Operand => |g, args, by| g.rotate_left(args[0], by[0]);
    ExtRotateLeft "ext_rotate_left", 0, Exactly(2), Words, Operand => |g, args, _| g.rotate_by(args[0], args[1], true);
    ExtRotateRight "ext_rotate_right", 0, Exactly(2), Words, Operand => |g, args, _| g.rotate_by(args[0], args[1], false);
    BvRol "bvrol", 0, Exactly(2), Words, Operand => |g, args, _| g.rotate_by(args[0], args[1], true);
    BvRor "bvror", 0, Exactly(2), Words, Operand => |g, args, _| g.rotate_by(args[0], args[1], false);
    RotateRight "rotate_right", 1, Exactly(1), Words, Operand => |g, args, by| g.rotate_right(args[0], by[0]);
    BitToBool "bit2bool", 1, Exactly(1), Words, Bool => |g, args, at| g.bit_at(args[0], at[0] as u32);
    Repeat "repeat", 1, Exactly(1), Words, Indexed => |g, args, count| g.repeat(args[0], count[0] as u32);
    Select "select", 0, Exactly(2), ArrayIndex, Arguments => |g, args, _| g.select(args[0], args[1]);
    Store "store", 0, Exactly(3), ArrayIndexElement, Arguments => |g, args, _| g.store(args[0], args[1], args[2]);
}

impl Builtin {
    /// Whether SMT-LIB does not define the function. A script may use its name for something else.
    pub const fn is_extension(self) -> bool {
        matches!(
            self,
            Builtin::BvRedor
                | Builtin::BvRedand
                | Builtin::BvRedxor
                | Builtin::BvInc
                | Builtin::BvDec
                | Builtin::BvIte
                | Builtin::BitToBool
                | Builtin::ExtRotateLeft
                | Builtin::ExtRotateRight
                | Builtin::BvUmulNoovfl
                | Builtin::BvSmulNoovfl
                | Builtin::BvSmulNoudfl
        )
    }

    fn error<T>(self, what: std::fmt::Arguments<'_>) -> Result<T, SortError> {
        Err(SortError(format!("{}: {what}", self.name())))
    }

    fn check_counts(self, params: usize, args: usize) -> Result<(), SortError> {
        if params != self.params() {
            let expected = count(self.params(), "index", "indices");
            return self.error(format_args!("expected {expected}, found {params}"));
        }
        match self.arity() {
            Arity::Exactly(n) if args != n => {
                self.error(format_args!("expected {}, found {args}", count(n, "argument", "arguments")))
            }
            Arity::AtLeast(n) if args < n => self
                .error(format_args!("expected at least {}, found {args}", count(n, "argument", "arguments"))),
            Arity::Exactly(_) | Arity::AtLeast(_) => Ok(()),
        }
    }

    /// Returns the sort of the function applied to arguments of these sorts and indexed by `params`.
    ///
    /// # Errors
    ///
    /// Fails if numbers or sorts of the arguments do not match.
    pub fn result(self, params: &[u64], args: &[Sort]) -> Result<Sort, SortError> {
        self.check_counts(params.len(), args.len())?;
        match self.argument_sorts() {
            ArgumentSorts::Bools => match args.iter().find(|&&arg| arg != Sort::Bool) {
                Some(arg) => self.error(format_args!("expected Bool, found {arg}")),
                None => Ok(Sort::Bool),
            },
            ArgumentSorts::Words => {
                let width = self.expect_word(args[0])?;
                self.expect_like_first(args)?;
                self.word_result(width, params)
            }
            ArgumentSorts::AnyWords => {
                let mut width = 0;
                for &arg in args {
                    width += u64::from(self.expect_word(arg)?);
                }
                self.result_width(width)
            }
            ArgumentSorts::Same if args.len() > MAX_DISTINCT && self == Builtin::Distinct => {
                self.error(format_args!("expected at most {MAX_DISTINCT} arguments, found {}", args.len()))
            }
            ArgumentSorts::Same => self.expect_like_first(args).map(|()| Sort::Bool),
            ArgumentSorts::Choice => {
                if args[0] != Sort::Bool {
                    return self.error(format_args!("expected a Bool condition, found {}", args[0]));
                }
                if args[1] != args[2] {
                    let (then, otherwise) = (args[1], args[2]);
                    return self
                        .error(format_args!("expected {then} like its second argument, found {otherwise}"));
                }
                Ok(args[1])
            }
            ArgumentSorts::BitChoice => {
                if args[0] != Sort::Bits(1) {
                    return self.error(format_args!("expected a condition of one bit, found {}", args[0]));
                }
                self.expect_word(args[1])?;
                self.expect_like_first(&args[1..]).map(|()| args[1])
            }
            ArgumentSorts::ArrayIndex => self.expect_array(args),
            ArgumentSorts::ArrayIndexElement => {
                let element = self.expect_array(args)?;
                let (array, found) = (args[0], args[2]);
                if found != element {
                    return self
                        .error(format_args!("expected {element} as element of {array}, found {found}"));
                }
                Ok(array)
            }
        }
    }

    /// Returns the result sort for bit-vector arguments of `width` bits.
    fn word_result(self, width: u32, params: &[u64]) -> Result<Sort, SortError> {
        let wide = u64::from(width);
        match self.result_of_words() {
            WordResult::Operand => Ok(Sort::Bits(width)),
            WordResult::Bit => Ok(Sort::Bits(1)),
            WordResult::Bool
                if matches!(self, Builtin::BvSmulo | Builtin::BvSmulNoovfl | Builtin::BvSmulNoudfl)
                    && wide * 2 > u64::from(MAX_WIDTH) =>
            {
                let limit = MAX_WIDTH / 2;
                self.error(format_args!("expected at most {limit} bits for a signed product, found {width}"))
            }
            WordResult::Bool if self == Builtin::BitToBool && params[0] >= wide => {
                let (top, found) = (width - 1, params[0]);
                self.error(format_args!("expected an index of at most {top}, found {found}"))
            }
            WordResult::Bool => Ok(Sort::Bool),
            WordResult::Indexed if self == Builtin::Extract => {
                let (high, low) = (params[0], params[1]);
                if high < low || high >= wide {
                    let (top, sort) = (width - 1, Sort::Bits(width));
                    return self.error(format_args!(
                        "expected indices {top} >= i >= j >= 0 for {sort}, found {high} and {low}"
                    ));
                }
                Ok(Sort::Bits((high - low) as u32 + 1))
            }
            WordResult::Indexed if self == Builtin::Repeat => {
                self.result_width(wide.saturating_mul(params[0]))
            }
            WordResult::Indexed => self.result_width(wide.saturating_add(params[0])),
            WordResult::Arguments => unreachable!("{self:?} does not take words only"),
        }
    }

    fn result_width(self, width: u64) -> Result<Sort, SortError> {
        match Sort::bits(width) {
            Ok(sort) => Ok(sort),
            Err(_) => self.error(format_args!("expected a result of 1 to {MAX_WIDTH} bits, found {width}")),
        }
    }

    fn expect_word(self, arg: Sort) -> Result<u32, SortError> {
        match arg {
            Sort::Bits(width) => Ok(width),
            Sort::Bool | Sort::Array { .. } => self.error(format_args!("expected a bit-vector, found {arg}")),
        }
    }

    fn expect_like_first(self, args: &[Sort]) -> Result<(), SortError> {
        let first = args[0];
        match args[1..].iter().find(|&&arg| arg != first) {
            Some(found) => {
                self.error(format_args!("expected {first} like its first argument, found {found}"))
            }
            None => Ok(()),
        }
    }

    /// Checks an array and its index; returns the sort of an element.
    fn expect_array(self, args: &[Sort]) -> Result<Sort, SortError> {
        let (array, found) = (args[0], args[1]);
        let Sort::Array { index, element } = array else {
            return self.error(format_args!("expected an array, found {array}"));
        };
        let index = Sort::Bits(index);
        if found != index {
            return self.error(format_args!("expected {index} as index of {array}, found {found}"));
        }
        Ok(Sort::Bits(element))
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    match n {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}

impl Graph {
    /// Builds the function `f` indexed by `params` and applied to `args`.
    ///
    /// # Errors
    ///
    /// Fails if numbers or sorts of the arguments do not match.
    pub fn apply(&mut self, f: Builtin, params: &[u64], args: &[Expr]) -> Result<Expr, SortError> {
        let sorts: SmallVec<[Sort; 4]> = args.iter().map(|&arg| self.sort(arg)).collect();
        f.result(params, &sorts)?;
        Ok(match f.builder() {
            Builder::Operator(op) if op.arity() == 1 => self.build(op, self.width(args[0]), 0, args),
            Builder::Operator(op) => args[1..].iter().fold(args[0], |all, &arg| self.operator2(op, all, arg)),
            Builder::Function(build) => build(self, args, params),
        })
    }

    fn implies_all(&mut self, args: &[Expr], _: &[u64]) -> Expr {
        let last = args[args.len() - 1];
        args[..args.len() - 1].iter().rev().fold(last, |then, &a| self.implies(a, then))
    }

    fn equal_all(&mut self, args: &[Expr], _: &[u64]) -> Expr {
        if let [a, b] = *args {
            return self.eq(a, b);
        }
        let mut chain = self.boolean(true);
        for pair in args.windows(2) {
            let same = self.eq(pair[0], pair[1]);
            chain = self.and(chain, same);
        }
        chain
    }

    fn concat_all(&mut self, args: &[Expr], _: &[u64]) -> Expr {
        // From the right: appending to a long concatenation would rebuild it each time.
        let last = args[args.len() - 1];
        args[..args.len() - 1].iter().rev().fold(last, |low, &high| self.concat(high, low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Expr, SortError>) -> String {
        result.expect_err("a sort error").0
    }

    #[test]
    fn every_name_finds_its_function() {
        for &f in Builtin::ALL {
            assert_eq!(Builtin::lookup(f.name()), Some(f));
        }
        assert_eq!(Builtin::lookup("bvfoo"), None);
    }

    #[test]
    fn sort_errors_name_expected_and_found() {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let y = g.var("y", Sort::Bits(8)).unwrap();
        let p = g.var("p", Sort::Bool).unwrap();
        let a = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
        for (f, params, args, expected) in [
            (
                Builtin::BvAdd,
                &[][..],
                &[x, y][..],
                "bvadd: expected (_ BitVec 32) like its first argument, found (_ BitVec 8)",
            ),
            (Builtin::BvNot, &[], &[p], "bvnot: expected a bit-vector, found Bool"),
            (Builtin::And, &[], &[p, x], "and: expected Bool, found (_ BitVec 32)"),
            (Builtin::BvSub, &[], &[x], "bvsub: expected 2 arguments, found 1"),
            (Builtin::Equal, &[], &[x], "=: expected at least 2 arguments, found 1"),
            (Builtin::Extract, &[7], &[x], "extract: expected 2 indices, found 1"),
            (Builtin::BvAdd, &[7], &[x, x], "bvadd: expected no indices, found 1"),
            (
                Builtin::Extract,
                &[32, 0],
                &[x],
                "extract: expected indices 31 >= i >= j >= 0 for (_ BitVec 32), found 32 and 0",
            ),
            (
                Builtin::ZeroExtend,
                &[u64::MAX],
                &[x],
                "zero_extend: expected a result of 1 to 16777216 bits, found 18446744073709551615",
            ),
            (Builtin::Repeat, &[0], &[x], "repeat: expected a result of 1 to 16777216 bits, found 0"),
            (
                Builtin::Select,
                &[],
                &[a, y],
                "select: expected (_ BitVec 32) as index of (Array (_ BitVec 32) (_ BitVec 8)), found (_ BitVec 8)",
            ),
            (Builtin::Select, &[], &[x, y], "select: expected an array, found (_ BitVec 32)"),
            (
                Builtin::Store,
                &[],
                &[a, x, x],
                "store: expected (_ BitVec 8) as element of (Array (_ BitVec 32) (_ BitVec 8)), found (_ BitVec 32)",
            ),
            (Builtin::Ite, &[], &[x, x, x], "ite: expected a Bool condition, found (_ BitVec 32)"),
            (
                Builtin::Ite,
                &[],
                &[p, x, y],
                "ite: expected (_ BitVec 32) like its second argument, found (_ BitVec 8)",
            ),
        ] {
            assert_eq!(message(g.apply(f, params, args)), expected);
        }
    }

    #[test]
    fn many_arguments_associate_chain_or_differ_pairwise() {
        let mut g = Graph::new();
        let [p, q, r] = ["p", "q", "r"].map(|name| g.var(name, Sort::Bool).unwrap());
        let qr = g.implies(q, r);
        let pqr = g.implies(p, qr);
        assert_eq!(g.apply(Builtin::Implies, &[], &[p, q, r]).unwrap(), pqr);
        let pq = g.eq(p, q);
        let qr = g.eq(q, r);
        let both = g.and(pq, qr);
        assert_eq!(g.apply(Builtin::Equal, &[], &[p, q, r]).unwrap(), both);
        let x: Vec<Expr> = (0..3).map(|i| g.word(8, i)).collect();
        assert_eq!(g.apply(Builtin::Distinct, &[], &x).unwrap(), g.boolean(true));
        let joined = g.word(24, 0x000102);
        assert_eq!(g.apply(Builtin::Concat, &[], &x).unwrap(), joined);
        let three = g.word(8, 3);
        assert_eq!(g.apply(Builtin::BvAdd, &[], &x).unwrap(), three);
    }
}
