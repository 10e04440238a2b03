//! Loads and stores. A concrete address is resolved through its window; `resolve.rs` resolves symbolic
//! addresses.
use super::Machine;
use super::resolve::{Location, Offset};
use crate::exec::outcome::{Class, Outcome};
use crate::exec::state::State;
use crate::exec::state::address::{NULL_PAGE, ObjectId};
use crate::exec::state::object::Object;
use crate::exec::state::value::Value;
use crate::expr::Expr;
use std::ops::Range;
use std::sync::Arc;

/// Kind of a memory access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    Write,
}

impl Access {
    pub fn verb(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
        }
    }

    pub fn out_of_bounds(self) -> Class {
        match self {
            Access::Read => Class::OutOfBoundsRead,
            Access::Write => Class::OutOfBoundsWrite,
        }
    }
}

/// Largest number of places at which a symbolic write stays a choice per place. Beyond it, the contents
/// become an array.
const MAX_CHOICE_WRITES: u128 = 4;

/// Number of bytes of a string between two checks of the limits.
const BYTES_PER_CHECK: usize = 4096;

fn bytes(count: u64) -> String {
    format!("{count} {}", if count == 1 { "byte" } else { "bytes" })
}

/// Bug for an access at a concrete address that is in no live object.
pub(super) fn access_fault(state: &State, address: u64, count: u64, access: Access) -> Outcome {
    let verb = access.verb();
    if address < NULL_PAGE {
        return Outcome::bug(
            Class::Null,
            format!("{verb} of {} through a null pointer (address {address:#x})", bytes(count)),
        );
    }
    let Some(id) = ObjectId::of_address(address) else {
        return Outcome::bug(
            access.out_of_bounds(),
            format!("{verb} of {} at {address:#x}: no object is there", bytes(count)),
        );
    };
    let offset = address.wrapping_sub(id.base()) as i64;
    if let Some(object) = state.memory.get(id) {
        state.faulty.set(Some(id));
        return Outcome::bug(
            access.out_of_bounds(),
            format!("{verb} of {} at offset {offset} of a {}", bytes(count), object.describe()),
        );
    }
    if state.memory.was_freed(id) {
        return Outcome::bug(
            Class::UseAfterFree,
            format!("{verb} of {} at offset {offset} of a heap object that was freed", bytes(count)),
        );
    }
    if state.memory.is_gone(id) {
        return Outcome::bug(
            Class::UseAfterFree,
            format!("{verb} of {} of a local variable whose function has returned", bytes(count)),
        );
    }
    Outcome::bug(
        access.out_of_bounds(),
        format!("{verb} of {} at {address:#x}: no object is there", bytes(count)),
    )
}

/// Object, its number, and the offset of `count` bytes at a concrete address.
pub(super) fn object_at(
    state: &State,
    address: u64,
    count: u64,
    access: Access,
) -> Result<(ObjectId, &Arc<Object>, u64), Outcome> {
    let found = ObjectId::of_address(address).and_then(|id| {
        let object = state.memory.get(id)?;
        let offset = address.wrapping_sub(object.base);
        (offset <= object.size && object.size - offset >= count).then_some((id, object, offset))
    });
    let (id, object, offset) = found.ok_or_else(|| access_fault(state, address, count, access))?;
    if object.has_access_errors() || object.readonly {
        check_access(state, id, access)?;
        check_passed(state, id, offset, count, access)?;
    }
    Ok((id, object, offset))
}

/// Bug for a read of a variadic argument that the caller did not pass.
pub(super) fn check_passed(
    state: &State,
    id: ObjectId,
    offset: u64,
    count: u64,
    access: Access,
) -> Result<(), Outcome> {
    let object = state.memory.get(id).expect("a live object");
    let is_missing = |range: &Range<u64>| range.start < offset + count && offset < range.end;
    if access == Access::Read && object.not_passed.iter().any(is_missing) {
        return Err(Outcome::bug(
            Class::OutOfBoundsRead,
            "read of a variadic argument that the caller did not pass",
        ));
    }
    Ok(())
}

pub(super) fn check_access(state: &State, id: ObjectId, access: Access) -> Result<(), Outcome> {
    let object = state.memory.get(id).expect("a live object");
    if let Some(message) = &object.unsupported {
        return Err(Outcome::unsupported(&**message));
    }
    if object.is_out_of_scope {
        state.faulty.set(Some(id));
        return Err(Outcome::bug(
            Class::UseAfterFree,
            format!("{} of a {} whose block has ended", access.verb(), object.describe()),
        ));
    }
    if access == Access::Write && object.readonly {
        return Err(Outcome::bug(
            Class::ReadOnlyWrite,
            format!("write to a constant ({})", object.describe()),
        ));
    }
    Ok(())
}

/// Bug for a symbolic address that can leave the object it is computed from.
pub(super) fn symbolic_fault(state: &State, id: ObjectId, count: u64, access: Access) -> Outcome {
    let object = state.memory.get(id).expect("a live object");
    state.faulty.set(Some(id));
    Outcome::bug(
        access.out_of_bounds(),
        format!(
            "{} of {} at a symbolic offset can leave the {}",
            access.verb(),
            bytes(count),
            object.describe()
        ),
    )
}

