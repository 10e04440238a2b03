//! Functions that the user of the library models, instead of the program's own or for want of one.
//!
//! A hook is called where the function would be, with a `Caller` through which it acts on the path. Where it makes the
//! path fork, the state on the other side executes the call again: the hook starts afresh there, from the path as it was
//! before the call, and what was decided is known to it. So a hook that depends on nothing but what it asks of its
//! caller takes every way that is feasible, and never writes twice.
use super::Engine;
use super::memory::Memory;
use super::models;
use super::object::Kind;
use super::outcome::{Access, Class, Outcome, Place};
use super::state::{Input, State};
use super::step::{Arguments, Go, Step};
use super::value::Value;
use crate::expr::{Bits, Expr, Graph};
use crate::program::{Call, FuncId, Program, Reg};
use std::sync::Arc;

/// The hooks of a run, by number.
pub trait Hooks: Send {
    /// A hooked function was called. The result has the width that the caller expects; `None` is none.
    fn call(&mut self, number: usize, caller: &mut Caller<'_>) -> Result<Option<Expr>, Outcome>;

    /// Expressions are about to be reused: none that was seen in an earlier call may be used again.
    fn forget(&mut self);
}

/// Hooks, and which functions they stand for.
pub(super) struct Bound {
    hooks: Box<dyn Hooks>,
    /// By function.
    numbers: Vec<Option<u32>>,
}

impl Bound {
    pub(super) fn forget(&mut self) {
        self.hooks.forget();
    }
}

/// The functions that a name stands for: the user's own if there are any, else those of libraries.
fn named(program: &Program, name: &str) -> Vec<FuncId> {
    let all = program.functions.iter().enumerate().filter(|(_, f)| program.string(f.name) == name);
    let (own, library): (Vec<_>, Vec<_>) = all.partition(|(_, f)| !f.library);
    let chosen = if own.is_empty() { library } else { own };
    chosen.into_iter().map(|(i, f)| f.alias.unwrap_or(FuncId(i as u32))).collect()
}

/// A call of a hooked function: what it may ask of the path, and do to it.
pub struct Caller<'a> {
    engine: &'a mut Engine,
    state: &'a mut State,
    call: &'a Call,
    arguments: &'a [Value],
    name: &'a str,
    /// From the first change on.
    before: Option<Before>,
}

/// What a hook may change of a path, as it was before the call.
struct Before {
    memory: Memory,
    inputs: Arc<Vec<Input>>,
}

