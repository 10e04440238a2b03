//! Address computation and local objects.
use crate::exec::outcome::{Class, Limit, Outcome};
use crate::exec::run::Machine;
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::memory::AllocationError;
use crate::exec::state::object::{Kind, MAX_OBJECT_BYTES, Origin};
use crate::exec::state::value::Value;
use crate::expr::bits::signed;
use crate::program::{Operand, Term};

impl Machine {
    pub(super) fn gep(&mut self, state: &State, base: Operand, offset: i64, terms: &[Term]) -> Value {
        let base = self.operand(state, base, 64);
        let mut number = offset as u64;
        let mut sum = None;
        match base.expr() {
            None => number = number.wrapping_add(base.word),
            Some(e) => sum = Some(e),
        }
        for term in terms {
            let index = self.operand(state, term.index, term.width);
            match index.expr() {
                None => {
                    let index = signed(term.width, index.word);
                    number = number.wrapping_add_signed(index.wrapping_mul(term.scale));
                }
                Some(_) => {
                    let graph = self.graph();
                    let index = index.to_bits(graph, term.width);
                    let index =
                        if term.width < 64 { graph.sext(index, 64) } else { graph.extract(index, 0, 64) };
                    let scale = graph.word(64, term.scale as u64);
                    let part = graph.mul(index, scale);
                    sum = Some(match sum {
                        None => part,
                        Some(sum) => graph.add(sum, part),
                    });
                }
            }
        }
        match sum {
            None => Value::number(number),
            Some(sum) => {
                let graph = self.graph();
                let number = graph.word(64, number);
                let e = graph.add(sum, number);
                Value::of(graph, e)
            }
        }
    }

    /// Allocates an object. Errors: it exceeds a limit.
    pub(in crate::exec::run) fn new_object(
        &mut self,
        state: &mut State,
        size: u64,
        kind: Kind,
    ) -> Result<ObjectId, Outcome> {
        state.memory.allocate(size, kind).map_err(|no| Outcome::Limit {
            limit: Limit::AddressSpace,
            message: match no {
                AllocationError::TooLarge => {
                    format!(
                        "an object of {size} bytes: more than an object may have ({MAX_OBJECT_BYTES} bytes)"
                    )
                }
                AllocationError::TooMany => format!("no address is left for another object of {size} bytes"),
            },
        })
    }

    pub(in crate::exec::run) fn end_object(&mut self, state: &mut State, id: ObjectId) {
        self.cache.drop_object(id);
        state.memory.remove(id);
    }

    /// Begins or ends the scope of a local variable.
    pub(super) fn set_scope(&mut self, state: &mut State, address: Value, begins: bool) {
        let id = ObjectId::of_address(address.word).filter(|_| !address.symbolic);
        let is_variable = |id: &ObjectId| {
            state
                .memory
                .get(*id)
                .is_some_and(|object| object.kind == Kind::Stack && object.base == address.word)
        };
        let Some(id) = id.filter(is_variable) else { return };
        self.cache.drop_object(id);
        let object = state.memory.get_mut(id).expect("a live object");
        if begins {
            object.begin_scope();
        } else {
            object.is_out_of_scope = true;
        }
    }

    pub(super) fn alloca(&mut self, state: &mut State, size: Value, fixed: bool) -> Result<Value, Outcome> {
        let size = self.decider.fork_on_size(state, size, "the size of a local array")?;
        state.frame.stack_bytes = state.frame.stack_bytes.saturating_add(size);
        self.check_stack(state)?;
        let id = self.new_object(state, size, Kind::Stack)?;
        let object = state.memory.get_mut(id).expect("just allocated");
        object.set_unwritten();
        object.origin = Some(Origin::Instruction(state.frame.func, state.frame.pc));
        if fixed {
            state.frame.locals.push(id)
        } else {
            state.frame.dynamic.push(id)
        }
        Ok(Value::number(id.base()))
    }

    pub(super) fn check_stack(&self, state: &State) -> Result<(), Outcome> {
        if state.frame.stack_bytes <= self.options.max_stack {
            return Ok(());
        }
        let depth = state.frame.frames().count();
        let message = format!(
            "the stack is full: {depth} nested calls need more than {} bytes",
            self.options.max_stack
        );
        if state.stack_is_limit {
            return Err(Outcome::Limit { limit: Limit::Depth, message });
        }
        Err(Outcome::bug(Class::StackOverflow, message))
    }
}
