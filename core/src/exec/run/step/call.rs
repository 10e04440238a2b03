//! Calls and returns.
use super::{Flow, StepResult};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::run::models::Returned;
use crate::exec::state::frame::Frame;
use crate::exec::state::object::Kind;
use crate::exec::state::repeat::Repetition;
use crate::exec::state::value::Value;
use crate::exec::state::{Stage, State};
use crate::program::{Arg, Call, Callee, CastOp, FuncId, Function, Operand, PointerWidth, Reg};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Size of the register save area of a variadic frame: general registers, then vector registers.
const REGISTER_AREA: u32 = 176;
const GENERAL_AREA: u32 = 48;
/// Library functions that read arguments which the system call may not have: callers leave them out.
const READ_WITHOUT_NEED: [&str; 6] = ["fcntl", "ioctl", "prctl", "ptrace", "syscall", "clone"];

fn length(arg: &Arg) -> u32 {
    if arg.bytes > 0 { arg.bytes } else { arg.width.div_ceil(8) }
}

/// Least size of the frame of a variadic function. `reads_more` functions read up to seven arguments.
fn variadic_bytes(pointers: PointerWidth, reads_more: bool) -> u32 {
    match (pointers, reads_more) {
        (PointerWidth::Bits64, false) => REGISTER_AREA,
        // The seventh is on the stack.
        (PointerWidth::Bits64, true) => REGISTER_AREA + 8,
        (PointerWidth::Bits32, false) => 0,
        (PointerWidth::Bits32, true) => 7 * 8,
    }
}

/// Register slots of a variadic frame in which the call passes nothing.
fn slots_not_passed(call: &Call, pointers: PointerWidth) -> Box<[Range<u64>]> {
    if pointers == PointerWidth::Bits32 {
        return Box::default();
    }
    let general = (0..GENERAL_AREA).step_by(8).map(|start| start..start + 8);
    let vector = (GENERAL_AREA..REGISTER_AREA).step_by(16).map(|start| start..start + 16);
    let is_passed = |slot: &Range<u32>| {
        call.args.iter().any(|arg| arg.place < slot.end && slot.start < arg.place + length(arg))
    };
    let missing = general.chain(vector).filter(|slot| !is_passed(slot));
    missing.map(|slot| slot.start.into()..slot.end.into()).collect()
}

/// Can the call be of another type than the function, as compilers and KLEE allow it? Integers then are passed in
/// the same registers with another width. A function without a result, as threads may start with, returns an unknown
/// value.
fn converts(call: &Call, function: &Function, pointers: PointerWidth) -> bool {
    let in_general_place = |arg: &Arg| match pointers {
        PointerWidth::Bits64 => !(GENERAL_AREA..REGISTER_AREA).contains(&arg.place),
        PointerWidth::Bits32 => arg.is_word,
    };
    let is_integer = |arg: &Arg| arg.bytes == 0 && arg.width <= 64 && in_general_place(arg);
    function.integers
        && call.integer
        && (function.results.is_empty() || call.results as usize <= function.results.len())
        && call.args[..function.params as usize].iter().all(is_integer)
}

/// Arguments of a call, in order.
pub(in crate::exec::run) type Arguments = SmallVec<[Value; 6]>;

impl Machine {
    pub(super) fn call(&mut self, state: &mut State, call: &Call) -> StepResult {
        let func = match call.callee {
            Callee::Direct(func) => func,
            Callee::Indirect(operand) => {
                let target = self.operand(state, operand, 64);
                self.callee(state, target)?
            }
        };
        let arguments: Arguments =
            call.args.iter().map(|arg| self.operand(state, arg.value, arg.width)).collect();
        let program = Arc::clone(&self.program);
        let function = &program.functions[func.index()];
        if let Some(number) = self.hook_of(func) {
            return self.call_hook(state, number, func, call, &arguments);
        }
        if state.threads.is_some() && !self.may_call(state, func, &arguments)? {
            return Ok(Flow::Frame);
        }
        if function.is_defined() {
            return self.enter(state, func, function, call, &arguments);
        }
        match self.call_model(func, state, call, &arguments)? {
            Returned::Nothing => Ok(Flow::Next),
            Returned::Value(value) => {
                if call.results > 0 {
                    self.set(state, call.first, value);
                }
                Ok(Flow::Next)
            }
            Returned::Frame => Ok(Flow::Frame),
        }
    }

