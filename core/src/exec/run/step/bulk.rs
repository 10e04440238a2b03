//! Bulk copies and fills, without reading the bytes and without forks: symbolic contents are copied, symbolic
//! offsets use arrays, symbolic lengths become a choice per byte. Longer ones fork over length and offset.
use crate::exec::outcome::{Class, Limit, Outcome};
use crate::exec::run::Machine;
use crate::exec::run::access::Access;
use crate::exec::run::access::{access_fault, object_at, symbolic_fault};
use crate::exec::run::resolve::{Location, Offset};
use crate::exec::state::State;
use crate::exec::state::address::ObjectId;
use crate::exec::state::value::Value;
use crate::expr::{Expr, Graph};
use std::sync::Arc;

/// Largest number of bytes moved as expressions, for a symbolic offset or length.
const MAX_SYMBOLIC_BYTES: u64 = 1 << 10;
/// Bytes moved as one expression.
const CHUNK_BYTES: u64 = 8;

/// Bytes from an address to the end of its object.
#[derive(Clone, Copy)]
struct Remaining {
    id: ObjectId,
    offset: u64,
    bytes: u64,
    /// Size of the object, if that is symbolic.
    size: Option<Expr>,
}

impl Remaining {
    fn location(self) -> Location {
        Location { id: self.id, offset: Offset::Known(self.offset) }
    }
}

impl Location {
    fn offset(&self, graph: &mut Graph) -> Expr {
        match &self.offset {
            Offset::Known(offset) => graph.word(64, *offset),
            Offset::Among { offset, .. } => *offset,
        }
    }

    /// The location `distance` bytes later, which is in the object too.
    fn advanced_by(&self, machine: &mut Machine, distance: u64) -> Location {
        let offset = match &self.offset {
            Offset::Known(offset) => Offset::Known(offset + distance),
            Offset::Among { offset, set } => {
                let graph = machine.graph();
                let skip = graph.word(64, distance);
                Offset::Among { offset: graph.add(*offset, skip), set: set.plus(distance) }
            }
        };
        Location { id: self.id, offset }
    }
}

/// Limit for a copy or fill of symbolic bytes that would take too much memory.
fn too_many_bytes(what: &str, count: u64) -> Outcome {
    Outcome::Limit {
        limit: Limit::Memory,
        message: format!("a {what} of {count} bytes with symbolic contents needs too much memory"),
    }
}

impl Machine {
    /// Binds the offset of a location; other states take the other offsets.
    pub(in crate::exec::run) fn fork_on_offset(
        &mut self,
        state: &mut State,
        location: &Location,
        why: &str,
    ) -> Result<u64, Outcome> {
        match &location.offset {
            Offset::Known(offset) => Ok(*offset),
            Offset::Among { offset, .. } => {
                let value = Value::of(self.decider.graph(), *offset);
                self.decider.fork_on_value(state, value, 64, why)
            }
        }
    }

    /// Copies bytes. Ranges that overlap and are not equal are a bug unless `overlap`.
    pub(in crate::exec::run) fn copy_bytes(
        &mut self,
        state: &mut State,
        to: Value,
        from: Value,
        count: Value,
        overlap: bool,
    ) -> Result<(), Outcome> {
        let count = self.decider.defined_value(state, count, "the length of a copy");
        let [to, from] = [to, from].map(|address| self.decider.defined_value(state, address, "an address"));
        if self.copy_symbolic_length(state, to, from, count, overlap)? {
            return Ok(());
        }
        let count = self.decider.fork_on_value(state, count, 64, "the length of a copy")?;
        if count == 0 {
            return Ok(());
        }
        let from = self.locate(state, from, count, Access::Read)?;
        let to = self.locate(state, to, count, Access::Write)?;
        if !overlap {
            let length = self.graph().word(64, count);
            self.check_overlap(state, &to, &from, length)?;
        }
        let fixed = matches!((&from.offset, &to.offset), (Offset::Known(_), Offset::Known(_)));
        if !fixed && count <= MAX_SYMBOLIC_BYTES {
            let mut words = Vec::new();
            for at in (0..count).step_by(CHUNK_BYTES as usize) {
                let location = from.advanced_by(self, at);
                words.push((at, self.read_location(state, &location, CHUNK_BYTES.min(count - at))));
            }
            for (at, word) in words {
                let location = to.advanced_by(self, at);
                self.write_location(state, &location, word);
            }
            return Ok(());
        }
        let start = self.fork_on_offset(state, &from, "the source of a copy")?;
        let at = self.fork_on_offset(state, &to, "the destination of a copy")?;
        self.cache.drop_object(to.id);
        // Holding the source makes `get_mut` copy the object if source and destination are the same, so
        // overlaps are safe.
        let source = Arc::clone(state.memory.get(from.id).expect("a live object"));
        let object = state.memory.get_mut(to.id).expect("a live object");
        let copied = object.copy_from(self.graph(), at, &source, start, count);
        // `get_mut` may have copied the object.
        self.cache.drop_object(from.id);
        copied.map_err(|_| too_many_bytes("copy", count))
    }

