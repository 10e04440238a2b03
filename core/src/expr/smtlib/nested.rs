//! Arrays as words: elements and indices of other arrays, arguments and results of functions.
//!
//! An array with few values is the concatenation of its elements. Any other has a number: the table of its sort
//! holds pairs of a number and the array that it stands for, and `Symbols::side_constraints` says of every two pairs
//! that the numbers are equal exactly if the arrays are. A new pair restricts nothing: its number, or its array, is a
//! new variable, and there are more numbers than pairs and more arrays than numbers. So the constraints can be
//! added to every check, and an element that no pair mentions stands for an array of its own.
//!
//! Arrays of floating-point numbers or rounding modes are always numbered, so that a number stands for one value
//! whatever the bits of NaN. Their equality is that of `array_equality.rs`: over all values of a small index, otherwise
//! of bits, with an index at which arrays that are not equal differ visibly.

use super::Symbols;
use super::term_sort::{IDENTITY_WIDTH, ROUNDING_WIDTH, WordSort};
use crate::expr::{ArrayValue, Bits, Evaluator, Expr, Graph, Model, Sort, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An array sort as a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Nested {
    /// Position in the table of nested sorts.
    pub(super) place: u32,
    pub(super) width: u32,
}

/// Most bits of an array that is represented by its elements.
const MAX_SPELLED: u64 = IDENTITY_WIDTH as u64;

/// Greatest width of an index whose values are listed to compare arrays of numbers.
const MAX_LISTED_WIDTH: u32 = 4;

/// Bits of the number of an array.
const NUMBER_WIDTH: u32 = IDENTITY_WIDTH + 1;

#[derive(Clone, Copy)]
enum New {
    /// The number is a variable made for the array.
    Number,
    /// The array is a variable made for the number.
    Array,
}

#[derive(Clone, Copy)]
struct Pair {
    number: Expr,
    array: Expr,
    new: New,
    place: u32,
}

#[derive(Default)]
pub(super) struct NestedSorts {
    /// Index and element of each sort.
    sorts: Vec<(WordSort, WordSort)>,
    /// Pairs of all sorts in the order of their creation: a pair only uses variables of earlier ones.
    pairs: Vec<Pair>,
    array_of: FxHashMap<Expr, Expr>,
    number_of: FxHashMap<Expr, Expr>,
    /// Sort, number and array of each pair under the current model, and of numbers without a pair that were asked for.
    values: Vec<(u32, Bits, Arc<ArrayValue>)>,
    /// Number of pairs that have values.
    valued: usize,
    /// An index at which two arrays of numbers differ visibly if they are not equal.
    witnesses: FxHashMap<(Expr, Expr), Expr>,
}

impl NestedSorts {
    pub(super) fn parts(&self, nested: Nested) -> (WordSort, WordSort) {
        self.sorts[nested.place as usize]
    }

    /// The word sort of an array sort.
    pub(super) fn word(&mut self, index: WordSort, element: WordSort) -> WordSort {
        let sort = (index, element);
        let place = self.sorts.iter().position(|&known| known == sort).unwrap_or_else(|| {
            self.sorts.push(sort);
            self.sorts.len() - 1
        });
        let bits =
            1u64.checked_shl(index.width()).and_then(|count| count.checked_mul(element.width().into()));
        let spelled =
            bits.filter(|&bits| index.width() < 32 && bits <= MAX_SPELLED && !element.is_ambiguous());
        let width = spelled.map_or(NUMBER_WIDTH, |bits| bits as u32);
        WordSort::Nested(Nested { place: place as u32, width })
    }

    /// Whether an array sort can be an element, an index or an argument. If elements have several representations, the
    /// arrays that `value` makes must differ visibly.
    pub(super) fn supports(index: WordSort, element: WordSort) -> bool {
        if index.is_ambiguous() {
            return false;
        }
        let digits = u64::from(digit_width(element)) << index.width().min(32);
        !element.is_ambiguous() || digits > u64::from(NUMBER_WIDTH)
    }

    fn is_spelled(nested: Nested) -> bool {
        nested.width <= IDENTITY_WIDTH
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn truncate(&mut self, count: usize) {
        for pair in self.pairs.drain(count..) {
            self.array_of.remove(&pair.number);
            self.number_of.remove(&pair.array);
            self.witnesses.retain(|&(a, b), _| a != pair.array && b != pair.array);
        }
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = Expr> + '_ {
        let of_pairs = self.pairs.iter().flat_map(|pair| [pair.number, pair.array]);
        of_pairs.chain(self.witnesses.values().copied())
    }

    /// The array of a number under the current model. A number of no pair gets an array that no other number has.
    pub(super) fn value(&mut self, place: u32, number: &Bits) -> Arc<ArrayValue> {
        let same = self.values.iter().find(|known| known.0 == place && known.1 == *number);
        if let Some((_, _, array)) = same {
            return array.clone();
        }
        let (index, element) = self.sorts[place as usize];
        let width = digit_width(element);
        let (index, element) = (index.width(), element.width());
        let array = (number.low()..)
            .map(|n| {
                // The digits of n to the base of the element's values.
                let mut array = ArrayValue::new(index, Bits::zero(element));
                let (mut rest, mut at) = (n, 0);
                while rest != 0 {
                    array.set(&Bits::word(index, at), Bits::word(element, rest & ((1 << width) - 1)));
                    (rest, at) = (rest >> width, at + 1);
                }
                Arc::new(array)
            })
            .find(|array| !self.values.iter().any(|known| known.0 == place && known.2 == *array))
            .expect("more arrays than values");
        self.values.push((place, number.clone(), array.clone()));
        array
    }

    /// The number of an array under the current model.
    fn number(&self, place: u32, array: &Arc<ArrayValue>) -> Bits {
        let of_sort = || self.values.iter().filter(|known| known.0 == place);
        if let Some((_, number, _)) = of_sort().find(|known| known.2 == *array) {
            return number.clone();
        }
        let mut free = (0..).map(|n| Bits::word(NUMBER_WIDTH, n));
        free.find(|n| of_sort().all(|known| known.1 != *n)).expect("more numbers than pairs")
    }

    fn add(&mut self, pair: Pair) {
        self.array_of.insert(pair.number, pair.array);
        self.number_of.insert(pair.array, pair.number);
        self.pairs.push(pair);
    }
}

/// Bits of a digit of a number whose digits are the elements of an array; all digits are different values.
fn digit_width(element: WordSort) -> u32 {
    let width = match element {
        // Neither the sign nor the first bit of the exponent: no NaN.
        WordSort::Float(_) => element.width() - 2,
        WordSort::Rounding => ROUNDING_WIDTH - 1,
        WordSort::Bool | WordSort::Bits(_) | WordSort::Declared(_) | WordSort::Nested(_) => element.width(),
    };
    width.min(63)
}

/// The array with one representation for each value of an element.
fn canonical_array(element: WordSort, array: Arc<ArrayValue>) -> Arc<ArrayValue> {
    if !element.is_ambiguous() {
        return array;
    }
    let canonical = |bits: &Bits| match element {
        WordSort::Float(format) if format.is_nan(bits) => format.nan(),
        WordSort::Rounding if bits.low() > 4 => Bits::zero(ROUNDING_WIDTH),
        _ => bits.clone(),
    };
    let mut found = ArrayValue::new(array.index_width(), canonical(array.default_element()));
    for (at, value) in array.entries() {
        found.set(&at, canonical(&value));
    }
    Arc::new(found)
}

impl Symbols {
    /// The array that a word stands for.
    pub(super) fn nested_array(&mut self, graph: &mut Graph, nested: Nested, word: Expr) -> Expr {
        let (index, element) = self.nested.parts(nested);
        let (index, element) = (index.width(), element.width());
        if NestedSorts::is_spelled(nested) {
            let first = graph.extract(word, 0, element);
            let mut array = graph.const_array(index, first);
            for i in 1..1u32 << index {
                let at = graph.word(index, i.into());
                let value = graph.extract(word, i * element, element);
                array = graph.store(array, at, value);
            }
            return array;
        }
        if let Some(&known) = self.nested.array_of.get(&word) {
            return known;
        }
        let array = graph.fresh_var("nested!array", Sort::Array { index, element });
        self.nested.add(Pair { number: word, array, new: New::Array, place: nested.place });
        array
    }

    /// The word that stands for an array.
    pub(super) fn nested_word(&mut self, graph: &mut Graph, nested: Nested, array: Expr) -> Expr {
        if NestedSorts::is_spelled(nested) {
            let (index, _) = self.nested.parts(nested);
            let at = graph.word(index.width(), 0);
            let mut word = graph.select(array, at);
            for i in 1..1u64 << index.width() {
                let at = graph.word(index.width(), i);
                let value = graph.select(array, at);
                word = graph.concat(value, word);
            }
            return word;
        }
        if let Some(&known) = self.nested.number_of.get(&array) {
            return known;
        }
        let number = graph.fresh_var("nested!number", Sort::Bits(nested.width));
        self.nested.add(Pair { number, array, new: New::Number, place: nested.place });
        number
    }

    /// The array of a nested word under the current model.
    pub(super) fn nested_value(&mut self, nested: Nested, word: &Bits) -> Arc<ArrayValue> {
        if !NestedSorts::is_spelled(nested) {
            return self.nested.value(nested.place, word);
        }
        let (index, element) = self.nested.parts(nested);
        let mut array = ArrayValue::zero(index.width(), element.width());
        for i in 0..1u64 << index.width() {
            let low = i * u64::from(element.width());
            array.set(&Bits::word(index.width(), i), word.extract(low, element.width()));
        }
        Arc::new(array)
    }

    /// Number of nested arrays so far.
    pub fn nested_count(&self) -> usize {
        self.nested.len()
    }

    /// Forgets the nested arrays after the first `count`.
    pub fn forget_nested(&mut self, count: usize) {
        self.nested.truncate(count);
    }

    /// Adds to `map` the nested arrays of an instance of a definition: for each one made while the definition was
    /// read, the one with the parameters replaced by `map`.
    pub(super) fn instantiate_nested(
        &mut self,
        graph: &mut Graph,
        made: std::ops::Range<usize>,
        map: &mut FxHashMap<Expr, Expr>,
    ) {
        for i in made {
            let Pair { number, array, new, place } = self.nested.pairs[i];
            let nested = Nested { place, width: NUMBER_WIDTH };
            match new {
                New::Array => {
                    let word = graph.substitute(number, map);
                    map.insert(array, self.nested_array(graph, nested, word));
                }
                New::Number => {
                    let instance = graph.substitute(array, map);
                    map.insert(number, self.nested_word(graph, nested, instance));
                }
            }
        }
    }

    /// Constraints that every check needs: numbers of one sort are equal exactly if their arrays are.
    pub fn side_constraints(&mut self, graph: &mut Graph) -> Vec<Expr> {
        let mut constraints = Vec::new();
        for i in 0..self.nested.pairs.len() {
            for j in 0..i {
                let (a, b) = (self.nested.pairs[i], self.nested.pairs[j]);
                if a.place != b.place {
                    continue;
                }
                let numbers = graph.eq(a.number, b.number);
                let arrays = self.equal_nested(graph, a, b, &mut constraints);
                constraints.push(graph.eq(numbers, arrays));
            }
        }
        constraints
    }

    /// Equality of the arrays of two pairs, and what it needs (`array_equality.rs`).
    fn equal_nested(&mut self, graph: &mut Graph, a: Pair, b: Pair, constraints: &mut Vec<Expr>) -> Expr {
        let (index, element) = self.nested.sorts[a.place as usize];
        let width = index.width();
        if element.is_ambiguous() && width <= MAX_LISTED_WIDTH {
            let mut all = graph.boolean(true);
            for i in 0..1 << width {
                let at = graph.word(width, i);
                let (left, right) = (graph.select(a.array, at), graph.select(b.array, at));
                let equal = graph.equal_words(element, left, right);
                all = graph.and(all, equal);
            }
            return all;
        }
        let same_bits = graph.eq(a.array, b.array);
        if element.is_ambiguous() && !graph.is_const(same_bits) {
            let witness = match self.nested.witnesses.get(&(a.array, b.array)) {
                Some(&witness) => witness,
                None => {
                    let witness = self.witness(graph, Sort::Bits(width));
                    self.nested.witnesses.insert((a.array, b.array), witness);
                    witness
                }
            };
            let (left, right) = (graph.select(a.array, witness), graph.select(b.array, witness));
            let equal = graph.equal_words(element, left, right);
            let differ = graph.not(equal);
            constraints.push(graph.or(same_bits, differ));
        }
        same_bits
    }

    /// Starts with the values of a new model: of the arrays that the check had.
    pub fn forget_nested_values(&mut self) {
        self.nested.values.clear();
        self.nested.valued = 0;
    }

    /// Extends a model to nested arrays that were made after the check, which had `checked` of them.
    pub fn extend_model(
        &mut self,
        graph: &Graph,
        evaluator: &mut Evaluator,
        model: &mut Model,
        checked: usize,
    ) {
        for i in self.nested.valued..self.nested.pairs.len() {
            let Pair { number, array, new, place } = self.nested.pairs[i];
            let mut session = evaluator.under(graph, model);
            let (Value::Bits(mut word), Value::Array(mut value)) =
                (session.value(number), session.value(array))
            else {
                unreachable!("a number and an array")
            };
            match new {
                _ if i < checked => value = canonical_array(self.nested.sorts[place as usize].1, value),
                New::Array => {
                    value = self.nested.value(place, &word);
                    model.set(array, Value::Array(value.clone()));
                }
                New::Number => {
                    value = canonical_array(self.nested.sorts[place as usize].1, value);
                    word = self.nested.number(place, &value);
                    model.set_bits(number, word.clone());
                }
            }
            self.nested.values.push((place, word, value));
        }
        self.nested.valued = self.nested.pairs.len();
    }
}
