//! What an object holds as one array, for places that are not known.
//!
//! An element is a grain of 1, 2, 4 or 8 bytes: what the access shows to be read and written together, so that an
//! array of `int` is an array of words and not of four times as many bytes. What does not fit the grain is put
//! together from the grains that it touches.
use crate::expr::{Bits, Expr, Graph};
use crate::interval::Set;
use std::sync::Arc;

/// Width of indices into contents as bytes.
pub const INDEX_WIDTH: u32 = 32;

/// The size of an element, as a power of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grain(u32);

impl Grain {
    pub const BYTE: Grain = Grain(0);
    /// Tables have elements of at most 64 bits.
    const LARGEST: Grain = Grain(3);

    /// The largest grain of which `count` bytes at each of these places are whole ones.
    pub fn of(places: &Set, count: u64) -> Grain {
        Grain(places.zeros_low().min(count.trailing_zeros()).min(Grain::LARGEST.0))
    }

    pub fn bytes(self) -> u64 {
        1 << self.0
    }

    fn bits(self) -> u32 {
        8 << self.0
    }

    /// The grain that has this byte.
    pub fn holding(self, byte: u64) -> u64 {
        byte >> self.0
    }

    /// With the lowest bits of a byte's place left out, so that every index is a place.
    fn index_width(self) -> u32 {
        INDEX_WIDTH - self.0
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Contents {
    pub array: Expr,
    pub grain: Grain,
}

impl Contents {
    /// Bytes, as inputs are.
    pub fn of_bytes(array: Expr) -> Contents {
        Contents { array, grain: Grain::BYTE }
    }

    /// Constants; the last grain is filled up with zeros, and so is what comes after it.
    pub fn of_constants(graph: &mut Graph, grain: Grain, bytes: &[u8]) -> Contents {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word: u64, &byte| word << 8 | u64::from(byte));
        let elements: Arc<[u64]> = bytes.chunks(grain.bytes() as usize).map(word).collect();
        let zero = graph.word(grain.bits(), 0);
        let zeros = graph.const_array(grain.index_width(), zero);
        Contents { array: graph.table_over(zeros, elements), grain }
    }

    /// `count` bytes at a place.
    pub fn read(&self, graph: &mut Graph, at: u64, count: u64) -> Expr {
        let first = self.grain.holding(at);
        let grains = self.grain.holding(at + count - 1) - first + 1;
        let index = graph.word(self.grain.index_width(), first);
        let word = graph.read(self.array, index, grains as u32);
        let low = at - first * self.grain.bytes();
        graph.extract(word, 8 * low as u32, 8 * count as u32)
    }

    /// `count` bytes at a place of 64 bits that is one of these.
    pub fn read_among(&self, graph: &mut Graph, place: Expr, places: &Set, count: u64) -> Expr {
        let touched = self.touched(graph, place, places, count);
        let word = graph.read(self.array, touched.index, touched.grains);
        let word = graph.lshr(word, touched.shift);
        graph.extract(word, 0, 8 * count as u32)
    }

    /// The contents after writing whole bytes at a place of 64 bits that is one of these.
    #[must_use]
    pub fn write_among(&self, graph: &mut Graph, place: Expr, places: &Set, bits: Expr) -> Contents {
        let count = u64::from(graph.width(bits) / 8);
        let Touched { index, grains, shift } = self.touched(graph, place, places, count);
        let width = grains * self.grain.bits();
        let mut word = graph.zext(bits, width);
        if graph.width(bits) < width {
            let old = graph.read(self.array, index, grains);
            let ones = graph.constant(Bits::ones(graph.width(bits)));
            let ones = graph.zext(ones, width);
            let ones = graph.shl(ones, shift);
            let others = graph.not(ones);
            let kept = graph.and(old, others);
            word = graph.shl(word, shift);
            word = graph.or(kept, word);
        }
        let mut array = self.array;
        for i in 0..grains {
            let skip = graph.word(self.grain.index_width(), i.into());
            let at = graph.add(index, skip);
            let element = graph.extract(word, i * self.grain.bits(), self.grain.bits());
            array = graph.store(array, at, element);
        }
        Contents { array, grain: self.grain }
    }

    /// The contents after writing one grain.
    #[must_use]
    pub fn with_grain(&self, graph: &mut Graph, number: u64, element: Expr) -> Contents {
        let index = graph.word(self.grain.index_width(), number);
        Contents { array: graph.store(self.array, index, element), grain: self.grain }
    }

    fn touched(&self, graph: &mut Graph, place: Expr, places: &Set, count: u64) -> Touched {
        let own = self.grain;
        let index = graph.extract(place, own.0, own.index_width());
        // By this much at most the first byte lies above the start of its grain.
        let fits = Grain::of(places, own.bytes()).bytes();
        let most = own.bytes() - fits;
        let grains = (most + count).div_ceil(own.bytes()) as u32;
        let width = grains * own.bits();
        let shift = if most == 0 {
            graph.word(width, 0)
        } else {
            let low = graph.extract(place, 0, own.0);
            let low = graph.zext(low, width);
            let eight = graph.word(width, 3);
            graph.shl(low, eight)
        };
        Touched { index, grains, shift }
    }
}

/// Grains that an access touches: from `index` on so many, and the bits of them below those that are accessed.
struct Touched {
    index: Expr,
    grains: u32,
    shift: Expr,
}
