//! Contents of an object as one array, for accesses at symbolic offsets.
//!
//! Concrete bytes are a table, or its start if the rest is mostly zeros; symbolic bytes, and bytes that were never
//! written, are elements over it. Only the part that an access may reach is built if the object is large.
use super::Object;
use crate::exec::state::bytes::{Bytes, PAGE_BYTES, PAGE_SHIFT};
use crate::exec::state::contents::{Contents, Grain};
use crate::expr::{Expr, Graph};

/// Objects up to this size are read as one array at symbolic offsets.
const SMALL_OBJECT_BYTES: u64 = 64;
/// Constants from the start to the last one are a table if at least one of this many bytes is in a page that exists.
const TABLE_SPARSENESS: u64 = 16;
/// Cost of an array element that is a write of its own, in elements of a table.
const WRITE_COST: u64 = 16;
/// Largest cost of an array; an object whose array would cost more is accessed at one known offset at a time.
const MAX_ARRAY_COST: u64 = 1 << 23;

/// How bytes that were never written are part of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnwrittenForm {
    /// There are none.
    None,
    /// They are elements over the others.
    Elements,
    /// The others are elements over them.
    Base,
}

/// End of the table for constants from `start` on, whose bytes are zero outside of these ranges.
fn table_end(start: u64, occupied: &[(u64, u64)]) -> u64 {
    let mut sum = 0;
    let mut end = start;
    for &(first, length) in occupied {
        sum += length;
        if first + length - start <= TABLE_SPARSENESS * sum {
            end = first + length;
        }
    }
    end
}

impl Object {
    /// Contents as one array: a table for plain bytes, with writes over it for the rest. Has this grain,
    /// unless the contents are an array already.
    pub(super) fn whole(&self, graph: &mut Graph, grain: Grain) -> Contents {
        let fixed = self.overlay.as_deref().is_some_and(|overlay| overlay.array.is_some());
        if let Some(whole) = self.whole.get().filter(|whole| fixed || whole.grain == grain) {
            return *whole;
        }
        let (contents, _) = self.array(graph, grain, 0, self.size);
        // An array of another grain is kept.
        let _ = self.whole.set(contents);
        contents
    }

    /// Contents from `from` to `to` (exclusive) as an array, and the offset of its index 0. The rest is left
    /// out if it is most of the object.
    pub(super) fn part(&self, graph: &mut Graph, grain: Grain, from: u64, to: u64) -> (Contents, u64) {
        if self.size <= SMALL_OBJECT_BYTES || (to - from) > self.size / 4 {
            return (self.whole(graph, grain), 0);
        }
        self.array(graph, grain, from, to)
    }

    fn array(&self, graph: &mut Graph, grain: Grain, from: u64, to: u64) -> (Contents, u64) {
        let overlay = self.overlay.as_deref();
        let has_array = overlay.is_some_and(|overlay| overlay.array.is_some());
        let unwritten = self.unwritten_form(from, to, has_array);
        let (mut contents, start) = match (overlay.and_then(|o| o.array), unwritten) {
            (Some(contents), _) => (contents, 0),
            (None, UnwrittenForm::Base) => (self.undefined(graph, grain), 0),
            (None, UnwrittenForm::None | UnwrittenForm::Elements) => {
                let start = grain.holding(from) * grain.bytes();
                (self.constants(graph, grain, start, to), start)
            }
        };
        let grain = contents.grain;
        let mut with_element = |number: u64| {
            let element = self.grain(graph, grain, number);
            contents = contents.with_grain(graph, number - grain.holding(start), element);
        };
        if let Some(record) = &self.unwritten {
            let mut last = None;
            let mut range = |(first, end): (u64, u64)| {
                for number in grain.holding(first)..=grain.holding(end - 1) {
                    if last.replace(number) != Some(number) {
                        with_element(number);
                    }
                }
            };
            match unwritten {
                UnwrittenForm::None => {}
                UnwrittenForm::Elements => record.ranges(from, to).for_each(&mut range),
                UnwrittenForm::Base => {
                    let mut at = 0;
                    for (first, end) in record.ranges(0, self.size).chain([(self.size, self.size)]) {
                        if at < first {
                            range((at, first));
                        }
                        at = end;
                    }
                }
            }
        }
        let Some(overlay) = overlay else { return (contents, start) };
        let pages = overlay.concrete_pages.iter_from((from >> PAGE_SHIFT) as u32);
        for (page, ()) in pages.take_while(|(page, ())| u64::from(*page) << PAGE_SHIFT < to) {
            let page = u64::from(page) << PAGE_SHIFT;
            let end = (page + PAGE_BYTES).min(self.size);
            (grain.holding(page)..=grain.holding(end - 1)).for_each(&mut with_element);
        }
        let mut last = None;
        for (at, _) in overlay.cells.iter_from(from as u32).take_while(|(at, _)| u64::from(*at) < to) {
            let number = grain.holding(at.into());
            if last.replace(number) != Some(number) && !overlay.has_concrete_page(at.into()) {
                with_element(number);
            }
        }
        (contents, start)
    }