    /// Ends the paths on which two ranges overlap and are not equal. A copy of an object to itself is common, and
    /// harmless everywhere.
    fn check_overlap(
        &mut self,
        state: &mut State,
        to: &Location,
        from: &Location,
        length: Expr,
    ) -> Result<(), Outcome> {
        if to.id != from.id {
            return Ok(());
        }
        let graph = self.graph();
        let (to, from) = (to.offset(graph), from.offset(graph));
        let (after, before) = (graph.sub(to, from), graph.sub(from, to));
        let apart = [after, before].map(|distance| graph.ule(length, distance));
        let apart = graph.and(apart[0], apart[1]);
        let same = graph.eq(to, from);
        let fine = graph.or(apart, same);
        let outcome = Outcome::bug(
            Class::Overlap,
            "copy between overlapping ranges, which only memmove allows".to_string(),
        );
        self.decider.require(state, fine, outcome)
    }

    pub(in crate::exec::run) fn set_bytes(
        &mut self,
        state: &mut State,
        to: Value,
        byte: Value,
        count: Value,
    ) -> Result<(), Outcome> {
        let count = self.decider.defined_value(state, count, "the length of a memset");
        let to = self.decider.defined_value(state, to, "an address");
        if self.set_symbolic_length(state, to, byte, count)? {
            return Ok(());
        }
        let count = self.decider.fork_on_value(state, count, 64, "the length of a memset")?;
        if count == 0 {
            return Ok(());
        }
        let to = self.locate(state, to, count, Access::Write)?;
        if matches!(to.offset, Offset::Among { .. }) && count <= MAX_SYMBOLIC_BYTES {
            for at in 0..count {
                let location = to.advanced_by(self, at);
                let bits = byte.to_bits(self.graph(), 8);
                self.write_location(state, &location, bits);
            }
            return Ok(());
        }
        let at = self.fork_on_offset(state, &to, "the destination of a memset")?;
        self.cache.drop_object(to.id);
        let object = state.memory.get_mut(to.id).expect("a live object");
        match byte.expr() {
            None => object.fill(at, count, byte.word as u8),
            Some(e) => object
                .fill_symbolic(self.decider.graph_mut(), at, count, e)
                .map_err(|_| too_many_bytes("memset", count))?,
        }
        Ok(())
    }

    /// Bytes left in the object at a concrete address, if the access is allowed there.
    fn room(&self, state: &State, address: Value, access: Access) -> Option<Remaining> {
        if address.symbolic {
            return None;
        }
        let (id, _, offset) = object_at(state, address.word, 0, access).ok()?;
        let object = state.memory.get(id).expect("a live object");
        Some(Remaining { id, offset, bytes: object.size - offset, size: object.symbolic_size })
    }

    /// Ends the paths on which a symbolic length exceeds one of the rooms. Returns its least and greatest
    /// value; `None` if it may be long.
    fn bound_length(
        &mut self,
        state: &mut State,
        length: Expr,
        rooms: &[(Value, Remaining, Access)],
    ) -> Result<Option<(u64, u64)>, Outcome> {
        let set = self.decider.values(state, length);
        let (least, mut most) = set.min().zip(set.max()).expect("a length that is possible");
        for &(address, room, access) in rooms {
            if most > room.bytes || room.size.is_some() {
                let graph = self.graph();
                let bytes = graph.word(64, room.bytes);
                let mut fits = graph.ule(length, bytes);
                if let Some(size) = room.size {
                    let offset = graph.word(64, room.offset);
                    let end = graph.add(offset, length);
                    let below = graph.ule(end, size);
                    fits = graph.and(fits, below);
                }
                let fault = access_fault(state, address.word, room.bytes + 1, access);
                self.decider.require(state, fits, fault)?;
                most = most.min(room.bytes);
            }
        }
        Ok((most <= MAX_SYMBOLIC_BYTES).then_some((least, most)))
    }

