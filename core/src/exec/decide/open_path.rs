//! An open path without its state: decision string, model, and how far it came. A few bytes that any process with the same
//! program and options can take up (`exec/take_up.rs`).
//!
//! In bytes, paths are in the order of the decision tree. Each has the decisions that no earlier path has, its inputs if they are
//! not the previous path's, and the bytes of its model that differ from the previous path's.
use super::Decider;
use super::strings::{Decision, StringId, Strings};
use crate::encoding::{Decoder, put, put_bytes};
use crate::exec::state::State;
use crate::exec::state::contents::INDEX_WIDTH;
use crate::exec::state::inputs::{Input, Inputs};
use crate::expr::value::{ArrayValue, Value};
use crate::expr::{Bits, Graph, Model, Sort, UNWRITTEN};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

pub struct OpenPath {
    /// Held by this path.
    pub string: StringId,
    /// Number of instructions executed.
    pub executed: u64,
    /// First bits of the hash of the edges taken.
    pub course: u16,
    /// Number of forks.
    pub depth: u32,
    pub model: Model,
    /// For its test, if the run ends before it is taken up.
    pub inputs: Inputs,
}

/// Bytes of an input as a model has them: the first ones, others by place, and the one of all other places.
type InputBytes = (Vec<u8>, Vec<(u64, u8)>, u8);

impl Decider {
    /// The path of a state, which stays open.
    pub fn open_path(&mut self, state: &State) -> OpenPath {
        let string = self.strings.retain(state.string);
        let (model, inputs) = (self.model(state).clone(), state.inputs.clone());
        OpenPath {
            string,
            executed: state.executed,
            course: state.course(),
            depth: state.depth,
            model,
            inputs,
        }
    }

    /// Gives up a state and keeps its path.
    pub fn park(&mut self, state: Box<State>) -> OpenPath {
        let path = self.open_path(&state);
        self.release(state);
        path
    }

    /// Encodes paths.
    pub fn encode_paths(&self, paths: &[OpenPath]) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, paths.len() as u64);
        let (mut numbers, mut names) = (FxHashMap::default(), FxHashMap::default());
        numbers.insert(0, 0);
        let start = Model::new();
        let (mut previous, mut previous_inputs) = (&start, None);
        for at in in_tree_order(&self.strings, paths) {
            let path = &paths[at];
            self.put_string(&mut out, path, &mut numbers);
            put(&mut out, path.executed);
            out.extend(path.course.to_be_bytes());
            put(&mut out, path.depth.into());
            let graph = &self.solver.graph;
            put_inputs(&mut out, graph, &path.inputs, previous_inputs);
            previous_inputs = Some(&path.inputs);
            let mut changed = Vec::new();
            let mut count = 0;
            for variable in path.model.changed_arrays(previous) {
                // A variable that a model does not have is zero.
                let [own, other] = [&path.model, previous].map(|model| {
                    model.array(variable).map_or_else(InputBytes::default, |array| input_bytes(array))
                });
                if own == other || graph.is_placeholder(variable) {
                    continue;
                }
                count += 1;
                let next = names.len() as u64;
                let number = *names.entry(variable).or_insert(next);
                put(&mut changed, number);
                if number == next {
                    put_bytes(&mut changed, graph.name(variable).as_bytes());
                }
                put_bytes(&mut changed, &own.0);
                put(&mut changed, own.1.len() as u64);
                for (place, byte) in &own.1 {
                    put(&mut changed, *place);
                    changed.push(*byte);
                }
                changed.push(own.2);
            }
            previous = &path.model;
            put(&mut out, count);
            out.extend(changed);
        }
        out
    }

    /// Puts the decisions that no earlier path has, after the number of the decision that they follow.
    fn put_string(&self, out: &mut Vec<u8>, path: &OpenPath, numbers: &mut FxHashMap<StringId, u64>) {
        let mut fresh = Vec::new();
        let mut at = path.string;
        while !numbers.contains_key(&at) {
            fresh.push(at);
            at = self.strings.parent(at);
        }
        put(out, numbers[&at]);
        put(out, fresh.len() as u64);
        let mut before = self.strings.newest(at).map_or(0, |decision| decision.step);
        for &id in fresh.iter().rev() {
            let decision = self.strings.newest(id).expect("only the beginning has none");
            decision.put(out, before);
            before = decision.step;
            numbers.insert(id, numbers.len() as u64);
        }
    }

    /// Decodes what `encode_paths` made, also in another process. `None` if it is damaged.
    pub fn decode_paths(&mut self, from: &mut Decoder<'_>) -> Option<Vec<OpenPath>> {
        let count = from.count()?;
        let mut paths = Vec::with_capacity(count);
        let (mut strings, mut variables) = (vec![0], Vec::new());
        let (mut model, mut inputs) = (Model::new(), Inputs::default());
        for _ in 0..count {
            let parent = usize::try_from(from.number()?).ok()?;
            let mut string = self.strings.retain(*strings.get(parent)?);
            let mut before = self.strings.newest(string).map_or(0, |decision| decision.step);
            for _ in 0..from.count()? {
                let decision = Decision::get(from, before)?;
                self.program.functions.get(decision.func.index())?.insts.get(decision.pc as usize)?;
                before = decision.step;
                string = self.strings.push(string, decision);
                strings.push(string);
            }
            let executed = from.number()?;
            let course = u16::from_be_bytes([from.byte()?, from.byte()?]);
            let depth = u32::try_from(from.number()?).ok()?;
            if let Some(count) = from.count()?.checked_sub(1) {
                inputs = Inputs::default();
                for _ in 0..count {
                    let length = from.count()?;
                    let name = std::str::from_utf8(from.bytes(length)?).ok()?;
                    let size = from.number()?;
                    if name.starts_with(UNWRITTEN) {
                        let sort = Sort::Array { index: INDEX_WIDTH, element: 8 };
                        inputs.add_unwritten(self.solver.graph.var(name, sort).ok()?, size);
                    } else {
                        inputs.add(&mut self.solver.graph, name, size);
                    }
                }
            }
            for _ in 0..from.count()? {
                let number = usize::try_from(from.number()?).ok()?;
                if number == variables.len() {
                    let count = from.count()?;
                    let name = std::str::from_utf8(from.bytes(count)?).ok()?;
                    let sort = Sort::Array { index: INDEX_WIDTH, element: 8 };
                    variables.push(self.solver.graph.var(name, sort).ok()?);
                }
                let variable = *variables.get(number)?;
                let count = from.count()?;
                let dense = from.bytes(count)?;
                let others: Vec<(u64, u8)> = (0..from.count()?)
                    .map(|_| Some((from.number()?, from.byte()?)))
                    .collect::<Option<_>>()?;
                let mut value = ArrayValue::new(INDEX_WIDTH, Bits::word(8, from.byte()?.into()));
                let all = (0..).zip(dense.iter().copied()).chain(others);
                all.for_each(|(place, byte)| value.set_word(place, byte.into()));
                model.set(variable, Value::Array(Arc::new(value)));
            }
            paths.push(OpenPath {
                string,
                executed,
                course,
                depth,
                model: model.clone(),
                inputs: inputs.clone(),
            });
        }
        Some(paths)
    }
}

