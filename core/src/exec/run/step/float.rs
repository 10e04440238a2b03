//! Floating-point instructions, in the rounding mode of the path. Numbers of at most 64 bits are computed at once;
//! symbolic or wider ones become expressions (`float_terms.rs`). Nothing is concretised.
use super::float_terms as terms;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::eval::Shape;
use crate::expr::float::{self, FloatParameter, Format, Rounding};
use crate::expr::{Bits, Expr, FloatOp};
use crate::program::{FBinOp, FCmpPred, Function, Inst, Operand, Reg};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Ends of the range of numbers that fit an integer type, by format, signedness and width.
#[derive(Default)]
pub(in crate::exec::run) struct IntegerRanges {
    known: FxHashMap<(Format, bool, u32), (Bits, Bits)>,
}

impl IntegerRanges {
    fn get(&mut self, format: Format, signed: bool, width: u32) -> &(Bits, Bits) {
        let range = || format.integer_range(Rounding::TowardZero, signed, width);
        self.known.entry((format, signed, width)).or_insert_with(range)
    }
}

/// Applies an operator to numbers of at most 64 bits.
fn compute(op: FloatOp, parameter: FloatParameter, width: u32, operand: u32, a: u64, b: u64) -> u64 {
    float::word(op, Shape { width, operand, low: parameter.pack(op) }, a, b, 0)
}

/// The result on numbers of single or double format; `None` for operators that are composed of others.
fn binary_on_numbers(op: FBinOp, format: Format, rounding: Rounding, a: u64, b: u64) -> Option<u64> {
    let width = format.width();
    let (op, b) = match op {
        FBinOp::Add => (FloatOp::FAdd, b),
        FBinOp::Sub if is_nan(format, b)? => (FloatOp::FAdd, b),
        FBinOp::Sub => (FloatOp::FAdd, b ^ 1 << (width - 1)),
        FBinOp::Mul => (FloatOp::FMul, b),
        FBinOp::Div => (FloatOp::FDiv, b),
        FBinOp::Rem | FBinOp::CopySign | FBinOp::MinNum | FBinOp::MaxNum => return None,
        FBinOp::Minimum | FBinOp::Maximum => return None,
    };
    Some(compute(op, FloatParameter::new(format, rounding), width, width, a, b))
}

fn is_nan(format: Format, a: u64) -> Option<bool> {
    order(format, a, a).map(|order| order.is_none())
}

/// The order of two numbers of single or double format: `Some(None)` if one of them is NaN.
fn order(format: Format, a: u64, b: u64) -> Option<Option<Ordering>> {
    match format {
        Format::SINGLE => Some(f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32))),
        Format::DOUBLE => Some(f64::from_bits(a).partial_cmp(&f64::from_bits(b))),
        _ => None,
    }
}

fn holds(pred: FCmpPred, order: Option<Ordering>) -> bool {
    let is = |wanted: Ordering| order == Some(wanted);
    let (less, equal, greater, unordered) =
        (is(Ordering::Less), is(Ordering::Equal), is(Ordering::Greater), order.is_none());
    match pred {
        FCmpPred::False => false,
        FCmpPred::Oeq => equal,
        FCmpPred::Ogt => greater,
        FCmpPred::Oge => greater || equal,
        FCmpPred::Olt => less,
        FCmpPred::Ole => less || equal,
        FCmpPred::One => less || greater,
        FCmpPred::Ord => !unordered,
        FCmpPred::Ueq => unordered || equal,
        FCmpPred::Ugt => unordered || greater,
        FCmpPred::Uge => unordered || greater || equal,
        FCmpPred::Ult => unordered || less,
        FCmpPred::Ule => unordered || less || equal,
        FCmpPred::Une => !equal,
        FCmpPred::Uno => unordered,
        FCmpPred::True => true,
    }
}

impl Machine {
    /// The numbers of operands, if all are numbers.
    fn numbers<const N: usize>(values: [Value; N], width: u32) -> Option<[u64; N]> {
        let all = width <= 64 && values.iter().all(|value| !value.symbolic);
        all.then(|| values.map(|value| value.word))
    }

