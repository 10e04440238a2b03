//! Resolution of symbolic addresses: the objects they can point into, and the offsets.
//!
//! The set of values of the address on the path is computed once: it selects the candidate objects through
//! their windows, and the offsets within one. An address computed from an object's address must stay in that
//! object. Any other address forks: a state for each object it can point into, up to `max_objects`, and one
//! for each kind of invalid pointer, which ends there. A state that executes the instruction again knows the
//! object (`State::facts`).
use super::Machine;
use crate::exec::decide::{Alternative, Kind as DecisionKind, Subject};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::run::access::Access;
use crate::exec::run::access::{access_fault, check_access, check_passed, symbolic_fault};
use crate::exec::state::address::{self, NULL_PAGE, ObjectId};
use crate::exec::state::object::Object;
use crate::exec::state::value::Value;
use crate::exec::state::{Fact, State};
use crate::expr::{Expr, Op};
use crate::interval::Set;
use crate::program::FuncId;
use std::sync::Arc;

/// Largest number of addends of an address among which its base is looked for.
const MAX_ADDENDS: usize = 8;

/// Most points of the resolution of an address.
const MAX_POINTS: u32 = 6;

/// Offset in an object.
#[derive(Clone, Debug)]
pub(super) enum Offset {
    Known(u64),
    /// An expression of 64 bits, and a set that contains all its values. The access is in bounds for each of
    /// them.
    Among {
        offset: Expr,
        set: Set,
    },
}

/// An object, and an offset in bounds.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub id: ObjectId,
    pub offset: Offset,
}

impl Machine {
    /// Resolves `count` bytes at `address`; other states take the other possibilities. The offset is known if the object
    /// is too large for an array.
    pub(super) fn locate(
        &mut self,
        state: &mut State,
        address: Value,
        count: u64,
        access: Access,
    ) -> Result<Location, Outcome> {
        let address = self.decider.defined_value(state, address, "an address");
        let newest = self.decider.newest_point();
        let location = self.locate_among(state, address, count, access)?;
        if address.symbolic {
            self.decider.skip_points(newest, MAX_POINTS);
        }
        if let Offset::Among { set, .. } = &location.offset {
            let object = state.memory.get(location.id).expect("a live object");
            let (least, most) = match access {
                Access::Read => set.min().zip(set.max()).expect("an offset that is possible"),
                Access::Write => (0, object.size - count),
            };
            if object.is_too_large_for_array(least, most + count) {
                let offset = self.fork_on_offset(state, &location, "an offset in a large object")?;
                let location = Location { id: location.id, offset: Offset::Known(offset) };
                self.note_access(state, &location, count, access);
                return Ok(location);
            }
        }
        self.note_access(state, &location, count, access);
        Ok(location)
    }

    fn locate_among(
        &mut self,
        state: &mut State,
        address: Value,
        count: u64,
        access: Access,
    ) -> Result<Location, Outcome> {
        let Some(e) = address.expr() else {
            let (id, offset) = self.object_at(state, address.word, count, access)?;
            return Ok(Location { id, offset: Offset::Known(offset) });
        };
        let e = self.with_known_base(state, e, count, access)?;
        let set = self.decider.values(state, e);
        if let Some(word) = set.value() {
            let (id, offset) = self.object_at(state, word, count, access)?;
            return Ok(Location { id, offset: Offset::Known(offset) });
        }
        if let Some(Fact::Inside { id, count: known }) = state.fact(e)
            && known >= count
            && state.memory.get(id).is_some()
        {
            return self.location(state, id, e, &set, count, access);
        }
        let base = self.base_of(state, e).filter(|&base| !is_elsewhere(state, base, &set));
        let id = match base {
            Some((id, _)) if state.memory.get(id).is_some() => {
                self.stay_inside(state, id, e, &set, count, access)?;
                id
            }
            Some((id, base)) if state.memory.is_gone(id) => {
                return Err(access_fault(state, base, count, access));
            }
            Some(_) | None => {
                let alternatives = self.object_alternatives(state, e, &set, count);
                let fault = |state: &State, address: u64| access_fault(state, address, count, access);
                match self.decider.fork_on_targets(state, e, access.verb(), &alternatives, fault)? {
                    Fact::Inside { id, .. } => id,
                    Fact::Equal(_) => unreachable!("the alternatives of an access are objects"),
                }
            }
        };
        self.location(state, id, e, &set, count, access)
    }

