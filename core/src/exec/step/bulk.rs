//! Bytes moved in bulk, without a look at them and without a fork: symbolic contents as they are, symbolic places over
//! those that are possible, symbolic lengths as a choice at each byte. What is too long for that is tried length by
//! length and place by place.
use crate::exec::Engine;
use crate::exec::address::ObjectId;
use crate::exec::outcome::{Access, Outcome};
use crate::exec::resolve::{Place, Spot};
use crate::exec::state::State;
use crate::exec::value::Value;
use crate::expr::{Expr, Graph};
use std::sync::Arc;

/// Bytes that are moved as expressions: from or to a symbolic place, or so many or fewer.
const MAX_SYMBOLIC: u64 = 1 << 10;
/// Bytes moved as one expression.
const WORD: u64 = 8;

/// Bytes from an address to the end of its object.
#[derive(Clone, Copy)]
struct Room {
    id: ObjectId,
    offset: u64,
    bytes: u64,
}

impl Room {
    fn spot(self) -> Spot {
        Spot { id: self.id, place: Place::At(self.offset) }
    }
}

impl Spot {
    fn offset(&self, graph: &mut Graph) -> Expr {
        match &self.place {
            Place::At(offset) => graph.word(64, *offset),
            Place::Among { offset, .. } => *offset,
        }
    }

    /// The place `distance` bytes further on, which lies in the object too.
    fn further(&self, engine: &mut Engine, distance: u64) -> Spot {
        let place = match &self.place {
            Place::At(offset) => Place::At(offset + distance),
            Place::Among { offset, set } => {
                let graph = &mut engine.solver.graph;
                let skip = graph.word(64, distance);
                Place::Among { offset: graph.add(*offset, skip), set: set.plus(distance) }
            }
        };
        Spot { id: self.id, place }
    }
}

impl Engine {
    /// One offset for a place; other states take the others.
    pub(in crate::exec) fn one_place(
        &mut self,
        state: &mut State,
        spot: &Spot,
        why: &str,
    ) -> Result<u64, Outcome> {
        match &spot.place {
            Place::At(offset) => Ok(*offset),
            Place::Among { offset, .. } => {
                let value = Value::of(&self.solver.graph, *offset);
                self.each_value(state, value, 64, why)
            }
        }
    }

    /// Copies bytes. The ranges may overlap.
    pub(in crate::exec) fn copy_bytes(
        &mut self,
        state: &mut State,
        to: Value,
        from: Value,
        count: Value,
    ) -> Result<(), Outcome> {
        if self.copy_up_to(state, to, from, count)? {
            return Ok(());
        }
        let count = self.each_value(state, count, 64, "the length of a copy")?;
        if count == 0 {
            return Ok(());
        }
        let from = self.locate(state, from, count, Access::Read)?;
        let to = self.locate(state, to, count, Access::Write)?;
        let fixed = matches!((&from.place, &to.place), (Place::At(_), Place::At(_)));
        if !fixed && count <= MAX_SYMBOLIC {
            let mut words = Vec::new();
            for at in (0..count).step_by(WORD as usize) {
                let spot = from.further(self, at);
                words.push((at, self.read_spot(state, &spot, WORD.min(count - at))));
            }
            for (at, word) in words {
                let spot = to.further(self, at);
                self.write_spot(state, &spot, word);
            }
            return Ok(());
        }
        let start = self.one_place(state, &from, "the source of a copy")?;
        let at = self.one_place(state, &to, "the destination of a copy")?;
        self.cache.drop_object(to.id);
        // Holding the source makes the destination a copy where they are one object, so overlaps need no care.
        let source = Arc::clone(state.memory.get(from.id).expect("a live object"));
        let object = state.memory.get_mut(to.id).expect("a live object");
        object.copy_from(&mut self.solver.graph, at, &source, start, count);
        // The copy may have become shared, and been copied, above.
        self.cache.drop_object(from.id);
        Ok(())
    }

    pub(in crate::exec) fn set_bytes(
        &mut self,
        state: &mut State,
        to: Value,
        byte: Value,
        count: Value,
    ) -> Result<(), Outcome> {
        if self.set_up_to(state, to, byte, count)? {
            return Ok(());
        }
        let count = self.each_value(state, count, 64, "the length of a memset")?;
        if count == 0 {
            return Ok(());
        }
        let to = self.locate(state, to, count, Access::Write)?;
        if matches!(to.place, Place::Among { .. }) && count <= MAX_SYMBOLIC {
            for at in 0..count {
                let spot = to.further(self, at);
                let bits = byte.to_bits(&mut self.solver.graph, 8);
                self.write_spot(state, &spot, bits);
            }
            return Ok(());
        }
        let at = self.one_place(state, &to, "the destination of a memset")?;
        self.cache.drop_object(to.id);
        let object = state.memory.get_mut(to.id).expect("a live object");
        match byte.expr() {
            None => {
                object.touch();
                object.bytes[at as usize..(at + count) as usize].fill(byte.word as u8);
                object.uncover(at, count);
            }
            Some(e) => (at..at + count).for_each(|i| object.write(&self.solver.graph, i, e)),
        }
        Ok(())
    }

