//! Gates: a structurally hashed graph of `and`, `xor`, `mux` and `majority` over input bits.
//!
//! Constants and complements are folded when a gate is built, and equal gates are shared. Each operator is
//! normalised before the lookup (operands ordered, negations pulled out where the function allows). Operands have
//! smaller numbers than their gate, so the graph is acyclic. Building observes a limit: after it is reached every
//! new gate is the constant false and `stopped` gives the reason; no such result is stored.

use crate::budget::{Budget, Why};
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

/// A gate or its complement. `node` is the number of the gate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(u32);

impl Lit {
    pub const FALSE: Lit = Lit(0);
    pub const TRUE: Lit = Lit(1);

    #[inline]
    pub fn new(node: u32, negated: bool) -> Lit {
        Lit(node << 1 | negated as u32)
    }

    #[inline]
    pub fn constant(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }

    #[inline]
    pub fn node(self) -> u32 {
        self.0 >> 1
    }

    #[inline]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    #[inline]
    pub fn is_constant(self) -> bool {
        self.node() == 0
    }

    /// The literal, complemented if `flip`.
    #[inline]
    pub fn flip(self, flip: bool) -> Lit {
        Lit(self.0 ^ flip as u32)
    }

    fn positive(self) -> Lit {
        Lit(self.0 & !1)
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    #[inline]
    fn not(self) -> Lit {
        self.flip(true)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// The constant false, only as gate 0.
    False,
    /// A free bit.
    Input,
    And(Lit, Lit),
    /// Operands are never negated.
    Xor(Lit, Lit),
    /// If the first (never negated) then the second (never negated) else the third.
    Mux(Lit, Lit, Lit),
    /// At least two of three; the first is never negated.
    Majority(Lit, Lit, Lit),
}

impl Gate {
    pub fn operands(self) -> ([Lit; 3], usize) {
        match self {
            Gate::False | Gate::Input => ([Lit::FALSE; 3], 0),
            Gate::And(a, b) | Gate::Xor(a, b) => ([a, b, Lit::FALSE], 2),
            Gate::Mux(a, b, c) | Gate::Majority(a, b, c) => ([a, b, c], 3),
        }
    }

    fn hash(self) -> u64 {
        let (kind, a, b, c) = match self {
            Gate::False => (0, 0, 0, 0),
            Gate::Input => (1, 0, 0, 0),
            Gate::And(a, b) => (2, a.0, b.0, 0),
            Gate::Xor(a, b) => (3, a.0, b.0, 0),
            Gate::Mux(a, b, c) => (4, a.0, b.0, c.0),
            Gate::Majority(a, b, c) => (5, a.0, b.0, c.0),
        };
        let x = (u64::from(a) | u64::from(b) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let y = (u64::from(c) | kind << 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = (x ^ (x >> 29) ^ y).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 32
    }
}

/// Number of gates between two reads of the clock.
const GATES_PER_POLL: usize = 1024;

pub struct Gates {
    gates: Vec<Gate>,
    table: HashTable<u32>,
    budget: Budget,
    limit: usize,
    stopped: Option<Why>,
}

impl Gates {
    pub fn new() -> Gates {
        Gates {
            gates: vec![Gate::False],
            table: HashTable::new(),
            budget: Budget::unlimited(),
            limit: usize::MAX,
            stopped: None,
        }
    }

    /// Sets the limits for gates built from now on: budget, and total number of gates.
    pub fn allow(&mut self, budget: &Budget, limit: usize) {
        self.budget = budget.clone();
        self.limit = limit;
        self.stopped = None;
    }

    /// Reason why building stopped; results since then are invalid.
    #[inline]
    pub fn stopped(&self) -> Option<&Why> {
        self.stopped.as_ref()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.gates.len()
    }

    pub fn is_empty(&self) -> bool {
        false
    }

    #[inline]
    pub fn gate(&self, node: u32) -> Gate {
        self.gates[node as usize]
    }

    fn push(&mut self, gate: Gate) -> Option<u32> {
        if self.stopped.is_some() {
            return None;
        }
        if self.gates.len() >= self.limit {
            self.stopped = Some(Why::Memory);
            return None;
        }
        if self.gates.len().is_multiple_of(GATES_PER_POLL)
            && let Some(why) = self.budget.spent()
        {
            self.stopped = Some(why);
            return None;
        }
        self.gates.push(gate);
        Some(u32::try_from(self.gates.len() - 1).expect("the limit is below 2^31 gates"))
    }

    /// A new free bit.
    pub fn input(&mut self) -> Lit {
        self.push(Gate::Input).map_or(Lit::FALSE, |node| Lit::new(node, false))
    }

    fn hashed(&mut self, gate: Gate) -> Lit {
        let hash = gate.hash();
        if let Some(&node) = self.table.find(hash, |&node| self.gates[node as usize] == gate) {
            return Lit::new(node, false);
        }
        let Some(node) = self.push(gate) else { return Lit::FALSE };
        self.table.insert_unique(hash, node, |&node| self.gates[node as usize].hash());
        Lit::new(node, false)
    }

    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        // One level down: the other operand decides or repeats this one.
        for (x, y) in [(a, b), (b, a)] {
            if let Gate::And(p, q) = self.gate(y.node()) {
                match y.is_negated() {
                    false if p == x || q == x => return y,
                    false if p == !x || q == !x => return Lit::FALSE,
                    true if p == !x || q == !x => return x,
                    true if p == x => return self.and(x, !q),
                    true if q == x => return self.and(x, !p),
                    false | true => {}
                }
            }
        }
        self.hashed(Gate::And(a, b))
    }

    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.is_negated() != b.is_negated();
        let (a, b) = (a.positive(), b.positive());
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if a == b {
            return Lit::constant(flip);
        }
        if a == Lit::FALSE {
            return b.flip(flip);
        }
        self.hashed(Gate::Xor(a, b)).flip(flip)
    }

    /// `then` if `condition`, otherwise `other`.
    pub fn mux(&mut self, condition: Lit, then: Lit, other: Lit) -> Lit {
        let (c, t, e) =
            if condition.is_negated() { (!condition, other, then) } else { (condition, then, other) };
        if c.is_constant() {
            return e;
        }
        if t == e {
            return t;
        }
        if t == !e {
            return self.xor(c, e);
        }
        if t.is_constant() || t.node() == c.node() {
            let t_is_true = t == Lit::TRUE || t == c;
            return if t_is_true { self.or(c, e) } else { self.and(!c, e) };
        }
        if e.is_constant() || e.node() == c.node() {
            let e_is_true = e == Lit::TRUE || e == !c;
            return if e_is_true { self.or(!c, t) } else { self.and(c, t) };
        }
        let flip = t.is_negated();
        self.hashed(Gate::Mux(c, t.flip(flip), e.flip(flip))).flip(flip)
    }

    /// At least two of three: the carry of a full adder.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut sorted = [a, b, c];
        sorted.sort_unstable();
        let [a, b, c] = sorted;
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        // Constants sort first.
        if a == Lit::FALSE {
            return self.and(b, c);
        }
        if a == Lit::TRUE {
            return self.or(b, c);
        }
        let flip = a.is_negated();
        self.hashed(Gate::Majority(a.flip(flip), b.flip(flip), c.flip(flip))).flip(flip)
    }

    /// Conjunction of all literals, as a balanced tree.
    pub fn all(&mut self, mut lits: Vec<Lit>) -> Lit {
        if lits.is_empty() {
            return Lit::TRUE;
        }
        while lits.len() > 1 {
            let half = lits.len().div_ceil(2);
            for i in 0..lits.len() / 2 {
                lits[i] = self.and(lits[2 * i], lits[2 * i + 1]);
            }
            if lits.len() % 2 == 1 {
                lits[half - 1] = lits[lits.len() - 1];
            }
            lits.truncate(half);
        }
        lits[0]
    }

    pub fn any(&mut self, lits: Vec<Lit>) -> Lit {
        !self.all(lits.into_iter().map(|lit| !lit).collect())
    }

    /// Calls `visit` for each gate under `roots` that `enter` accepts, operands first. `enter` must accept a gate
    /// only once.
    pub fn walk(&self, roots: &[Lit], mut enter: impl FnMut(u32) -> bool, mut visit: impl FnMut(u32)) {
        let mut stack: Vec<(u32, bool)> = roots.iter().rev().map(|lit| (lit.node(), false)).collect();
        while let Some((node, expanded)) = stack.pop() {
            if expanded {
                visit(node);
            } else if enter(node) {
                stack.push((node, true));
                let (operands, count) = self.gate(node).operands();
                stack.extend(operands[..count].iter().map(|lit| (lit.node(), false)));
            }
        }
    }

    /// Values of `roots` under the input values that `input` returns. `known` caches gates across calls.
    pub fn evaluate(
        &self,
        roots: &[Lit],
        known: &mut FxHashMap<u32, bool>,
        mut input: impl FnMut(u32) -> bool,
    ) -> Vec<bool> {
        let mut order = Vec::new();
        let mut entered = rustc_hash::FxHashSet::default();
        self.walk(roots, |node| !known.contains_key(&node) && entered.insert(node), |node| order.push(node));
        for node in order {
            let value = |lit: Lit| known[&lit.node()] != lit.is_negated();
            let result = match self.gate(node) {
                Gate::False => false,
                Gate::Input => input(node),
                Gate::And(a, b) => value(a) && value(b),
                Gate::Xor(a, b) => value(a) != value(b),
                Gate::Mux(c, t, e) => value(if value(c) { t } else { e }),
                Gate::Majority(a, b, c) => u8::from(value(a)) + u8::from(value(b)) + u8::from(value(c)) >= 2,
            };
            known.insert(node, result);
        }
        roots.iter().map(|lit| known[&lit.node()] != lit.is_negated()).collect()
    }
}

impl Default for Gates {
    fn default() -> Gates {
        Gates::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operator on every choice of operands (constants, inputs, complements, an `and` of them) has its value,
    /// whatever it is folded to.
    #[test]
    fn folding_preserves_values() {
        let mut g = Gates::new();
        let inputs = [g.input(), g.input(), g.input()];
        let both = g.and(inputs[0], !inputs[1]);
        let mut choices = vec![Lit::FALSE, both];
        choices.extend(inputs);
        let choices: Vec<Lit> = choices.iter().flat_map(|&lit| [lit, !lit]).collect();
        for &a in &choices {
            for &b in &choices {
                for &c in &choices {
                    let built = [g.and(a, b), g.or(a, b), g.xor(a, b), g.mux(a, b, c), g.majority(a, b, c)];
                    for assignment in 0..8u32 {
                        let input = |node: u32| assignment >> (node - 1) & 1 == 1;
                        let roots = [a, b, c, built[0], built[1], built[2], built[3], built[4]];
                        let v = g.evaluate(&roots, &mut FxHashMap::default(), input);
                        let (x, y, z) = (v[0], v[1], v[2]);
                        let expected = [
                            x && y,
                            x || y,
                            x != y,
                            if x { y } else { z },
                            [x, y, z].iter().filter(|v| **v).count() >= 2,
                        ];
                        assert_eq!(v[3..], expected, "{a:?} {b:?} {c:?} under {assignment:03b}");
                    }
                }
            }
        }
    }

    #[test]
    fn building_stops_at_the_limit_without_storing_wrong_gates() {
        let mut g = Gates::new();
        let (a, b) = (g.input(), g.input());
        g.allow(&Budget::unlimited(), 3);
        assert_eq!(g.and(a, b), Lit::FALSE);
        assert_eq!(g.stopped(), Some(&Why::Memory));
        g.allow(&Budget::unlimited(), 4);
        assert_ne!(g.and(a, b), Lit::FALSE);
        assert_eq!(g.stopped(), None);
    }
}
