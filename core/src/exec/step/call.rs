//! Calls and returns.
use super::{Go, Step};
use crate::exec::Engine;
use crate::exec::address;
use crate::exec::frame::Frame;
use crate::exec::models::Reply;
use crate::exec::object::Kind;
use crate::exec::outcome::{Access, Class, Outcome};
use crate::exec::state::{Stage, State};
use crate::exec::value::Value;
use crate::program::{Call, Callee, FuncId, Function, Operand, Reg};
use smallvec::SmallVec;
use std::sync::Arc;

/// Arguments of a call, in order.
pub(in crate::exec) type Arguments = SmallVec<[Value; 6]>;

impl Engine {
    pub(super) fn call(&mut self, state: &mut State, call: &Call) -> Step {
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
        if function.is_defined() {
            return self.enter(state, func, function, call, &arguments);
        }
        match self.model_of(func, state, call, &arguments)? {
            Reply::Nothing => Ok(Go::Next),
            Reply::Value(value) => {
                if call.results > 0 {
                    self.set(state, call.first, value);
                }
                Ok(Go::Next)
            }
            Reply::Frame => Ok(Go::Frame),
        }
    }

    /// The function that a pointer is; other functions it can be are called by other states.
    fn callee(&mut self, state: &mut State, target: Value) -> Result<FuncId, Outcome> {
        let count = self.program.functions.len();
        let wrong = |address: u64| match address {
            0..address::NULL_PAGE => Outcome::bug(Class::Null, "call through a null pointer"),
            _ => Outcome::bug(Class::ModelError, format!("call of {address:#x}, where no function is")),
        };
        let Some(e) = target.expr() else {
            return address::function_at(target.word, count).ok_or_else(|| wrong(target.word));
        };
        let address = self.evaluate(state, e).low();
        let Some(func) = address::function_at(address, count) else {
            let graph = &mut self.solver.graph;
            let mut any = graph.boolean(false);
            for i in 0..count {
                let here = graph.word(64, address::of_function(FuncId(i as u32)));
                let equal = graph.eq(e, here);
                any = graph.or(any, equal);
            }
            if let (_, Some(elsewhere)) = self.split(state, any) {
                self.born.push(elsewhere);
            }
            return Err(wrong(address));
        };
        let here = self.solver.graph.word(64, address);
        let equal = self.solver.graph.eq(e, here);
        if let (_, Some(elsewhere)) = self.split(state, equal) {
            self.born.push(elsewhere);
        }
        Ok(func)
    }

    fn enter(
        &mut self,
        state: &mut State,
        func: FuncId,
        function: &Function,
        call: &Call,
        arguments: &Arguments,
    ) -> Step {
        let params = function.params as usize;
        let name = || self.program.string(function.name);
        if arguments.len() < params {
            return Err(Outcome::bug(
                Class::ModelError,
                format!("`{}` expects {params} arguments and is called with {}", name(), arguments.len()),
            ));
        }
        let caller = &self.program.functions[state.frame.func.index()];
        let fits = (0..params).all(|i| call.args[i].width == function.widths[i])
            && (call.results == 0
                || call.results as usize == function.results.len()
                    && (0..call.results)
                        .all(|i| caller.width(Reg(call.first.0 + i)) == function.results[i as usize]));
        if !fits {
            return Err(Outcome::bug(
                Class::ModelError,
                format!("`{}` is called through a wrong type", name()),
            ));
        }
        let mut frame = Frame::new(func, function.widths.len());
        frame.registers[..params].copy_from_slice(&arguments[..params]);
        if function.variadic {
            frame.variadic = self.variadic_area(state, call, arguments, params)?;
            frame.locals.extend(frame.variadic);
        }
        state.frame.push(frame);
        self.check_stack(state)?;
        Ok(Go::Frame)
    }

