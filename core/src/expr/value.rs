//! Values of expressions, and models: assignments of values to variables.
//!
//! A model is total: a variable that it does not mention is zero (false, the all-zero array). Elements of byte
//! arrays, which is what programs have as inputs, are stored densely.

use super::walk::Atom;
use super::{Bits, Expr, Graph, Sort};
use crate::persist::Map;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elements of byte arrays at indices below this limit are stored densely.
const DENSE_LIMIT: u64 = 1 << 16;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A boolean or a bit-vector.
    Bits(Bits),
    Array(Arc<ArrayValue>),
}

/// An array value: a default element and the elements that were set.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    index_width: u32,
    default: Bits,
    /// Elements 0.. of a byte array, up to the last one that was set below `DENSE_LIMIT`.
    bytes: Vec<u8>,
    /// All other elements that were set.
    entries: BTreeMap<Bits, Bits>,
}

impl ArrayValue {
    pub fn new(index_width: u32, default: Bits) -> ArrayValue {
        ArrayValue { index_width, default, bytes: Vec::new(), entries: BTreeMap::new() }
    }

    pub fn zero(index_width: u32, element_width: u32) -> ArrayValue {
        ArrayValue::new(index_width, Bits::zero(element_width))
    }

    pub fn index_width(&self) -> u32 {
        self.index_width
    }

    pub fn element_width(&self) -> u32 {
        self.default.width()
    }

    pub fn default_element(&self) -> &Bits {
        &self.default
    }

    fn dense(&self, index: &Bits) -> Option<usize> {
        match index.to_u64() {
            Some(i) if self.default.width() == 8 && i < DENSE_LIMIT => Some(i as usize),
            _ => None,
        }
    }

    pub fn get(&self, index: &Bits) -> Bits {
        debug_assert_eq!(index.width(), self.index_width);
        match self.dense(index) {
            Some(i) => self.bytes.get(i).map_or_else(|| self.default.clone(), |&b| Bits::word(8, b.into())),
            None => self.entries.get(index).unwrap_or(&self.default).clone(),
        }
    }

    /// Returns the element at `index`. Index and element have at most 64 bits.
    #[inline]
    pub fn get_word(&self, index: u64) -> u64 {
        if self.default.width() == 8 && index < DENSE_LIMIT {
            return self.bytes.get(index as usize).map_or(self.default.low(), |&b| b.into());
        }
        if self.entries.is_empty() {
            return self.default.low();
        }
        self.entries.get(&Bits::word(self.index_width, index)).unwrap_or(&self.default).low()
    }

    /// The elements below `count` of an array of bytes: those stored densely, and the others that were set, ascending.
    pub fn bytes_below(&self, count: u64) -> (Vec<u8>, Vec<(u64, u8)>) {
        let dense = self.bytes[..count.min(self.bytes.len() as u64) as usize].to_vec();
        let others = self.entries.iter().map(|(index, element)| (index.low(), element.low() as u8));
        (dense, others.take_while(|(at, _)| *at < count).collect())
    }

    /// Bytes of an array of bytes that were set, by ascending place, up to the last that is stored densely.
    pub fn set_bytes(&self) -> impl Iterator<Item = (u64, u8)> {
        let dense = self.bytes.iter().enumerate().map(|(at, byte)| (at as u64, *byte));
        dense.chain(self.entries.iter().map(|(index, element)| (index.low(), element.low() as u8)))
    }

    pub fn set(&mut self, index: &Bits, element: Bits) {
        debug_assert_eq!((index.width(), element.width()), (self.index_width, self.default.width()));
        match self.dense(index) {
            Some(i) => {
                if i >= self.bytes.len() {
                    self.bytes.resize(i + 1, self.default.low() as u8);
                }
                self.bytes[i] = element.low() as u8;
            }
            None => {
                self.entries.insert(index.clone(), element);
            }
        }
    }

    pub fn set_word(&mut self, index: u64, element: u64) {
        if let Some(byte) = self.bytes.get_mut(index as usize) {
            *byte = element as u8;
            return;
        }
        self.set(&Bits::word(self.index_width, index), Bits::word(self.element_width(), element));
    }

