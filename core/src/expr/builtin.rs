//! SMT-LIB functions on booleans, bit-vectors and arrays, by name, with checked arguments.
//!
//! One row per function: SMT-LIB name, number of indices, number of arguments, sorts of arguments. All input
//! from outside (scripts, Python) is built with `Graph::apply`, so that the unchecked builders of `build.rs`
//! only get matching operands. Errors name what was expected and what was found.

use super::{Expr, Graph, MAX_WIDTH, Sort, SortError};
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
    ArrayIndex,
    ArrayIndexElement,
}

/// Most arguments of `distinct`, which compares all pairs.
const MAX_DISTINCT: usize = 4096;

macro_rules! builtins {
    ($( $name:ident $smt:literal, $params:literal, $arity:ident($least:literal), $takes:ident; )*) => {
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

            const fn argument_sorts(self) -> ArgumentSorts { match self { $( Builtin::$name => ArgumentSorts::$takes, )* } }
        }
    };
}

builtins! {
    Not "not", 0, Exactly(1), Bools;
    And "and", 0, AtLeast(1), Bools;
    Or "or", 0, AtLeast(1), Bools;
    Xor "xor", 0, AtLeast(2), Bools;
    Implies "=>", 0, AtLeast(2), Bools;
    Equal "=", 0, AtLeast(2), Same;
    Distinct "distinct", 0, AtLeast(2), Same;
    Ite "ite", 0, Exactly(3), Choice;
    BvNot "bvnot", 0, Exactly(1), Words;
    BvNeg "bvneg", 0, Exactly(1), Words;
    BvAnd "bvand", 0, AtLeast(2), Words;
    BvOr "bvor", 0, AtLeast(2), Words;
    BvXor "bvxor", 0, AtLeast(2), Words;
    BvNand "bvnand", 0, Exactly(2), Words;
    BvNor "bvnor", 0, Exactly(2), Words;
    BvXnor "bvxnor", 0, Exactly(2), Words;
    BvAdd "bvadd", 0, AtLeast(2), Words;
    BvSub "bvsub", 0, Exactly(2), Words;
    BvMul "bvmul", 0, AtLeast(2), Words;
    BvUdiv "bvudiv", 0, Exactly(2), Words;
    BvUrem "bvurem", 0, Exactly(2), Words;
    BvSdiv "bvsdiv", 0, Exactly(2), Words;
    BvSrem "bvsrem", 0, Exactly(2), Words;
    BvSmod "bvsmod", 0, Exactly(2), Words;
    BvShl "bvshl", 0, Exactly(2), Words;
    BvLshr "bvlshr", 0, Exactly(2), Words;
    BvAshr "bvashr", 0, Exactly(2), Words;
    BvUlt "bvult", 0, Exactly(2), Words;
    BvUle "bvule", 0, Exactly(2), Words;
    BvUgt "bvugt", 0, Exactly(2), Words;
    BvUge "bvuge", 0, Exactly(2), Words;
    BvSlt "bvslt", 0, Exactly(2), Words;
    BvSle "bvsle", 0, Exactly(2), Words;
    BvSgt "bvsgt", 0, Exactly(2), Words;
    BvSge "bvsge", 0, Exactly(2), Words;
    BvComp "bvcomp", 0, Exactly(2), Words;
    BvNego "bvnego", 0, Exactly(1), Words;
    BvUaddo "bvuaddo", 0, Exactly(2), Words;
    BvSaddo "bvsaddo", 0, Exactly(2), Words;
    BvUmulo "bvumulo", 0, Exactly(2), Words;
    BvSmulo "bvsmulo", 0, Exactly(2), Words;
    BvUsubo "bvusubo", 0, Exactly(2), Words;
    BvSsubo "bvssubo", 0, Exactly(2), Words;
    BvSdivo "bvsdivo", 0, Exactly(2), Words;
    Concat "concat", 0, AtLeast(2), AnyWords;
    Extract "extract", 2, Exactly(1), Words;
    ZeroExtend "zero_extend", 1, Exactly(1), Words;
    SignExtend "sign_extend", 1, Exactly(1), Words;
    RotateLeft "rotate_left", 1, Exactly(1), Words;
    RotateRight "rotate_right", 1, Exactly(1), Words;
    Repeat "repeat", 1, Exactly(1), Words;
    Select "select", 0, Exactly(2), ArrayIndex;
    Store "store", 0, Exactly(3), ArrayIndexElement;
}

