//! Floating-point instructions. Symbolic operands are concretised.
use super::soft;
use crate::exec::outcome::Outcome;
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::Bits;
use crate::expr::bits::mask;
use crate::program::{Function, Inst, Operand, Reg};

fn wide(bits: &Bits) -> u128 {
    let words = bits.words();
    u128::from(bits.low()) | u128::from(words.get(1).copied().unwrap_or(0)) << 64
}

/// Sign-extends the low `width` bits.
fn extend(value: u128, width: u32) -> u128 {
    let shift = 128 - width;
    ((value << shift) as i128 >> shift) as u128
}

impl Machine {
    /// Bits of an operand, concretised if symbolic.
    fn number(&mut self, state: &mut State, operand: Operand, width: u32) -> Result<u128, Outcome> {
        let value = self.operand(state, operand, width);
        match value.expr() {
            None => Ok(value.word.into()),
            Some(e) => {
                let e = if width == 1 { self.graph().bool_to_bit(e) } else { e };
                Ok(wide(&self.decider.concretise_bits(state, e, width, "a floating-point operand")?))
            }
        }
    }

    fn put(&mut self, state: &mut State, dst: Reg, width: u32, bits: u128) {
        let value = if width <= 64 {
            Value::number(bits as u64 & mask(width))
        } else {
            let words = [bits as u64, (bits >> 64) as u64];
            let e = self.graph().constant(Bits::from_words(width, &words));
            Value { word: e.to_word(), symbolic: true }
        };
        self.set(state, dst, value);
    }

    pub(super) fn float(
        &mut self,
        state: &mut State,
        function: &Function,
        inst: &Inst,
    ) -> Result<(), Outcome> {
        match *inst {
            Inst::FBin { op, kind, dst, a, b } => {
                let a = self.number(state, a, kind.width())?;
                let b = self.number(state, b, kind.width())?;
                self.put(state, dst, kind.width(), soft::binary(kind, op, a, b));
            }
            Inst::FUn { op, kind, dst, a } => {
                let a = self.number(state, a, kind.width())?;
                self.put(state, dst, kind.width(), soft::unary(kind, op, a));
            }
            Inst::Fma { kind, dst, a, b, c } => {
                let a = self.number(state, a, kind.width())?;
                let b = self.number(state, b, kind.width())?;
                let c = self.number(state, c, kind.width())?;
                self.put(state, dst, kind.width(), soft::fma(kind, a, b, c));
            }
            Inst::FCmp { pred, kind, dst, a, b } => {
                let a = self.number(state, a, kind.width())?;
                let b = self.number(state, b, kind.width())?;
                self.set(state, dst, Value::truth(soft::compare(kind, pred, a, b)));
            }
            Inst::FClass { kind, mask, dst, a } => {
                let a = self.number(state, a, kind.width())?;
                self.set(state, dst, Value::truth(soft::class(kind, a) & mask != 0));
            }
            Inst::FToInt { signed, saturate, kind, dst, a } => {
                let width = function.width(dst);
                if width > 128 {
                    return Err(Outcome::unsupported(format!(
                        "a floating value to an integer of {width} bits"
                    )));
                }
                let a = self.number(state, a, kind.width())?;
                let (value, in_range) = soft::to_integer(kind, signed, width, a);
                // Otherwise poison; x86 gives the least value.
                let value = if in_range || saturate { value } else { 1 << (width - 1) };
                self.put(state, dst, width, value);
            }
            Inst::IntToF { signed, width, kind, dst, a } => {
                if width > 128 {
                    return Err(Outcome::unsupported(format!(
                        "an integer of {width} bits to a floating value"
                    )));
                }
                let a = self.number(state, a, width)?;
                let a = if signed { extend(a, width) } else { a };
                self.put(state, dst, kind.width(), soft::from_integer(kind, signed, a));
            }
            Inst::FCast { from, to, dst, a } => {
                let a = self.number(state, a, from.width())?;
                self.put(state, dst, to.width(), soft::convert(from, to, a));
            }
            _ => unreachable!("only floating instructions come here"),
        }
        Ok(())
    }
}