    /// Approximate size in bytes.
    fn footprint(&self) -> usize {
        size_of::<ArrayValue>() + self.bytes.len() + self.entries.len() * 2 * size_of::<Bits>()
    }

    /// Adds the elements that differ between two values of an array; a missing one is zero. False if that is not
    /// possible, because their defaults differ or an index has more than 64 bits.
    fn push_changes(
        own: Option<&ArrayValue>,
        other: Option<&ArrayValue>,
        variable: Expr,
        changes: &mut Vec<Atom>,
    ) -> bool {
        let Some(shape) = own.or(other) else { return true };
        let zero = ArrayValue::zero(shape.index_width, shape.element_width());
        let (own, other) = (own.unwrap_or(&zero), other.unwrap_or(&zero));
        if own.default != other.default || own.index_width > 64 {
            return false;
        }
        let common = own.bytes.len().min(other.bytes.len());
        // Most bytes are equal: blocks are compared first.
        let blocks = own.bytes[..common].chunks(64).zip(other.bytes[..common].chunks(64));
        for (number, (a, b)) in blocks.enumerate().filter(|(_, (a, b))| a != b) {
            let places = a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b);
            changes.extend(places.map(|(at, _)| Atom::Element(variable, (64 * number + at) as u64)));
        }
        let default = own.default.low() as u8;
        for longer in [&own.bytes, &other.bytes] {
            let rest = longer.iter().enumerate().skip(common).filter(|(_, byte)| **byte != default);
            changes.extend(rest.map(|(at, _)| Atom::Element(variable, at as u64)));
        }
        let mut differs = |a: &ArrayValue, b: &ArrayValue| {
            for (index, element) in &a.entries {
                if b.entries.get(index).unwrap_or(&b.default) != element {
                    changes.push(Atom::Element(variable, index.low()));
                }
            }
        };
        differs(own, other);
        differs(other, own);
        true
    }

    /// Returns the elements that differ from the default, sorted by index.
    pub fn entries(&self) -> Vec<(Bits, Bits)> {
        let dense = self.bytes.iter().enumerate();
        let dense = dense.map(|(i, &b)| (Bits::word(self.index_width, i as u64), Bits::word(8, b.into())));
        let all = dense.chain(self.entries.iter().map(|(i, e)| (i.clone(), e.clone())));
        all.filter(|(_, e)| *e != self.default).collect()
    }
}

/// Equality of all elements: the defaults are compared only if some index has the default.
impl PartialEq for ArrayValue {
    fn eq(&self, other: &ArrayValue) -> bool {
        if self.index_width != other.index_width || self.element_width() != other.element_width() {
            return false;
        }
        let keys = |a: &ArrayValue| a.entries().into_iter().map(|(i, _)| i).collect::<Vec<_>>();
        let mut all: std::collections::BTreeSet<Bits> = keys(self).into_iter().collect();
        all.extend(keys(other));
        if all.iter().any(|i| self.get(i) != other.get(i)) {
            return false;
        }
        let covered = self.index_width < 48 && all.len() as u64 == 1 << self.index_width;
        covered || self.default == other.default
    }
}
impl Eq for ArrayValue {}

/// Values of variables. Cheap to clone, and clones share the values that are not changed.
#[derive(Clone, Debug, Default)]
pub struct Model {
    values: Map<(Expr, Value)>,
}

impl Model {
    pub fn new() -> Model {
        Model::default()
    }

    /// Returns whether both are clones of one model and neither was changed since.
    pub fn is_shared_with(&self, other: &Model) -> bool {
        self.values.is_shared_with(&other.values)
    }

    #[inline]
    pub fn get(&self, variable: Expr) -> Option<&Value> {
        let (of, value) = self.values.get(variable.id())?;
        debug_assert_eq!(*of, variable, "a model of expressions that were collected");
        Some(value)
    }

    /// Arrays whose values may differ in another model: all that differ are among them. Values that the models share are
    /// not visited.
    pub fn changed_arrays(&self, other: &Model) -> Vec<Expr> {
        let mut changed = Vec::new();
        self.values.for_each_change(&other.values, |own, other| {
            let (variable, value) = own.or(other).expect("one has it");
            if matches!(value, Value::Array(_)) {
                changed.push(*variable);
            }
        });
        changed
    }

