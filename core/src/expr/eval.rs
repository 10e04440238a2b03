//! The meaning of every operator: `word` for operands of at most 64 bits, `wide` for any width, and the
//! evaluator that applies them to a graph. Everything else (rewrites, columns, sets, circuits, back ends) is
//! tested against this file. Division by zero and over-shifts are as in SMT-LIB.
//!
//! The evaluator uses its own stack, computes each node once per model, and evaluates only the selected arm of
//! an `ite`.

use super::bits::{mask, signed};
use super::value::{ArrayValue, Model, Value};
use super::{
    ArithOp, ArrayOp, Bits, BitsOp, CompareOp, Expr, Family, Graph, Kind, LeafOp, Node, Op, ShapeOp, ShiftOp,
    float,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Widths that the meaning of an operator depends on.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Width of the result.
    pub width: u32,
    /// Width of the first operand.
    pub operand: u32,
    /// Parameter of the node (the lowest bit of an extract, the packed `FloatParameter`); width of the second operand of a concatenation.
    pub low: u32,
}

/// Evaluates an operator on words. Neither operands nor result have bits above their width. Operators ignore
/// the operands that they do not have.
#[inline(always)]
pub fn word(op: Op, s: Shape, a: u64, b: u64, c: u64) -> u64 {
    let w = s.operand;
    match op.family() {
        Family::Bits(op) => match op {
            BitsOp::Not => !a & mask(w),
            BitsOp::And => a & b,
            BitsOp::Or => a | b,
            BitsOp::Xor => a ^ b,
        },
        Family::Arith(op) => match op {
            ArithOp::Add => a.wrapping_add(b) & mask(w),
            ArithOp::Sub => a.wrapping_sub(b) & mask(w),
            ArithOp::Mul => a.wrapping_mul(b) & mask(w),
            ArithOp::UDiv => a.checked_div(b).unwrap_or(mask(w)),
            ArithOp::URem => a.checked_rem(b).unwrap_or(a),
            ArithOp::SDiv => {
                let (x, y) = (signed(w, a), signed(w, b));
                let by_zero = if x < 0 { 1 } else { -1 };
                (if y == 0 { by_zero } else { x.wrapping_div(y) }) as u64 & mask(w)
            }
            ArithOp::SRem => {
                let (x, y) = (signed(w, a), signed(w, b));
                (if y == 0 { x } else { x.wrapping_rem(y) }) as u64 & mask(w)
            }
        },
        Family::Shift(op) => match op {
            ShiftOp::Shl => (if b < u64::from(w) { a << b } else { 0 }) & mask(w),
            ShiftOp::LShr => {
                if b < u64::from(w) {
                    a >> b
                } else {
                    0
                }
            }
            ShiftOp::AShr => (signed(w, a) >> b.min(63)) as u64 & mask(w),
        },
        Family::Compare(op) => match op {
            CompareOp::Eq => (a == b) as u64,
            CompareOp::Ult => (a < b) as u64,
            CompareOp::Ule => (a <= b) as u64,
            CompareOp::Slt => (signed(w, a) < signed(w, b)) as u64,
            CompareOp::Sle => (signed(w, a) <= signed(w, b)) as u64,
        },
        Family::Shape(op) => match op {
            ShapeOp::Concat => a << s.low | b,
            ShapeOp::Extract => a >> s.low & mask(s.width),
            ShapeOp::ZExt => a,
            ShapeOp::SExt => signed(w, a) as u64 & mask(s.width),
            ShapeOp::Ite => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
        },
        Family::Float(op) => float::word(op, s, a, b, c),
        Family::Leaf(_) | Family::Array(_) => unreachable!("{op:?} is not a function of words"),
    }
}