impl Caller<'_> {
    /// The function that was called.
    pub fn name(&self) -> &str {
        self.name
    }

    pub fn arguments(&mut self) -> Vec<Expr> {
        let graph = &mut self.engine.solver.graph;
        let pairs = self.arguments.iter().zip(&self.call.args);
        pairs.map(|(value, arg)| value.to_bits(graph, arg.width)).collect()
    }

    /// Widths of the results: none for a function that returns nothing, several for a structure.
    pub fn results(&self) -> Vec<u32> {
        let caller = &self.engine.program.functions[self.state.frame.func.index()];
        (0..self.call.results).map(|i| caller.width(Reg(self.call.first.0 + i))).collect()
    }

    pub fn graph(&mut self) -> &mut Graph {
        &mut self.engine.solver.graph
    }

    /// Where the call stands, innermost frame first.
    pub fn stack(&self) -> Vec<Place> {
        self.engine.stack_of(self.state)
    }

    /// A variable of the expression that is not an input of this path.
    pub fn stranger(&mut self, e: Expr) -> Option<Expr> {
        let atoms = self.engine.solver.supports.of(&self.engine.solver.graph, e);
        let known = |variable: &Expr| self.state.inputs.iter().any(|input| input.array == *variable);
        atoms.iter().map(|atom| atom.variable()).find(|variable| !known(variable))
    }

    /// A new symbolic value, as an input of that name: tests have its value.
    pub fn symbolic(&mut self, name: &str, width: u32) -> Expr {
        self.before_change();
        let value = self.engine.fresh(self.state, name, width);
        value.to_bits(&mut self.engine.solver.graph, width)
    }

    /// `count` bytes in memory become an input of that name.
    pub fn make_symbolic(&mut self, address: Expr, count: u64, name: &str) -> Result<(), Outcome> {
        self.check_count(count, Access::Write)?;
        let address = self.value_of(address);
        let spot = self.engine.locate(self.state, address, count, Access::Write)?;
        self.before_change();
        let array = self.engine.new_input(self.state, name, count);
        let graph = &mut self.engine.solver.graph;
        let start = graph.word(super::contents::INDEX_WIDTH, 0);
        let bytes = graph.read(array, start, count as u32);
        self.engine.write_spot(self.state, &spot, bytes);
        Ok(())
    }

    /// `count` bytes of memory as a bit-vector, the first byte lowest.
    pub fn read(&mut self, address: Expr, count: u64) -> Result<Expr, Outcome> {
        self.check_count(count, Access::Read)?;
        let address = self.value_of(address);
        let value = self.engine.load(self.state, address, 8 * count as u32)?;
        Ok(value.to_bits(&mut self.engine.solver.graph, 8 * count as u32))
    }

    /// Writes a bit-vector of whole bytes, the lowest byte first.
    pub fn write(&mut self, address: Expr, bits: Expr) -> Result<(), Outcome> {
        let width = self.graph().width(bits);
        debug_assert!(width.is_multiple_of(8));
        let address = self.value_of(address);
        let spot = self.engine.locate(self.state, address, u64::from(width / 8), Access::Write)?;
        self.before_change();
        self.engine.write_spot(self.state, &spot, bits);
        Ok(())
    }

    /// Accesses are one word of the solver's: those beyond the widest are out of every object's bounds, or nearly.
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

    /// The address of a new object of zeros, as `malloc` gives it.
    pub fn allocate(&mut self, size: u64) -> Result<u64, Outcome> {
        self.before_change();
        Ok(self.engine.new_object(self.state, size, Kind::Heap)?.base())
    }

    /// Does the boolean hold? Where both are feasible, another state has the other answer.
    pub fn decide(&mut self, condition: Expr) -> bool {
        self.engine.decide(self.state, condition)
    }

    /// From here on the boolean holds; a path on which it cannot is a wrong use of the hook.
    pub fn assume(&mut self, condition: Expr) -> Result<(), Outcome> {
        let contradiction = models::contradiction(self.name);
        self.engine.assume(self.state, condition, contradiction)
    }

    /// The number that a bit-vector of at most 64 bits has; other states take the other numbers it can have.
    pub fn number(&mut self, e: Expr) -> Result<u64, Outcome> {
        let width = self.graph().width(e);
        let value = self.value_of(e);
        let why = format!("a number that the hook of `{}` asks for", self.name);
        // A register of one bit is a boolean.
        match value.expr() {
            Some(bit) if width == 1 => Ok(self.engine.decide(self.state, bit).into()),
            Some(_) | None => self.engine.each_value(self.state, value, width, &why),
        }
    }

    /// What an expression is under the model at hand; the path is not bound to it.
    pub fn example(&mut self, e: Expr) -> Bits {
        self.engine.evaluate(self.state, e)
    }

    fn value_of(&mut self, bits: Expr) -> Value {
        Value::of_bits(&mut self.engine.solver.graph, bits)
    }

    /// To be called before the path is changed other than by a decision.
    fn before_change(&mut self) {
        if self.before.is_none() {
            // From now on both share their objects.
            self.engine.cache.clear();
            let state = &*self.state;
            self.before = Some(Before { memory: state.memory.clone(), inputs: Arc::clone(&state.inputs) });
        }
    }
}

impl Engine {
    /// Functions of these names are modelled by `hooks` from now on. The end: the first name that no function has.
    pub fn set_hooks(&mut self, names: &[String], hooks: Box<dyn Hooks>) -> Result<(), String> {
        let mut numbers = vec![None; self.program.functions.len()];
        for (number, name) in names.iter().enumerate() {
            let functions = named(&self.program, name);
            if functions.is_empty() {
                return Err(name.clone());
            }
            functions.into_iter().for_each(|func| numbers[func.index()] = Some(number as u32));
        }
        self.hooks = Some(Bound { hooks, numbers });
        Ok(())
    }

    /// The hook of a function.
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
    ) -> Step {
        let program = Arc::clone(&self.program);
        let name = program.string(program.functions[func.index()].name);
        if call.results > 1 {
            return Err(Outcome::unsupported(format!(
                "`{name}` returns a structure, which a hook cannot do"
            )));
        }
        let mut bound = self.hooks.take().expect("a hook was found");
        let born = self.born.len();
        let mut caller = Caller { engine: self, state, call, arguments, name, before: None };
        let width = caller.results().first().copied();
        let answer = bound.hooks.call(number as usize, &mut caller);
        let before = caller.before.take();
        self.hooks = Some(bound);
        if let Some(before) = before {
            // Whoever was born during the call stands where it started, with what was decided since.
            for child in &mut self.born[born..] {
                child.memory = before.memory.clone();
                child.inputs = Arc::clone(&before.inputs);
            }
        }
        if let Some(e) = answer? {
            let found = self.solver.graph.width(e);
            debug_assert_eq!(Some(found), width, "the hook of `{name}`");
            let value = Value::of_bits(&mut self.solver.graph, e);
            self.set(state, call.first, value);
        }
        Ok(Go::Next)
    }
}
