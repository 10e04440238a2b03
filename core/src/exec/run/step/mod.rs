//! Execution of one instruction, in full generality: any width, symbolic operands, errors. The inner loop
//! passes on what it does not handle. One file per family of instructions.
mod arith;
mod bits;
mod bulk;
mod call;
mod checks;
mod compare;
mod control;
mod exceptions;
mod float;
pub(super) mod float_terms;
mod memory;
pub(super) mod soft;

pub(super) use call::Arguments;
pub(super) use float::IntegerRanges;

use super::code;
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::state::State;
use crate::exec::state::value::Value;
use crate::program::{CastOp, Inst, Operand, PointerWidth, Reg};
use std::sync::Arc;

/// Where execution continues after an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Flow {
    Next,
    /// At the target of an edge of the function.
    Edge(u32),
    /// Another frame is on top, or the pc of the top frame was set.
    Frame,
}

pub(super) type StepResult = Result<Flow, Outcome>;

impl Machine {
    /// Value of an operand of `width` bits.
    #[inline]
    pub(super) fn operand(&mut self, state: &State, operand: Operand, width: u32) -> Value {
        match operand {
            Operand::Reg(reg) => state.frame.registers[reg.index()],
            Operand::Int(_)
            | Operand::Wide(_)
            | Operand::Global { .. }
            | Operand::Func(_)
            | Operand::Block { .. }
            | Operand::Undef
            | Operand::Poison => {
                let graph = self.decider.graph_mut();
                code::constant(&self.program, &self.globals, graph, operand, width)
            }
        }
    }

    #[inline]
    pub(super) fn set(&mut self, state: &mut State, reg: Reg, value: Value) {
        state.frame.registers[reg.index()] = value;
    }