impl Builtin {
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
        match self {
            Builtin::Extract => {
                let (high, low) = (params[0], params[1]);
                if high < low || high >= wide {
                    let (top, sort) = (width - 1, Sort::Bits(width));
                    return self.error(format_args!(
                        "expected indices {top} >= i >= j >= 0 for {sort}, found {high} and {low}"
                    ));
                }
                Ok(Sort::Bits((high - low) as u32 + 1))
            }
            Builtin::ZeroExtend | Builtin::SignExtend => self.result_width(wide.saturating_add(params[0])),
            Builtin::Repeat => self.result_width(wide.saturating_mul(params[0])),
            Builtin::BvComp => Ok(Sort::Bits(1)),
            Builtin::BvSmulo if wide * 2 > u64::from(MAX_WIDTH) => {
                let limit = MAX_WIDTH / 2;
                self.error(format_args!("expected at most {limit} bits for a signed product, found {width}"))
            }
            Builtin::BvUlt | Builtin::BvUle | Builtin::BvUgt | Builtin::BvUge | Builtin::BvSlt => {
                Ok(Sort::Bool)
            }
            Builtin::BvSle | Builtin::BvSgt | Builtin::BvSge | Builtin::BvNego | Builtin::BvUaddo => {
                Ok(Sort::Bool)
            }
            Builtin::BvSaddo | Builtin::BvUmulo | Builtin::BvSmulo | Builtin::BvUsubo => Ok(Sort::Bool),
            Builtin::BvSsubo | Builtin::BvSdivo => Ok(Sort::Bool),
            Builtin::BvNot | Builtin::BvNeg | Builtin::BvAnd | Builtin::BvOr | Builtin::BvXor => {
                Ok(Sort::Bits(width))
            }
            Builtin::BvNand | Builtin::BvNor | Builtin::BvXnor | Builtin::BvAdd | Builtin::BvSub => {
                Ok(Sort::Bits(width))
            }
            Builtin::BvMul | Builtin::BvUdiv | Builtin::BvUrem | Builtin::BvSdiv | Builtin::BvSrem => {
                Ok(Sort::Bits(width))
            }
            Builtin::BvSmod | Builtin::BvShl | Builtin::BvLshr | Builtin::BvAshr => Ok(Sort::Bits(width)),
            Builtin::RotateLeft | Builtin::RotateRight => Ok(Sort::Bits(width)),
            Builtin::Not | Builtin::And | Builtin::Or | Builtin::Xor | Builtin::Implies | Builtin::Equal => {
                unreachable!("{self:?} does not take words only")
            }
            Builtin::Distinct | Builtin::Ite | Builtin::Concat | Builtin::Select | Builtin::Store => {
                unreachable!("{self:?} does not take words only")
            }
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
        let a = args[0];
        // Only used by functions with two arguments.
        let b = args[args.len().min(2) - 1];
        Ok(match f {
            Builtin::Not | Builtin::BvNot => self.not(a),
            Builtin::And | Builtin::BvAnd => self.left(args, Graph::and),
            Builtin::Or | Builtin::BvOr => self.left(args, Graph::or),
            Builtin::Xor | Builtin::BvXor => self.left(args, Graph::xor),
            Builtin::Implies => {
                let last = args[args.len() - 1];
                args[..args.len() - 1].iter().rev().fold(last, |then, &a| self.implies(a, then))
            }
            Builtin::Equal if args.len() == 2 => self.eq(a, b),
            Builtin::Equal => {
                let mut chain = self.boolean(true);
                for pair in args.windows(2) {
                    let same = self.eq(pair[0], pair[1]);
                    chain = self.and(chain, same);
                }
                chain
            }
            Builtin::Distinct => self.distinct(args),
            Builtin::Ite => self.ite(a, b, args[2]),
            Builtin::BvNeg => self.neg(a),
            Builtin::BvNand => self.nand(a, b),
            Builtin::BvNor => self.nor(a, b),
            Builtin::BvXnor => self.xnor(a, b),
            Builtin::BvAdd => self.left(args, Graph::add),
            Builtin::BvSub => self.sub(a, b),
            Builtin::BvMul => self.left(args, Graph::mul),
            Builtin::BvUdiv => self.udiv(a, b),
            Builtin::BvUrem => self.urem(a, b),
            Builtin::BvSdiv => self.sdiv(a, b),
            Builtin::BvSrem => self.srem(a, b),
            Builtin::BvSmod => self.smod(a, b),
            Builtin::BvShl => self.shl(a, b),
            Builtin::BvLshr => self.lshr(a, b),
            Builtin::BvAshr => self.ashr(a, b),
            Builtin::BvUlt => self.ult(a, b),
            Builtin::BvUle => self.ule(a, b),
            Builtin::BvUgt => self.ult(b, a),
            Builtin::BvUge => self.ule(b, a),
            Builtin::BvSlt => self.slt(a, b),
            Builtin::BvSle => self.sle(a, b),
            Builtin::BvSgt => self.slt(b, a),
            Builtin::BvSge => self.sle(b, a),
            Builtin::BvComp => self.comp(a, b),
            Builtin::BvNego => self.neg_overflows(a),
            Builtin::BvUaddo => self.uadd_overflows(a, b),
            Builtin::BvSaddo => self.sadd_overflows(a, b),
            Builtin::BvUmulo => self.umul_overflows(a, b),
            Builtin::BvSmulo => self.smul_overflows(a, b)?,
            Builtin::BvUsubo => self.usub_overflows(a, b),
            Builtin::BvSsubo => self.ssub_overflows(a, b),
            Builtin::BvSdivo => self.sdiv_overflows(a, b),
            Builtin::Concat => {
                // From the right: appending to a long concatenation would rebuild it each time.
                let last = args[args.len() - 1];
                args[..args.len() - 1].iter().rev().fold(last, |low, &high| self.concat(high, low))
            }
            Builtin::Extract => self.extract(a, params[1] as u32, (params[0] - params[1]) as u32 + 1),
            Builtin::ZeroExtend => self.zext(a, self.width(a) + params[0] as u32),
            Builtin::SignExtend => self.sext(a, self.width(a) + params[0] as u32),
            Builtin::RotateLeft => self.rotate_left(a, params[0]),
            Builtin::RotateRight => self.rotate_right(a, params[0]),
            Builtin::Repeat => self.repeat(a, params[0] as u32),
            Builtin::Select => self.select(a, b),
            Builtin::Store => self.store(a, b, args[2]),
        })
    }

    fn left(&mut self, args: &[Expr], f: impl Fn(&mut Graph, Expr, Expr) -> Expr) -> Expr {
        args[1..].iter().fold(args[0], |all, &arg| f(self, all, arg))
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
                "zero_extend: expected a result of 1 to 65536 bits, found 18446744073709551615",
            ),
            (Builtin::Repeat, &[0], &[x], "repeat: expected a result of 1 to 65536 bits, found 0"),
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
