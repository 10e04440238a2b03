//! One object in memory: concrete bytes, overlaid by symbolic ones.
//!
//! A symbolic byte is the k-th byte of an expression, so that loading exactly what was stored returns the
//! same expression. After a write at a symbolic offset the contents are an array (`contents.rs`), overlaid by
//! later writes. An object without an overlay is plain bytes, which the inner loop reads directly.
//!
//! A large object costs what was written: its bytes are pages (`bytes.rs`), arrays leave out zeros, and whole pages are
//! made concrete at once.
mod array;
mod overlay;

use self::overlay::{Cell, Overlay};
use super::bytes::Bytes;
use super::contents::{Contents, Grain};
use super::unwritten::Unwritten;
use super::value::Value;
use crate::expr::{Expr, Graph};
use crate::interval::Set;
use crate::program::FuncId;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Storage class of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Global,
    Stack,
    Heap,
}

impl Kind {
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Global => "global variable",
            Kind::Stack => "local variable",
            Kind::Heap => "heap object",
        }
    }
}

/// Place that made an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    Instruction(FuncId, u32),
    /// Number of a global variable.
    Global(u32),
}

/// Operators of C++ that returned a heap object, which `malloc` made: `new[]` calls `new`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Made {
    pub by_new: bool,
    pub by_array_new: bool,
}

impl Made {
    /// Name of the function that returned it last.
    pub fn name(self) -> &'static str {
        match self {
            Made { by_array_new: true, .. } => "new[]",
            Made { by_new: true, .. } => "new",
            _ => "malloc",
        }
    }
}

#[derive(Clone)]
pub struct Object {
    pub base: u64,
    pub size: u64,
    /// Number of its bytes that may be accessed, at most `size`, if that is symbolic.
    pub symbolic_size: Option<Expr>,
    pub kind: Kind,
    pub readonly: bool,
    /// Message if the value is unsupported, or the object is not defined anywhere.
    pub unsupported: Option<Arc<str>>,
    /// Bytes of a frame of variadic arguments in which no argument was passed: reading them is a bug.
    pub not_passed: Box<[Range<u64>]>,
    /// A local variable whose block has ended: no access is allowed until it begins again.
    pub is_out_of_scope: bool,
    /// Made by code of the C library that synchronises itself (`run/threads`).
    pub is_internal: bool,
    /// Operators that returned a heap object.
    pub made: Made,
    /// Place that made it: of local and global variables, and of heap objects if leaks are checked.
    pub origin: Option<Origin>,
    pub bytes: Bytes,
    /// Concrete bytes that were never written.
    unwritten: Option<Unwritten>,
    /// Number of the object on its path, if bytes that were never written are inputs (`--uninitialized symbolic`).
    birth: Option<NonZeroU64>,
    overlay: Option<Box<Overlay>>,
    /// Contents as one array, valid until the next write.
    whole: OnceLock<Contents>,
}

/// Largest size of an object: offsets are keys of 32 bits.
pub const MAX_OBJECT_BYTES: u64 = 1 << 32;
/// Largest number of bytes that are copied out of an array one by one.
const MAX_BYTE_COPIES: u64 = 1 << 18;

/// Largest object whose versions are compared.
const MAX_COMPARED_BYTES: u64 = 1 << 16;

/// Largest object whose memory is kept for another one.
const MAX_RENEWED_BYTES: u64 = 256;

/// A change that would cost too much memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManySymbolicBytes;

impl Object {
    /// Object of zeros.
    pub fn new(base: u64, size: u64, kind: Kind) -> Object {
        Object::with_bytes(base, kind, size, Bytes::new(size))
    }

    /// Becomes a new object of zeros, in the memory that it has.
    pub fn renew(&mut self, base: u64, size: u64, kind: Kind) {
        let bytes = std::mem::replace(&mut self.bytes, Bytes::new(0));
        *self = Object::with_bytes(base, kind, size, bytes.renewed(size));
    }