    /// Executes the instruction at the top frame's `pc`.
    pub(super) fn step(&mut self, state: &mut State) -> StepResult {
        let program = Arc::clone(&self.program);
        let function = &program.functions[state.frame.func.index()];
        let inst = &function.insts[state.frame.pc as usize];
        if state.threads.is_some() && !self.may_access(state)? {
            return Ok(Flow::Frame);
        }
        match *inst {
            Inst::Bin { op, flags, dst, a, b } => {
                let width = function.width(dst);
                let (a, b) = (self.operand(state, a, width), self.operand(state, b, width));
                if !function.library {
                    self.check_binary(state, op, flags, width, a, b)?;
                }
                let mut value = self.binary(state, op, width, a, b)?;
                if flags.strict() {
                    value = self.poisoned_shift(state, op, width, b, value);
                }
                self.set(state, dst, value);
            }
            Inst::Un { op, flags, dst, a } => {
                let width = function.width(dst);
                let a = self.operand(state, a, width);
                if !function.library {
                    self.check_unary(state, op, flags, width, a)?;
                }
                let mut value = self.unary(op, width, a);
                if flags.strict() {
                    value = self.poisoned_count(state, op, width, a, value);
                }
                self.set(state, dst, value);
            }
            Inst::Overflow { op, dst, overflow, a, b } => {
                let width = function.width(dst);
                let (a, b) = (self.operand(state, a, width), self.operand(state, b, width));
                let (value, flag) = self.overflowing(op, width, a, b)?;
                self.set(state, dst, value);
                self.set(state, overflow, flag);
            }
            Inst::Funnel { left, dst, a, b, c } => {
                let width = function.width(dst);
                let [a, b, c] = [a, b, c].map(|o| self.operand(state, o, width));
                let value = self.funnel(left, width, a, b, c);
                self.set(state, dst, value);
            }
            Inst::Cmp { pred, width, dst, a, b } => {
                let (a, b) = (self.operand(state, a, width), self.operand(state, b, width));
                let value = self.compare(pred, width, a, b);
                self.set(state, dst, value);
            }
            Inst::Cast { op, width, dst, a } => {
                let a = self.operand(state, a, width);
                if program.pointers == PointerWidth::Bits32
                    && (op, width, function.width(dst)) == (CastOp::ZExt, 32, 64)
                    && let Some(e) = a.expr()
                    && let Some(whole) = self.widened_pointer(state, e)
                {
                    let value = Value::of(self.decider.graph(), whole);
                    self.set(state, dst, value);
                    return Ok(Flow::Next);
                }
                if op == CastOp::Bool && !function.library {
                    self.check_bool(state, a)?;
                }
                let value = self.cast(op, width, function.width(dst), a);
                self.set(state, dst, value);
            }
            Inst::Select { dst, cond, a, b } => {
                let width = function.width(dst);
                let cond = self.operand(state, cond, 1);
                let (a, b) = (self.operand(state, a, width), self.operand(state, b, width));
                let value = self.select(width, cond, a, b);
                self.set(state, dst, value);
            }
            Inst::Copy { dst, a } | Inst::Freeze { dst, a } => {
                let value = self.operand(state, a, function.width(dst));
                self.set(state, dst, value);
            }
            Inst::Load { dst, addr, align } => {
                let address = self.operand(state, addr, 64);
                if !function.library {
                    self.check_alignment(state, address, align, Access::Read)?;
                }
                let value = self.load(state, address, function.width(dst))?;
                self.set(state, dst, value);
            }
            Inst::Store { width, value, addr, align } => {
                let (value, address) = (self.operand(state, value, width), self.operand(state, addr, 64));
                if !function.library {
                    self.check_alignment(state, address, align, Access::Write)?;
                }
                self.store(state, address, value, width)?;
            }
            Inst::Alloca { dst, size, align, fixed, element_bytes: _ } => {
                let size = self.operand(state, size, 64);
                let value = self.alloca(state, size, align.into(), fixed)?;
                self.set(state, dst, value);
            }
            Inst::Gep { dst, base, offset, ref terms, .. } => {
                let value = self.gep(state, base, offset, terms);
                self.set(state, dst, value);
            }
            Inst::Call(ref call) => return self.call(state, call),
            Inst::MemCopy { dst, src, len, overlap } => {
                let [to, from, count] = [dst, src, len].map(|o| self.operand(state, o, 64));
                self.copy_bytes(state, to, from, count, overlap)?;
            }
            Inst::MemSet { dst, value, len } => {
                let (to, count) = (self.operand(state, dst, 64), self.operand(state, len, 64));
                let byte = self.operand(state, value, 8);
                self.set_bytes(state, to, byte, count)?;
            }
            Inst::VaStart { list, gp, fp, stack } => {
                let list = self.operand(state, list, 64);
                self.va_start(state, list, gp, fp, stack)?;
            }
            Inst::StackSave { dst } => {
                let mark = state.frame.dynamic.len() as u64;
                self.set(state, dst, Value::number(mark));
            }
            Inst::StackRestore { mark } => {
                let mark = self.operand(state, mark, 64);
                let keep = self.decider.concretise(state, mark, 64, "a stack mark")? as usize;
                self.restore_stack(state, keep);
            }
            Inst::Scope { begins, addr } => {
                let address = self.operand(state, addr, 64);
                self.set_scope(state, address, begins);
            }
            Inst::Assume { cond } => {
                if !function.library {
                    let cond = self.operand(state, cond, 1);
                    self.check_assumption(state, cond)?;
                }
            }
            Inst::FBin { .. }
            | Inst::FUn { .. }
            | Inst::Fma { .. }
            | Inst::FCmp { .. }
            | Inst::FClass { .. }
            | Inst::FToInt { .. }
            | Inst::IntToF { .. }
            | Inst::FCast { .. } => self.float(state, function, inst)?,
            Inst::Trap => return Err(Outcome::bug(Class::Abort, "the program trapped (__builtin_trap)")),
            Inst::Unsupported { message } => return Err(Outcome::unsupported(program.string(message))),
            Inst::Jump { edge } | Inst::Landing { normal: edge, .. } => return Ok(Flow::Edge(edge.0)),
            Inst::Branch { cond, then, other } => return self.branch(state, cond, then, other),
            Inst::Switch { width, value, ref cases, default } => {
                return self.switch(state, width, value, cases, default);
            }
            Inst::IndirectBr { addr, ref edges } => return self.indirect(state, addr, edges),
            Inst::Ret { ref values } => return self.ret(state, values),
            Inst::Unreachable => {
                return Err(Outcome::bug(Class::Unreachable, "code that the compiler assumed unreachable"));
            }
        }
        Ok(Flow::Next)
    }
}
