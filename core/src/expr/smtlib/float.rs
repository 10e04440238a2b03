//! Functions of the theory of floating point.

use super::SyntaxError;
use super::real::Real;
use super::term_sort::{ROUNDING_WIDTH, ScriptSort, Term, WordSort};
use super::terms::Parser;
use crate::expr::float::{Format, Rounding};
use crate::expr::{Expr, Graph, MAX_WIDTH, Sort};

/// Largest width of a float.
const MAX_FLOAT_WIDTH: u32 = 65_536;

macro_rules! functions {
    ($( $name:ident $smt:literal $params:literal; )*) => {
        /// A function of SMT-LIB's theory of floating point, or of the real and integer constants that it and conversions take.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum FloatFunction { $( $name, )* }

        impl FloatFunction {
            pub(super) const ALL: &'static [FloatFunction] = &[ $( FloatFunction::$name, )* ];

            pub(super) const fn name(self) -> &'static str { match self { $( FloatFunction::$name => $smt, )* } }

            /// Number of numerals that index the function.
            pub(super) const fn params(self) -> usize { match self { $( FloatFunction::$name => $params, )* } }
        }
    };
}

functions! {
    Fp "fp" 0;
    Abs "fp.abs" 0;
    Neg "fp.neg" 0;
    Add "fp.add" 0;
    Sub "fp.sub" 0;
    Mul "fp.mul" 0;
    Div "fp.div" 0;
    Fma "fp.fma" 0;
    Sqrt "fp.sqrt" 0;
    Rem "fp.rem" 0;
    RoundToIntegral "fp.roundToIntegral" 0;
    Min "fp.min" 0;
    Max "fp.max" 0;
    Leq "fp.leq" 0;
    Lt "fp.lt" 0;
    Geq "fp.geq" 0;
    Gt "fp.gt" 0;
    Eq "fp.eq" 0;
    IsNormal "fp.isNormal" 0;
    IsSubnormal "fp.isSubnormal" 0;
    IsZero "fp.isZero" 0;
    IsInfinite "fp.isInfinite" 0;
    IsNan "fp.isNaN" 0;
    IsNegative "fp.isNegative" 0;
    IsPositive "fp.isPositive" 0;
    ToFp "to_fp" 2;
    ToFpUnsigned "to_fp_unsigned" 2;
    ToUbv "fp.to_ubv" 1;
    ToSbv "fp.to_sbv" 1;
    ToIeeeBv "fp.to_ieee_bv" 0;
    Divide "/" 0;
    Minus "-" 0;
    IntToBv "int_to_bv" 1;
    Int2Bv "int2bv" 1;
    Nat2Bv "nat2bv" 1;
    UbvToInt "ubv_to_int" 0;
    Bv2Nat "bv2nat" 0;
    SbvToInt "sbv_to_int" 0;
}

pub(super) const ROUNDING_MODES: [(&str, Rounding); 10] = [
    ("RNE", Rounding::NearestEven),
    ("RNA", Rounding::NearestAway),
    ("RTP", Rounding::TowardPositive),
    ("RTN", Rounding::TowardNegative),
    ("RTZ", Rounding::TowardZero),
    ("roundNearestTiesToEven", Rounding::NearestEven),
    ("roundNearestTiesToAway", Rounding::NearestAway),
    ("roundTowardPositive", Rounding::TowardPositive),
    ("roundTowardNegative", Rounding::TowardNegative),
    ("roundTowardZero", Rounding::TowardZero),
];

/// Returns whether the theory of floating point gives the name a meaning.
pub(super) fn is_float_name(name: &str) -> bool {
    FloatFunction::ALL.iter().any(|f| f.name() == name)
        || ROUNDING_MODES.iter().any(|(mode, _)| *mode == name)
}

/// Returns the format with these indices.
pub(super) fn format(exponent: u64, significand: u64) -> Result<Format, String> {
    let known = match (u32::try_from(exponent), u32::try_from(significand)) {
        (Ok(e), Ok(s)) => Format::new(e, s).filter(|format| format.width() <= MAX_FLOAT_WIDTH),
        _ => None,
    };
    known.ok_or_else(|| {
        format!(
            "expected 2 to {} bits of exponent and at least 2 of significand, {MAX_FLOAT_WIDTH} together at most, found {exponent} and {significand}",
            Format::MAX_EXPONENT
        )
    })
}

