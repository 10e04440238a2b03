//! Inputs of a path: symbolic objects that tests give a value to. A fork shares them, and adding one takes constant time.
use crate::expr::{Expr, Graph, Sort};
use crate::persist::{List, Map};
use std::sync::Arc;

/// Name of the inputs for memory that was never written; their variables have names of their own.
pub const UNWRITTEN_INPUT: &str = "uninitialized";

/// Bytes of an input that its tests have in memory, whatever its size.
const MAX_COUNTED: u64 = 1 << 16;

#[derive(Clone, Debug)]
pub struct Input {
    pub name: Arc<str>,
    /// An array of bytes.
    pub array: Expr,
    pub size: u64,
}

#[derive(Clone, Default)]
pub struct Inputs {
    list: List<Input>,
    /// For the variable of each input: the next number to try for another input with the variable's name.
    next: Map<u32>,
    bytes: u64,
}

impl Inputs {
    /// Adds an input with a variable of its own: `name`, or the first free one of `name_1`, `name_2`, ...
    pub fn add(&mut self, graph: &mut Graph, name: &str, size: u64) -> Expr {
        let sort = Sort::Array { index: super::contents::INDEX_WIDTH, element: 8 };
        let mut variable =
            |name: &str| graph.var(name, sort).expect("inputs are the only variables, all of this sort");
        let first = variable(name);
        let mut array = first;
        if let Some(&next) = self.next.get(first.id()) {
            let mut number = next;
            array = variable(&format!("{name}_{number}"));
            while self.contains(array) {
                number += 1;
                array = variable(&format!("{name}_{number}"));
            }
            self.next.insert(first.id(), number + 1);
        }
        self.push(name, array, size);
        array
    }

    /// Adds the input for memory that was never written (`Graph::unwritten`), which is none yet.
    pub fn add_unwritten(&mut self, array: Expr, size: u64) {
        self.push(UNWRITTEN_INPUT, array, size);
    }

    fn push(&mut self, name: &str, array: Expr, size: u64) {
        self.next.insert(array.id(), 1);
        self.bytes += name.len() as u64 + size.min(MAX_COUNTED);
        self.list.push(Input { name: name.into(), array, size });
    }

    /// Is this variable an input?
    pub fn contains(&self, variable: Expr) -> bool {
        self.next.get(variable.id()).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Size of all inputs together with their names, as far as a test has them in memory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &Input> {
        self.list.iter()
    }

    /// All inputs in the order of their creation.
    pub fn in_order(&self) -> Vec<&Input> {
        let mut all: Vec<&Input> = self.list.iter().collect();
        all.reverse();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(graph: &Graph, inputs: &Inputs) -> Vec<String> {
        inputs.in_order().iter().map(|input| graph.name(input.array).to_string()).collect()
    }

    #[test]
    fn every_input_has_a_variable_of_its_own() {
        let mut g = Graph::new();
        let mut inputs = Inputs::default();
        for name in ["x_2", "x", "x", "x", "x_1", "x", "y"] {
            inputs.add(&mut g, name, 1);
        }
        assert_eq!(names(&g, &inputs), ["x_2", "x", "x_1", "x_3", "x_1_1", "x_4", "y"]);
        assert_eq!(inputs.bytes(), 7 + "x_2xxxx_1xy".len() as u64);
        assert!(inputs.in_order().iter().all(|input| inputs.contains(input.array)));
    }

    /// Paths that create inputs in the same order share their variables.
    #[test]
    fn a_fork_names_its_inputs_by_itself() {
        let mut g = Graph::new();
        let mut left = Inputs::default();
        left.add(&mut g, "x", 4);
        let mut right = left.clone();
        let (a, b) = (left.add(&mut g, "x", 4), right.add(&mut g, "x", 4));
        assert_eq!(a, b);
        right.add(&mut g, "x", 4);
        assert_eq!(names(&g, &left), ["x", "x_1"]);
        assert_eq!(names(&g, &right), ["x", "x_1", "x_2"]);
    }

    #[test]
    fn a_hundred_thousand_inputs_of_one_name_are_named_at_once() {
        let mut g = Graph::new();
        let mut inputs = Inputs::default();
        let start = std::time::Instant::now();
        for _ in 0..100_000 {
            inputs.add(&mut g, "int", 4);
        }
        assert_eq!(names(&g, &inputs).last().map(String::as_str), Some("int_99999"));
        assert!(start.elapsed().as_secs() < 10, "quadratic: {:?}", start.elapsed());
    }
}