    /// Location of a symbolic number of bytes, at least one, at a symbolic address, and their greatest
    /// number. Ends the paths on which they leave the object.
    fn bound_place(
        &mut self,
        state: &mut State,
        to: Value,
        length: Expr,
        (least, most): (u64, u64),
    ) -> Result<Option<(Location, u64)>, Outcome> {
        let location = self.locate(state, to, least, Access::Write)?;
        let object = state.memory.get(location.id).expect("a live object");
        let (size, bytes) = (object.size, object.size_value(self.decider.graph()));
        let first = match &location.offset {
            Offset::Known(offset) => *offset,
            Offset::Among { set, .. } => set.min().expect("an address that is possible"),
        };
        let most = most.min(size - first);
        let graph = self.graph();
        let (end, offset) = (bytes.to_bits(graph, 64), location.offset(graph));
        let room = graph.sub(end, offset);
        let fits = graph.ule(length, room);
        let fault = symbolic_fault(state, location.id, most + 1, Access::Write);
        self.decider.require(state, fits, fault)?;
        Ok((most <= MAX_SYMBOLIC_BYTES).then_some((location, most)))
    }

    /// Writes the bytes of `new` at the indices below the symbolic length.
    fn write_below_length(
        &mut self,
        state: &mut State,
        to: &Location,
        length: Expr,
        least: u64,
        new: impl IntoIterator<Item = Expr>,
    ) {
        let size = state.memory.get(to.id).expect("a live object").size;
        let object = crate::interval::Set::interval(64, 0, size - 1);
        for (i, new) in (0..).zip(new) {
            let mut location = to.advanced_by(self, i);
            if let Offset::Among { set, .. } = &mut location.offset {
                *set = set.intersect(&object).set;
            }
            let byte = if i < least {
                new
            } else {
                let old = self.read_location(state, &location, 1);
                let graph = self.graph();
                let place = graph.word(64, i);
                let within = graph.ult(place, length);
                graph.ite(within, new, old)
            };
            self.write_location(state, &location, byte);
        }
    }

    /// Copies a symbolic number of bytes from a concrete address. Returns false if the case does not apply.
    fn copy_symbolic_length(
        &mut self,
        state: &mut State,
        to: Value,
        from: Value,
        count: Value,
        overlap: bool,
    ) -> Result<bool, Outcome> {
        let Some(length) = count.expr() else { return Ok(false) };
        let Some(source) = self.room(state, from, Access::Read) else { return Ok(false) };
        let mut rooms = vec![(from, source, Access::Read)];
        match self.room(state, to, Access::Write) {
            Some(target) => rooms.push((to, target, Access::Write)),
            None if to.symbolic => {}
            None => return Ok(false),
        }
        let Some((least, most)) = self.bound_length(state, length, &rooms)? else { return Ok(false) };
        let (target, most) = match rooms.get(1) {
            Some((_, target, _)) => (target.location(), most),
            None if least == 0 => return Ok(false),
            None => match self.bound_place(state, to, length, (least, most))? {
                Some(bounded) => bounded,
                None => return Ok(false),
            },
        };
        if !overlap {
            self.check_overlap(state, &target, &source.location(), length)?;
        }
        let object = Arc::clone(state.memory.get(source.id).expect("a live object"));
        let graph = self.graph();
        let bytes: Vec<Expr> = (0..most).map(|i| object.read(graph, source.offset + i, 1)).collect();
        drop(object);
        self.write_below_length(state, &target, length, least, bytes);
        Ok(true)
    }

    /// Sets a symbolic number of bytes at a concrete address. Returns false if the case does not apply.
    fn set_symbolic_length(
        &mut self,
        state: &mut State,
        to: Value,
        byte: Value,
        count: Value,
    ) -> Result<bool, Outcome> {
        let Some(length) = count.expr() else { return Ok(false) };
        let Some(target) = self.room(state, to, Access::Write) else { return Ok(false) };
        let rooms = [(to, target, Access::Write)];
        let Some((least, most)) = self.bound_length(state, length, &rooms)? else { return Ok(false) };
        let bits = byte.to_bits(self.graph(), 8);
        self.write_below_length(state, &target.location(), length, least, (0..most).map(|_| bits));
        Ok(true)
    }
}