    /// The surplus arguments one after the other, each at its alignment.
    fn variadic_area(
        &mut self,
        state: &mut State,
        call: &Call,
        arguments: &Arguments,
        from: usize,
    ) -> Result<Option<crate::exec::address::ObjectId>, Outcome> {
        let mut places = Vec::new();
        let mut size = 0u64;
        for arg in &call.args[from..] {
            let bytes = if arg.bytes > 0 { arg.bytes.into() } else { u64::from(arg.width.div_ceil(8)) };
            size = size.next_multiple_of(u64::from(arg.align.max(8)));
            places.push((size, bytes));
            size += bytes;
        }
        if size == 0 {
            return Ok(None);
        }
        let id = self.new_object(state, size.next_multiple_of(8), Kind::Stack)?;
        for (i, (arg, (at, bytes))) in call.args[from..].iter().zip(places).enumerate() {
            let value = arguments[from + i];
            let to = Value::number(id.base() + at);
            if arg.bytes > 0 {
                self.copy_bytes(state, to, value, Value::number(bytes))?;
            } else {
                self.store(state, to, value, arg.width)?;
            }
        }
        Ok(Some(id))
    }

    pub(super) fn va_start(&mut self, state: &mut State, list: Value) -> Result<(), Outcome> {
        let area = state.frame.variadic.map_or(0, |id| id.base());
        let spot = self.locate(state, list, 24, Access::Write)?;
        let at = self.concretize(state, spot.offset, 64, "the place of a va_list")? + spot.id.base();
        // Everything is in memory: the register areas are used up.
        for (offset, width, word) in [(0, 32, 48), (4, 32, 176), (8, 64, area), (16, 64, 0)] {
            self.store(state, Value::number(at + offset), Value::number(word), width)?;
        }
        Ok(())
    }

    pub(super) fn ret(&mut self, state: &mut State, values: &[Operand]) -> Step {
        let func = state.frame.func;
        let program = Arc::clone(&self.program);
        let widths = &program.functions[func.index()].results;
        let results: SmallVec<[Value; 2]> =
            values.iter().zip(widths).map(|(&v, &w)| self.operand(state, v, w)).collect();
        let locals = std::mem::take(&mut state.frame.locals);
        let dynamic = std::mem::take(&mut state.frame.dynamic);
        for id in locals.into_iter().chain(dynamic) {
            self.end_object(state, id);
        }
        if !state.frame.pop() {
            return self.next_stage(state, results.first().copied());
        }
        let caller = &program.functions[state.frame.func.index()];
        let crate::program::Inst::Call(call) = &caller.insts[state.frame.pc as usize] else {
            unreachable!("a caller stands at its call")
        };
        for (i, value) in results.into_iter().take(call.results as usize).enumerate() {
            self.set(state, Reg(call.first.0 + i as u32), value);
        }
        state.frame.pc += 1;
        Ok(Go::Frame)
    }

    /// The function at the bottom of the stack has returned: constructors, `main`, handlers, destructors, the end.
    pub(in crate::exec) fn next_stage(&mut self, state: &mut State, result: Option<Value>) -> Step {
        let program = Arc::clone(&self.program);
        let next = loop {
            match state.stage.clone() {
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
                    let status = result.map_or(0, |value| self.evaluate_word(state, value));
                    state.stage = Stage::Exiting { status, destructors: 0 };
                }
                Stage::Exiting { status, destructors } => {
                    if let Some(handler) = Arc::make_mut(&mut state.handlers).pop() {
                        break handler;
                    }
                    let Some(destructor) = program.destructors.get(destructors) else {
                        return Err(Outcome::Exit { status });
                    };
                    state.stage = Stage::Exiting { status, destructors: destructors + 1 };
                    break destructor.function;
                }
            }
        };
        state.frame = self.bottom_frame(state, next)?;
        Ok(Go::Frame)
    }

    /// A frame with no caller, for `main` or a function without parameters.
    pub(in crate::exec) fn bottom_frame(&mut self, state: &State, func: FuncId) -> Result<Frame, Outcome> {
        let function = &self.program.functions[func.index()];
        if !function.is_defined() {
            return Err(Outcome::unsupported(format!(
                "`{}` has no definition and is called at start or exit",
                self.program.string(function.name)
            )));
        }
        let mut frame = Frame::new(func, function.widths.len());
        if func == self.main {
            let (argc, argv) = state.arguments;
            // The environment is empty: its end follows the end of the arguments.
            let environment = argv + 8 * (argc + 1);
            for (i, word) in [argc, argv, environment].into_iter().enumerate().take(function.params as usize)
            {
                frame.registers[i] =
                    Value::number(word & crate::expr::bits::mask(function.widths[i].min(64)));
            }
        }
        Ok(frame)
    }
}
