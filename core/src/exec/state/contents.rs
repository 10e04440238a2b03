//! Contents of an object as one array, for symbolic offsets.
//!
//! An element (grain) has 1, 2, 4 or 8 bytes, chosen by the first access: an array of `int` becomes an array
//! of words, not of four times as many bytes. Accesses that do not fit the grain combine the elements they
//! overlap.
use crate::expr::{Bits, Expr, Graph, Sort};
use crate::interval::Set;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Index width of arrays of bytes.
pub const INDEX_WIDTH: u32 = 32;

/// Size of an array element, as a power of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grain(u32);

impl Grain {
    pub const BYTE: Grain = Grain(0);
    /// Constant tables have elements of at most 64 bits.
    const LARGEST: Grain = Grain(3);

    /// Largest grain that divides `count` bytes at each of these offsets into whole elements.
    pub fn of(places: &Set, count: u64) -> Grain {
        Grain(places.zeros_low().min(count.trailing_zeros()).min(Grain::LARGEST.0))
    }

    pub fn bytes(self) -> u64 {
        1 << self.0
    }

    fn bits(self) -> u32 {
        8 << self.0
    }

    /// Index of the element that has this byte.
    pub fn holding(self, byte: u64) -> u64 {
        byte >> self.0
    }

    /// Without the lowest bits of a byte offset, so that every index is valid.
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
    /// Contents made of bytes, as inputs have.
    pub fn of_bytes(array: Expr) -> Contents {
        Contents { array, grain: Grain::BYTE }
    }

    /// Contents made of constants. The last element and the indices after it are filled with zeros.
    pub fn of_constants(graph: &mut Graph, grain: Grain, bytes: &[u8]) -> Contents {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word: u64, &byte| word << 8 | u64::from(byte));
        let elements: Arc<[u64]> = bytes.chunks(grain.bytes() as usize).map(word).collect();
        let zero = graph.word(grain.bits(), 0);
        let zeros = graph.const_array(grain.index_width(), zero);
        Contents { array: graph.table_over(zeros, elements), grain }
    }

    /// Contents of the object at `base` before anything was written.
    pub fn undefined(graph: &mut Graph, base: u64, grain: Grain) -> Contents {
        let sort = Sort::Array { index: grain.index_width(), element: grain.bits() };
        Contents { array: graph.placeholder(&format!("{base:#x} {sort}"), sort), grain }
    }

    /// Contents of an object before anything was written, as an input of the path.
    pub fn unwritten(graph: &mut Graph, birth: NonZeroU64, size: u64) -> Contents {
        let sort = Sort::Array { index: INDEX_WIDTH, element: 8 };
        Contents::of_bytes(graph.unwritten(birth.get(), size, sort))
    }

    /// Contents whose bytes are all the same.
    pub fn filled_with(graph: &mut Graph, byte: Expr) -> Contents {
        Contents { array: graph.const_array(Grain::BYTE.index_width(), byte), grain: Grain::BYTE }
    }

    /// Reads `count` bytes at a known offset.
    pub fn read(&self, graph: &mut Graph, at: u64, count: u64) -> Expr {
        let first = self.grain.holding(at);
        let grains = self.grain.holding(at + count - 1) - first + 1;
        let index = graph.word(self.grain.index_width(), first);
        let word = graph.read(self.array, index, grains as u32);
        let low = at - first * self.grain.bytes();
        graph.extract(word, 8 * low as u32, 8 * count as u32)
    }

    /// Reads `count` bytes at a 64-bit offset that is one of `places`.
    pub fn read_among(&self, graph: &mut Graph, place: Expr, places: &Set, count: u64) -> Expr {
        let touched = self.touched(graph, place, places, count);
        let word = graph.read(self.array, touched.index, touched.grains);
        let word = graph.lshr(word, touched.shift);
        graph.extract(word, 0, 8 * count as u32)
    }

    /// Contents after writing whole bytes at a 64-bit offset that is one of `places`.
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

    /// Contents after writing one element.
    #[must_use]
    pub fn with_grain(&self, graph: &mut Graph, number: u64, element: Expr) -> Contents {
        let index = graph.word(self.grain.index_width(), number);
        Contents { array: graph.store(self.array, index, element), grain: self.grain }
    }

    fn touched(&self, graph: &mut Graph, place: Expr, places: &Set, count: u64) -> Touched {
        let own = self.grain;
        let index = graph.extract(place, own.0, own.index_width());
        // Largest distance of the first byte from the start of its element.
        let fits = Grain::of(places, own.bytes()).bytes();
        let most = own.bytes() - fits;
        let grains = (most + count).div_ceil(own.bytes()) as u32;
        let width = grains * own.bits();
        let shift = if most == 0 {
            graph.word(width, 0)
        } else {
            let low = graph.extract(place, 0, own.0);
            let low = graph.zext(low, width);
            let bits_per_byte = graph.word(width, 3);
            graph.shl(low, bits_per_byte)
        };
        Touched { index, grains, shift }
    }
}

/// Elements that an access overlaps, and the number of bits below the accessed ones.
struct Touched {
    index: Expr,
    grains: u32,
    shift: Expr,
}
