//! Checks of operations that C leaves undefined and the machine defines. Those of arithmetic are off by default.
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::{Bits, Expr, Poison};
use crate::program::{BinOp, Flags, OverflowOp, UnOp};

impl Machine {
    /// Ends the paths on which a signed operation overflows or a shift is too large.
    pub(super) fn check_binary(
        &mut self,
        state: &mut State,
        op: BinOp,
        flags: Flags,
        width: u32,
        a: Value,
        b: Value,
    ) -> Result<(), Outcome> {
        let checks = self.options.checks;
        let (overflow, verb) = match op {
            BinOp::Add => (OverflowOp::SAdd, "addition"),
            BinOp::Sub => (OverflowOp::SSub, "subtraction"),
            BinOp::Mul => (OverflowOp::SMul, "multiplication"),
            BinOp::Shl | BinOp::LShr | BinOp::AShr if checks.shift => {
                let outcome =
                    Outcome::bug(Class::Shift, format!("a shift of {width} bits by {width} or more"));
                let fine = self.is_inside(b, width);
                return self.decider.require(state, fine, outcome);
            }
            BinOp::UDiv
            | BinOp::SDiv
            | BinOp::URem
            | BinOp::SRem
            | BinOp::Shl
            | BinOp::LShr
            | BinOp::AShr
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::UMin
            | BinOp::UMax
            | BinOp::SMin
            | BinOp::SMax
            | BinOp::UAddSat
            | BinOp::SAddSat
            | BinOp::USubSat
            | BinOp::SSubSat
            | BinOp::UShlSat
            | BinOp::SShlSat => return Ok(()),
        };
        if !checks.overflow || !flags.nsw() {
            return Ok(());
        }
        let verb = if op == BinOp::Sub && !a.symbolic && a.word == 0 { "negation" } else { verb };
        let outcome = Outcome::bug(Class::Overflow, format!("signed {verb} of {width} bits overflows"));
        let (_, overflows) = self.overflowing(overflow, width, a, b)?;
        match overflows.expr() {
            None if overflows.word != 0 => Err(outcome),
            None => Ok(()),
            Some(overflows) => {
                let fine = self.graph().not(overflows);
                self.decider.require(state, fine, outcome)
            }
        }
    }

    /// Is the amount of a shift below the width?
    fn is_inside(&mut self, amount: Value, width: u32) -> Expr {
        let amount = self.wide(amount, width);
        // A constant of one bit cannot hold the width: only a shift by 0 is allowed.
        if width == 1 {
            let zero = self.graph().constant(Bits::zero(width));
            return self.graph().eq(amount, zero);
        }
        let end = self.graph().constant(Bits::word(width, width.into()));
        self.graph().ult(amount, end)
    }

    /// The result of a shift, which is poison where the amount is the width or more: the bits that SMT-LIB shifts out are not
    /// those of a processor.
    pub(super) fn poisoned_shift(
        &mut self,
        state: &State,
        op: BinOp,
        width: u32,
        amount: Value,
        result: Value,
    ) -> Value {
        let is_small = !amount.symbolic && amount.word < u64::from(width);
        if is_small || !matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr) {
            return result;
        }
        let inside = self.is_inside(amount, width);
        let outside = self.graph().not(inside);
        self.decider.poisoned(state, result, width, Poison::Shift, outside)
    }

    /// The result of a count of leading or trailing zeros, which is poison for 0.
    pub(super) fn poisoned_count(
        &mut self,
        state: &State,
        op: UnOp,
        width: u32,
        a: Value,
        result: Value,
    ) -> Value {
        if !matches!(op, UnOp::Ctlz | UnOp::Cttz) || (!a.symbolic && a.word != 0) {
            return result;
        }
        let value = self.wide(a, width);
        let zero = self.graph().constant(Bits::zero(width));
        let is_zero = self.graph().eq(value, zero);
        self.decider.poisoned(state, result, width, Poison::Count, is_zero)
    }

    /// Ends the paths on which the absolute value does not exist: that of the least value.
    pub(super) fn check_unary(
        &mut self,
        state: &mut State,
        op: UnOp,
        flags: Flags,
        width: u32,
        a: Value,
    ) -> Result<(), Outcome> {
        if op != UnOp::Abs || !flags.strict() || !self.options.checks.overflow {
            return Ok(());
        }
        let outcome =
            Outcome::bug(Class::Overflow, format!("signed absolute value of {width} bits overflows"));
        let least = self.graph().constant(Bits::ones(width).lshr(1).not());
        let value = self.wide(a, width);
        let fine = self.graph().ne(value, least);
        self.decider.require(state, fine, outcome)
    }

    /// Ends the paths on which the byte of a `_Bool` is neither 0 nor 1. A byte that was never written is no fault here.
    pub(super) fn check_bool(&mut self, state: &mut State, byte: Value) -> Result<(), Outcome> {
        let outcome = || Outcome::bug(Class::Sanitizer, "load of a _Bool that is neither 0 nor 1");
        if !byte.symbolic {
            return if byte.word <= 1 { Ok(()) } else { Err(outcome()) };
        }
        let bits = self.wide(byte, 8);
        if self.options.symbolic_unwritten || self.decider.values(state, bits).max() <= Some(1) {
            return Ok(());
        }
        let written = self.decider.with_unwritten_zeros(bits);
        let graph = self.graph();
        let end = graph.word(8, 2);
        let fine = graph.ult(written, end);
        self.decider.require(state, fine, outcome())
    }

    /// Ends the paths on which what the program promises the compiler (`__builtin_assume`) does not hold.
    pub(super) fn check_assumption(&mut self, state: &mut State, condition: Value) -> Result<(), Outcome> {
        let outcome =
            || Outcome::bug(Class::Unreachable, "an assumption (__builtin_assume) that does not hold");
        match condition.expr() {
            None if condition.word != 0 => Ok(()),
            None => Err(outcome()),
            Some(e) => self.decider.require(state, e, outcome()),
        }
    }

    /// Ends the paths on which an address is not a multiple of the alignment.
    pub(super) fn check_alignment(
        &mut self,
        state: &mut State,
        address: Value,
        align: u32,
        access: Access,
    ) -> Result<(), Outcome> {
        if !self.options.checks.alignment || align <= 1 {
            return Ok(());
        }
        let verb = access.verb();
        let outcome =
            Outcome::bug(Class::Alignment, format!("{verb} at an address that is not a multiple of {align}"));
        let low = u64::from(align - 1);
        if !address.symbolic {
            return if address.word & low == 0 { Ok(()) } else { Err(outcome) };
        }
        let address = self.decider.defined_value(state, address, "an address");
        let bits = self.wide(address, 64);
        let graph = self.graph();
        let (low, zero) = (graph.word(64, low), graph.word(64, 0));
        let rest = graph.and(bits, low);
        let fine = graph.eq(rest, zero);
        self.decider.require(state, fine, outcome)
    }

    fn wide(&mut self, value: Value, width: u32) -> Expr {
        value.to_bits(self.graph(), width)
    }
}
