//! Values of expressions, and models: assignments of values to variables.
//!
//! A model is total: a variable that it does not mention is zero (false, the all-zero array). Elements of byte
//! arrays, which is what programs have as inputs, are stored densely.

use super::walk::Atom;
use super::{Bits, Expr, Graph, Sort};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Elements of byte arrays at indices below this limit are stored densely.
const DENSE_LIMIT: u64 = 1 << 16;

#[derive(Clone, Debug)]
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

    /// Appends the first `count` elements of an array of bytes.
    pub fn copy_bytes(&self, count: u64, out: &mut Vec<u8>) {
        let start = out.len();
        let dense = (count as usize).min(self.bytes.len());
        out.extend_from_slice(&self.bytes[..dense]);
        out.resize(start + count as usize, self.default.low() as u8);
        for (index, element) in &self.entries {
            if let Some(at) = index.to_u64().filter(|at| *at < count) {
                out[start + at as usize] = element.low() as u8;
            }
        }
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

/// Values of variables. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Model {
    values: Arc<FxHashMap<Expr, Value>>,
}

impl Model {
    pub fn new() -> Model {
        Model::default()
    }

    /// Returns whether both are clones of one model and neither was changed since.
    pub fn is_shared_with(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }

    pub fn get(&self, variable: Expr) -> Option<&Value> {
        self.values.get(&variable)
    }

    /// Returns the value of a variable of at most 64 bits; zero if the model does not mention it.
    #[inline]
    pub fn word(&self, variable: Expr) -> u64 {
        match self.values.get(&variable) {
            Some(Value::Bits(bits)) => bits.low(),
            Some(Value::Array(_)) | None => 0,
        }
    }

    pub fn bits(&self, variable: Expr, width: u32) -> Bits {
        match self.values.get(&variable) {
            Some(Value::Bits(bits)) => bits.clone(),
            Some(Value::Array(_)) | None => Bits::zero(width),
        }
    }

    #[inline]
    pub fn array(&self, variable: Expr) -> Option<&Arc<ArrayValue>> {
        match self.values.get(&variable) {
            Some(Value::Array(array)) => Some(array),
            Some(Value::Bits(_)) | None => None,
        }
    }

    pub fn set(&mut self, variable: Expr, value: Value) {
        Arc::make_mut(&mut self.values).insert(variable, value);
    }

    /// Removes the variable, which resets its value to zero.
    pub fn unset(&mut self, variable: Expr) {
        if self.values.contains_key(&variable) {
            Arc::make_mut(&mut self.values).remove(&variable);
        }
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
        let slot = Arc::make_mut(&mut self.values)
            .entry(variable)
            .or_insert_with(|| Value::Array(Arc::new(ArrayValue::zero(index_width, element_width))));
        match slot {
            Value::Array(array) => Arc::make_mut(array),
            Value::Bits(_) => unreachable!("an array variable has an array"),
        }
    }

    /// Iterates over the variables of the model in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Expr, &Value)> {
        self.values.iter().map(|(v, value)| (*v, value))
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
        self.values.values().map(|v| size_of::<(Expr, Value)>() + value(v)).sum()
    }

    /// Keeps only the variables that `keep` accepts; used when variables are collected.
    pub fn retain(&mut self, keep: impl Fn(Expr) -> bool) {
        if self.values.keys().any(|&v| !keep(v)) {
            Arc::make_mut(&mut self.values).retain(|v, _| keep(*v));
        }
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
            let mut bytes = vec![9];
            array.copy_bytes(count, &mut bytes);
            let expected = (0..count).map(|at| array.get_word(at) as u8);
            assert!(std::iter::once(9).chain(expected).eq(bytes), "{count} bytes");
        }
    }
}