/// Evaluates an operator on values of any width, except `Ite`, whose condition has another width. Operators ignore
/// the operands that they do not have.
pub fn wide(op: Op, s: Shape, a: &Bits, b: &Bits, c: &Bits) -> Bits {
    match op.family() {
        Family::Bits(op) => match op {
            BitsOp::Not => a.not(),
            BitsOp::And => a.zip(b, |x, y| x & y),
            BitsOp::Or => a.zip(b, |x, y| x | y),
            BitsOp::Xor => a.zip(b, |x, y| x ^ y),
        },
        Family::Arith(op) => match op {
            ArithOp::Add => a.add(b),
            ArithOp::Sub => a.sub(b),
            ArithOp::Mul => a.mul(b),
            ArithOp::UDiv => a.divide(b).0,
            ArithOp::URem => a.divide(b).1,
            ArithOp::SDiv => {
                let quotient = magnitude(a).divide(&magnitude(b)).0;
                if a.sign() == b.sign() { quotient } else { quotient.neg() }
            }
            ArithOp::SRem => {
                let remainder = magnitude(a).divide(&magnitude(b)).1;
                if a.sign() { remainder.neg() } else { remainder }
            }
        },
        Family::Shift(op) => {
            // A shift by 2^64 or more is a shift by at least the width.
            let amount = b.to_u64().unwrap_or(u64::MAX);
            match op {
                ShiftOp::Shl => a.shl(amount),
                ShiftOp::LShr => a.lshr(amount),
                ShiftOp::AShr => a.ashr(amount),
            }
        }
        Family::Compare(op) => Bits::from_bool(match op {
            CompareOp::Eq => a == b,
            CompareOp::Ult => a.ucmp(b) == Ordering::Less,
            CompareOp::Ule => a.ucmp(b) != Ordering::Greater,
            CompareOp::Slt => a.scmp(b) == Ordering::Less,
            CompareOp::Sle => a.scmp(b) != Ordering::Greater,
        }),
        Family::Shape(op) => match op {
            ShapeOp::Concat => a.concat(b),
            ShapeOp::Extract => a.extract(s.low.into(), s.width),
            ShapeOp::ZExt => a.zext(s.width),
            ShapeOp::SExt => a.sext(s.width),
            ShapeOp::Ite => unreachable!("the condition has another width"),
        },
        Family::Float(op) => float::wide(op, s, a, b, c),
        Family::Leaf(_) | Family::Array(_) => unreachable!("{op:?} is not a function of bit-vectors"),
    }
}

fn magnitude(a: &Bits) -> Bits {
    if a.sign() { a.neg() } else { a.clone() }
}

/// An array under evaluation: a chain of writes that ends in a total array.
enum Array {
    Model(Option<Arc<ArrayValue>>),
    Constant(Bits),
    Table(Arc<[u64]>, u32),
    Store { base: u32, index: Bits, element: Bits },
}

/// Unknown write indices that are computed before a read of a chain of writes is retried: this many, and as many as the walk
/// has passed writes, so that the retries of a long chain cost as much as one walk.
const MIN_LOOKAHEAD: usize = 16;
/// Nodes between two looks at whether the run is overdue.
const STEPS_PER_CHECK: u32 = 256;

/// Reusable memory for evaluation. Create once, use `under` for each model.
#[derive(Default)]
pub struct Evaluator {
    /// A slot is valid if its stamp is the current epoch.
    stamps: Vec<u32>,
    epoch: u32,
    /// The value of a word, or the position in `wides` or `arrays`.
    slots: Vec<u64>,
    wides: Vec<Bits>,
    arrays: Vec<Array>,
    stack: Vec<u32>,
    /// Number of nodes computed since creation.
    pub(crate) work: u64,
    steps: u32,
}

impl Evaluator {
    pub fn new() -> Evaluator {
        Evaluator::default()
    }

    /// Number of nodes computed since creation.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Starts an evaluation under `model`; all calls on the result share computed nodes.
    pub fn under<'a>(&'a mut self, graph: &'a Graph, model: &'a Model) -> Evaluation<'a> {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.fill(0);
            self.epoch = 1;
        }
        self.stamps.resize(self.stamps.len().max(graph.slots()), 0);
        self.slots.resize(self.stamps.len(), 0);
        self.wides.clear();
        self.arrays.clear();
        // An evaluation that was unwound has left its nodes.
        self.stack.clear();
        Evaluation { memory: self, graph, model }
    }
}

