//! Hooks: functions modelled by the user of the library, in place of the program's definition or a missing
//! one.
//!
//! A hook is called instead of the function, with a `Caller` through which it acts on the path. Where it
//! makes the path fork, the state on the other side executes the call again: the hook runs again there, on
//! the path as it was before the call plus the decision. A hook that depends only on its caller therefore
//! takes every feasible side, and never writes twice.
use super::Machine;
use super::models;
use super::step::{Arguments, Flow, StepResult};
use crate::exec::outcome::{Class, Outcome, Place};
use crate::exec::run::access::Access;
use crate::exec::state::State;
use crate::exec::state::inputs::Inputs;
use crate::exec::state::memory::Memory;
use crate::exec::state::object::Kind;
use crate::exec::state::value::Value;
use crate::expr::{Bits, Expr, Graph};
use crate::program::{Call, FuncId, Program, Reg};
use std::sync::Arc;

/// The hooks of a run, called by number.
pub trait Hooks: Send {
    /// Runs a hook. The result has the width that the caller expects; `None` for no result.
    fn call(&mut self, number: usize, caller: &mut Caller<'_>) -> Result<Option<Expr>, Outcome>;

    /// Expressions are about to be reused: none from an earlier call may be used again.
    fn forget(&mut self);
}

/// Hooks, and the functions they replace.
pub struct BoundHooks {
    hooks: Box<dyn Hooks>,
    /// Number of the hook, by function.
    numbers: Vec<Option<u32>>,
}

impl BoundHooks {
    pub fn forget(&mut self) {
        self.hooks.forget();
    }
}

/// Functions of this name: the user's own if there are any, else those of libraries.
fn named(program: &Program, name: &str) -> Vec<FuncId> {
    let all = program.functions.iter().enumerate().filter(|(_, f)| program.string(f.name) == name);
    let (own, library): (Vec<_>, Vec<_>) = all.partition(|(_, f)| !f.library);
    let chosen = if own.is_empty() { library } else { own };
    chosen.into_iter().map(|(i, f)| f.alias.unwrap_or(FuncId(i as u32))).collect()
}

/// A call of a hooked function: the interface between hook and path.
pub struct Caller<'a> {
    machine: &'a mut Machine,
    state: &'a mut State,
    call: &'a Call,
    arguments: &'a [Value],
    name: &'a str,
    /// Saved before the first change.
    before: Option<Before>,
}

/// Parts of a path that a hook may change, as they were before the call.
struct Before {
    memory: Memory,
    inputs: Inputs,
}

