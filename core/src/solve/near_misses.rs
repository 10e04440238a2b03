//! Near misses: assignments that a complete layer met during its search and that satisfied part of a query.
//!
//! They are candidates for later queries. A complete layer puts them into this sink, which the chain owns; a layer above
//! takes them after it has passed a query on. What is not taken is dropped with the next query.

use crate::expr::{Bits, Expr, Graph, Model};
use crate::query::Path;

/// Near misses of the current query.
pub struct NearMisses {
    batches: Vec<Batch>,
    /// Limit of near misses from one solve.
    pub wanted: usize,
    /// Number of near misses that each solve must keep, whatever its own limit is: for baselines with a fixed number.
    pub exactly: Option<usize>,
}

impl Default for NearMisses {
    fn default() -> NearMisses {
        NearMisses { batches: Vec::new(), wanted: usize::MAX, exactly: None }
    }
}

/// Assignments of one solve. Rows are complete for the inputs of the query.
pub struct Batch {
    /// Path of the query.
    pub path: Path,
    rows: Rows,
}

enum Rows {
    /// One assignment per row: bit `i` is the value of the `i`-th traced input.
    Bits(Vec<Place>, Vec<Box<[u64]>>),
    Models(Vec<Model>),
}

/// A variable, or an element of an array variable, some of whose bits were traced.
pub struct Place {
    pub variable: Expr,
    /// Index of the element, for an array variable.
    pub index: Option<Bits>,
    pub width: u32,
    /// Traced bits: bit of the variable, bit of the row.
    pub bits: Vec<(u32, u32)>,
}

impl NearMisses {
    pub fn put(&mut self, path: Path, places: Vec<Place>, rows: Vec<Box<[u64]>>) {
        self.batches.push(Batch { path, rows: Rows::Bits(places, rows) });
    }

    pub fn put_models(&mut self, path: Path, models: Vec<Model>) {
        self.batches.push(Batch { path, rows: Rows::Models(models) });
    }

    /// Number of near misses that one solve should keep.
    pub fn limit(&self) -> usize {
        self.exactly.unwrap_or(self.wanted)
    }

    pub fn take(&mut self) -> Vec<Batch> {
        std::mem::take(&mut self.batches)
    }

    pub fn clear(&mut self) {
        self.batches.clear();
    }
}

impl Batch {
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Bits(_, rows) => rows.len(),
            Rows::Models(models) => models.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Assignment `row` as a model; inputs that the query does not mention are as in `model`.
    pub fn complete(&self, graph: &Graph, row: usize, mut model: Model) -> Model {
        let (places, row) = match &self.rows {
            Rows::Bits(places, rows) => (places, &rows[row]),
            Rows::Models(models) => {
                models[row].iter().for_each(|(variable, value)| model.set(variable, value.clone()));
                return model;
            }
        };
        for place in places {
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