fn float(format: Format) -> ScriptSort {
    ScriptSort::Word(WordSort::Float(format))
}

fn bits(width: u32) -> ScriptSort {
    ScriptSort::Word(WordSort::Bits(width))
}

type Result2<T> = Result<T, String>;

/// Arguments of a function, checked as they are taken.
struct Arguments<'t> {
    f: FloatFunction,
    args: &'t [Term],
}

impl Arguments<'_> {
    fn count(&self, expected: usize) -> Result2<()> {
        if self.args.len() == expected {
            return Ok(());
        }
        let plural = if expected == 1 { "" } else { "s" };
        Err(format!("{}: expected {expected} argument{plural}, found {}", self.f.name(), self.args.len()))
    }

    fn wrong<T>(&self, i: usize, expected: &str) -> Result2<T> {
        Err(format!("{}: expected {expected}, found {}", self.f.name(), self.args[i].sort.describe()))
    }

    fn rounding(&self, i: usize) -> Result2<Expr> {
        match self.args[i].sort {
            ScriptSort::Word(WordSort::Rounding) => Ok(self.args[i].expr),
            _ => self.wrong(i, "RoundingMode"),
        }
    }

    fn bits(&self, i: usize) -> Result2<(Expr, u32)> {
        match self.args[i].sort {
            ScriptSort::Word(WordSort::Bits(width)) => Ok((self.args[i].expr, width)),
            _ => self.wrong(i, "a bit-vector"),
        }
    }

    fn float(&self, i: usize) -> Result2<(Expr, Format)> {
        match self.args[i].sort {
            ScriptSort::Word(WordSort::Float(format)) => Ok((self.args[i].expr, format)),
            _ => self.wrong(i, "a floating-point number"),
        }
    }

    /// The arguments from `first` on, numbers of one format.
    fn floats(&self, first: usize) -> Result2<(Vec<Expr>, Format)> {
        let format = self.float(first)?.1;
        let mut all = Vec::new();
        for i in first..self.args.len() {
            let (e, found) = self.float(i)?;
            if found != format {
                return self.wrong(
                    i,
                    &format!("{} like the argument before it", WordSort::Float(format).describe()),
                );
            }
            all.push(e);
        }
        Ok((all, format))
    }
}

/// Builds a function of the rounding mode `mode`, which may be symbolic: one node per mode then.
fn with_rounding(graph: &mut Graph, mode: Expr, f: impl Fn(&mut Graph, Rounding) -> Expr) -> Expr {
    if let Some(number) = graph.const_word(mode) {
        let known = Rounding::ALL.get(number as usize).copied();
        return f(graph, known.unwrap_or(Rounding::NearestEven));
    }
    let mut result = f(graph, Rounding::ALL[0]);
    for (number, rounding) in Rounding::ALL.into_iter().enumerate().skip(1) {
        let number = graph.word(ROUNDING_WIDTH, number as u64);
        let (is, value) = (graph.eq(mode, number), f(graph, rounding));
        result = graph.ite(is, value, result);
    }
    result
}

impl Parser<'_, '_> {
    /// Applies `f`, indexed by `params`, to arguments; the offset is that of the application.
    pub(super) fn apply_float(
        &mut self,
        f: FloatFunction,
        params: &[u64],
        first: usize,
        at: usize,
    ) -> Result<Term, SyntaxError> {
        let args: Vec<Term> = self.args[first..].to_vec();
        self.float_term(f, params, &args).map_err(|message| SyntaxError::new(at, message))
    }