/// Evaluation of expressions under one model.
pub struct Evaluation<'a> {
    memory: &'a mut Evaluator,
    graph: &'a Graph,
    model: &'a Model,
}

impl Evaluation<'_> {
    /// Returns the value of the boolean `e`.
    pub fn truth(&mut self, e: Expr) -> bool {
        debug_assert!(self.graph.is_bool(e));
        self.word(e) != 0
    }

    /// Returns the value of a boolean or a bit-vector of at most 64 bits.
    pub fn word(&mut self, e: Expr) -> u64 {
        debug_assert!(self.graph.width(e) <= 64 && !self.graph.is_array(e));
        self.run(e);
        self.memory.slots[e.index()]
    }

    /// Returns the value of a boolean or a bit-vector.
    pub fn bits(&mut self, e: Expr) -> Bits {
        debug_assert!(!self.graph.is_array(e));
        self.run(e);
        self.bits_of(e.id())
    }

    pub fn value(&mut self, e: Expr) -> Value {
        if !self.graph.is_array(e) {
            return Value::Bits(self.bits(e));
        }
        self.run(e);
        Value::Array(Arc::new(self.array_value(e.id())))
    }

    fn done(&self, id: u32) -> bool {
        self.memory.stamps[id as usize] == self.memory.epoch
    }

    fn run(&mut self, e: Expr) {
        self.graph.op(e);
        if self.done(e.id()) {
            return;
        }
        debug_assert!(self.memory.stack.is_empty());
        self.memory.stack.push(e.id());
        while let Some(&id) = self.memory.stack.last() {
            self.memory.steps = self.memory.steps.wrapping_add(1);
            if self.memory.steps.is_multiple_of(STEPS_PER_CHECK) {
                self.graph.unwinder.check();
            }
            let node = self.graph.nodes[id as usize];
            let before = self.memory.stack.len();
            if !self.done(id) {
                let kids = &node.payload[..node.op.arity()];
                if let Some(array) = self.is_single_read(&node) {
                    // Computes only the written elements that the read may select.
                    if !self.done(kids[1]) {
                        self.memory.stack.push(kids[1]);
                        continue;
                    }
                    if let Some(value) = self.look_up(array, self.memory.slots[kids[1] as usize]) {
                        self.store_value(id, value);
                        self.memory.stack.pop();
                    }
                    continue;
                }
                if node.op == Op::Ite {
                    let next = if !self.done(kids[0]) { kids[0] } else { self.taken(&node) };
                    if !self.done(next) {
                        self.memory.stack.push(next);
                    }
                } else {
                    for &kid in kids {
                        if self.done(kid) {
                            continue;
                        }
                        // Most nodes are leaves: compute them without the stack.
                        let leaf = self.graph.nodes[kid as usize];
                        if leaf.op.arity() == 0 {
                            self.finish(kid, &leaf);
                        } else {
                            self.memory.stack.push(kid);
                        }
                    }
                }
                if self.memory.stack.len() > before {
                    continue;
                }
                self.finish(id, &node);
            }
            self.memory.stack.pop();
        }
    }

    /// Returns the array of a read of one element, if index and element have at most 64 bits.
    fn is_single_read(&self, node: &Node) -> Option<u32> {
        if node.op != Op::Read {
            return None;
        }
        let array = &self.graph.nodes[node.payload[0] as usize];
        (node.width == array.width && node.width <= 64 && array.index_width <= 64).then_some(node.payload[0])
    }

    /// Returns the value of a constant or of a node that is already computed.
    fn known_value(&self, id: u32) -> Option<u64> {
        if self.done(id) {
            return Some(self.memory.slots[id as usize]);
        }
        self.graph.const_word(self.graph.handle(id))
    }

    /// Returns the element of an array at index `at`, or `None` after pushing the nodes to compute first.
    fn look_up(&mut self, mut array: u32, at: u64) -> Option<u64> {
        let (mut missing, mut passed) = (0, 0);
        loop {
            let node = self.graph.nodes[array as usize];
            let kid = |i: usize| node.payload[i];
            // The node that decides: an element, or the condition of an `ite`.
            let (needed, found) = match node.op {
                Op::Store => match self.known_value(kid(1)) {
                    Some(index) if index == at => (kid(2), true),
                    Some(_) => {
                        array = kid(0);
                        passed += 1;
                        self.memory.steps = self.memory.steps.wrapping_add(1);
                        continue;
                    }
                    // Pushes further indices too, so that the walk is restarted less often.
                    None if missing < MIN_LOOKAHEAD.max(passed) => {
                        self.memory.stack.push(kid(1));
                        missing += 1;
                        array = kid(0);
                        continue;
                    }
                    None => return None,
                },
                Op::Table => {
                    match usize::try_from(at).ok().and_then(|i| self.graph.tables.get(kid(1)).elements.get(i))
                    {
                        Some(&element) => return (missing == 0).then_some(element),
                        None => {
                            array = kid(0);
                            continue;
                        }
                    }
                }
                Op::Ite => (kid(0), false),
                Op::ConstArray => (kid(0), true),
                Op::Var => {
                    let value = self.model.array(self.graph.handle(array));
                    return (missing == 0).then(|| value.map_or(0, |value| value.get_word(at)));
                }
                op => unreachable!("{op:?} is never an array"),
            };
            if missing > 0 {
                return None;
            }
            match self.known_value(needed) {
                Some(value) if found => return Some(value),
                Some(value) => array = if value != 0 { kid(1) } else { kid(2) },
                None => {
                    self.memory.stack.push(needed);
                    return None;
                }
            }
        }
    }

    /// Computes a node whose operands are computed.
    fn finish(&mut self, id: u32, node: &Node) {
        let slot = self.compute(id, node);
        self.store_value(id, slot);
    }

    /// Stores the value of a node.
    fn store_value(&mut self, id: u32, slot: u64) {
        self.memory.slots[id as usize] = slot;
        self.memory.stamps[id as usize] = self.memory.epoch;
        self.memory.work += 1;
    }

    /// Returns the selected arm of an `ite` whose condition is computed.
    fn taken(&self, node: &Node) -> u32 {
        if self.memory.slots[node.payload[0] as usize] != 0 { node.payload[1] } else { node.payload[2] }
    }

    fn compute(&mut self, id: u32, node: &Node) -> u64 {
        if node.kind == Kind::Array {
            return self.compute_array(id, node);
        }
        let handle = || self.graph.handle(id);
        match node.op {
            Op::Ite => self.memory.slots[self.taken(node) as usize],
            Op::Const => match self.graph.const_word(handle()) {
                Some(value) => value,
                None => self.keep(self.graph.wides.get(node.payload[0]).clone()),
            },
            Op::Var => match node.width {
                0..=64 => self.model.word(handle()),
                width => self.keep(self.model.bits(handle(), width)),
            },
            Op::Read => self.read(node),
            Op::Eq if self.graph.nodes[node.payload[0] as usize].kind == Kind::Array => {
                (self.array_value(node.payload[0]) == self.array_value(node.payload[1])) as u64
            }
            _ => {
                let s = shape(self.graph, node);
                let value = |i: usize| self.memory.slots[node.payload[i] as usize];
                if s.operand <= 64 && s.width <= 64 {
                    return match node.op.arity() {
                        1 => word(node.op, s, value(0), 0, 0),
                        2 => word(node.op, s, value(0), value(1), 0),
                        _ => word(node.op, s, value(0), value(1), value(2)),
                    };
                }
                let a = self.bits_of(node.payload[0]);
                let result = match node.op.arity() {
                    1 => wide(node.op, s, &a, &a, &a),
                    2 => wide(node.op, s, &a, &self.bits_of(node.payload[1]), &a),
                    _ => {
                        let (b, c) = (self.bits_of(node.payload[1]), self.bits_of(node.payload[2]));
                        wide(node.op, s, &a, &b, &c)
                    }
                };
                self.keep(result)
            }
        }
    }

    fn keep(&mut self, bits: Bits) -> u64 {
        if bits.width() <= 64 {
            return bits.low();
        }
        self.memory.wides.push(bits);
        self.memory.wides.len() as u64 - 1
    }

    fn bits_of(&self, id: u32) -> Bits {
        let (width, slot) = (self.graph.nodes[id as usize].width, self.memory.slots[id as usize]);
        if width <= 64 { Bits::word(width, slot) } else { self.memory.wides[slot as usize].clone() }
    }

    fn compute_array(&mut self, id: u32, node: &Node) -> u64 {
        let array = match node.op.family() {
            Family::Shape(ShapeOp::Ite) => return self.memory.slots[self.taken(node) as usize],
            Family::Leaf(LeafOp::Var) => Array::Model(self.model.array(self.graph.handle(id)).cloned()),
            Family::Array(op) => match op {
                ArrayOp::ConstArray => Array::Constant(self.bits_of(node.payload[0])),
                ArrayOp::Table => {
                    let base = self.memory.slots[node.payload[0] as usize] as u32;
                    Array::Table(self.graph.tables.get(node.payload[1]).elements.clone(), base)
                }
                ArrayOp::Store => Array::Store {
                    base: self.memory.slots[node.payload[0] as usize] as u32,
                    index: self.bits_of(node.payload[1]),
                    element: self.bits_of(node.payload[2]),
                },
                ArrayOp::Read => unreachable!("a read is never an array"),
            },
            Family::Leaf(LeafOp::Const) | Family::Bits(_) | Family::Arith(_) | Family::Shift(_) => {
                unreachable!("{:?} is never an array", node.op)
            }
            Family::Compare(_) | Family::Shape(_) | Family::Float(_) => {
                unreachable!("{:?} is never an array", node.op)
            }
        };
        self.memory.arrays.push(array);
        self.memory.arrays.len() as u64 - 1
    }

    fn read(&mut self, node: &Node) -> u64 {
        let array = &self.graph.nodes[node.payload[0] as usize];
        let (element, count) = (array.width, node.width / array.width);
        let cell = self.memory.slots[node.payload[0] as usize] as u32;
        if node.width <= 64 && array.index_width <= 64 {
            let index = self.memory.slots[node.payload[1] as usize];
            let mut value = 0;
            for i in (0..count).rev() {
                let at = index.wrapping_add(i.into()) & mask(array.index_width);
                let part = self.element_word(cell, at);
                value = if count == 1 { part } else { value << element | part };
            }
            return value;
        }
        let index = self.bits_of(node.payload[1]);
        let mut value = self.element(cell, &index, element);
        for i in 1..count {
            let at = index.add(&Bits::word(array.index_width, i.into()));
            value = self.element(cell, &at, element).concat(&value);
        }
        self.keep(value)
    }

    fn element_word(&self, mut cell: u32, at: u64) -> u64 {
        loop {
            match &self.memory.arrays[cell as usize] {
                Array::Model(array) => return array.as_ref().map_or(0, |a| a.get_word(at)),
                Array::Constant(value) => return value.low(),
                Array::Table(elements, base) => {
                    match usize::try_from(at).ok().and_then(|i| elements.get(i)) {
                        Some(&element) => return element,
                        None => cell = *base,
                    }
                }
                Array::Store { base, index, element } => {
                    if index.low() == at {
                        return element.low();
                    }
                    cell = *base;
                }
            }
        }
    }

    fn element(&self, mut cell: u32, at: &Bits, width: u32) -> Bits {
        loop {
            match &self.memory.arrays[cell as usize] {
                Array::Model(array) => {
                    return array.as_ref().map_or_else(|| Bits::zero(width), |a| a.get(at));
                }
                Array::Constant(value) => return value.clone(),
                Array::Table(elements, base) => {
                    match at.to_u64().and_then(|i| elements.get(usize::try_from(i).ok()?)) {
                        Some(&element) => return Bits::word(width, element),
                        None => cell = *base,
                    }
                }
                Array::Store { base, index, element } => {
                    if index == at {
                        return element.clone();
                    }
                    cell = *base;
                }
            }
        }
    }

    fn array_value(&self, id: u32) -> ArrayValue {
        let node = &self.graph.nodes[id as usize];
        let mut chain = Vec::new();
        let mut cell = self.memory.slots[id as usize] as u32;
        let mut value = loop {
            let array = &self.memory.arrays[cell as usize];
            match array {
                Array::Model(Some(value)) => break (**value).clone(),
                Array::Model(None) => break ArrayValue::zero(node.index_width, node.width),
                Array::Constant(element) => break ArrayValue::new(node.index_width, element.clone()),
                Array::Table(_, base) | Array::Store { base, .. } => cell = *base,
            }
            chain.push(array);
        };
        for array in chain.into_iter().rev() {
            match array {
                Array::Table(elements, _) => {
                    for (i, element) in elements.iter().enumerate() {
                        value.set_word(i as u64, *element);
                    }
                }
                Array::Store { index, element, .. } => value.set(index, element.clone()),
                Array::Model(_) | Array::Constant(_) => unreachable!("these end a chain"),
            }
        }
        value
    }
}