/// Puts names and sizes of inputs, or 0 if they are those of the path before.
fn put_inputs(out: &mut Vec<u8>, graph: &Graph, inputs: &Inputs, previous: Option<&Inputs>) {
    let same = |a: &Input, b: &Input| a.array == b.array && a.size == b.size;
    let is_same = previous.is_some_and(|previous| {
        previous.len() == inputs.len()
            && inputs.newest_first().zip(previous.newest_first()).all(|(a, b)| same(a, b))
    });
    if is_same {
        return put(out, 0);
    }
    put(out, inputs.len() as u64 + 1);
    for input in inputs.in_order() {
        let is_unwritten = graph.unwritten_size(input.array).is_some();
        let name = if is_unwritten { graph.name(input.array) } else { &*input.name };
        put_bytes(out, name.as_bytes());
        put(out, input.size);
    }
}

fn input_bytes(array: &ArrayValue) -> InputBytes {
    let (dense, others) = array.bytes_below(u64::MAX);
    (dense, others, array.default_element().low() as u8)
}

/// Numbers of the paths in the order of the decision tree: those of a subtree are together.
pub fn in_tree_order(strings: &Strings, paths: &[OpenPath]) -> Vec<usize> {
    let mut children: FxHashMap<StringId, Vec<StringId>> = FxHashMap::default();
    let mut ends: FxHashMap<StringId, Vec<usize>> = FxHashMap::default();
    let mut seen: FxHashSet<StringId> = FxHashSet::default();
    for (number, path) in paths.iter().enumerate() {
        ends.entry(path.string).or_default().push(number);
        let mut at = path.string;
        while at != 0 && seen.insert(at) {
            let parent = strings.parent(at);
            children.entry(parent).or_default().push(at);
            at = parent;
        }
    }
    let (mut order, mut open) = (Vec::with_capacity(paths.len()), vec![0]);
    while let Some(at) = open.pop() {
        order.extend(ends.remove(&at).into_iter().flatten());
        open.extend(children.remove(&at).into_iter().flatten());
    }
    order
}