    fn float_term(&mut self, f: FloatFunction, params: &[u64], args: &[Term]) -> Result2<Term> {
        use FloatFunction as F;
        let a = Arguments { f, args };
        match f {
            F::Fp => {
                a.count(3)?;
                let [(sign, one), (exponent, e), (fraction, s)] = [a.bits(0)?, a.bits(1)?, a.bits(2)?];
                if one != 1 {
                    return a.wrong(0, "(_ BitVec 1)");
                }
                let format = format(e.into(), u64::from(s) + 1).map_err(|m| format!("fp: {m}"))?;
                let low = self.graph.concat(exponent, fraction);
                Ok(Term { expr: self.graph.concat(sign, low), sort: float(format) })
            }
            F::Abs | F::Neg => {
                a.count(1)?;
                let (x, format) = a.float(0)?;
                let expr =
                    if f == F::Abs { self.graph.f_abs(format, x) } else { self.graph.f_neg(format, x) };
                Ok(Term { expr, sort: float(format) })
            }
            F::Add | F::Sub | F::Mul | F::Div | F::Fma | F::Sqrt | F::RoundToIntegral => {
                a.count(match f {
                    F::Fma => 4,
                    F::Sqrt | F::RoundToIntegral => 2,
                    _ => 3,
                })?;
                let mode = a.rounding(0)?;
                let (x, format) = a.floats(1)?;
                // A script does not see which NaN a result is, so operands that commute have one order.
                let ordered = |g: &Graph, a: Expr, b: Expr| if g.swaps(a, b) { (b, a) } else { (a, b) };
                let expr = with_rounding(self.graph, mode, |g, mode| match f {
                    F::Add | F::Sub => {
                        let second = if f == F::Sub { g.f_neg(format, x[1]) } else { x[1] };
                        let (a, b) = ordered(g, x[0], second);
                        g.f_add(format, mode, a, b)
                    }
                    F::Mul => {
                        let (a, b) = ordered(g, x[0], x[1]);
                        g.f_mul(format, mode, a, b)
                    }
                    F::Div => g.f_div(format, mode, x[0], x[1]),
                    F::Fma => {
                        let (a, b) = ordered(g, x[0], x[1]);
                        g.f_mul_add(format, mode, a, b, x[2])
                    }
                    F::Sqrt => g.f_sqrt(format, mode, x[0]),
                    _ => g.f_round(format, mode, x[0]),
                });
                Ok(Term { expr, sort: float(format) })
            }
            F::Rem | F::Min | F::Max => {
                a.count(2)?;
                let (x, format) = a.floats(0)?;
                let expr = match f {
                    F::Rem => self.graph.f_rem(format, x[0], x[1]),
                    _ => self.extreme(f, format, x[0], x[1]),
                };
                Ok(Term { expr, sort: float(format) })
            }
            F::Leq | F::Lt | F::Geq | F::Gt | F::Eq => {
                if args.len() < 2 {
                    return Err(format!("{}: expected at least 2 arguments, found {}", f.name(), args.len()));
                }
                let (x, format) = a.floats(0)?;
                let g = &mut *self.graph;
                let mut all = g.boolean(true);
                for pair in x.windows(2) {
                    let (x, y) = (pair[0], pair[1]);
                    let holds = match f {
                        F::Leq => g.f_le(format, x, y),
                        F::Lt => g.f_lt(format, x, y),
                        F::Geq => g.f_le(format, y, x),
                        F::Gt => g.f_lt(format, y, x),
                        _ => g.f_eq(format, x, y),
                    };
                    all = g.and(all, holds);
                }
                Ok(Term { expr: all, sort: ScriptSort::Bool })
            }
            F::IsNormal
            | F::IsSubnormal
            | F::IsZero
            | F::IsInfinite
            | F::IsNan
            | F::IsNegative
            | F::IsPositive => {
                a.count(1)?;
                let (x, format) = a.float(0)?;
                let g = &mut *self.graph;
                let expr = match f {
                    F::IsNormal => g.f_is_normal(format, x),
                    F::IsSubnormal => g.f_is_subnormal(format, x),
                    F::IsZero => g.f_is_zero(format, x),
                    F::IsInfinite => g.f_is_infinite(format, x),
                    F::IsNan => g.f_is_nan(format, x),
                    F::IsNegative => g.f_is_negative(format, x),
                    _ => g.f_is_positive(format, x),
                };
                Ok(Term { expr, sort: ScriptSort::Bool })
            }
            F::ToFp | F::ToFpUnsigned => {
                let to = format(params[0], params[1]).map_err(|m| format!("{}: {m}", f.name()))?;
                Ok(Term { expr: self.number_of(&a, to)?, sort: float(to) })
            }
            F::ToUbv | F::ToSbv => {
                a.count(2)?;
                let (mode, (x, format)) = (a.rounding(0)?, a.float(1)?);
                let Ok(Sort::Bits(width)) = Sort::bits(params[0]) else {
                    let found = params[0];
                    return Err(format!(
                        "{}: expected a width from 1 to {MAX_WIDTH}, found {found}",
                        f.name()
                    ));
                };
                Ok(Term { expr: self.integer_of(f, mode, format, width, x), sort: bits(width) })
            }
            F::ToIeeeBv => {
                a.count(1)?;
                let (x, format) = a.float(0)?;
                // Which NaN it is, is left open.
                let open = self.unspecified(f, format, format.width(), Sort::Bits(format.width()));
                let (known, default) = (self.graph.f_is_nan(format, open), self.graph.f_nan(format));
                let nan = self.graph.ite(known, open, default);
                let is_nan = self.graph.f_is_nan(format, x);
                Ok(Term { expr: self.graph.ite(is_nan, nan, x), sort: bits(format.width()) })
            }
            F::Divide | F::Minus => self.real_term(f, &a),
            F::IntToBv | F::Int2Bv | F::Nat2Bv => {
                a.count(1)?;
                let ScriptSort::Real(place) = args[0].sort else { return a.wrong(0, "an integer constant") };
                let width = Sort::bits(params[0]).map(|_| params[0] as u32).map_err(|e| e.0)?;
                let Some(value) = self.reals[place as usize].to_bits(width) else {
                    return Err(format!("{}: expected an integer, found a fraction", f.name()));
                };
                Ok(Term { expr: self.graph.constant(value), sort: bits(width) })
            }
            F::UbvToInt | F::Bv2Nat | F::SbvToInt => {
                a.count(1)?;
                let (e, _) = a.bits(0)?;
                let Some(value) = self.graph.const_bits(e) else {
                    return Err(format!("{}: terms of sort Int are unsupported, except constants", f.name()));
                };
                let value = match f == F::SbvToInt && value.sign() {
                    true => Real::integer(&value.neg()).negate(),
                    false => Real::integer(&value),
                };
                Ok(self.real(value))
            }
        }
    }