    /// Is it worth keeping when it is no longer needed?
    pub fn is_renewable(&self) -> bool {
        self.size <= MAX_RENEWED_BYTES && self.is_plain()
    }

    fn with_bytes(base: u64, kind: Kind, size: u64, bytes: Bytes) -> Object {
        Object {
            base,
            size,
            symbolic_size: None,
            kind,
            readonly: false,
            unsupported: None,
            not_passed: Box::default(),
            is_out_of_scope: false,
            is_internal: false,
            made: Made::default(),
            origin: None,
            bytes,
            unwritten: None,
            birth: None,
            overlay: None,
            whole: OnceLock::new(),
        }
    }

    /// "heap object of 12 bytes".
    pub fn describe(&self) -> String {
        if self.symbolic_size.is_some() {
            return format!("{} of symbolic size", self.kind.noun());
        }
        format!("{} of {} {}", self.kind.noun(), self.size, if self.size == 1 { "byte" } else { "bytes" })
    }

    /// Number of its bytes.
    pub fn size_value(&self, graph: &Graph) -> Value {
        self.symbolic_size.map_or(Value::number(self.size), |size| Value::of(graph, size))
    }

    /// Makes all bytes of a new object unwritten: inputs, if it has a number.
    pub fn set_unwritten(&mut self, birth: Option<NonZeroU64>) {
        self.unwritten = Unwritten::all(self.size);
        self.birth = birth;
    }

    /// The block of a local variable begins: nothing was written to it.
    pub fn begin_scope(&mut self, birth: Option<NonZeroU64>) {
        self.is_out_of_scope = false;
        self.forget_array();
        self.overlay = None;
        self.bytes = Bytes::new(self.size);
        self.set_unwritten(birth);
    }

