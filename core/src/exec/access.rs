//! Loads and stores: from an address to an object and a place in it.
//!
//! A number names its object through its window. A symbolic address that is an object's plus something must stay in that
//! object. Any other is resolved from the model: the object it points into there, and if it can also point elsewhere, a
//! second state that excludes this object and executes the instruction again; once the model points into no object,
//! one more question tells whether any object is left.
use super::Engine;
use super::address::{NULL_PAGE, ObjectId};
use super::object::INDEX_WIDTH;
use super::outcome::{Access, Class, Outcome, describe};
use super::state::State;
use super::value::Value;
use crate::expr::{Expr, Op};

/// A place inside a live object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub id: ObjectId,
    /// Bytes from the object's start; 64 bits.
    pub offset: Value,
}

fn plural(count: u64) -> String {
    format!("{count} {}", if count == 1 { "byte" } else { "bytes" })
}

impl Engine {
    /// What is wrong with an access at a concrete address that no object has.
    pub(super) fn fault(&self, state: &State, address: u64, count: u64, access: Access) -> Outcome {
        let verb = access.verb();
        if address < NULL_PAGE {
            return Outcome::bug(
                Class::Null,
                format!("{verb} of {} through a null pointer (address {address:#x})", plural(count)),
            );
        }
        let Some(id) = ObjectId::of_address(address) else {
            return Outcome::bug(
                access.out_of_bounds(),
                format!("{verb} of {} at {address:#x}, where no object is", plural(count)),
            );
        };
        let offset = address.wrapping_sub(id.base()) as i64;
        if let Some(object) = state.memory.get(id) {
            return Outcome::bug(
                access.out_of_bounds(),
                format!(
                    "{verb} of {} at offset {offset} of a {}",
                    plural(count),
                    describe(object.kind, object.size)
                ),
            );
        }
        if state.memory.was_freed(id) {
            return Outcome::bug(
                Class::UseAfterFree,
                format!("{verb} of {} at offset {offset} of a heap object that was freed", plural(count)),
            );
        }
        if state.memory.is_gone(id) {
            return Outcome::bug(
                Class::UseAfterFree,
                format!("{verb} of {} of a local variable whose function has returned", plural(count)),
            );
        }
        Outcome::bug(
            access.out_of_bounds(),
            format!("{verb} of {} at {address:#x}, where no object is", plural(count)),
        )
    }

    /// The object that has `count` bytes at a concrete address.
    pub(super) fn at(
        &self,
        state: &State,
        address: u64,
        count: u64,
        access: Access,
    ) -> Result<(ObjectId, u64), Outcome> {
        let found = ObjectId::of_address(address).and_then(|id| {
            let object = state.memory.get(id)?;
            let offset = address.wrapping_sub(object.base);
            (offset <= object.size && object.size - offset >= count).then_some((id, offset))
        });
        let (id, offset) = found.ok_or_else(|| self.fault(state, address, count, access))?;
        self.usable(state, id, access)?;
        Ok((id, offset))
    }

    fn usable(&self, state: &State, id: ObjectId, access: Access) -> Result<(), Outcome> {
        let object = state.memory.get(id).expect("a live object");
        if let Some(message) = &object.unsupported {
            return Err(Outcome::unsupported(&**message));
        }
        if access == Access::Write && object.readonly {
            return Err(Outcome::bug(
                Class::ReadOnlyWrite,
                format!("write to a constant ({})", describe(object.kind, object.size)),
            ));
        }
        Ok(())
    }

    /// The object that has `count` bytes at `address`; other possibilities go on as other states.
    pub(super) fn locate(
        &mut self,
        state: &mut State,
        address: Value,
        count: u64,
        access: Access,
    ) -> Result<Spot, Outcome> {
        let Some(e) = address.expr() else {
            let (id, offset) = self.at(state, address.word, count, access)?;
            return Ok(Spot { id, offset: Value::number(offset) });
        };
        if let Some((id, base, size)) = self.base_of(state, e) {
            let fault = self.symbolic_fault(state, id, count, access);
            if size < count {
                return Err(fault);
            }
            let inside = self.inside(e, base, size, count);
            self.require(state, inside, fault)?;
            return self.spot(state, id, e, count, access);
        }
        let concrete = self.evaluate(state, e).low();
        let found = ObjectId::of_address(concrete).and_then(|id| {
            let object = state.memory.get(id)?;
            let offset = concrete.wrapping_sub(object.base);
            (offset <= object.size && object.size - offset >= count).then_some((id, object.base, object.size))
        });
        match found {
            Some((id, base, size)) => {
                let inside = self.inside(e, base, size, count);
                if let (_, Some(mut elsewhere)) = self.split(state, inside) {
                    elsewhere.tried += 1;
                    if elsewhere.tried > self.options.max_objects {
                        self.incomplete(state, "a symbolic pointer to more objects than --max-objects");
                        self.stats.limits += 1;
                        self.release(elsewhere);
                    } else {
                        self.born.push(elsewhere);
                    }
                }
                state.tried = 0;
                self.spot(state, id, e, count, access)
            }
            None => {
                let candidates: Vec<(u64, u64)> = state
                    .memory
                    .objects()
                    .filter(|(_, o)| o.size >= count)
                    .map(|(_, o)| (o.base, o.size))
                    .collect();
                let mut any = self.solver.graph.boolean(false);
                for (base, size) in candidates {
                    let inside = self.inside(e, base, size, count);
                    any = self.solver.graph.or(any, inside);
                }
                if let (_, Some(inside)) = self.split(state, any) {
                    self.born.push(inside);
                }
                Err(self.fault(state, concrete, count, access))
            }
        }
    }

