//! Bit ranges: adjacent bits of a variable, or of the concatenated elements of an array variable.
//!
//! A word read, its bytes and the fields that masks select are ranges of the same base. The table records which
//! ranges overlap, so ranges that share bits are never treated as independent. Ranges have dense numbers, the keys
//! of persistent maps.

use super::set::MAX_BITMAP_WIDTH;
use crate::expr::bits::mask;
use crate::expr::columns::Tile;
use crate::expr::walk::{Atom, element_range};
use crate::expr::{Alive, Bits, Expr, Graph, Model, Op, Sort};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Bits `low .. low + width` of `base`, at most 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BitRange {
    pub base: Expr,
    pub low: u64,
    pub width: u32,
}

impl BitRange {
    pub fn end(&self) -> u64 {
        self.low + u64::from(self.width)
    }

    /// Bits `low .. low + width` of this range.
    pub fn part(&self, low: u32, width: u32) -> BitRange {
        debug_assert!(low + width <= self.width);
        BitRange { low: self.low + u64::from(low), width, ..*self }
    }

    /// Returns true if this range contains `other`.
    pub fn covers(&self, other: &BitRange) -> bool {
        self.base == other.base && self.low <= other.low && other.end() <= self.end()
    }

    /// Value of these bits in a model.
    pub fn value(&self, graph: &Graph, model: &Model) -> u64 {
        match graph.sort(self.base) {
            Sort::Bool | Sort::Bits(_) => model.word(self.base) >> self.low & mask(self.width),
            Sort::Array { element, .. } => {
                let Some(array) = model.array(self.base) else { return 0 };
                let mut value: u128 = 0;
                let step = u64::from(element);
                let (first, last) = (self.low / step, (self.end() - 1) / step);
                for at in first..=last {
                    let bits = u128::from(array.get_word(at));
                    let place = (at * step) as i128 - i128::from(self.low);
                    value |= if place >= 0 { bits << place } else { bits >> -place };
                }
                value as u64 & mask(self.width)
            }
        }
    }

    /// Sets these bits in a model; the others keep their values.
    pub fn assign(&self, graph: &Graph, model: &mut Model, value: u64) {
        let ones = u128::from(mask(self.width));
        match graph.sort(self.base) {
            Sort::Bool | Sort::Bits(_) => {
                let old = u128::from(model.word(self.base));
                let new = old & !(ones << self.low) | u128::from(value) << self.low;
                model.set_bits(self.base, Bits::word(graph.width(self.base), new as u64));
            }
            Sort::Array { element, .. } => {
                let step = u64::from(element);
                let (first, last) = (self.low / step, (self.end() - 1) / step);
                let array = model.array_mut(graph, self.base);
                for at in first..=last {
                    let place = (at * step) as i128 - i128::from(self.low);
                    let (mine, bits) = if place >= 0 {
                        (ones >> place, u128::from(value) >> place)
                    } else {
                        (ones << -place, u128::from(value) << -place)
                    };
                    let new = u128::from(array.get_word(at)) & !mine | bits & mine;
                    array.set_word(at, new as u64 & mask(element));
                }
            }
        }
    }

    /// Binds a column of values of this range in a tile. The range is a whole variable or adjacent whole elements.
    pub fn bind(&self, graph: &Graph, tile: &mut Tile<'_>, column: &[u64]) {
        if !graph.is_array(self.base) {
            tile.bind(Atom::Variable(self.base), column);
            return;
        }
        let element = graph.width(self.base);
        let first = self.low / u64::from(element);
        for i in 0..self.width / element {
            let part: Vec<u64> = column.iter().map(|v| v >> (i * element) & mask(element)).collect();
            tile.bind(Atom::Element(self.base, first + u64::from(i)), &part);
        }
    }
}

/// The range of a variable, or of a read of an array variable at a constant index, if it has at most 64 bits.
pub fn leaf(graph: &Graph, e: Expr) -> Option<BitRange> {
    match graph.op(e) {
        Op::Var if !graph.is_array(e) && graph.width(e) <= 64 => {
            Some(BitRange { base: e, low: 0, width: graph.width(e) })
        }
        Op::Read if graph.width(e) <= 64 => {
            let (array, first, _) = element_range(graph, e)?;
            elements(graph, array, first, graph.width(e))
        }
        _ => None,
    }
}

/// Range of `width` bits that starts at element `first` of an array variable.
pub fn elements(graph: &Graph, array: Expr, first: u64, width: u32) -> Option<BitRange> {
    let low = first.checked_mul(graph.width(array).into()).filter(|low| *low < 1 << 60)?;
    Some(BitRange { base: array, low, width })
}

/// Like `leaf`, and also for an extract of a leaf. Leaves whose sets are bitmaps are not split: the bitmap
/// represents conditions on their bits exactly.
pub fn leaf_bits(graph: &Graph, e: Expr) -> Option<BitRange> {
    if graph.op(e) != Op::Extract {
        return leaf(graph, e);
    }
    let word = leaf(graph, graph.kid(e, 0)).filter(|word| word.width > MAX_BITMAP_WIDTH)?;
    Some(word.part(graph.extract_low(e), graph.width(e)))
}

/// The numbers of bit ranges, and which ranges overlap.
#[derive(Default)]
pub struct BitRanges {
    numbers: FxHashMap<BitRange, u32>,
    all: Vec<BitRange>,
    overlaps: Vec<Vec<u32>>,
    /// Numbers by base, lowest bit and width.
    in_order: BTreeMap<(Expr, u64, u32), u32>,
}

impl BitRanges {
    pub fn number(&mut self, range: BitRange) -> u32 {
        if let Some(&number) = self.numbers.get(&range) {
            return number;
        }
        let number = u32::try_from(self.all.len()).expect("fewer than 2^32 ranges");
        let (first, end) = ((range.base, range.low.saturating_sub(63), 0), (range.base, range.end(), 0));
        let near = self.in_order.range(first..end);
        let overlaps: Vec<u32> = near
            .filter(|((_, low, width), _)| low + u64::from(*width) > range.low)
            .map(|(_, &n)| n)
            .collect();
        for &other in &overlaps {
            self.overlaps[other as usize].push(number);
        }
        self.in_order.insert((range.base, range.low, range.width), number);
        self.numbers.insert(range, number);
        self.all.push(range);
        self.overlaps.push(overlaps);
        number
    }

    pub fn range(&self, number: u32) -> BitRange {
        self.all[number as usize]
    }

    /// Other ranges that share bits with this one.
    pub fn overlaps(&self, number: u32) -> &[u32] {
        &self.overlaps[number as usize]
    }

    /// The numbers of a dead base are not reused. Facts of live paths do not mention them.
    pub fn sweep(&mut self, alive: &Alive) {
        self.numbers.retain(|range, _| alive.has(range.base));
        self.in_order.retain(|(base, _, _), _| alive.has(*base));
    }

    /// Number of ranges that have been numbered.
    pub fn count(&self) -> usize {
        self.all.len()
    }
}