    /// Decides the base of an address like `p[i]` where `p` is one of several pointers: in each state the address is then
    /// computed from one object, which it must not leave. An index into a null pointer is an error.
    fn with_known_base(
        &mut self,
        state: &mut State,
        e: Expr,
        count: u64,
        access: Access,
    ) -> Result<Expr, Outcome> {
        if self.decider.graph().op(e) != Op::Add || self.base_of(state, e).is_some() {
            return Ok(e);
        }
        let mut addends = vec![e];
        let mut at = 0;
        while at < addends.len() && addends.len() <= MAX_ADDENDS {
            let graph = self.decider.graph();
            if graph.op(addends[at]) == Op::Add {
                let (left, right) = (graph.kid(addends[at], 0), graph.kid(addends[at], 1));
                addends[at] = left;
                addends.push(right);
            } else {
                at += 1;
            }
        }
        let Some(at) = addends.iter().position(|&addend| self.is_choice_of_pointers(state, addend)) else {
            return Ok(e);
        };
        let chosen = Value::of(self.decider.graph(), addends[at]);
        let base = self.decider.fork_on_value(state, chosen, 64, "the base of a pointer")?;
        if base < NULL_PAGE {
            self.decider.settle(state);
            let address = self.decider.evaluate(state, e).low();
            return Err(access_fault(state, address.min(NULL_PAGE - 1), count, access));
        }
        let graph = self.graph();
        let mut sum = graph.word(64, 0);
        for (i, &addend) in addends.iter().enumerate() {
            if i != at {
                sum = graph.add(sum, addend);
            }
        }
        let origin = ObjectId::of_address(base);
        let base = graph.word(64, base);
        let address = graph.add(base, sum);
        self.keep_origin(state, address, origin);
        Ok(address)
    }

    /// Is this expression one of a few pointers to objects, or null?
    fn is_choice_of_pointers(&mut self, state: &State, e: Expr) -> bool {
        if self.decider.graph().is_const(e) {
            return false;
        }
        let set = self.decider.values(state, e);
        set.count() <= u128::from(self.options.max_objects)
            && set.max().is_some_and(|most| state.memory.has_window_at(most))
            && set.values().all(|word| word == 0 || state.memory.has_window_at(word))
    }

    /// Object from whose address this one is computed, and that address. Leaving the object is an error,
    /// wherever the address then points.
    pub(super) fn base_of(&self, state: &State, e: Expr) -> Option<(ObjectId, u64)> {
        if let Some(&(_, id)) = state.origins.get(e.id()) {
            return Some((id, id.base()));
        }
        let graph = self.decider.graph();
        if graph.op(e) != Op::Add {
            return None;
        }
        let base = [0, 1].into_iter().find_map(|i| graph.const_word(graph.kid(e, i)))?;
        ObjectId::of_address(base).map(|id| (id, base))
    }

    /// Ends the paths on which the address leaves the object.
    fn stay_inside(
        &mut self,
        state: &mut State,
        id: ObjectId,
        e: Expr,
        set: &Set,
        count: u64,
        access: Access,
    ) -> Result<(), Outcome> {
        let object = Arc::clone(state.memory.get(id).expect("a live object"));
        let fault = symbolic_fault(state, id, count, access);
        if object.size < count {
            return Err(fault);
        }
        if object.symbolic_size.is_none() && set.is_subset(&places(id, object.size, count)) {
            return Ok(());
        }
        let inside = self.inside(e, &object, count);
        let subject = Subject { kind: DecisionKind::Check, purpose: access.verb(), number: id.base() };
        self.decider.require_as(state, inside, fault, subject)
    }

    /// Condition that `count` bytes at `address` are in the object.
    fn inside(&mut self, address: Expr, object: &Object, count: u64) -> Expr {
        let graph = self.graph();
        let base = graph.word(64, object.base);
        let offset = graph.sub(address, base);
        let last = graph.word(64, object.size - count);
        let inside = graph.ule(offset, last);
        let Some(size) = object.symbolic_size else { return inside };
        let length = graph.word(64, count);
        let end = graph.add(offset, length);
        let below = graph.ule(end, size);
        graph.and(inside, below)
    }

    /// Objects of the set with room for the access, and the possible errors: null, freed, no object.
    fn object_alternatives(&mut self, state: &State, e: Expr, set: &Set, count: u64) -> Vec<Alternative> {
        let mut alternatives = Vec::new();
        let mut freed = Vec::new();
        let mut covered = Vec::new();
        for (low, high) in set.intervals() {
            for (first, last) in address::windows(low, high) {
                for (id, object) in state.memory.between(first, last) {
                    match object {
                        Some(object) if object.size >= count => {
                            let there = places(id, object.size, count);
                            let is_known =
                                covered.iter().any(|known: &Arc<Object>| known.base == object.base);
                            if !there.is_disjoint(set) && !is_known {
                                covered.push(Arc::clone(object));
                            }
                        }
                        None if freed.len() < self.options.max_objects as usize && !freed.contains(&id) => {
                            freed.push(id);
                        }
                        Some(_) | None => {}
                    }
                }
            }
        }
        let mut somewhere = self.graph().boolean(false);
        for object in &covered {
            let condition = self.inside(e, object, count);
            let id = ObjectId::of_address(object.base).expect("a live object");
            somewhere = self.graph().or(somewhere, condition);
            alternatives.push(Alternative { condition, fact: Some(Fact::Inside { id, count }) });
        }
        let whole = covered.iter().filter(|object| object.symbolic_size.is_none());
        let everything = whole.flat_map(|object| {
            let id = ObjectId::of_address(object.base).expect("a live object");
            places(id, object.size, count).intervals()
        });
        let everything = Set::from_intervals(64, everything);
        if everything.exact && set.is_subset(&everything.set) {
            return alternatives;
        }
        let graph = self.graph();
        let mut nowhere = graph.not(somewhere);
        let mut error = |graph: &mut crate::expr::Graph, condition: Expr| {
            if !graph.is_false(condition) {
                let alone = graph.and(condition, nowhere);
                alternatives.push(Alternative { condition: alone, fact: None });
                let not = graph.not(condition);
                nowhere = graph.and(nowhere, not);
            }
        };
        if set.min() < Some(NULL_PAGE) {
            let page = graph.word(64, NULL_PAGE);
            let null = graph.ult(e, page);
            error(graph, null);
        }
        let mut gone = graph.boolean(false);
        for id in freed {
            let (low, size) = id.window();
            let (low, size) = (graph.word(64, low), graph.word(64, size));
            let offset = graph.sub(e, low);
            let inside = graph.ult(offset, size);
            gone = graph.or(gone, inside);
        }
        error(graph, gone);
        alternatives.push(Alternative { condition: nowhere, fact: None });
        alternatives
    }