    fn terms<const N: usize>(&mut self, values: [Value; N], width: u32) -> [Expr; N] {
        values.map(|value| value.to_bits(self.graph(), width))
    }

    fn set_term(&mut self, state: &mut State, dst: Reg, e: Expr) {
        let value = Value::of_bits(self.graph(), e);
        self.set(state, dst, value);
    }

    pub(super) fn float(
        &mut self,
        state: &mut State,
        function: &Function,
        inst: &Inst,
    ) -> Result<(), Outcome> {
        let rounding = state.rounding;
        match *inst {
            Inst::FBin { op, kind, dst, a, b } => {
                let (format, width) = (terms::format(kind), kind.width());
                let values = [self.operand(state, a, width), self.operand(state, b, width)];
                if self.tracks_exceptions {
                    let [a, b] = self.terms(values, width);
                    self.raise_binary(state, op, format, a, b);
                }
                let number = Self::numbers(values, width)
                    .and_then(|[a, b]| binary_on_numbers(op, format, rounding, a, b));
                if let Some(word) = number {
                    return self.made(state, function, format, &values, dst, Value::number(word));
                }
                let [a, b] = self.terms(values, width);
                let e = terms::binary(self.graph(), op, format, rounding, a, b);
                let value = Value::of_bits(self.graph(), e);
                self.made(state, function, format, &values, dst, value)
            }
            Inst::FUn { op, kind, dst, a } => {
                let values = [self.operand(state, a, kind.width())];
                let [a] = self.terms(values, kind.width());
                self.raise_unary(state, op, terms::format(kind), a);
                let e = terms::unary(self.graph(), op, terms::format(kind), rounding, a);
                let value = Value::of_bits(self.graph(), e);
                self.made(state, function, terms::format(kind), &values, dst, value)
            }
            Inst::Fma { kind, dst, a, b, c } => {
                let values = [a, b, c].map(|operand| self.operand(state, operand, kind.width()));
                let [a, b, c] = self.terms(values, kind.width());
                self.unknown_exceptions(state, "`fma`");
                let e = self.graph().f_mul_add(terms::format(kind), rounding, a, b, c);
                let value = Value::of_bits(self.graph(), e);
                self.made(state, function, terms::format(kind), &values, dst, value)
            }
            Inst::FCmp { pred, signals, kind, dst, a, b } => {
                let values = [a, b].map(|operand| self.operand(state, operand, kind.width()));
                if self.tracks_exceptions && !matches!(pred, FCmpPred::False | FCmpPred::True) {
                    let operands = self.terms(values, kind.width());
                    self.raise_comparison(state, terms::format(kind), signals, &operands);
                }
                let number =
                    Self::numbers(values, kind.width()).and_then(|[a, b]| order(terms::format(kind), a, b));
                if let Some(order) = number {
                    self.set(state, dst, Value::truth(holds(pred, order)));
                    return Ok(());
                }
                let [a, b] = self.terms(values, kind.width());
                let e = terms::compare(self.graph(), pred, terms::format(kind), a, b);
                let value = Value::of(self.graph(), e);
                self.set(state, dst, value);
                Ok(())
            }
            Inst::FClass { kind, mask, dst, a } => {
                let [a] =
                    [self.operand(state, a, kind.width())].map(|a| a.to_bits(self.graph(), kind.width()));
                let e = terms::class(self.graph(), terms::format(kind), mask, a);
                let value = Value::of(self.graph(), e);
                self.set(state, dst, value);
                Ok(())
            }
            Inst::FToInt { signed, saturate, kind, dst, a } => {
                self.float_to_integer(state, function, (signed, saturate), terms::format(kind), dst, a)
            }
            Inst::IntToF { signed, width, kind, dst, a } => {
                let value = self.operand(state, a, width);
                let (format, op) =
                    (terms::format(kind), if signed { FloatOp::FFromSInt } else { FloatOp::FFromUInt });
                if self.tracks_exceptions {
                    let operands = self.terms([value], width);
                    self.raise_rounding(state, op, FloatParameter::new(format, rounding), &operands);
                }
                if let Some([a]) = Self::numbers([value], width.max(kind.width())) {
                    let word = compute(op, FloatParameter::new(format, rounding), kind.width(), width, a, 0);
                    self.set(state, dst, Value::number(word));
                    return Ok(());
                }
                let [a] = self.terms([value], width);
                let e = self.graph().float(op, FloatParameter::new(format, rounding), 0, &[a]);
                self.set_term(state, dst, e);
                Ok(())
            }
            Inst::FCast { from, to, dst, a } => {
                let value = self.operand(state, a, from.width());
                let parameter =
                    FloatParameter { format: terms::format(to), rounding, source: terms::format(from) };
                if self.tracks_exceptions {
                    let operands = self.terms([value], from.width());
                    self.raise_rounding(state, FloatOp::FToF, parameter, &operands);
                }
                if let Some([a]) = Self::numbers([value], from.width().max(to.width())) {
                    let word = compute(FloatOp::FToF, parameter, to.width(), from.width(), a, 0);
                    self.set(state, dst, Value::number(word));
                    return Ok(());
                }
                let [a] = self.terms([value], from.width());
                let e = self.graph().float(FloatOp::FToF, parameter, to.width(), &[a]);
                self.set_term(state, dst, e);
                Ok(())
            }
            _ => unreachable!("only floating instructions come here"),
        }
    }

