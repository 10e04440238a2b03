//! Evaluation under many assignments at once: one column of values per node, one loop per operator.
//!
//! A `Plan` is compiled once from expressions (`plan.rs`); `Columns` is reusable memory; a `Tile` is one run
//! over a number of lanes (assignments): bind columns to variables and array elements, then read the results.
//! Unbound inputs are zero. The loops (`lanes.rs`) are `eval::word` with a fixed operator, so there is one
//! definition of operators; arrays (`arrays.rs`) and widths above 64 are evaluated per lane. A column with
//! the same value in all lanes is stored and computed once, so fixing all but one input is cheap. Tiles of
//! 256 to 1024 lanes stay in cache.

mod arrays;
mod assignment;
mod lanes;
mod memo;
mod plan;

pub use assignment::Assignment;
pub use memo::Memo;
pub use plan::Plan;

use super::walk::Atom;
use super::{ArrayValue, Bits, Expr, Model};
use plan::Step;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The values of one node: words up to 64 bits, `Bits` above.
#[derive(Clone, Default)]
struct Column {
    /// All lanes have the first value.
    same: bool,
    words: Vec<u64>,
    wides: Vec<Bits>,
}

impl Column {
    #[inline]
    fn word(&self, lane: usize) -> u64 {
        self.words[if self.same { 0 } else { lane }]
    }

    #[inline]
    fn wide(&self, lane: usize) -> &Bits {
        &self.wides[if self.same { 0 } else { lane }]
    }

    fn bits(&self, width: u32, lane: usize) -> Bits {
        if width <= 64 { Bits::word(width, self.word(lane)) } else { self.wide(lane).clone() }
    }

    fn set_same(&mut self, bits: &Bits) {
        self.same = true;
        if bits.width() <= 64 {
            self.words.clear();
            self.words.push(bits.low());
        } else {
            self.wides.clear();
            self.wides.push(bits.clone());
        }
    }

    /// Returns `lanes` words with arbitrary values.
    fn words_mut(&mut self, lanes: usize) -> &mut [u64] {
        self.same = false;
        self.words.resize(lanes, 0);
        &mut self.words
    }
}

/// Values of an array variable in each lane.
#[derive(Default)]
struct ArrayLanes {
    /// Empty if all elements are zero.
    values: Vec<Option<Arc<ArrayValue>>>,
    /// Elements bound individually, which take precedence over `values`.
    elements: FxHashMap<u64, Column>,
}

/// Reusable memory for evaluating plans. Create once, use `tile` for each run.
#[derive(Default)]
pub struct Columns {
    slots: Vec<Column>,
    arrays: Vec<ArrayLanes>,
    /// For each step: whether it is a word read that was bound as a whole.
    bound_reads: Vec<bool>,
    mask: Vec<u64>,
    computed: u64,
}

impl Columns {
    pub fn new() -> Columns {
        Columns::default()
    }

    /// Effort: number of values computed and bound.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Starts a run of `plan` over `lanes` assignments (at least one); all inputs are zero.
    pub fn tile<'a>(&'a mut self, plan: &'a Plan, lanes: usize) -> Tile<'a> {
        assert!(lanes > 0, "expected at least one lane, found none");
        if self.slots.len() < plan.slots {
            self.slots.resize_with(plan.slots, Column::default);
        }
        for (slot, bits) in &plan.constants {
            self.slots[*slot as usize].set_same(bits);
        }
        for leaf in &plan.leaves {
            self.slots[leaf.slot as usize].set_same(&Bits::zero(leaf.width));
        }
        self.arrays.clear();
        self.arrays.resize_with(plan.array_variables.len(), ArrayLanes::default);
        self.bound_reads.clear();
        self.bound_reads.resize(plan.steps.len(), false);
        Tile { memory: self, plan, lanes, done: 0 }
    }
}

/// One run of a plan: bind inputs (a later binding replaces an earlier one), then read results.
pub struct Tile<'a> {
    memory: &'a mut Columns,
    plan: &'a Plan,
    lanes: usize,
    /// Number of steps computed.
    done: usize,
}