    /// Location of an address that is in the object.
    fn location(
        &mut self,
        state: &State,
        id: ObjectId,
        e: Expr,
        set: &Set,
        count: u64,
        access: Access,
    ) -> Result<Location, Outcome> {
        check_access(state, id, access)?;
        let size = state.memory.get(id).expect("a live object").size;
        let inside = places(id, size, count).intersect(set).set;
        let set = inside.plus(id.base().wrapping_neg());
        let offset = match set.value() {
            Some(offset) => {
                check_passed(state, id, offset, count, access)?;
                Offset::Known(offset)
            }
            None if !state.memory.get(id).expect("a live object").not_passed.is_empty() => {
                return Err(Outcome::unsupported("variadic arguments at a symbolic offset"));
            }
            None => {
                let base = self.graph().word(64, id.base());
                Offset::Among { offset: self.graph().sub(e, base), set }
            }
        };
        Ok(Location { id, offset })
    }

    /// Resolves a function pointer; other states call the other functions it can point to.
    pub(super) fn callee(&mut self, state: &mut State, target: Value) -> Result<FuncId, Outcome> {
        let target = self.decider.defined_value(state, target, "a callee");
        let newest = self.decider.newest_point();
        let callee = self.callee_among(state, target)?;
        if target.symbolic {
            self.decider.skip_points(newest, MAX_POINTS);
        }
        Ok(callee)
    }

    fn callee_among(&mut self, state: &mut State, target: Value) -> Result<FuncId, Outcome> {
        let program = std::sync::Arc::clone(&self.program);
        let wrong = |address: u64| match address {
            0..NULL_PAGE => Outcome::bug(Class::Null, "call through a null pointer"),
            _ => Outcome::bug(Class::ModelError, format!("call of {address:#x}: no function is there")),
        };
        let find = |address: u64| address::function_at(address, &program).ok_or_else(|| wrong(address));
        let Some(e) = target.expr() else { return find(target.word) };
        if let Some(Fact::Equal(address)) = state.fact(e) {
            return find(address);
        }
        let set = self.decider.values(state, e);
        if let Some(address) = set.value() {
            return find(address);
        }
        let mut alternatives = Vec::new();
        let graph = self.graph();
        let mut none = graph.boolean(true);
        for (low, high) in set.intervals() {
            for func in address::functions_in(low, high, &program) {
                let address = address::of_function(func, program.pointers);
                let here = graph.word(64, address);
                let condition = graph.eq(e, here);
                let not = graph.not(condition);
                none = graph.and(none, not);
                alternatives.push(Alternative { condition, fact: Some(Fact::Equal(address)) });
            }
        }
        if set.min() < Some(NULL_PAGE) {
            let page = graph.word(64, NULL_PAGE);
            let null = graph.ult(e, page);
            alternatives.push(Alternative { condition: null, fact: None });
            let not = graph.not(null);
            none = graph.and(none, not);
        }
        alternatives.push(Alternative { condition: none, fact: None });
        match self.decider.fork_on_targets(state, e, "call", &alternatives, |_, address| wrong(address))? {
            Fact::Equal(address) => find(address),
            Fact::Inside { .. } => unreachable!("the alternatives of a call are functions"),
        }
    }
}

/// Does an address only look like one that is computed from this base? A program may add a large constant to a pointer
/// and an index that takes it back; where that is no address computation of the program (`State::origins`), the sum is
/// a number in the window of another object.
fn is_elsewhere(state: &State, (id, base): (ObjectId, u64), set: &Set) -> bool {
    let (window, size) = id.window();
    let most = state.memory.get(id).map_or(size / 2, |object| object.size);
    !(id.base()..=id.base() + most).contains(&base)
        && Set::interval(64, window, window + (size - 1)).is_disjoint(set)
}

/// Addresses at which the object has `count` bytes.
fn places(id: ObjectId, size: u64, count: u64) -> Set {
    Set::interval(64, id.base(), id.base() + (size - count))
}
