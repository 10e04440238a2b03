//! Address computation and local objects.
use crate::exec::outcome::{Class, Limit, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::sizes::Size;
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::memory::{AllocationError, MALLOC_ALIGNMENT};
use crate::exec::state::object::{Kind, MAX_OBJECT_BYTES, Object, Origin};
use crate::exec::state::value::Value;
use crate::expr::bits::{mask, signed};
use crate::expr::{Expr, Op};
use crate::program::{Operand, PointerWidth, Term};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Number of objects kept to make others of: those of a few frames.
const MAX_SPARE_OBJECTS: usize = 32;

impl Machine {
    pub(super) fn gep(&mut self, state: &mut State, base: Operand, offset: i64, terms: &[Term]) -> Value {
        let base = self.operand(state, base, 64);
        let origin = match base.expr() {
            None => ObjectId::of_address(base.word),
            Some(e) => self.base_of(state, e).map(|(id, _)| id),
        };
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
            None => Value::number(number & mask(self.program.pointers.bits())),
            Some(sum) => {
                let graph = self.graph();
                let number = graph.word(64, number);
                let e = graph.add(sum, number);
                self.keep_origin(state, e, origin);
                let e = match self.program.pointers {
                    PointerWidth::Bits64 => e,
                    PointerWidth::Bits32 => self.wrapped(state, e),
                };
                Value::of(self.graph(), e)
            }
        }
    }

    /// Notes the object that an address is computed from, if the address does not show it: constants of an index are
    /// added to the object's address, and the sum may lie in the window of another object.
    pub(in crate::exec::run) fn keep_origin(&mut self, state: &mut State, e: Expr, origin: Option<ObjectId>) {
        let Some(id) = origin.filter(|_| !self.decider.graph().is_const(e)) else { return };
        if self.base_of(state, e).is_none_or(|(shown, _)| shown != id) {
            state.origins.insert(e.id(), (e, id));
        }
    }

    /// Address of 32 bits: an address that is computed from an object's stays as it is, because it must not leave the
    /// object. Any other wraps around.
    fn wrapped(&mut self, state: &State, e: Expr) -> Expr {
        if self.base_of(state, e).is_some() || self.decider.values(state, e).max() <= Some(u32::MAX.into()) {
            return e;
        }
        let graph = self.graph();
        let low = graph.extract(e, 0, 32);
        graph.zext(low, 64)
    }

    /// Zero extension to the width of a register of bits that were a pointer: the expression that they are the low half
    /// of, if it has no others. So a pointer that was in memory is still known to be computed from its object.
    pub(super) fn widened_pointer(&mut self, state: &State, bits: Expr) -> Option<Expr> {
        let graph = self.decider.graph();
        let whole = match graph.op(bits) {
            Op::Extract if graph.extract_low(bits) == 0 => graph.kid(bits, 0),
            _ => return None,
        };
        let is_pointer = graph.width(bits) == 32 && graph.width(whole) == 64;
        (is_pointer && self.decider.values(state, whole).max() <= Some(u32::MAX.into())).then_some(whole)
    }

    /// Allocates an object. Errors: it exceeds a limit.
    pub(in crate::exec::run) fn new_object(
        &mut self,
        state: &mut State,
        size: u64,
        kind: Kind,
    ) -> Result<ObjectId, Outcome> {
        self.new_aligned_object(state, size, MALLOC_ALIGNMENT, kind)
    }

    /// Allocates an object at a multiple of `align`, a power of two.
    pub(in crate::exec::run) fn new_aligned_object(
        &mut self,
        state: &mut State,
        size: u64,
        align: u64,
        kind: Kind,
    ) -> Result<ObjectId, Outcome> {
        self.new_object_with(state, size, align, kind, |_| {})
    }

    /// Allocates an object at a multiple of `align`, a power of two: one of zeros that `finish` changed.
    fn new_object_with(
        &mut self,
        state: &mut State,
        size: u64,
        align: u64,
        kind: Kind,
        finish: impl FnOnce(&mut Object),
    ) -> Result<ObjectId, Outcome> {
        let align = align.max(MALLOC_ALIGNMENT);
        let is_internal = self.synchronisation.is_internal(state.frame.func);
        let spare = self.spare_objects.pop();
        let allocated = state.memory.allocate_with(size, align, kind, spare, |object| {
            object.is_internal = is_internal;
            finish(object);
        });
        allocated.map_err(|no| Outcome::Limit {
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

    /// Allocates an object of this size at a multiple of `align`.
    pub(in crate::exec::run) fn new_sized_object(
        &mut self,
        state: &mut State,
        size: Size,
        align: u64,
        kind: Kind,
    ) -> Result<ObjectId, Outcome> {
        let id = self.new_aligned_object(state, size.capacity(), align, kind)?;
        if let Size::Symbolic { size, .. } = size {
            state.memory.get_mut(id).expect("just allocated").symbolic_size = Some(size);
        }
        Ok(id)
    }

    pub(in crate::exec::run) fn end_object(&mut self, state: &mut State, id: ObjectId) {
        self.cache.drop_object(id);
        let mut object = state.memory.remove(id);
        if self.spare_objects.len() < MAX_SPARE_OBJECTS
            && object.is_renewable()
            && Arc::get_mut(&mut object).is_some()
        {
            self.spare_objects.push(object);
        }
    }

    /// Number of an object whose bytes are about to be unwritten, if those are inputs.
    #[inline]
    pub(in crate::exec::run) fn birth(&self, state: &mut State) -> Option<NonZeroU64> {
        if !self.options.symbolic_unwritten {
            return None;
        }
        state.births += 1;
        NonZeroU64::new(state.births)
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
        let birth = if begins { self.birth(state) } else { None };
        let object = state.memory.get_mut(id).expect("a live object");
        if begins {
            object.begin_scope(birth);
        } else {
            object.is_out_of_scope = true;
        }
    }

    pub(super) fn alloca(
        &mut self,
        state: &mut State,
        size: Value,
        align: u64,
        fixed: bool,
    ) -> Result<Value, Outcome> {
        // A size that the stack has no room for is one of the sizes that are left out, not a bug of its own.
        let room = self.options.max_stack.saturating_sub(state.frame.stack_bytes).min(MAX_OBJECT_BYTES);
        let size = self.size_for(state, size, room, "the size of a local array")?;
        if let Size::Known(size) = size {
            state.frame.stack_bytes = state.frame.stack_bytes.saturating_add(size);
        }
        self.check_stack(state)?;
        let origin = Origin::Instruction(state.frame.func, state.frame.pc);
        let birth = self.birth(state);
        let id = self.new_object_with(state, size.capacity(), align, Kind::Stack, |object| {
            if let Size::Symbolic { size, .. } = size {
                object.symbolic_size = Some(size);
            }
            object.set_unwritten(birth);
            object.origin = Some(origin);
        })?;
        if fixed {
            state.frame.locals.push(id)
        } else {
            state.frame.dynamic.push(id)
        }
        Ok(Value::number(id.base()))
    }

    /// Ends local objects of variable size, except the first `keep`.
    pub(in crate::exec::run) fn restore_stack(&mut self, state: &mut State, keep: usize) {
        while state.frame.dynamic.len() > keep {
            let id = state.frame.dynamic.pop().expect("just counted");
            let object = state.memory.get(id).filter(|object| object.symbolic_size.is_none());
            let size = object.map_or(0, |object| object.size);
            state.frame.stack_bytes = state.frame.stack_bytes.saturating_sub(size);
            self.end_object(state, id);
        }
    }

    pub(in crate::exec::run) fn check_stack(&self, state: &State) -> Result<(), Outcome> {
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