    fn enter(
        &mut self,
        state: &mut State,
        func: FuncId,
        function: &Function,
        call: &Call,
        arguments: &Arguments,
    ) -> StepResult {
        let params = function.params as usize;
        if arguments.len() < params {
            return Err(Outcome::bug(
                Class::ModelError,
                format!(
                    "`{}` expects {params} arguments and is called with {}",
                    self.program.string(function.name),
                    arguments.len()
                ),
            ));
        }
        let caller = &self.program.functions[state.frame.func.index()];
        let fits = (0..params).all(|i| call.args[i].width == function.widths[i])
            && (call.results == 0
                || call.results as usize == function.results.len()
                    && (0..call.results)
                        .all(|i| caller.width(Reg(call.first.0 + i)) == function.results[i as usize]));
        let mut arguments = std::borrow::Cow::Borrowed(arguments);
        if !fits {
            if !converts(call, function, self.program.pointers) {
                return Err(Outcome::bug(
                    Class::ModelError,
                    format!("`{}` is called through a wrong type", self.program.string(function.name)),
                ));
            }
            let pairs = arguments.to_mut().iter_mut().zip(&call.args).zip(&function.widths);
            for ((value, arg), &to) in pairs.take(params) {
                *value = self.resize(*value, arg.width, to, arg.signed);
            }
        }
        let mut frame = Frame::new(func, function.widths.len());
        frame.registers[..params].copy_from_slice(&arguments[..params]);
        if function.variadic {
            let reads_more =
                function.library && READ_WITHOUT_NEED.contains(&self.program.string(function.name));
            let least = variadic_bytes(self.program.pointers, reads_more);
            let area = self.variadic_area(state, call, &arguments, least)?;
            if !reads_more {
                state.memory.get_mut(area).expect("just allocated").not_passed =
                    slots_not_passed(call, self.program.pointers);
                // Its arguments were written when no read of it was an error yet.
                self.cache.drop_object(area);
            }
            frame.variadic = Some(area);
            frame.locals.push(area);
        }
        state.frame.push(frame);
        if state.repetition_is_bug {
            match state.repetition(params) {
                Repetition::None => {}
                // Writes through the cache are not counted as changes of memory.
                Repetition::Kept => self.cache.clear(),
                Repetition::Found => {
                    let name = self.program.string(function.name);
                    let message = format!(
                        "recursion without end: `{name}` was called with the same arguments and memory"
                    );
                    return Err(Outcome::bug(Class::StackOverflow, message));
                }
            }
        }
        self.check_stack(state)?;
        Ok(Flow::Frame)
    }

    /// Value as an integer of another width.
    fn resize(&mut self, value: Value, from: u32, to: u32, signed: bool) -> Value {
        let op = match to.cmp(&from) {
            Ordering::Equal => return value,
            Ordering::Less => CastOp::Trunc,
            Ordering::Greater if signed => CastOp::SExt,
            Ordering::Greater => CastOp::ZExt,
        };
        self.cast(op, from, to, value)
    }

    /// Creates an object with every argument, laid out by the calling convention.
    fn variadic_area(
        &mut self,
        state: &mut State,
        call: &Call,
        arguments: &Arguments,
        least: u32,
    ) -> Result<crate::exec::state::address::ObjectId, Outcome> {
        let size = call.args.iter().map(|arg| arg.place + length(arg)).max().unwrap_or(0).max(least);
        let id = self.new_object(state, u64::from(size).next_multiple_of(8), Kind::Stack)?;
        for (arg, &value) in call.args.iter().zip(arguments) {
            let to = Value::number(id.base() + u64::from(arg.place));
            if arg.bytes > 0 {
                self.copy_bytes(state, to, value, Value::number(arg.bytes.into()), false)?;
            } else {
                self.store(state, to, value, arg.width)?;
            }
        }
        Ok(id)
    }

    pub(super) fn va_start(
        &mut self,
        state: &mut State,
        list: Value,
        gp: u32,
        fp: u32,
        stack: u32,
    ) -> Result<(), Outcome> {
        let area = state.frame.variadic.map_or(0, |id| id.base());
        if self.program.pointers == PointerWidth::Bits32 {
            return self.store(state, list, Value::number(area + u64::from(stack)), 32);
        }
        let location = self.locate(state, list, 24, Access::Write)?;
        let at = self.fork_on_offset(state, &location, "the place of a va_list")? + location.id.base();
        let fields =
            [(0, 32, gp.into()), (4, 32, fp.into()), (8, 64, area + u64::from(stack)), (16, 64, area)];
        for (offset, width, word) in fields {
            self.store(state, Value::number(at + offset), Value::number(word), width)?;
        }
        Ok(())
    }