    /// What is left of the object at a concrete address, if the access is allowed there.
    fn room(&self, state: &State, address: Value, access: Access) -> Option<Room> {
        if address.symbolic {
            return None;
        }
        let (id, offset) = self.at(state, address.word, 0, access).ok()?;
        let size = state.memory.get(id).expect("a live object").size;
        Some(Room { id, offset, bytes: size - offset })
    }

    /// A symbolic length: ends the paths on which it goes past one of the rooms; then its least and greatest value.
    /// `None` if it may be long.
    fn bound_length(
        &mut self,
        state: &mut State,
        length: Expr,
        rooms: &[(Value, Room, Access)],
    ) -> Result<Option<(u64, u64)>, Outcome> {
        let set = self.solver.values(state.path, length);
        let (least, mut most) = set.min().zip(set.max()).expect("a length that is possible");
        for &(address, room, access) in rooms {
            if most > room.bytes {
                let graph = &mut self.solver.graph;
                let bytes = graph.word(64, room.bytes);
                let fits = graph.ule(length, bytes);
                let fault = self.fault(state, address.word, room.bytes + 1, access);
                self.require(state, fits, fault)?;
                most = room.bytes;
            }
        }
        Ok((most <= MAX_SYMBOLIC).then_some((least, most)))
    }

    /// Where a symbolic number of bytes, at least one, goes from a symbolic address on, and how many there can be. Ends
    /// the paths on which they leave the object.
    fn bound_place(
        &mut self,
        state: &mut State,
        to: Value,
        length: Expr,
        (least, most): (u64, u64),
    ) -> Result<Option<(Spot, u64)>, Outcome> {
        let spot = self.locate(state, to, least, Access::Write)?;
        let size = state.memory.get(spot.id).expect("a live object").size;
        let first = match &spot.place {
            Place::At(offset) => *offset,
            Place::Among { set, .. } => set.min().expect("an address that is possible"),
        };
        let most = most.min(size - first);
        let graph = &mut self.solver.graph;
        let (end, offset) = (graph.word(64, size), spot.offset(graph));
        let room = graph.sub(end, offset);
        let fits = graph.ule(length, room);
        let fault = self.symbolic_fault(state, spot.id, most + 1, Access::Write);
        self.require(state, fits, fault)?;
        Ok((most <= MAX_SYMBOLIC).then_some((spot, most)))
    }

    /// Writes the byte of `new` to each place below the length, one after another.
    fn write_up_to(
        &mut self,
        state: &mut State,
        to: &Spot,
        length: Expr,
        least: u64,
        new: impl IntoIterator<Item = Expr>,
    ) {
        let size = state.memory.get(to.id).expect("a live object").size;
        let object = crate::interval::Set::span(64, 0, size - 1);
        for (i, new) in (0..).zip(new) {
            let mut spot = to.further(self, i);
            if let Place::Among { set, .. } = &mut spot.place {
                *set = set.intersect(&object).set;
            }
            let byte = if i < least {
                new
            } else {
                let old = self.read_spot(state, &spot, 1);
                let graph = &mut self.solver.graph;
                let place = graph.word(64, i);
                let within = graph.ult(place, length);
                graph.ite(within, new, old)
            };
            self.write_spot(state, &spot, byte);
        }
    }

    /// A copy of symbolic length from a concrete address; false if that is not what it is.
    fn copy_up_to(
        &mut self,
        state: &mut State,
        to: Value,
        from: Value,
        count: Value,
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
            Some((_, target, _)) => (target.spot(), most),
            None if least == 0 => return Ok(false),
            None => match self.bound_place(state, to, length, (least, most))? {
                Some(bounded) => bounded,
                None => return Ok(false),
            },
        };
        let object = Arc::clone(state.memory.get(source.id).expect("a live object"));
        let graph = &mut self.solver.graph;
        let bytes: Vec<Expr> = (0..most).map(|i| object.read(graph, source.offset + i, 1)).collect();
        drop(object);
        self.write_up_to(state, &target, length, least, bytes);
        Ok(true)
    }

    /// Setting bytes at a concrete address, a symbolic number of them; false if that is not what it is.
    fn set_up_to(
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
        let bits = byte.to_bits(&mut self.solver.graph, 8);
        self.write_up_to(state, &target.spot(), length, least, (0..most).map(|_| bits));
        Ok(true)
    }
}