    /// Inputs whose values may differ in another model: all that differ are among them. An array stands for all of its
    /// elements. Values that the models share are not visited.
    pub fn changes(&self, other: &Model) -> Vec<Atom> {
        let mut changes = Vec::new();
        self.values.for_each_change(&other.values, |own, other| {
            let (variable, value) = own.or(other).expect("one has it");
            let (own, other) = (own.map(|(_, value)| value), other.map(|(_, value)| value));
            match value {
                Value::Bits(_) => {
                    let bits = |value: Option<&'_ Value>| match value {
                        Some(Value::Bits(bits)) if !bits.is_zero() => Some(bits.clone()),
                        Some(Value::Bits(_) | Value::Array(_)) | None => None,
                    };
                    if bits(own) != bits(other) {
                        changes.push(Atom::Variable(*variable));
                    }
                }
                Value::Array(_) => {
                    let array = |value: Option<&Value>| match value {
                        Some(Value::Array(array)) => Some(Arc::clone(array)),
                        Some(Value::Bits(_)) | None => None,
                    };
                    let (own, other) = (array(own), array(other));
                    let is_shared = matches!((&own, &other), (Some(a), Some(b)) if Arc::ptr_eq(a, b));
                    if !is_shared
                        && !ArrayValue::push_changes(
                            own.as_deref(),
                            other.as_deref(),
                            *variable,
                            &mut changes,
                        )
                    {
                        changes.push(Atom::Array(*variable));
                    }
                }
            }
        });
        changes
    }

    /// Returns the value of a variable of at most 64 bits; zero if the model does not mention it.
    #[inline]
    pub fn word(&self, variable: Expr) -> u64 {
        match self.get(variable) {
            Some(Value::Bits(bits)) => bits.low(),
            Some(Value::Array(_)) | None => 0,
        }
    }

    pub fn bits(&self, variable: Expr, width: u32) -> Bits {
        match self.get(variable) {
            Some(Value::Bits(bits)) => bits.clone(),
            Some(Value::Array(_)) | None => Bits::zero(width),
        }
    }

    #[inline]
    pub fn array(&self, variable: Expr) -> Option<&Arc<ArrayValue>> {
        match self.get(variable) {
            Some(Value::Array(array)) => Some(array),
            Some(Value::Bits(_)) | None => None,
        }
    }

    pub fn set(&mut self, variable: Expr, value: Value) {
        self.values.insert(variable.id(), (variable, value));
    }

    /// Removes the variable, which resets its value to zero.
    pub fn unset(&mut self, variable: Expr) {
        self.values.remove(variable.id());
    }

    pub fn set_bits(&mut self, variable: Expr, bits: Bits) {
        self.set(variable, Value::Bits(bits));
    }

    /// Sets one element of an array variable.
    pub fn set_element(&mut self, graph: &Graph, variable: Expr, index: &Bits, element: Bits) {
        self.array_mut(graph, variable).set(index, element);
    }

    /// Returns the value of a variable or an element of at most 64 bits.
    pub fn atom(&self, atom: Atom) -> u64 {
        match atom {
            Atom::Element(array, index) => self.array(array).map_or(0, |value| value.get_word(index)),
            Atom::Variable(variable) | Atom::Array(variable) => self.word(variable),
        }
    }

    /// Sets a variable or an element of at most 64 bits.
    pub fn set_atom(&mut self, graph: &Graph, atom: Atom, word: u64) {
        match atom {
            Atom::Element(array, index) => self.array_mut(graph, array).set_word(index, word),
            Atom::Variable(variable) | Atom::Array(variable) => {
                self.set_bits(variable, Bits::word(graph.width(variable), word));
            }
        }
    }

    /// Returns the value of an array variable for modification.
    pub fn array_mut(&mut self, graph: &Graph, variable: Expr) -> &mut ArrayValue {
        let Sort::Array { index: index_width, element: element_width } = graph.sort(variable) else {
            unreachable!("elements belong to arrays")
        };
        if self.values.get(variable.id()).is_none() {
            self.set(variable, Value::Array(Arc::new(ArrayValue::zero(index_width, element_width))));
        }
        match self.values.get_mut(variable.id()) {
            Some((_, Value::Array(array))) => Arc::make_mut(array),
            Some((_, Value::Bits(_))) | None => unreachable!("an array variable has an array"),
        }
    }

    /// Iterates over the variables of the model in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = (Expr, &Value)> {
        self.values.iter().map(|(_, (variable, value))| (*variable, value))
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Approximate size in bytes, counting memory that is shared with other models.
    pub fn footprint(&self) -> usize {
        let value = |value: &Value| match value {
            Value::Bits(_) => 0,
            Value::Array(array) => array.footprint(),
        };
        self.iter().map(|(_, v)| size_of::<(Expr, Value)>() + value(v)).sum()
    }

    /// Keeps only the variables that `keep` accepts; used when variables are collected.
    pub fn retain(&mut self, keep: impl Fn(Expr) -> bool) {
        let gone: Vec<Expr> = self.iter().map(|(variable, _)| variable).filter(|v| !keep(*v)).collect();
        gone.into_iter().for_each(|variable| self.unset(variable));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_of_an_array_are_its_elements() {
        let mut array = ArrayValue::new(32, Bits::word(8, 7));
        for at in [1, 3, DENSE_LIMIT, DENSE_LIMIT + 2] {
            array.set(&Bits::word(32, at), Bits::word(8, at & 0xff | 0x40));
        }
        for count in [0, 2, 6, DENSE_LIMIT, DENSE_LIMIT + 1, DENSE_LIMIT + 9] {
            let (mut bytes, others) = array.bytes_below(count);
            assert!(bytes.len() as u64 <= count);
            bytes.resize(count as usize, 7);
            others.into_iter().for_each(|(at, byte)| bytes[at as usize] = byte);
            let expected = (0..count).map(|at| array.get_word(at) as u8);
            assert!(expected.eq(bytes), "{count} bytes");
        }
        let set: Vec<_> = array.set_bytes().filter(|(_, byte)| *byte != 7).collect();
        assert_eq!(set, [(1, 0x41), (3, 0x43), (DENSE_LIMIT, 0x40), (DENSE_LIMIT + 2, 0x42)]);
    }

    /// Every difference between two models is among the changes; equal inputs are not.
    #[test]
    fn changes_are_the_inputs_that_differ() {
        let mut g = Graph::new();
        let word = g.var("x", Sort::Bits(16)).unwrap();
        let others: Vec<Expr> = (0..40).map(|i| g.var(&format!("v{i}"), Sort::Bits(8)).unwrap()).collect();
        let bytes = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
        let words = g.var("w", Sort::Array { index: 32, element: 32 }).unwrap();
        let mut base = Model::new();
        others.iter().for_each(|v| base.set_bits(*v, Bits::word(8, 3)));
        (0..200).for_each(|at| base.set_atom(&g, Atom::Element(bytes, at), at));
        let mut other = base.clone();
        assert!(base.changes(&other).is_empty());
        other.set_bits(others[20], Bits::word(8, 3));
        assert!(base.changes(&other).is_empty());
        let changed = [
            (Atom::Variable(word), 5),
            (Atom::Variable(others[7]), 0),
            (Atom::Element(bytes, 0), 9),
            (Atom::Element(bytes, 150), 1),
            (Atom::Element(bytes, 300), 1),
            (Atom::Element(bytes, DENSE_LIMIT + 5), 1),
            (Atom::Element(words, 2), 77),
        ];
        changed.iter().for_each(|(atom, value)| other.set_atom(&g, *atom, *value));
        let mut expected: Vec<Atom> = changed.iter().map(|(atom, _)| *atom).collect();
        expected.sort_unstable();
        for (a, b) in [(&base, &other), (&other, &base)] {
            let mut found = a.changes(b);
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, expected);
        }
        let filled = Value::Array(Arc::new(ArrayValue::new(32, Bits::word(32, 1))));
        other.set(words, filled);
        assert!(base.changes(&other).contains(&Atom::Array(words)));
    }
}