    /// Ends the life of the top frame's objects.
    pub(in crate::exec::run) fn end_locals(&mut self, state: &mut State) {
        let locals = std::mem::take(&mut state.frame.locals);
        let dynamic = std::mem::take(&mut state.frame.dynamic);
        for id in locals.into_iter().chain(dynamic) {
            self.end_object(state, id);
        }
    }

    pub(super) fn ret(&mut self, state: &mut State, values: &[Operand]) -> StepResult {
        let func = state.frame.func;
        let program = Arc::clone(&self.program);
        let widths = &program.functions[func.index()].results;
        let results: SmallVec<[Value; 2]> =
            values.iter().zip(widths).map(|(&v, &w)| self.operand(state, v, w)).collect();
        if state.threads.is_some() && !self.may_return(state, func)? {
            return Ok(Flow::Frame);
        }
        self.end_locals(state);
        if !state.frame.pop() {
            state.frame.registers.fill(Value::ZERO);
            return self.next_stage(state, results.first().copied());
        }
        let caller = &program.functions[state.frame.func.index()];
        let crate::program::Inst::Call(call) = &caller.insts[state.frame.pc as usize] else {
            unreachable!("the pc of a caller is its call")
        };
        let signed = program.functions[func.index()].signed_result;
        for (i, (value, &from)) in results.into_iter().zip(widths).take(call.results as usize).enumerate() {
            let register = Reg(call.first.0 + i as u32);
            let value = self.resize(value, from, caller.width(register), signed);
            self.set(state, register, value);
        }
        for i in widths.len() as u32..call.results {
            let register = Reg(call.first.0 + i);
            let unknown = self.operand(state, Operand::Undef, caller.width(register));
            self.set(state, register, unknown);
        }
        state.frame.pc += 1;
        Ok(Flow::Frame)
    }

    /// Continues after the bottom frame has returned: constructors, `main`, handlers, destructors, end.
    pub(in crate::exec::run) fn next_stage(
        &mut self,
        state: &mut State,
        result: Option<Value>,
    ) -> StepResult {
        let program = Arc::clone(&self.program);
        let mut argument = None;
        let next = loop {
            match state.stage {
                Stage::Starting(done) => match program.constructors.get(done) {
                    Some(constructor) => {
                        state.stage = Stage::Starting(done + 1);
                        break constructor.function;
                    }
                    None => {
                        state.stage = Stage::Main;
                        break self.main;
                    }
                },
                Stage::Main => {
                    let status = result.unwrap_or(Value::ZERO);
                    state.stage = Stage::Exiting { status, destructors: 0 };
                }
                Stage::Exiting { status, destructors } => {
                    if let Some((handler, of_handler)) = Arc::make_mut(&mut state.handlers).pop() {
                        argument = of_handler;
                        break handler;
                    }
                    let Some(destructor) = program.destructors.get(destructors) else {
                        let status = self.decider.defined_value(state, status, "the exit status");
                        let status = self.decider.readable_exit_status(state, status);
                        return Err(self.exit_or_leak(state, status));
                    };
                    state.stage = Stage::Exiting { status, destructors: destructors + 1 };
                    break destructor.function;
                }
            }
        };
        state.frame = self.bottom_frame(state, next)?;
        if let Some(value) = argument
            && program.functions[next.index()].params > 0
        {
            self.set(state, Reg(0), value);
        }
        Ok(Flow::Frame)
    }

    /// Frame without a caller, for `main` or a constructor. Both get the arguments, as far as they have
    /// parameters.
    pub(in crate::exec::run) fn bottom_frame(
        &mut self,
        state: &State,
        func: FuncId,
    ) -> Result<Frame, Outcome> {
        let function = &self.program.functions[func.index()];
        if !function.is_defined() {
            return Err(Outcome::unsupported(format!(
                "`{}` has no definition and is called at start or exit",
                self.program.string(function.name)
            )));
        }
        let mut frame = Frame::new(func, function.widths.len());
        let (argc, argv) = state.arguments;
        // The environment follows the arguments.
        let environment = argv + u64::from(self.program.pointers.bytes()) * (argc + 1);
        for (i, word) in [argc, argv, environment].into_iter().enumerate().take(function.params as usize) {
            frame.registers[i] = Value::number(word & crate::expr::bits::mask(function.widths[i].min(64)));
        }
        Ok(frame)
    }
}