    /// `to_fp` of bits, a number, a signed or unsigned integer, or a real constant.
    fn number_of(&mut self, a: &Arguments<'_>, to: Format) -> Result2<Expr> {
        let unsigned = a.f == FloatFunction::ToFpUnsigned;
        if a.args.len() == 1 && !unsigned {
            let (x, width) = a.bits(0)?;
            if width != to.width() {
                return a.wrong(0, &format!("(_ BitVec {})", to.width()));
            }
            return Ok(x);
        }
        let sorts: Vec<ScriptSort> = a.args.iter().map(|argument| argument.sort).collect();
        if let [_, ScriptSort::Real(place), ScriptSort::Real(exponent)] = sorts[..]
            && !unsigned
        {
            // As Z3 has it.
            let [significand, exponent] = [place, exponent].map(|place| self.reals[place as usize].clone());
            let Some(scaled) = significand.scale(&exponent) else {
                return Err(format!("{}: expected an integer of at most 2^20 as exponent", a.f.name()));
            };
            let mode = a.rounding(0)?;
            return Ok(self.rounded_real(to, mode, &scaled));
        }
        a.count(2)?;
        let mode = a.rounding(0)?;
        let x = a.args[1].expr;
        match a.args[1].sort {
            ScriptSort::Word(WordSort::Bits(_)) => Ok(with_rounding(self.graph, mode, |g, mode| {
                if unsigned { g.f_from_uint(to, mode, x) } else { g.f_from_sint(to, mode, x) }
            })),
            ScriptSort::Word(WordSort::Float(from)) if !unsigned => {
                Ok(with_rounding(self.graph, mode, |g, mode| g.f_to_f(from, to, mode, x)))
            }
            ScriptSort::Real(place) if !unsigned => {
                let real = self.reals[place as usize].clone();
                Ok(self.rounded_real(to, mode, &real))
            }
            _ if unsigned => a.wrong(1, "a bit-vector"),
            _ => a.wrong(1, "a bit-vector, a floating-point number or a real constant"),
        }
    }