    /// Concrete bytes from `start` to `to` (exclusive) as an array: a table, and single writes after its end.
    fn constants(&self, graph: &mut Graph, grain: Grain, start: u64, to: u64) -> Contents {
        let occupied = self.bytes.occupied(start, to);
        let end = table_end(start, &occupied);
        let mut bytes = vec![0; (end - start) as usize];
        self.bytes.read(start, &mut bytes);
        let mut contents = Contents::of_constants(graph, grain, &bytes);
        for (first, length) in occupied.into_iter().filter(|(first, _)| *first >= end) {
            for number in grain.holding(first)..=grain.holding(first + length - 1) {
                let at = number * grain.bytes();
                let word = self.bytes.word(at, grain.bytes().min(self.size - at));
                if word != 0 {
                    let element = graph.word(8 * grain.bytes() as u32, word);
                    contents = contents.with_grain(graph, number - grain.holding(start), element);
                }
            }
        }
        contents
    }

    /// Would the array for an access between `from` and `to` (exclusive) cost too much?
    pub fn is_too_large_for_array(&self, from: u64, to: u64) -> bool {
        if matches!(self.bytes, Bytes::Flat(_)) {
            return false;
        }
        let (from, to) = if (to - from) > self.size / 4 { (0, self.size) } else { (from, to) };
        let overlay = self.overlay.as_deref();
        let writes = overlay.map_or(0, |o| o.cells.len() as u64 + o.concrete_pages.len() as u64 * PAGE_BYTES);
        let has_array = overlay.is_some_and(|o| o.array.is_some());
        let occupied = if has_array { Vec::new() } else { self.bytes.occupied(from, to) };
        let end = table_end(from, &occupied);
        let after = occupied.iter().filter(|(first, _)| *first >= end).map(|(_, length)| length);
        let writes = writes + self.unwritten_bytes(from, to).min(to - from - self.unwritten_bytes(from, to));
        (end - from) + WRITE_COST * (writes + after.sum::<u64>()) > MAX_ARRAY_COST
    }

    /// Number of bytes from `from` to `to` (exclusive) that were never written.
    fn unwritten_bytes(&self, from: u64, to: u64) -> u64 {
        self.unwritten.as_ref().map_or(0, |unwritten| unwritten.ranges(from, to).map(|(a, b)| b - a).sum())
    }

    /// How the bytes that were never written become part of an array: whichever needs fewer elements.
    fn unwritten_form(&self, from: u64, to: u64, has_array: bool) -> UnwrittenForm {
        match self.unwritten_bytes(from, to) {
            0 => UnwrittenForm::None,
            count if has_array || count <= self.size - self.unwritten_bytes(0, self.size) => {
                UnwrittenForm::Elements
            }
            _ => UnwrittenForm::Base,
        }
    }

    /// Bytes of one element; zeros after the object's end.
    fn grain(&self, graph: &mut Graph, grain: Grain, number: u64) -> Expr {
        let first = number * grain.bytes();
        let word = self.read(graph, first, grain.bytes().min(self.size - first));
        graph.zext(word, 8 * grain.bytes() as u32)
    }
}