    /// Do `count` bytes at `address` lie in the object?
    fn inside(&mut self, address: Expr, base: u64, size: u64, count: u64) -> Expr {
        let graph = &mut self.solver.graph;
        let base = graph.word(64, base);
        let offset = graph.sub(address, base);
        let last = graph.word(64, size - count);
        graph.ule(offset, last)
    }

    /// The live object from whose address this one is computed. Leaving it is an error, wherever the address then leads.
    fn base_of(&self, state: &State, e: Expr) -> Option<(ObjectId, u64, u64)> {
        let graph = &self.solver.graph;
        if graph.op(e) != Op::Add {
            return None;
        }
        let base = [0, 1].into_iter().find_map(|i| graph.const_word(graph.kid(e, i)))?;
        let id = ObjectId::of_address(base)?;
        state.memory.get(id).map(|object| (id, object.base, object.size))
    }

    /// An access that can leave the object it is computed from.
    fn symbolic_fault(&self, state: &State, id: ObjectId, count: u64, access: Access) -> Outcome {
        let object = state.memory.get(id).expect("a live object");
        Outcome::bug(
            access.out_of_bounds(),
            format!(
                "{} of {} at a symbolic offset can leave the {}",
                access.verb(),
                plural(count),
                describe(object.kind, object.size)
            ),
        )
    }

    /// The place of an address that lies in the object.
    fn spot(
        &mut self,
        state: &State,
        id: ObjectId,
        e: Expr,
        count: u64,
        access: Access,
    ) -> Result<Spot, Outcome> {
        self.usable(state, id, access)?;
        let size = state.memory.get(id).expect("a live object").size;
        let base = self.solver.graph.word(64, id.base());
        let offset = self.solver.graph.sub(e, base);
        // Where only one place is possible the path knows it, though the expression may not.
        let offset = if size == count { Value::ZERO } else { Value::of(&self.solver.graph, offset) };
        Ok(Spot { id, offset })
    }

    /// Loads a value of `width` bits.
    pub(super) fn load(&mut self, state: &mut State, address: Value, width: u32) -> Result<Value, Outcome> {
        let count = u64::from(width.div_ceil(8));
        let spot = self.locate(state, address, count, Access::Read)?;
        let offset = match spot.offset.expr() {
            None => spot.offset.word,
            Some(offset) => {
                self.cache.drop_object(spot.id);
                let graph = &mut self.solver.graph;
                let array = state.memory.get_mut(spot.id).expect("a live object").whole(graph);
                let index = graph.extract(offset, 0, INDEX_WIDTH);
                let bits = graph.read(array, index, count as u32);
                let bits = graph.extract(bits, 0, width);
                return Ok(Value::of_bits(graph, bits));
            }
        };
        let object = state.memory.get(spot.id).expect("a live object");
        if object.is_plain() && object.unsupported.is_none() && !address.symbolic {
            self.cache.add_readable(address.word, object);
        }
        if width <= 64
            && let Some(word) = object.read_concrete(offset, count)
        {
            return Ok(Value::number(word & crate::expr::bits::mask(width)));
        }
        let graph = &mut self.solver.graph;
        let bits = object.read(graph, offset, count);
        let bits = graph.extract(bits, 0, width);
        Ok(Value::of_bits(graph, bits))
    }

    /// Stores the low `width` bits of `value`.
    pub(super) fn store(
        &mut self,
        state: &mut State,
        address: Value,
        value: Value,
        width: u32,
    ) -> Result<(), Outcome> {
        let count = u64::from(width.div_ceil(8));
        let spot = self.locate(state, address, count, Access::Write)?;
        self.cache.drop_object(spot.id);
        let graph = &mut self.solver.graph;
        let object = state.memory.get_mut(spot.id).expect("a live object");
        let whole_bytes = |graph: &mut crate::expr::Graph| {
            let bits = value.to_bits(graph, width);
            graph.zext(bits, 8 * count as u32)
        };
        match spot.offset.expr() {
            Some(offset) => {
                let bits = whole_bytes(graph);
                let mut array = object.whole(graph);
                let index = graph.extract(offset, 0, INDEX_WIDTH);
                for i in 0..count as u32 {
                    let skip = graph.word(INDEX_WIDTH, i.into());
                    let at = graph.add(index, skip);
                    let byte = graph.extract(bits, 8 * i, 8);
                    array = graph.store(array, at, byte);
                }
                object.set_array(array);
            }
            None if !value.symbolic => {
                object.write_concrete(spot.offset.word, count, value.word);
                if object.is_freely_writable() && !address.symbolic {
                    self.cache.add_writable(address.word, object);
                }
            }
            None => {
                let bits = whole_bytes(graph);
                object.write(graph, spot.offset.word, bits);
            }
        }
        Ok(())
    }

    /// A C string, as the model has it where it is symbolic; `None` past the end of its object.
    pub(super) fn string_at(&mut self, state: &mut State, address: u64) -> Result<Vec<u8>, Outcome> {
        let mut text = Vec::new();
        loop {
            let byte = self.load(state, Value::number(address + text.len() as u64), 8)?;
            match self.evaluate_word(state, byte) as u8 {
                0 => return Ok(text),
                byte => text.push(byte),
            }
        }
    }
}
