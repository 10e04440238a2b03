//! Exception flags of floating-point instructions. They are recorded only if the program can read them
//! (`Machine::tracks_exceptions`), since each is an expression over the operands of every operation so far.
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::expr::float::{FloatParameter, Format, exceptions};
use crate::expr::{Expr, FloatOp};
use crate::program::{FBinOp, FUnOp};

/// Formats of which the processor computes; others are computed by functions that raise no flags, or other ones.
fn has_flags(format: Format) -> bool {
    matches!(format, Format::SINGLE | Format::DOUBLE | Format::X87)
}

impl Machine {
    /// Adds to the flags of a path.
    fn raise(&mut self, state: &mut State, flags: Expr) {
        let graph = self.graph();
        let before = state.exceptions.to_bits(graph, exceptions::WIDTH);
        let after = graph.or(before, flags);
        state.exceptions = Value::of_bits(graph, after);
    }

    /// Counts an operation whose flags are not known, if the program can read them.
    pub(in crate::exec::run) fn unknown_exceptions(&mut self, state: &mut State, what: &str) {
        if self.tracks_exceptions {
            let why = format!("exception flags of {what} are not tracked");
            self.decider.incomplete(state, &why);
        }
    }

    pub(in crate::exec::run) fn raise_rounding(
        &mut self,
        state: &mut State,
        op: FloatOp,
        parameter: FloatParameter,
        operands: &[Expr],
    ) {
        if !self.tracks_exceptions {
            return;
        }
        if !has_flags(parameter.format) || !has_flags(parameter.source) {
            return self.unknown_exceptions(state, "formats that the processor does not have");
        }
        let flags = self.graph().f_rounding_flags(op, parameter, operands);
        self.raise(state, flags);
    }

    pub(super) fn raise_binary(&mut self, state: &mut State, op: FBinOp, format: Format, a: Expr, b: Expr) {
        let parameter = FloatParameter::new(format, state.rounding);
        match op {
            FBinOp::Add => self.raise_rounding(state, FloatOp::FAdd, parameter, &[a, b]),
            FBinOp::Sub => {
                let minus = self.graph().f_neg(format, b);
                self.raise_rounding(state, FloatOp::FAdd, parameter, &[a, minus]);
            }
            FBinOp::Mul => self.raise_rounding(state, FloatOp::FMul, parameter, &[a, b]),
            FBinOp::Div => self.raise_rounding(state, FloatOp::FDiv, parameter, &[a, b]),
            FBinOp::CopySign => {}
            FBinOp::Rem | FBinOp::MinNum | FBinOp::MaxNum | FBinOp::Minimum | FBinOp::Maximum => {
                self.unknown_exceptions(state, &format!("`{}`", op.name()));
            }
        }
    }

    pub(in crate::exec::run) fn raise_unary(
        &mut self,
        state: &mut State,
        op: FUnOp,
        format: Format,
        a: Expr,
    ) {
        match op {
            FUnOp::Neg | FUnOp::Abs => {}
            FUnOp::Sqrt => {
                let parameter = FloatParameter::new(format, state.rounding);
                self.raise_rounding(state, FloatOp::FSqrt, parameter, &[a]);
            }
            FUnOp::Floor | FUnOp::Ceil | FUnOp::Trunc | FUnOp::Rint | FUnOp::Round | FUnOp::RoundEven => {
                self.unknown_exceptions(state, &format!("`{}`", op.name()));
            }
        }
    }

    pub(super) fn raise_comparison(
        &mut self,
        state: &mut State,
        format: Format,
        signals: bool,
        operands: &[Expr],
    ) {
        if !has_flags(format) {
            return self.unknown_exceptions(state, "formats that the processor does not have");
        }
        let flags = self.graph().f_comparison_flags(format, signals, operands);
        self.raise(state, flags);
    }

    /// Flags of a conversion to an integer: the processor has those to signed ones of 32 and 64 bits. One to an unsigned
    /// integer of 64 bits is a sequence of instructions, whose flags depend on the compiler.
    pub(super) fn raise_integer(
        &mut self,
        state: &mut State,
        format: Format,
        signed: bool,
        width: u32,
        a: Expr,
    ) {
        if !has_flags(format) || width > 64 || (!signed && width == 64) {
            return self
                .unknown_exceptions(state, "conversions to unsigned integers of 64 bits and wider ones");
        }
        let register = if width < 32 || (signed && width == 32) { 32 } else { 64 };
        let flags = self.graph().f_integer_flags(format, register, a);
        self.raise(state, flags);
    }
}