impl Caller<'_> {
    /// Name of the called function.
    pub fn name(&self) -> &str {
        self.name
    }

    pub fn arguments(&mut self) -> Vec<Expr> {
        let pairs = self.arguments.iter().zip(&self.call.args);
        let what = "an argument of a hook";
        let mut argument = |(value, arg): (&Value, &crate::program::Arg)| {
            let value = self.machine.decider.defined_value(self.state, *value, what);
            value.to_bits(self.machine.decider.graph_mut(), arg.width)
        };
        pairs.map(&mut argument).collect()
    }

    /// Widths of the results: none for a function that returns nothing, several for a structure.
    pub fn results(&self) -> Vec<u32> {
        let caller = &self.machine.program.functions[self.state.frame.func.index()];
        (0..self.call.results).map(|i| caller.width(Reg(self.call.first.0 + i))).collect()
    }

    pub fn graph(&mut self) -> &mut Graph {
        self.machine.graph()
    }

    /// Source places of all frames, innermost first.
    pub fn stack(&self) -> Vec<Place> {
        self.machine.decider.stack_of(self.state)
    }

    /// Finds a variable of the expression that is not an input of this path.
    pub fn foreign_variable(&mut self, e: Expr) -> Option<Expr> {
        let atoms = self.machine.decider.support(e);
        let known = |variable: &Expr| self.state.inputs.contains(*variable);
        atoms.iter().map(|atom| atom.variable()).find(|variable| !known(variable))
    }

    /// Creates an input of `width` bits. Tests have its value.
    pub fn symbolic(&mut self, name: &str, width: u32) -> Expr {
        self.before_change();
        let value = self.machine.fresh(self.state, name, width);
        value.to_bits(self.machine.graph(), width)
    }

    /// Makes `count` bytes of memory an input.
    pub fn make_symbolic(&mut self, address: Expr, count: u64, name: &str) -> Result<(), Outcome> {
        self.check_count(count, Access::Write)?;
        let address = self.value_of(address);
        let location = self.machine.locate(self.state, address, count, Access::Write)?;
        self.before_change();
        let array = self.machine.new_input(self.state, name, count);
        let graph = self.machine.graph();
        let start = graph.word(crate::exec::state::contents::INDEX_WIDTH, 0);
        let bytes = graph.read(array, start, count as u32);
        self.machine.write_location(self.state, &location, bytes);
        Ok(())
    }

    /// Reads `count` bytes of memory as a bit-vector, the first byte lowest.
    pub fn read(&mut self, address: Expr, count: u64) -> Result<Expr, Outcome> {
        self.check_count(count, Access::Read)?;
        let address = self.value_of(address);
        let value = self.machine.load(self.state, address, 8 * count as u32)?;
        let value = self.machine.decider.defined_value(self.state, value, "what a hook reads");
        Ok(value.to_bits(self.machine.graph(), 8 * count as u32))
    }

    /// Writes a bit-vector of whole bytes, the lowest byte first.
    pub fn write(&mut self, address: Expr, bits: Expr) -> Result<(), Outcome> {
        let width = self.graph().width(bits);
        debug_assert!(width.is_multiple_of(8));
        let address = self.value_of(address);
        let location = self.machine.locate(self.state, address, u64::from(width / 8), Access::Write)?;
        self.before_change();
        self.machine.write_location(self.state, &location, bits);
        Ok(())
    }

    /// An access is one bit-vector, which has at most `MAX_WIDTH` bits.
    fn check_count(&self, count: u64, access: Access) -> Result<(), Outcome> {
        if (1..=u64::from(crate::program::MAX_WIDTH / 8)).contains(&count) {
            return Ok(());
        }
        let most = crate::program::MAX_WIDTH / 8;
        Err(Outcome::bug(
            Class::ModelError,
            format!("`{}`: expected a {} of 1 to {most} bytes, found {count}", self.name, access.verb()),
        ))
    }

    /// Allocates an object of zeros, as `malloc` does. Returns its address.
    pub fn allocate(&mut self, size: u64) -> Result<u64, Outcome> {
        self.before_change();
        Ok(self.machine.new_object(self.state, size, Kind::Heap)?.base())
    }

    /// Decides a boolean. Where both sides are feasible, another state takes the other side.
    pub fn decide(&mut self, condition: Expr) -> bool {
        self.machine.decider.decide(self.state, condition)
    }

    /// Adds a constraint. It is a bug of class `model-error` if it cannot hold.
    pub fn assume(&mut self, condition: Expr) -> Result<(), Outcome> {
        let contradiction = models::contradiction(self.name);
        self.machine.decider.assume(self.state, condition, contradiction)
    }

    /// Binds a bit-vector of at most 64 bits to one value; other states take its other values.
    pub fn number(&mut self, e: Expr) -> Result<u64, Outcome> {
        let width = self.graph().width(e);
        let value = self.value_of(e);
        let why = format!("a value requested by the hook of `{}`", self.name);
        // A register of one bit is a boolean.
        match value.expr() {
            Some(bit) if width == 1 => Ok(self.machine.decider.decide(self.state, bit).into()),
            Some(_) | None => self.machine.decider.fork_on_value(self.state, value, width, &why),
        }
    }

    /// Value of an expression under the path model; does not constrain the path.
    pub fn example(&mut self, e: Expr) -> Bits {
        self.machine.decider.evaluate(self.state, e)
    }

    fn value_of(&mut self, bits: Expr) -> Value {
        Value::of_bits(self.machine.graph(), bits)
    }

    /// Must be called before the path is changed other than by a decision.
    fn before_change(&mut self) {
        if self.before.is_none() {
            // The saved memory and the state's now share their objects.
            self.machine.cache.clear();
            let state = &*self.state;
            self.before = Some(Before { memory: state.memory.clone(), inputs: state.inputs.clone() });
        }
    }
}

impl Machine {
    /// Replaces the functions of these names by `hooks`. Errors: the first name that no function has.
    pub fn set_hooks(&mut self, names: &[String], hooks: Box<dyn Hooks>) -> Result<(), String> {
        let mut numbers = vec![None; self.program.functions.len()];
        for (number, name) in names.iter().enumerate() {
            let functions = named(&self.program, name);
            if functions.is_empty() {
                return Err(name.clone());
            }
            functions.into_iter().for_each(|func| numbers[func.index()] = Some(number as u32));
        }
        self.hooks = Some(BoundHooks { hooks, numbers });
        Ok(())
    }

    /// Number of a function's hook.
    #[inline]
    pub(super) fn hook_of(&self, func: FuncId) -> Option<u32> {
        self.hooks.as_ref().and_then(|bound| bound.numbers[func.index()])
    }

    pub(super) fn call_hook(
        &mut self,
        state: &mut State,
        number: u32,
        func: FuncId,
        call: &Call,
        arguments: &Arguments,
    ) -> StepResult {
        let program = Arc::clone(&self.program);
        let name = program.string(program.functions[func.index()].name);
        if call.results > 1 {
            return Err(Outcome::unsupported(format!(
                "`{name}` returns a structure, which a hook cannot do"
            )));
        }
        let mut bound = self.hooks.take().expect("a hook was found");
        let forked = self.decider.forked_count();
        let mut caller = Caller { machine: self, state, call, arguments, name, before: None };
        let width = caller.results().first().copied();
        // A hook is foreign code, which must not be unwound.
        let was_armed = caller.graph().unwinder.arm(false);
        let answer = bound.hooks.call(number as usize, &mut caller);
        caller.graph().unwinder.arm(was_armed);
        let before = caller.before.take();
        self.hooks = Some(bound);
        if let Some(before) = before {
            // States forked during the call restart it, with the decisions made since.
            for child in self.decider.forked_since(forked) {
                child.memory = before.memory.clone();
                child.inputs = before.inputs.clone();
            }
        }
        if let Some(e) = answer? {
            let found = self.graph().width(e);
            debug_assert_eq!(Some(found), width, "the hook of `{name}`");
            let value = Value::of_bits(self.graph(), e);
            self.set(state, call.first, value);
        }
        Ok(Flow::Next)
    }
}