    /// Stores a result. With `--check float`, ends the paths on which user code makes NaN or an infinity from finite
    /// operands.
    fn made(
        &mut self,
        state: &mut State,
        function: &Function,
        format: Format,
        operands: &[Value],
        dst: Reg,
        result: Value,
    ) -> Result<(), Outcome> {
        if self.options.checks.float && !function.library {
            let width = format.width();
            let e = result.to_bits(self.graph(), width);
            let mut fine = terms::is_finite(self.graph(), format, e);
            for &operand in operands {
                let e = operand.to_bits(self.graph(), width);
                let finite = terms::is_finite(self.graph(), format, e);
                let infinite = self.graph().not(finite);
                fine = self.graph().or(fine, infinite);
            }
            let outcome = Outcome::bug(Class::Float, "NaN or an infinity, computed from finite numbers");
            self.decider.require(state, fine, outcome)?;
        }
        self.set(state, dst, result);
        Ok(())
    }

    /// Converts towards zero. A number that does not fit is a bug (C11 6.3.1.4) in user code unless it is switched off;
    /// then the result is x86's, the least integer.
    fn float_to_integer(
        &mut self,
        state: &mut State,
        function: &Function,
        (signed, saturate): (bool, bool),
        format: Format,
        dst: Reg,
        a: Operand,
    ) -> Result<(), Outcome> {
        let (from, width) = (format.width(), function.width(dst));
        let value = self.operand(state, a, from);
        let op = if signed { FloatOp::FToSInt } else { FloatOp::FToUInt };
        let parameter = FloatParameter::new(format, Rounding::TowardZero);
        if self.tracks_exceptions {
            let [a] = self.terms([value], from);
            self.raise_integer(state, format, signed, width, a);
        }
        if let Some([a]) = Self::numbers([value], width.max(from)) {
            let word = compute(op, parameter, width, from, a, 0);
            if word != 1 << (width - 1) {
                self.set(state, dst, Value::number(word));
                return Ok(());
            }
            // Out of range, or a number whose result is the same.
        }
        let [a] = self.terms([value], from);
        let converted = self.graph().float(op, parameter, width, &[a]);
        let checked = self.options.float_cast && !function.library;
        if !saturate && !checked {
            self.set_term(state, dst, converted);
            return Ok(());
        }
        let (low, high) = self.integer_ranges.get(format, signed, width).clone();
        let fits = terms::is_between(self.graph(), format, low, high, a);
        let e = if saturate {
            terms::saturated(self.graph(), format, signed, fits, a, converted)
        } else {
            let kind = if signed { "a signed" } else { "an unsigned" };
            let message = format!("a floating-point number that does not fit {kind} integer of {width} bits");
            self.decider.require(state, fits, Outcome::bug(Class::FloatCast, message))?;
            converted
        };
        self.set_term(state, dst, e);
        Ok(())
    }
}
