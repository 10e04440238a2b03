//! Array reads, lane by lane: follow the chain of array nodes to the one that defines the element.

use super::plan::{ArrayNode, ReadShape};
use super::{ArrayLanes, Column, Tile};
use crate::expr::bits::mask;
use crate::expr::{ArrayValue, Bits};

impl Tile<'_> {
    pub(super) fn read(&self, array: u32, index: u32, s: ReadShape, out: &mut Column) {
        let index = &self.memory.slots[index as usize];
        let width = s.element * s.count;
        if width > 64 || s.index_width > 64 {
            return self.read_wide(array, index, s, out);
        }
        let value = |lane: usize, at: u64| {
            (0..s.count).rev().fold(0, |word, i| {
                let at = at.wrapping_add(i.into()) & mask(s.index_width);
                let part = self.element_word(array, at, lane);
                // With one element the shift could be by all 64 bits.
                if s.count == 1 { part } else { word << s.element | part }
            })
        };
        // A table read at one index in all lanes has one value; other arrays may differ by lane.
        if let (true, ArrayNode::Table { elements, .. }) =
            (index.same, &self.plan.array_nodes[array as usize].0)
        {
            let last = index.words[0].saturating_add(u64::from(s.count) - 1);
            if last < elements.len() as u64 {
                return out.set_same(&Bits::word(width, value(0, index.words[0])));
            }
        }
        if index.same {
            let at = index.words[0];
            out.words_mut(self.lanes).iter_mut().enumerate().for_each(|(lane, to)| *to = value(lane, at));
            return;
        }
        if let (1, ArrayNode::Table { elements, base }) = (s.count, &self.plan.array_nodes[array as usize].0)
        {
            let lanes = out.words_mut(self.lanes).iter_mut().zip(&index.words).enumerate();
            lanes.for_each(|(lane, (to, &at))| {
                let element = usize::try_from(at).ok().and_then(|at| elements.get(at));
                *to = element.copied().unwrap_or_else(|| self.element_word(*base, at, lane));
            });
            return;
        }
        let lanes = out.words_mut(self.lanes).iter_mut().zip(&index.words).enumerate();
        lanes.for_each(|(lane, (to, &at))| *to = value(lane, at));
    }

    fn read_wide(&self, array: u32, index: &Column, s: ReadShape, out: &mut Column) {
        let value = |lane: usize| {
            let index = index.bits(s.index_width, lane);
            (1..s.count).fold(self.element(array, &index, lane), |word, i| {
                let at = index.add(&Bits::word(s.index_width, i.into()));
                self.element(array, &at, lane).concat(&word)
            })
        };
        if s.element * s.count <= 64 {
            out.words_mut(self.lanes).iter_mut().enumerate().for_each(|(lane, to)| *to = value(lane).low());
        } else {
            out.same = false;
            out.wides.clear();
            out.wides.extend((0..self.lanes).map(value));
        }
    }

    fn variable(&self, number: usize, lane: usize) -> (&ArrayLanes, Option<&ArrayValue>) {
        let array = &self.memory.arrays[number];
        (array, array.values.get(lane).and_then(|value| value.as_deref()))
    }

    /// Returns an element; index and element have at most 64 bits.
    fn element_word(&self, mut array: u32, at: u64, lane: usize) -> u64 {
        let slots = &self.memory.slots;
        loop {
            match &self.plan.array_nodes[array as usize].0 {
                ArrayNode::Variable(number) => {
                    let (own, value) = self.variable(*number, lane);
                    return match own.elements.get(&at) {
                        Some(column) => column.word(lane),
                        None => value.map_or(0, |value| value.get_word(at)),
                    };
                }
                ArrayNode::Constant { value } => return slots[*value as usize].word(lane),
                ArrayNode::Table { elements, base } => {
                    match usize::try_from(at).ok().and_then(|at| elements.get(at)) {
                        Some(&element) => return element,
                        None => array = *base,
                    }
                }
                ArrayNode::Store { base, index, element } => {
                    if slots[*index as usize].word(lane) == at {
                        return slots[*element as usize].word(lane);
                    }
                    array = *base;
                }
                ArrayNode::Ite { condition, then, otherwise } => {
                    array = if slots[*condition as usize].word(lane) != 0 { *then } else { *otherwise };
                }
            }
        }
    }

    fn element(&self, mut array: u32, at: &Bits, lane: usize) -> Bits {
        let slots = &self.memory.slots;
        loop {
            let (node, index_width, width) = &self.plan.array_nodes[array as usize];
            match node {
                ArrayNode::Variable(number) => {
                    let (own, value) = self.variable(*number, lane);
                    return match at.to_u64().and_then(|at| own.elements.get(&at)) {
                        Some(column) => column.bits(*width, lane),
                        None => value.map_or_else(|| Bits::zero(*width), |value| value.get(at)),
                    };
                }
                ArrayNode::Constant { value } => return slots[*value as usize].bits(*width, lane),
                ArrayNode::Table { elements, base } => {
                    match at.to_u64().and_then(|at| elements.get(usize::try_from(at).ok()?)) {
                        Some(&element) => return Bits::word(*width, element),
                        None => array = *base,
                    }
                }
                ArrayNode::Store { base, index, element } => {
                    if slots[*index as usize].bits(*index_width, lane) == *at {
                        return slots[*element as usize].bits(*width, lane);
                    }
                    array = *base;
                }
                ArrayNode::Ite { condition, then, otherwise } => {
                    array = if slots[*condition as usize].word(lane) != 0 { *then } else { *otherwise };
                }
            }
        }
    }

    /// Returns the whole array in one lane, for comparisons of arrays.
    pub(super) fn array_value(&self, mut array: u32, lane: usize) -> ArrayValue {
        let slots = &self.memory.slots;
        // Newest write first.
        let mut chain = Vec::new();
        let mut result = loop {
            let (node, index_width, width) = &self.plan.array_nodes[array as usize];
            match node {
                ArrayNode::Variable(number) => {
                    let (own, value) = self.variable(*number, lane);
                    let zero = || ArrayValue::zero(*index_width, *width);
                    let mut result = value.cloned().unwrap_or_else(zero);
                    for (at, column) in &own.elements {
                        result.set(&Bits::word(*index_width, *at), column.bits(*width, lane));
                    }
                    break result;
                }
                ArrayNode::Constant { value } => {
                    break ArrayValue::new(*index_width, slots[*value as usize].bits(*width, lane));
                }
                ArrayNode::Table { elements, base } => {
                    let all = elements.iter().enumerate();
                    let all =
                        all.map(|(at, e)| (Bits::word(*index_width, at as u64), Bits::word(*width, *e)));
                    chain.extend(all);
                    array = *base;
                }
                ArrayNode::Store { base, index, element } => {
                    let index = slots[*index as usize].bits(*index_width, lane);
                    chain.push((index, slots[*element as usize].bits(*width, lane)));
                    array = *base;
                }
                ArrayNode::Ite { condition, then, otherwise } => {
                    array = if slots[*condition as usize].word(lane) != 0 { *then } else { *otherwise };
                }
            }
        };
        for (index, element) in chain.into_iter().rev() {
            result.set(&index, element);
        }
        result
    }
}