    /// Does it have the same contents as an earlier version of itself? False if it is too large to compare.
    pub fn has_contents_of(&self, other: &Object) -> bool {
        let array = |object: &Object| object.overlay.as_ref().and_then(|overlay| overlay.array);
        let arrays = match (array(self), array(other)) {
            (None, None) => true,
            (Some(a), Some(b)) => a.array == b.array && a.grain == b.grain,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let same_byte = |at: u64| match (self.cell(at), other.cell(at)) {
            (Some(Cell::Concrete), Some(Cell::Concrete)) => self.bytes.word(at, 1) == other.bytes.word(at, 1),
            (Some(Cell::Part { expr, index }), Some(Cell::Part { expr: e, index: i })) => {
                expr == e && index == i
            }
            (Some(Cell::Unwritten), Some(Cell::Unwritten)) | (None, None) => true,
            (None | Some(Cell::Concrete | Cell::Part { .. } | Cell::Unwritten), _) => false,
        };
        self.size == other.size
            && self.size <= MAX_COMPARED_BYTES
            && self.is_out_of_scope == other.is_out_of_scope
            && arrays
            && (0..self.size).all(same_byte)
    }

    /// Written bytes around this offset that may be accessed through the cache, if some bytes of the object were never
    /// written.
    pub fn written_around(&self, at: u64, count: u64) -> Option<Range<u64>> {
        let unwritten = self.unwritten.as_ref()?;
        if unwritten.meets(at, count) || !self.is_plain() || self.has_access_errors() {
            return None;
        }
        let (start, end) = match self.bytes {
            Bytes::Flat(_) => unwritten.written_around(at),
            Bytes::Paged(_) if unwritten.is_page_written(at) => (at, at + count),
            Bytes::Paged(_) => return None,
        };
        (at + count <= end).then_some(start..end)
    }

    /// Can an access in bounds be an error?
    pub fn has_access_errors(&self) -> bool {
        self.unsupported.is_some()
            || !self.not_passed.is_empty()
            || self.is_out_of_scope
            || self.symbolic_size.is_some()
    }

    /// Are all bytes concrete, as far as they were written?
    pub fn is_plain(&self) -> bool {
        self.overlay.is_none()
    }

    /// May `bytes` be read directly? True if all are concrete and no read is an error.
    pub fn is_freely_readable(&self) -> bool {
        self.is_plain() && self.unwritten.is_none() && !self.has_access_errors()
    }

    /// May `bytes` be changed directly? True if nothing is derived from them.
    pub fn is_freely_writable(&self) -> bool {
        self.is_freely_readable() && self.is_changeable()
    }

    /// May bytes that are cached for reading be changed too?
    pub fn is_changeable(&self) -> bool {
        self.whole.get().is_none() && !self.readonly
    }

    /// Drops the derived array; called before the contents change.
    pub fn forget_array(&mut self) {
        self.whole = OnceLock::new();
    }

    fn cell(&self, at: u64) -> Option<Cell> {
        let cell = match &self.overlay {
            None => Cell::Concrete,
            Some(overlay) => match overlay.cells.get(at as u32) {
                Some(cell) => *cell,
                None if overlay.array.is_none() || overlay.has_concrete_page(at) => Cell::Concrete,
                None => return None,
            },
        };
        match cell {
            Cell::Concrete if self.is_unwritten(at) => Some(Cell::Unwritten),
            Cell::Concrete | Cell::Part { .. } | Cell::Unwritten => Some(cell),
        }
    }

    fn is_unwritten(&self, at: u64) -> bool {
        self.unwritten.as_ref().is_some_and(|unwritten| unwritten.contains(at))
    }

    /// Reads `count` bytes from `at` on, if they are concrete.
    pub fn read_concrete(&self, at: u64, count: u64) -> Option<u64> {
        debug_assert!(count <= 8);
        let concrete = match &self.unwritten {
            _ if !self.is_plain() => (at..at + count).all(|i| matches!(self.cell(i), Some(Cell::Concrete))),
            None => true,
            Some(unwritten) => !unwritten.meets(at, count),
        };
        if !concrete {
            return None;
        }
        Some(self.bytes.word(at, count))
    }

    /// Reads `count` bytes from `at` on as a bit-vector, the first one lowest.
    pub fn read(&self, graph: &mut Graph, at: u64, count: u64) -> Expr {
        let mut result: Option<Expr> = None;
        let mut i = at;
        while i < at + count {
            let (piece, length) = self.piece(graph, i, at + count - i);
            result = Some(match result {
                None => piece,
                Some(low) => graph.concat(piece, low),
            });
            i += length;
        }
        result.expect("at least one byte")
    }

    /// Longest run from `at` on, at most `limit` bytes, that has one source.
    fn piece(&self, graph: &mut Graph, at: u64, limit: u64) -> (Expr, u64) {
        let mut length = 1;
        match self.cell(at) {
            None => {
                while length < limit && self.cell(at + length).is_none() {
                    length += 1;
                }
                let contents = self.overlay.as_ref().and_then(|o| o.array).expect("a byte of the array");
                (contents.read(graph, at, length), length)
            }
            Some(Cell::Concrete) => {
                while length < limit.min(8) && matches!(self.cell(at + length), Some(Cell::Concrete)) {
                    length += 1;
                }
                let word = self.read_concrete(at, length).expect("concrete bytes");
                (graph.word(8 * length as u32, word), length)
            }
            Some(Cell::Unwritten) => {
                while length < limit && matches!(self.cell(at + length), Some(Cell::Unwritten)) {
                    length += 1;
                }
                (self.undefined(graph, Grain::BYTE).read(graph, at, length), length)
            }
            Some(Cell::Part { expr, index }) => {
                let next = |length: u64| match self.cell(at + length) {
                    Some(Cell::Part { expr: e, index: i }) => {
                        e == expr && u64::from(i) == u64::from(index) + length
                    }
                    Some(Cell::Concrete | Cell::Unwritten) | None => false,
                };
                while length < limit && next(length) {
                    length += 1;
                }
                (graph.extract(expr, 8 * index, 8 * length as u32), length)
            }
        }
    }

    /// Writes the low `count` bytes of a number.
    pub fn write_concrete(&mut self, at: u64, count: u64, word: u64) {
        self.forget_array();
        self.bytes.write(at, &word.to_le_bytes()[..count as usize]);
        self.mark_concrete(at, count);
    }

    /// Writes concrete bytes.
    pub fn write_bytes(&mut self, at: u64, from: &[u8]) {
        self.forget_array();
        self.bytes.write(at, from);
        self.mark_concrete(at, from.len() as u64);
    }

    /// Sets `count` bytes to one concrete value.
    pub fn fill(&mut self, at: u64, count: u64, byte: u8) {
        self.forget_array();
        self.bytes.fill(at, count, byte);
        self.mark_concrete(at, count);
    }

    /// Makes `count` bytes from `at` on concrete: those in `bytes`.
    fn mark_concrete(&mut self, at: u64, count: u64) {
        self.mark_written(at, count);
        self.remove_overlay(at, count);
    }

    /// Makes `count` bytes from `at` on those in `bytes`, as far as they were written.
    fn remove_overlay(&mut self, at: u64, count: u64) {
        let Some(overlay) = &mut self.overlay else { return };
        if count == self.size {
            self.overlay = None;
            return;
        }
        overlay.mark_concrete(at, at + count);
        if overlay.array.is_none() && overlay.cells.is_empty() {
            self.overlay = None;
        }
    }

    fn mark_written(&mut self, at: u64, count: u64) {
        if let Some(unwritten) = &mut self.unwritten
            && !unwritten.write(at, count)
        {
            self.unwritten = None;
        }
    }

    /// Contents of which nothing is defined.
    fn undefined(&self, graph: &mut Graph, grain: Grain) -> Contents {
        match self.birth {
            None => Contents::undefined(graph, self.base, grain),
            Some(birth) => Contents::unwritten(graph, birth, self.size),
        }
    }

    /// Writes a bit-vector of whole bytes.
    pub fn write(&mut self, graph: &Graph, at: u64, value: Expr) {
        if let Some(word) = graph.const_word(value) {
            return self.write_concrete(at, u64::from(graph.width(value) / 8), word);
        }
        self.forget_array();
        self.mark_written(at, u64::from(graph.width(value) / 8));
        let overlay = self.overlay.get_or_insert_default();
        for index in 0..graph.width(value) / 8 {
            overlay.cells.insert(at as u32 + index, Cell::Part { expr: value, index });
        }
    }

    /// Reads `count` bytes at a 64-bit offset that is one of `places`, as a bit-vector.
    pub fn read_among(&self, graph: &mut Graph, place: Expr, places: &Set, count: u64) -> Expr {
        let (least, most) = places.min().zip(places.max()).expect("a place that is possible");
        let (contents, start) = self.part(graph, Grain::of(places, count), least, most + count);
        let from = graph.word(64, start);
        let place = graph.sub(place, from);
        contents.read_among(graph, place, &places.plus(start.wrapping_neg()), count)
    }

    /// Writes whole bytes at a 64-bit offset that is one of `places`.
    pub fn write_among(&mut self, graph: &mut Graph, place: Expr, places: &Set, bits: Expr) {
        let grain = Grain::of(places, u64::from(graph.width(bits) / 8));
        let contents = self.whole(graph, grain).write_among(graph, place, places, bits);
        self.set_contents(contents);
    }

    /// Replaces the contents.
    pub fn set_contents(&mut self, contents: Contents) {
        self.whole = contents.into();
        self.unwritten = None;
        self.overlay = Some(Box::new(Overlay { array: Some(contents), ..Overlay::default() }));
    }

    /// Copies `count` bytes, concrete or symbolic, from another object (or from a copy of this one). The copy of a byte
    /// that was never written is such a byte, or the same input.
    ///
    /// # Errors
    /// Too many of them are elements of an array.
    pub fn copy_from(
        &mut self,
        graph: &mut Graph,
        at: u64,
        from: &Object,
        start: u64,
        count: u64,
    ) -> Result<(), TooManySymbolicBytes> {
        let inputs = from.unwritten.as_ref().filter(|_| from.birth.is_some());
        let inputs: Vec<_> =
            inputs.map_or(Vec::new(), |record| record.ranges(start, start + count).collect());
        if inputs.iter().map(|(first, end)| end - first).sum::<u64>() > MAX_BYTE_COPIES {
            return Err(TooManySymbolicBytes);
        }
        self.copy_contents(graph, at, from, start, count)?;
        for (first, end) in inputs {
            for i in (first..end).step_by(8) {
                let bits = from.read(graph, i, (end - i).min(8));
                self.write(graph, at + (i - start), bits);
            }
        }
        Ok(())
    }

    fn copy_contents(
        &mut self,
        graph: &mut Graph,
        at: u64,
        from: &Object,
        start: u64,
        count: u64,
    ) -> Result<(), TooManySymbolicBytes> {
        self.forget_array();
        self.bytes.copy(at, &from.bytes, start, count);
        let Some(source) = from.overlay.as_deref() else {
            self.remove_overlay(at, count);
            self.copy_unwritten(at, from, start, count);
            return Ok(());
        };
        if (at, start, count) == (0, 0, from.size) && (self.is_plain() || count == self.size) {
            self.copy_unwritten(at, from, start, count);
            let mut overlay = source.clone();
            if overlay.array.is_some() {
                overlay.mark_concrete(count, self.size);
            }
            self.overlay = Some(Box::new(overlay));
            return Ok(());
        }
        if source.array.is_some() && count > MAX_BYTE_COPIES {
            return Err(TooManySymbolicBytes);
        }
        self.remove_overlay(at, count);
        let cells = source.cells.iter_from(start as u32).take_while(|(i, _)| u64::from(*i) < start + count);
        for (i, cell) in cells {
            if let Cell::Part { .. } = cell {
                // The record of the source, copied below, has no such byte.
                let to = at + (u64::from(i) - start);
                self.overlay.get_or_insert_default().cells.insert(to as u32, *cell);
            }
        }
        if source.array.is_some() {
            for i in (0..count).filter(|i| from.cell(start + i).is_none()) {
                let byte = from.read(graph, start + i, 1);
                self.write(graph, at + i, byte);
            }
        }
        self.copy_unwritten(at, from, start, count);
        Ok(())
    }

    /// Makes the copies of bytes that were never written such bytes too, and the others written.
    fn copy_unwritten(&mut self, at: u64, from: &Object, start: u64, count: u64) {
        let Some(source) = &from.unwritten else { return self.mark_written(at, count) };
        let mut next = start;
        for (first, end) in source.ranges(start, start + count) {
            let size = self.size;
            let record = self.unwritten.get_or_insert_with(|| {
                let mut record = Unwritten::all(size).expect("the object has bytes");
                let _ = record.write(0, size);
                record
            });
            record.erase(at + (first - start), end - first);
            self.mark_written(at + (next - start), first - next);
            next = end;
        }
        self.mark_written(at + (next - start), start + count - next);
    }

    /// Sets `count` bytes to one symbolic byte.
    ///
    /// # Errors
    /// There are too many of them.
    pub fn fill_symbolic(
        &mut self,
        graph: &mut Graph,
        at: u64,
        count: u64,
        byte: Expr,
    ) -> Result<(), TooManySymbolicBytes> {
        if count > MAX_BYTE_COPIES && count == self.size {
            self.set_contents(Contents::filled_with(graph, byte));
            return Ok(());
        }
        if count > MAX_BYTE_COPIES {
            return Err(TooManySymbolicBytes);
        }
        (at..at + count).for_each(|i| self.write(graph, i, byte));
        Ok(())
    }

    /// The array that it was made of or changed into, if there is one; some bytes may be others.
    pub fn contents(&self) -> Option<Expr> {
        Some(self.overlay.as_ref()?.array.as_ref()?.array)
    }

    /// Adds the expressions it refers to.
    pub fn roots(&self, visit: &mut dyn FnMut(Expr)) {
        self.symbolic_size.into_iter().for_each(&mut *visit);
        self.whole.get().map(|whole| whole.array).into_iter().for_each(&mut *visit);
        if let Some(overlay) = &self.overlay {
            overlay.array.map(|contents| contents.array).into_iter().for_each(&mut *visit);
            for (_, cell) in overlay.cells.iter() {
                match cell {
                    Cell::Concrete | Cell::Unwritten => {}
                    Cell::Part { expr, .. } => visit(*expr),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::state::contents::INDEX_WIDTH;
    use crate::expr::{Bits, Evaluator, Model, Sort};
    use crate::random::Random;

    fn object(size: u64) -> Object {
        Object::new(4096, size, Kind::Heap)
    }

    #[test]
    fn a_load_returns_the_stored_expression() {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let mut o = object(8);
        o.write(&g, 2, x);
        assert_eq!(o.read(&mut g, 2, 4), x);
        let upper = g.extract(x, 16, 16);
        assert_eq!(o.read(&mut g, 4, 2), upper);
        assert_eq!(o.read_concrete(2, 1), None);
        assert_eq!(o.read_concrete(6, 2), Some(0));
        o.write_concrete(2, 4, 0xdead_beef);
        assert!(o.is_plain(), "the last symbolic byte is gone");
        assert_eq!(o.read_concrete(2, 4), Some(0xdead_beef));
    }

    /// The array of the whole object agrees with single reads, after every kind of write.
    #[test]
    fn the_whole_array_has_all_bytes() {
        let mut g = Graph::new();
        let input = g.var("in", Sort::Array { index: INDEX_WIDTH, element: 8 }).unwrap();
        let x = g.var("x", Sort::Bits(16)).unwrap();
        let i = g.var("i", Sort::Bits(INDEX_WIDTH)).unwrap();
        let mut o = object(6);
        o.write_concrete(0, 2, 0x0102);
        o.write(&g, 1, x);
        let byte = g.word(8, 7);
        let place = g.zext(i, 64);
        o.write_among(&mut g, place, &Set::interval(64, 0, 5), byte);
        o.write_concrete(5, 1, 9);
        let mut other = object(6);
        other.set_contents(Contents::of_bytes(input));
        other.copy_from(&mut g, 2, &o, 0, 4).unwrap();
        let mut model = Model::new();
        model.set_bits(x, Bits::word(16, 0xabcd));
        model.set_bits(i, Bits::word(INDEX_WIDTH, 2));
        for (object, expected) in [(&mut o, [2, 0xcd, 7, 0, 0, 9]), (&mut other, [0, 0, 2, 0xcd, 7, 0])] {
            let whole = object.whole(&mut g, Grain::BYTE).array;
            for at in 0..6 {
                let single = object.read(&mut g, at, 1);
                let index = g.word(INDEX_WIDTH, at);
                let selected = g.select(whole, index);
                let mut evaluator = Evaluator::new();
                let mut session = evaluator.under(&g, &model);
                assert_eq!(session.word(single), expected[at as usize], "byte {at}");
                assert_eq!(session.word(selected), expected[at as usize], "byte {at} of the whole");
            }
        }
    }

    /// A part of a large object has its bytes at their offsets, symbolic ones too, and leaves out the rest.
    #[test]
    fn a_part_has_its_bytes() {
        let mut g = Graph::new();
        let x = g.var("x", Sort::Bits(32)).unwrap();
        let input = g.var("in", Sort::Array { index: INDEX_WIDTH, element: 8 }).unwrap();
        let mut plain = object(1000);
        (0..1000).for_each(|at| plain.write_concrete(at, 1, at % 251));
        plain.write(&g, 302, x);
        let mut over = plain.clone();
        over.set_contents(Contents::of_bytes(input));
        over.write(&g, 305, x);
        over.write_concrete(310, 1, 7);
        let mut model = Model::new();
        model.set_bits(x, Bits::word(32, 0xa1b2_c3d4));
        for object in [&plain, &over] {
            let (Contents { array, .. }, start) = object.part(&mut g, Grain::BYTE, 300, 316);
            for at in 300..316 {
                let (single, index) = (object.read(&mut g, at, 1), g.word(INDEX_WIDTH, at - start));
                let selected = g.select(array, index);
                let mut evaluator = Evaluator::new();
                let mut session = evaluator.under(&g, &model);
                assert_eq!(session.word(selected), session.word(single), "byte {at}");
            }
        }
        let (Contents { array, .. }, start) = plain.part(&mut g, Grain::BYTE, 500, 508);
        assert_eq!((g.op(array), start), (crate::expr::Op::Table, 500));
        assert_eq!(g.table(array).elements.len(), 8);
        assert_eq!(plain.part(&mut g, Grain::BYTE, 0, 900).1, 0, "a large part is the whole");
    }

    /// Accesses of every size and alignment, at known and symbolic offsets, agree with memory made of bytes,
    /// for every grain.
    #[test]
    fn words_at_symbolic_offsets_agree_with_bytes() {
        const SIZE: u64 = 27;
        let mut random = Random::new(7);
        let mut grains = [0; 4];
        for round in 0..400 {
            let mut g = Graph::new();
            let mut model = Model::new();
            let (mut o, mut expected) = (object(SIZE), [0u8; SIZE as usize]);
            if round % 4 == 0 {
                let input = g.var("in", Sort::Array { index: INDEX_WIDTH, element: 8 }).unwrap();
                o.set_contents(Contents::of_bytes(input));
            }
            for step in 0..8 {
                let (count, aligned) = (1 << random.below(4), 1 << random.below(4));
                let at = random.below((SIZE - count) / aligned + 1) * aligned;
                let name = format!("v{step}");
                let value = g.var(&name, Sort::Bits(8 * count as u32)).unwrap();
                let bits = Bits::word(8 * count as u32, random.word());
                let places: Vec<u64> = (0..=SIZE - count).step_by(aligned as usize).collect();
                let places = Set::from_values(64, places).set;
                let place = g.var(&format!("p{step}"), Sort::Bits(64)).unwrap();
                model.set_bits(place, Bits::word(64, at));
                model.set_bits(value, bits.clone());
                let bytes = at as usize..(at + count) as usize;
                if random.below(2) == 0 {
                    expected[bytes.clone()].copy_from_slice(&bits.low().to_le_bytes()[..count as usize]);
                    match random.below(3) {
                        0 => o.write_concrete(at, count, bits.low()),
                        1 => o.write(&g, at, value),
                        _ => o.write_among(&mut g, place, &places, value),
                    }
                }
                let read = match random.below(2) {
                    0 => o.read(&mut g, at, count),
                    _ => o.read_among(&mut g, place, &places, count),
                };
                let found = Evaluator::new().under(&g, &model).word(read);
                let right = expected[bytes].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                assert_eq!(found, right, "round {round}, step {step}: {count} bytes at {at}");
            }
            if let Some(contents) = o.overlay.as_deref().and_then(|overlay| overlay.array) {
                grains[contents.grain.bytes().trailing_zeros() as usize] += 1;
            }
        }
        assert!(grains.iter().all(|&count| count > 10), "{grains:?}");
    }
}