/// Returns the widths that `word` and `wide` need for a node.
pub(super) fn shape(graph: &Graph, node: &Node) -> Shape {
    let operand = graph.nodes[node.payload[0] as usize].width;
    let low = match node.op {
        Op::Concat => graph.nodes[node.payload[1] as usize].width,
        op if op.has_parameter() => node.parameter(),
        _ => 0,
    };
    Shape { width: node.width, operand, low }
}

impl Graph {
    /// Returns the widths and the parameter that the meaning of a node depends on.
    pub fn shape(&self, e: Expr) -> Shape {
        shape(self, self.node(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Cancel, Overdue, Unwinder};
    use crate::expr::Sort;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A read of a chain of writes at symbolic indices takes steps in proportion to the chain.
    #[test]
    fn a_read_of_a_long_chain_of_writes_is_linear() {
        let mut g = Graph::new();
        let start = g.var("start", Sort::Bits(32)).unwrap();
        let at = g.word(32, 3);
        let steps = [1000, 2000, 4000].map(|count| {
            let mut array = g.var("a", Sort::Array { index: 32, element: 8 }).unwrap();
            for i in 0..count {
                let (distance, element) = (g.word(32, 17 * i + 100), g.word(8, i & 0xff));
                let index = g.add(start, distance);
                array = g.store(array, index, element);
            }
            let read = g.read(array, at, 1);
            let mut evaluator = Evaluator::new();
            evaluator.under(&g, &Model::new()).word(read);
            evaluator.steps
        });
        assert!(steps[0] >= 1000 && steps[2] < 5 * steps[0], "{steps:?}");
    }

    /// Building and evaluating expressions is unwound once it is overdue, and only while that is allowed.
    #[test]
    fn expressions_are_unwound_when_overdue() {
        let cancel = Cancel::default();
        let mut graph = Graph::new();
        graph.unwinder = Unwinder::new(cancel.clone());
        let mut sum = graph.var("x", Sort::Bits(32)).unwrap();
        for i in 0..1000 {
            let (other, odd) = (graph.word(32, i), graph.word(32, 2 * i + 1));
            let product = graph.mul(sum, odd);
            sum = graph.xor(product, other);
        }
        let (model, mut evaluator) = (Model::new(), Evaluator::new());
        let value = evaluator.under(&graph, &model).word(sum);
        cancel.raise_overdue();
        assert_eq!(evaluator.under(&graph, &model).word(sum), value);
        graph.unwinder.arm(true);
        let is_unwound =
            |unwound: std::thread::Result<()>| unwound.is_err_and(|payload| payload.is::<Overdue>());
        assert!(is_unwound(catch_unwind(AssertUnwindSafe(|| {
            evaluator.under(&graph, &model).word(sum);
        }))));
        assert!(is_unwound(catch_unwind(AssertUnwindSafe(|| {
            graph.mul(sum, sum);
        }))));
        assert!(graph.unwinder.arm(false));
        assert_eq!(evaluator.under(&graph, &model).word(sum), value);
        cancel.reset_memory();
        assert!(!cancel.is_overdue());
        cancel.cancel();
        cancel.raise_overdue();
        cancel.reset_memory();
        assert!(cancel.is_overdue(), "a run that is over stays so");
    }
}
