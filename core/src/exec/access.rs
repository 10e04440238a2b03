//! Loads and stores. A number names its object through its window; `resolve.rs` is about symbolic addresses.
use super::Engine;
use super::address::{NULL_PAGE, ObjectId};
use super::outcome::{Access, Class, Outcome, describe};
use super::resolve::{Place, Spot};
use super::state::State;
use super::value::Value;
use crate::expr::Expr;

/// A write to at most so many places is a choice at each of them; to more, the contents become an array.
const FEW_PLACES: u128 = 4;

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

    pub(super) fn usable(&self, state: &State, id: ObjectId, access: Access) -> Result<(), Outcome> {
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

    /// An access that can leave the object it is computed from.
    pub(super) fn symbolic_fault(&self, state: &State, id: ObjectId, count: u64, access: Access) -> Outcome {
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

    /// Loads a value of `width` bits.
    pub(super) fn load(&mut self, state: &mut State, address: Value, width: u32) -> Result<Value, Outcome> {
        let count = u64::from(width.div_ceil(8));
        let spot = self.locate(state, address, count, Access::Read)?;
        if let Place::At(offset) = spot.place {
            let object = state.memory.get(spot.id).expect("a live object");
            if object.is_plain() && object.unsupported.is_none() && !address.symbolic {
                self.cache.add_readable(address.word, object);
            }
            if width <= 64
                && let Some(word) = object.read_concrete(offset, count)
            {
                return Ok(Value::number(word & crate::expr::bits::mask(width)));
            }
        }
        let bits = self.read_spot(state, &spot, count);
        let graph = &mut self.solver.graph;
        let bits = graph.extract(bits, 0, width);
        Ok(Value::of_bits(graph, bits))
    }

    /// `count` bytes at a place, as a bit-vector.
    pub(super) fn read_spot(&mut self, state: &State, spot: &Spot, count: u64) -> Expr {
        let object = state.memory.get(spot.id).expect("a live object");
        let graph = &mut self.solver.graph;
        match &spot.place {
            Place::At(offset) => object.read(graph, *offset, count),
            Place::Among { offset, set } => {
                // Its contents as an array are remembered, which entries for writing do not follow.
                self.cache.drop_object(spot.id);
                object.read_among(graph, *offset, set, count)
            }
        }
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
        if let Place::At(offset) = spot.place
            && !value.symbolic
        {
            self.cache.drop_object(spot.id);
            let object = state.memory.get_mut(spot.id).expect("a live object");
            object.write_concrete(offset, count, value.word);
            if object.is_freely_writable() && !address.symbolic {
                self.cache.add_writable(address.word, object);
            }
            return Ok(());
        }
        let graph = &mut self.solver.graph;
        let bits = value.to_bits(graph, width);
        let bits = graph.zext(bits, 8 * count as u32);
        self.write_spot(state, &spot, bits);
        Ok(())
    }

    /// Writes a bit-vector of whole bytes at a place.
    pub(super) fn write_spot(&mut self, state: &mut State, spot: &Spot, bits: Expr) {
        self.cache.drop_object(spot.id);
        let graph = &mut self.solver.graph;
        let object = state.memory.get_mut(spot.id).expect("a live object");
        let count = graph.width(bits) / 8;
        match &spot.place {
            Place::At(offset) => object.write(graph, *offset, bits),
            Place::Among { offset, set } if set.count() <= FEW_PLACES => {
                for place in set.values() {
                    let here = graph.word(64, place);
                    let here = graph.eq(*offset, here);
                    let old = object.read(graph, place, count.into());
                    let new = graph.ite(here, bits, old);
                    object.write(graph, place, new);
                }
            }
            Place::Among { offset, set } => object.write_among(graph, *offset, set, bits),
        }
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