impl Tile<'_> {
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Binds an atom of at most 64 bits to one value per lane; returns false if the plan does not depend on
    /// it. An `Atom::Array` cannot be bound to words: bind its elements, or use `bind_array`.
    pub fn bind(&mut self, atom: Atom, values: &[u64]) -> bool {
        assert_eq!(values.len(), self.lanes, "expected one value for each lane");
        self.memory.computed += self.lanes as u64;
        self.bind_column(atom, |column, lanes| column.words_mut(lanes).copy_from_slice(values))
    }

    /// Binds an atom to one value in all lanes.
    pub fn bind_same(&mut self, atom: Atom, value: &Bits) -> bool {
        self.bind_column(atom, |column, _| column.set_same(value))
    }

    /// Binds an atom of any width to one value per lane.
    pub fn bind_bits(&mut self, atom: Atom, values: &[Bits]) -> bool {
        assert_eq!(values.len(), self.lanes, "expected one value for each lane");
        self.bind_column(atom, |column, lanes| {
            if values[0].width() <= 64 {
                let words = column.words_mut(lanes);
                words.iter_mut().zip(values).for_each(|(to, from)| *to = from.low());
            } else {
                column.same = false;
                column.wides.clear();
                column.wides.extend_from_slice(values);
            }
        })
    }

    fn bind_column(&mut self, atom: Atom, fill: impl Fn(&mut Column, usize)) -> bool {
        debug_assert_eq!(self.done, 0, "bind before reading results");
        let mut known = false;
        if let Some(leaf) = self.plan.leaf(atom) {
            fill(&mut self.memory.slots[leaf as usize], self.lanes);
            known = true;
        }
        // Reads at computed indices look up elements in the array.
        if let Atom::Element(array, index) = atom
            && let Some(number) = self.plan.array_number(array)
        {
            fill(self.memory.arrays[number].elements.entry(index).or_default(), self.lanes);
            known = true;
        }
        known
    }

    /// Binds the word read `read`, a node of the plan at a constant index of an array variable, as a whole;
    /// the columns of its elements are then ignored by it. Returns false if the plan has no such node.
    pub fn bind_read(&mut self, read: Expr, values: &[u64]) -> bool {
        assert_eq!(values.len(), self.lanes, "expected one value for each lane");
        let Some(step) = self.plan.read_step(read) else {
            return match self.plan.element_of(read) {
                Some(atom) => self.bind(atom, values),
                None => false,
            };
        };
        self.memory.bound_reads[step] = true;
        let out = self.plan.steps[step].out();
        self.memory.slots[out as usize].words_mut(self.lanes).copy_from_slice(values);
        true
    }

    /// Binds an array variable to an array per lane (`None` is all zero); returns false if the plan does not
    /// depend on it.
    pub fn bind_array(&mut self, array: Expr, values: &[Option<Arc<ArrayValue>>]) -> bool {
        assert_eq!(values.len(), self.lanes, "expected one array for each lane");
        debug_assert_eq!(self.done, 0, "bind before reading results");
        let mut known = false;
        if let Some(number) = self.plan.array_number(array) {
            self.memory.arrays[number].values = values.to_vec();
            self.memory.arrays[number].elements.clear();
            known = true;
        }
        for leaf in self.plan.elements_of(array) {
            let Atom::Element(_, index) = leaf.atom else { continue };
            let index = Bits::word(leaf.index_width, index);
            let value = |v: &Option<Arc<ArrayValue>>| v.as_ref().map(|array| array.get(&index));
            let column = &mut self.memory.slots[leaf.slot as usize];
            if leaf.width <= 64 {
                let words = column.words_mut(self.lanes);
                for (to, from) in words.iter_mut().zip(values) {
                    *to = value(from).map_or(0, |bits| bits.low());
                }
            } else {
                column.same = false;
                column.wides.clear();
                let zero = || Bits::zero(leaf.width);
                column.wides.extend(values.iter().map(|from| value(from).unwrap_or_else(zero)));
            }
            known = true;
        }
        known
    }

    /// Binds all inputs to models, one model per lane.
    pub fn bind_models(&mut self, models: &[Model]) {
        assert_eq!(models.len(), self.lanes, "expected one model for each lane");
        for leaf in &self.plan.leaves {
            let Atom::Variable(v) = leaf.atom else { continue };
            let column = &mut self.memory.slots[leaf.slot as usize];
            if leaf.width <= 64 {
                let words = column.words_mut(self.lanes);
                words.iter_mut().zip(models).for_each(|(to, model)| *to = model.word(v));
            } else {
                column.same = false;
                column.wides.clear();
                column.wides.extend(models.iter().map(|model| model.bits(v, leaf.width)));
            }
        }
        let plan = self.plan;
        for &array in plan.arrays() {
            let values: Vec<_> = models.iter().map(|model| model.array(array).cloned()).collect();
            self.bind_array(array, &values);
        }
    }

    /// Computes the steps up to root `number`, including all earlier roots.
    fn run_to(&mut self, number: usize) {
        let end = self.plan.ends[number];
        while self.done < end {
            let at = self.done;
            if !self.memory.bound_reads[at] {
                let step = &self.plan.steps[at];
                let mut out = std::mem::take(&mut self.memory.slots[step.out() as usize]);
                self.compute(step, &mut out);
                self.memory.computed += if out.same { 1 } else { self.lanes as u64 };
                self.memory.slots[step.out() as usize] = out;
            }
            self.done += 1;
        }
    }

    fn compute(&self, step: &Step, out: &mut Column) {
        let slots = &self.memory.slots;
        let column = |slot: u32| &slots[slot as usize];
        match step {
            Step::Word { op, shape, args, .. } => {
                lanes::word(*op, *shape, args.map(column), self.lanes, out);
            }
            Step::Wide { op, shape, args, widths, .. } => {
                lanes::wide(*op, *shape, args.map(column), *widths, self.lanes, out);
            }
            Step::Elements { first, count, element, .. } => {
                let parts: Vec<&Column> = self.plan.element_slots(*first, *count).map(column).collect();
                lanes::join(&parts, *element, self.lanes, out);
            }
            Step::Read { array, index, shape, .. } => self.read(*array, *index, *shape, out),
            Step::EqualArrays { a, b, .. } => {
                let words = out.words_mut(self.lanes);
                for (lane, to) in words.iter_mut().enumerate() {
                    *to = (self.array_value(*a, lane) == self.array_value(*b, lane)) as u64;
                }
            }
        }
    }

    /// Returns the values of root `number` (a boolean or at most 64 bits wide), one per lane.
    pub fn words(&mut self, number: usize) -> &[u64] {
        self.run_to(number);
        let lanes = self.lanes;
        let column = &mut self.memory.slots[self.plan.roots[number] as usize];
        if column.same && lanes > 1 {
            let value = column.words[0];
            column.words.clear();
            column.words.resize(lanes, value);
            column.same = false;
        }
        &column.words[..lanes]
    }

    /// Returns the value of root `number`, of any width, in one lane.
    pub fn bits(&mut self, number: usize, lane: usize) -> Bits {
        self.run_to(number);
        let width = self.plan.root_widths[number];
        self.memory.slots[self.plan.roots[number] as usize].bits(width, lane)
    }

    /// Returns the lanes in which the boolean root `number` is true: lane i is bit i % 64 of word i / 64.
    pub fn truth(&mut self, number: usize) -> &[u64] {
        self.run_to(number);
        self.all_lanes();
        self.keep_true(number);
        &self.memory.mask
    }

    /// Returns the lanes in which all roots (booleans) are true. Stops at the first root that leaves none.
    pub fn satisfying(&mut self) -> &[u64] {
        self.all_lanes();
        for number in 0..self.plan.roots.len() {
            self.run_to(number);
            if !self.keep_true(number) {
                break;
            }
        }
        &self.memory.mask
    }

    fn all_lanes(&mut self) {
        let mask = &mut self.memory.mask;
        mask.clear();
        mask.resize(self.lanes.div_ceil(64), u64::MAX);
        if !self.lanes.is_multiple_of(64) {
            mask[self.lanes / 64] = (1 << (self.lanes % 64)) - 1;
        }
    }

    /// Removes the lanes in which the root is false from the mask; returns whether any is left.
    fn keep_true(&mut self, number: usize) -> bool {
        let column = &self.memory.slots[self.plan.roots[number] as usize];
        let mask = &mut self.memory.mask;
        if column.same {
            if column.words[0] == 0 {
                mask.fill(0);
            }
        } else {
            for (word, values) in mask.iter_mut().zip(column.words[..self.lanes].chunks(64)) {
                *word &= values.iter().enumerate().fold(0, |bits, (i, value)| bits | value << i);
            }
        }
        mask.iter().any(|&word| word != 0)
    }
}

/// Iterates over the lanes whose bits are set in a mask.
pub fn lanes_of(mask: &[u64]) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                at * 64 + bit
            })
        })
    })
}