impl Machine {
    /// Loads a value of `width` bits.
    pub(super) fn load(&mut self, state: &mut State, address: Value, width: u32) -> Result<Value, Outcome> {
        let count = u64::from(width.div_ceil(8));
        if !address.symbolic && state.threads.is_none() {
            let (_, object, offset) = object_at(state, address.word, count, Access::Read)?;
            if object.symbolic_size.is_none() {
                if object.is_freely_readable() {
                    self.cache.add_readable(address.word, object);
                } else if let Some(written) = object.written_around(offset, count) {
                    self.cache.add_readable_part(address.word, object, written);
                }
                if width <= 64
                    && let Some(word) = object.read_concrete(offset, count)
                {
                    return Ok(Value::number(word & crate::expr::bits::mask(width)));
                }
                let graph = self.graph();
                let bits = object.read(graph, offset, count);
                let bits = graph.extract(bits, 0, width);
                return Ok(Value::of_bits(graph, bits));
            }
        }
        let location = self.locate(state, address, count, Access::Read)?;
        if let Offset::Known(offset) = location.offset {
            let object = state.memory.get(location.id).expect("a live object");
            if width <= 64
                && let Some(word) = object.read_concrete(offset, count)
            {
                return Ok(Value::number(word & crate::expr::bits::mask(width)));
            }
        }
        let bits = self.read_location(state, &location, count);
        let graph = self.graph();
        let bits = graph.extract(bits, 0, width);
        Ok(Value::of_bits(graph, bits))
    }

    /// Reads `count` bytes as a bit-vector.
    pub(super) fn read_location(&mut self, state: &State, location: &Location, count: u64) -> Expr {
        let object = state.memory.get(location.id).expect("a live object");
        match &location.offset {
            Offset::Known(offset) => object.read(self.graph(), *offset, count),
            Offset::Among { offset, set } => {
                // The object now has a derived array, which a write through the cache would not update.
                self.cache.drop_object(location.id);
                object.read_among(self.graph(), *offset, set, count)
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
        let location = self.locate(state, address, count, Access::Write)?;
        if let Offset::Known(offset) = location.offset
            && !value.symbolic
        {
            let object = state.memory.get_mut(location.id).expect("a live object");
            self.cache.drop_written(location.id, object, offset, count);
            // Only a second write of a byte is worth an entry, if others of the object were never written.
            let written = object.written_around(offset, count);
            object.write_concrete(offset, count, value.word);
            // Accesses are seen one by one once there are threads.
            if address.symbolic || state.threads.is_some() {
            } else if object.is_freely_writable() {
                self.cache.add_writable(address.word, object);
            } else if let Some(written) = written.filter(|_| object.is_changeable()) {
                self.cache.add_writable_part(address.word, object, written);
            }
            return Ok(());
        }
        let graph = self.graph();
        let bits = value.to_bits(graph, width);
        let bits = graph.zext(bits, 8 * count as u32);
        self.write_location(state, &location, bits);
        Ok(())
    }

    /// Writes a bit-vector of whole bytes.
    pub(super) fn write_location(&mut self, state: &mut State, location: &Location, bits: Expr) {
        self.cache.drop_object(location.id);
        let graph = self.graph();
        let object = state.memory.get_mut(location.id).expect("a live object");
        let count = graph.width(bits) / 8;
        match &location.offset {
            Offset::Known(offset) => object.write(graph, *offset, bits),
            Offset::Among { offset, set } if set.count() <= MAX_CHOICE_WRITES => {
                for place in set.values() {
                    let here = graph.word(64, place);
                    let here = graph.eq(*offset, here);
                    let old = object.read(graph, place, count.into());
                    let new = graph.ite(here, bits, old);
                    object.write(graph, place, new);
                }
            }
            Offset::Among { offset, set } => object.write_among(graph, *offset, set, bits),
        }
    }

    /// Reads a C string for the engine; symbolic bytes are concretised. Fails at the end of the object.
    pub(super) fn string_at(
        &mut self,
        state: &mut State,
        address: u64,
        what: &str,
    ) -> Result<Vec<u8>, Outcome> {
        let mut text = Vec::new();
        loop {
            if text.len().is_multiple_of(BYTES_PER_CHECK) {
                self.decider.check_limits()?;
            }
            let byte = self.load(state, Value::number(address.wrapping_add(text.len() as u64)), 8)?;
            match self.decider.concretise(state, byte, 8, what)? as u8 {
                0 => return Ok(text),
                byte => text.push(byte),
            }
        }
    }

    /// Reads a C string for a message; symbolic bytes have the values of the path model.
    pub(super) fn message_at(&mut self, state: &mut State, address: u64) -> Result<String, Outcome> {
        let mut text = Vec::new();
        loop {
            if text.len().is_multiple_of(BYTES_PER_CHECK) {
                self.decider.check_limits()?;
            }
            let byte = self.load(state, Value::number(address.wrapping_add(text.len() as u64)), 8)?;
            if byte.expr().is_some() {
                self.decider.settle(state);
            }
            match self.decider.evaluate_word(state, byte) as u8 {
                0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                byte => text.push(byte),
            }
        }
    }
}
