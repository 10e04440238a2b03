//! Symbolic bytes over the concrete bytes of an object.
use crate::exec::state::bytes::{PAGE_BYTES, PAGE_SHIFT};
use crate::exec::state::contents::Contents;
use crate::expr::Expr;
use crate::persist::Map;
use smallvec::SmallVec;

/// Source of a byte that differs from the rest of its object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    /// The byte in `bytes`.
    Concrete,
    /// Byte `index` of the bit-vector `expr`.
    Part { expr: Expr, index: u32 },
    /// Never written: zero in `bytes`, a placeholder for readers.
    Unwritten,
}

/// Symbolic contents over the concrete bytes.
#[derive(Clone, Default)]
pub(super) struct Overlay {
    /// Contents where there is no cell; `None`: the concrete bytes.
    pub array: Option<Contents>,
    pub cells: Map<Cell>,
    /// Numbers of pages whose bytes are concrete where there is no cell, although there is an array.
    pub concrete_pages: Map<()>,
}

impl Overlay {
    pub fn has_concrete_page(&self, at: u64) -> bool {
        !self.concrete_pages.is_empty() && self.concrete_pages.get((at >> PAGE_SHIFT) as u32).is_some()
    }

    /// Makes the bytes from `from` to `to` (exclusive) concrete.
    pub fn mark_concrete(&mut self, from: u64, to: u64) {
        if self.array.is_none() {
            return self.remove_cells(from, to);
        }
        let mut at = from;
        while at < to {
            let end = (at + PAGE_BYTES) & !(PAGE_BYTES - 1);
            if at.is_multiple_of(PAGE_BYTES) && end <= to {
                self.remove_cells(at, end);
                self.concrete_pages.insert((at >> PAGE_SHIFT) as u32, ());
            } else if self.has_concrete_page(at) {
                self.remove_cells(at, end.min(to));
            } else {
                for i in at..end.min(to) {
                    self.cells.insert(i as u32, Cell::Concrete);
                }
            }
            at = end;
        }
    }

    fn remove_cells(&mut self, from: u64, to: u64) {
        let gone: SmallVec<[u32; 16]> = if to - from <= 8 {
            (from as u32..to as u32).collect()
        } else {
            let cells = self.cells.iter_from(from as u32).map(|(i, _)| i);
            cells.take_while(|i| u64::from(*i) < to).collect()
        };
        for i in gone {
            self.cells.remove(i);
        }
    }
}
