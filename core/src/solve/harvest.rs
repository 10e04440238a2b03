//! Assignments that a complete layer met on its way to an answer, and which nearly satisfied the question: guesses
//! for later questions, never more than that. A layer above takes them after it has asked below; what nobody takes
//! is gone with the next question. Here it also says how many it wants, and learns what the answer has cost.

use crate::expr::{Bits, Expr, Graph, Model};
use crate::query::Path;

/// What the question under way has yielded so far.
pub struct Harvest {
    batches: Vec<Batch>,
    /// At most so many from one solve.
    pub wanted: usize,
    /// Nanoseconds that answers of complete layers took, about: reckoned from what they did, not from a clock, so that
    /// whoever goes by it does the same each time.
    pub work: u64,
    /// What a solve takes, about, times `AVERAGED`; 0 before the first.
    solving: u64,
}

/// What a solve takes is averaged over about so many.
const AVERAGED: u64 = 16;

impl Default for Harvest {
    fn default() -> Harvest {
        Harvest { batches: Vec::new(), wanted: usize::MAX, work: 0, solving: 0 }
    }
}

/// The assignments from one solve. Rows are complete for the question's own variables.
pub struct Batch {
    /// The path that was asked about.
    pub path: Path,
    places: Vec<Place>,
    /// One assignment each: bit `i` is the value of the `i`-th traced input.
    rows: Vec<Box<[u64]>>,
}

/// A variable, or an element of an array variable, some of whose bits were traced.
pub struct Place {
    pub variable: Expr,
    /// For an array variable.
    pub index: Option<Bits>,
    pub width: u32,
    /// Which bits, and where in a row.
    pub bits: Vec<(u32, u32)>,
}

impl Harvest {
    pub fn put(&mut self, path: Path, places: Vec<Place>, rows: Vec<Box<[u64]>>) {
        self.batches.push(Batch { path, places, rows });
    }

    /// A complete layer has answered, with so much work.
    pub(super) fn note_solve(&mut self, work: u64) {
        self.solving = match self.solving {
            0 => work * AVERAGED,
            known => known - known / AVERAGED + work,
        };
    }

    /// What a solve takes, about.
    pub(super) fn solving(&self) -> Option<u64> {
        (self.solving > 0).then_some(self.solving / AVERAGED)
    }

    pub fn take(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.batches)
    }

    pub fn clear(&mut self) {
        self.batches.clear();
        self.work = 0;
    }
}

impl Batch {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Assignment `row` as a model; what the question did not mention is as in `model`.
    pub fn complete(&self, graph: &Graph, row: usize, mut model: Model) -> Model {
        let row = &self.rows[row];
        for place in &self.places {
            let mut words = vec![0u64; place.width.div_ceil(64) as usize];
            for &(bit, at) in &place.bits {
                let value = row[at as usize / 64] >> (at % 64) & 1;
                words[bit as usize / 64] |= value << (bit % 64);
            }
            let bits = Bits::from_words(place.width, &words);
            match &place.index {
                None => model.set_bits(place.variable, bits),
                Some(index) => model.set_element(graph, place.variable, index, bits),
            }
        }
        model
    }
}
