//! Symbolic sizes: an object with as many bytes as its greatest size, of which only those below its size may be accessed.
//!
//! `malloc(n)` and `int a[n]` are one object for all n up to a bound, so that an access past the end is found for every n.
//! Each access that the least size does not allow is a check against the size. Larger sizes, and operations that
//! need to know where the object ends (strings, `realloc`), bind the size to values, and count what is left out.
use super::Machine;
use super::access::{Access, access_fault, object_at};
use crate::exec::decide::{Kind as DecisionKind, Subject};
use crate::exec::outcome::Outcome;
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::value::Value;
use crate::expr::Expr;

/// Largest number of bytes of an object with a symbolic size: its contents at symbolic offsets are an array of as many
/// elements.
const MAX_SYMBOLIC_SIZE: u64 = 1 << 12;

/// Size of a new object.
#[derive(Clone, Copy)]
pub(super) enum Size {
    Known(u64),
    /// An expression of 64 bits, and a number that it does not exceed.
    Symbolic {
        size: Expr,
        most: u64,
    },
}

impl Size {
    /// Number of bytes that are there for every size.
    pub(super) fn capacity(self) -> u64 {
        match self {
            Size::Known(size) => size,
            Size::Symbolic { most, .. } => most,
        }
    }
}

impl Machine {
    /// Size of a new object. Sizes above `most` are not tried if there are others; other states take what this one does not.
    pub(super) fn size_for(
        &mut self,
        state: &mut State,
        size: Value,
        most: u64,
        why: &str,
    ) -> Result<Size, Outcome> {
        let size = self.decider.defined_value(state, size, why);
        let Some(e) = size.expr() else { return Ok(Size::Known(size.word)) };
        let set = self.decider.values(state, e);
        // The checker of certificates knows no symbolic sizes.
        let is_bound = state.fact(e).is_some()
            || set.count() <= self.options.max_values.into()
            || self.decider.certificate_tree.is_some();
        if !is_bound {
            let bound = MAX_SYMBOLIC_SIZE.min(most);
            let graph = self.graph();
            let limit = graph.word(64, bound);
            let is_small = graph.ule(e, limit);
            if set.max() <= Some(bound) || self.decider.decide(state, is_small) {
                let most = self.decider.values(state, e).max().map_or(bound, |max| max.min(bound));
                return Ok(Size::Symbolic { size: e, most });
            }
        }
        Ok(Size::Known(self.decider.fork_on_size(state, size, most, why)?))
    }

    /// Object and offset of `count` bytes at a known address. Ends the paths on which they are beyond the size.
    pub(super) fn object_at(
        &mut self,
        state: &mut State,
        address: u64,
        count: u64,
        access: Access,
    ) -> Result<(ObjectId, u64), Outcome> {
        let (id, object, offset) = object_at(state, address, count, access)?;
        let Some(size) = object.symbolic_size else { return Ok((id, offset)) };
        if self.decider.values(state, size).min() < Some(offset + count) {
            let graph = self.graph();
            let end = graph.word(64, offset + count);
            let inside = graph.ule(end, size);
            let fault = access_fault(state, address, count, access);
            let subject = Subject { kind: DecisionKind::Check, purpose: access.verb(), number: id.base() };
            self.decider.require_as(state, inside, fault, subject)?;
        }
        Ok((id, offset))
    }

    /// Number of bytes of an object. A symbolic size is bound to one; other states take the others.
    pub(super) fn bound_size(&mut self, state: &mut State, id: ObjectId) -> Result<u64, Outcome> {
        let object = state.memory.get(id).expect("a live object");
        let (most, Some(size)) = (object.size, object.symbolic_size) else { return Ok(object.size) };
        let size = Value::of(self.decider.graph(), size);
        self.decider.fork_on_size(state, size, most, "the size of an object")
    }
}