    fn rounded_real(&mut self, to: Format, mode: Expr, real: &Real) -> Expr {
        with_rounding(self.graph, mode, |g, mode| {
            g.constant(to.from_fraction(mode, real.negative, &real.numerator, &real.denominator))
        })
    }

    /// A conversion to an integer; a number that does not fit is converted to anything.
    fn integer_of(&mut self, f: FloatFunction, mode: Expr, format: Format, width: u32, x: Expr) -> Expr {
        let signed = f == FloatFunction::ToSbv;
        let sort = Sort::Array { index: ROUNDING_WIDTH + format.width(), element: width };
        let others = self.unspecified(f, format, width, sort);
        let canonical = self.graph.canonical_word(WordSort::Float(format), x);
        with_rounding(self.graph, mode, |g, mode| {
            let fits = g.f_fits_integer(format, mode, signed, width, x);
            let value = if signed {
                g.f_to_sint(format, mode, width, x)
            } else {
                g.f_to_uint(format, mode, width, x)
            };
            let mode = g.word(ROUNDING_WIDTH, mode as u64);
            let index = g.concat(mode, canonical);
            let other = g.select(others, index);
            g.ite(fits, value, other)
        })
    }

    /// `fp.min` and `fp.max`: of zeros of different sign, either.
    fn extreme(&mut self, f: FloatFunction, format: Format, a: Expr, b: Expr) -> Expr {
        let of_zeros = self.unspecified(f, format, 1, Sort::Array { index: 1, element: 1 });
        let g = &mut *self.graph;
        let (a_nan, b_nan) = (g.f_is_nan(format, a), g.f_is_nan(format, b));
        let less = if f == FloatFunction::Min { g.f_lt(format, a, b) } else { g.f_lt(format, b, a) };
        let first = g.or(less, b_nan);
        let number = g.ite(first, a, b);
        let (a_zero, b_zero) = (g.f_is_zero(format, a), g.f_is_zero(format, b));
        let zeros = g.and(a_zero, b_zero);
        let differ = g.ne(a, b);
        let open = g.and(zeros, differ);
        let sign = g.extract(a, format.width() - 1, 1);
        let sign = g.select(of_zeros, sign);
        let zero = g.word(format.width() - 1, 0);
        let zero = g.concat(sign, zero);
        let number = g.ite(open, zero, number);
        g.ite(a_nan, b, number)
    }

    /// The variable for what the standard leaves open about a function.
    fn unspecified(&mut self, f: FloatFunction, format: Format, width: u32, sort: Sort) -> Expr {
        let name = format!("{}!{}!{}!{width}", f.name(), format.exponent(), format.significand());
        self.symbols.unspecified(self.graph, name, sort)
    }

    /// `-` and `/` of real constants.
    fn real_term(&mut self, f: FloatFunction, a: &Arguments<'_>) -> Result2<Term> {
        let mut reals = Vec::new();
        for (i, arg) in a.args.iter().enumerate() {
            let ScriptSort::Real(place) = arg.sort else { return a.wrong(i, "a real constant") };
            reals.push(self.reals[place as usize].clone());
        }
        let value = match (f, reals.as_slice()) {
            (FloatFunction::Minus, [x]) => x.clone().negate(),
            (FloatFunction::Divide, [x, y]) => match x.clone().divide(y) {
                Some(value) => value,
                None => return Err("/: expected a divisor other than zero, found zero".into()),
            },
            _ => {
                let expected = if f == FloatFunction::Minus { "1 argument" } else { "2 arguments" };
                return Err(format!("{}: expected {expected}, found {}", f.name(), reals.len()));
            }
        };
        Ok(self.real(value))
    }

    /// The term of a real constant.
    pub(super) fn real(&mut self, value: Real) -> Term {
        self.reals.push(value);
        Term { expr: self.graph.boolean(false), sort: ScriptSort::Real(self.reals.len() as u32 - 1) }
    }
}
