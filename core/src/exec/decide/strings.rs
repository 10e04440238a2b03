//! Decision strings: what each path decided wherever more than one continuation was possible, shared by prefix.
//!
//! A path is a function of its decisions. Between two of them every condition has one value on the path, which any model of
//! the path gives; so a string and a model are enough to execute the path again without a solver (`replay.rs`). Every open
//! state holds its newest node. A node is dropped with the last path through it.
//!
//! A decision is named by the number of instructions that the path executed before it and the number of the point within
//! the instruction, never by the order in which sides were queried: two runs that explore the same paths have the same
//! strings. `Differs` is the one exception, a value that other states took; such nodes do not count in hashes.
use crate::encoding::{Decoder, put};
use crate::program::FuncId;

/// Number of a node; 0 is the beginning of every path.
pub type StringId = u32;

/// Outcome of a decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    /// Truth of a condition.
    Truth(bool),
    /// Edge of a switch or of a computed goto.
    Edge(u32),
    /// Number of the target of a pointer among its possible ones.
    Target(u32),
    /// A value equals this number.
    Equal(u64),
    /// As `Equal`, and no other number is left: the path condition implies it.
    Only(u64),
    /// A value differs from this number.
    Differs(u64),
    /// Number of the thread that runs next.
    Thread(u32),
}

impl Choice {
    fn parts(self) -> (u8, u64) {
        match self {
            Choice::Truth(truth) => (u8::from(truth), 0),
            Choice::Edge(edge) => (2, edge.into()),
            Choice::Target(target) => (3, target.into()),
            Choice::Equal(value) => (4, value),
            Choice::Only(value) => (5, value),
            Choice::Differs(value) => (6, value),
            Choice::Thread(thread) => (7, thread.into()),
        }
    }

    fn of_parts(kind: u8, value: u64) -> Option<Choice> {
        Some(match kind {
            0 | 1 => Choice::Truth(kind == 1),
            2 => Choice::Edge(u32::try_from(value).ok()?),
            3 => Choice::Target(u32::try_from(value).ok()?),
            4 => Choice::Equal(value),
            5 => Choice::Only(value),
            6 => Choice::Differs(value),
            7 => Choice::Thread(u32::try_from(value).ok()?),
            _ => return None,
        })
    }

    /// Has this kind of choice a number?
    fn has_number(kind: u8) -> bool {
        kind >= 2
    }
}

/// A decision of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Decision {
    /// Number of instructions that the path executed before the one that decided.
    pub step: u64,
    /// Number of the point within the instruction.
    pub point: u32,
    pub choice: Choice,
    /// The instruction.
    pub func: FuncId,
    pub pc: u32,
    /// First byte of the hash of the edges that led there.
    pub course: u8,
}

impl Decision {
    pub fn put(&self, out: &mut Vec<u8>, before: u64) {
        let (kind, value) = self.choice.parts();
        put(out, self.step - before);
        put(out, u64::from(self.point) << 3 | u64::from(kind));
        put(out, self.func.0.into());
        put(out, self.pc.into());
        out.push(self.course);
        if Choice::has_number(kind) {
            put(out, value);
        }
    }

    pub fn get(from: &mut Decoder<'_>, before: u64) -> Option<Decision> {
        let step = before.checked_add(from.number()?)?;
        let head = from.number()?;
        let (func, pc) = (u32::try_from(from.number()?).ok()?, u32::try_from(from.number()?).ok()?);
        let course = from.byte()?;
        let kind = (head & 7) as u8;
        let value = if Choice::has_number(kind) { from.number()? } else { 0 };
        let choice = Choice::of_parts(kind, value)?;
        Some(Decision { step, point: u32::try_from(head >> 3).ok()?, choice, func: FuncId(func), pc, course })
    }
}

#[derive(Clone, Copy)]
struct Node {
    parent: StringId,
    /// Number of states and children that hold it.
    holders: u32,
    hash: u64,
    decision: Decision,
}

pub struct Strings {
    nodes: Vec<Node>,
    free: Vec<StringId>,
}

impl Default for Strings {
    fn default() -> Strings {
        let decision =
            Decision { step: 0, point: 0, choice: Choice::Truth(false), func: FuncId(0), pc: 0, course: 0 };
        Strings { nodes: vec![Node { parent: 0, holders: 1, hash: 0, decision }], free: Vec::new() }
    }
}

impl Strings {
    /// Numbers of nodes are below this.
    pub fn bound(&self) -> usize {
        self.nodes.len()
    }

    /// A node and those above it, without the beginning.
    pub fn up(&self, string: StringId) -> impl Iterator<Item = StringId> + '_ {
        std::iter::successors(Some(string), |&at| Some(self.parent(at))).take_while(|&at| at != 0)
    }

    /// Adds a decision to a string. The holder of `parent` holds the result instead.
    pub fn push(&mut self, parent: StringId, decision: Decision) -> StringId {
        let before = self.nodes[parent as usize].hash;
        let (kind, value) = decision.choice.parts();
        let hash = match decision.choice {
            Choice::Differs(_) => before,
            Choice::Truth(_)
            | Choice::Edge(_)
            | Choice::Target(_)
            | Choice::Equal(_)
            | Choice::Only(_)
            | Choice::Thread(_) => {
                let kind = if kind == 5 { 4 } else { kind };
                let place = mix(decision.step, u64::from(decision.point) << 3 | u64::from(kind));
                mix(mix(before, place), value)
            }
        };
        let node = Node { parent, holders: 1, hash, decision };
        match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 open decisions")
            }
        }
    }

    /// One more state holds this string.
    pub fn retain(&mut self, id: StringId) -> StringId {
        self.nodes[id as usize].holders += 1;
        id
    }

    /// A state that held this string is gone.
    pub fn release(&mut self, id: StringId) {
        let mut id = id;
        // The empty string is always there.
        while id != 0 {
            let node = &mut self.nodes[id as usize];
            node.holders -= 1;
            if node.holders > 0 {
                return;
            }
            self.free.push(id);
            id = node.parent;
        }
    }

    /// Hash of a string, the same in every run that explores this path.
    pub fn hash(&self, id: StringId) -> u64 {
        self.nodes[id as usize].hash
    }

    /// Its newest decision.
    pub fn newest(&self, id: StringId) -> Option<&Decision> {
        (id != 0).then(|| &self.nodes[id as usize].decision)
    }

    /// String without its newest decision.
    pub fn parent(&self, id: StringId) -> StringId {
        self.nodes[id as usize].parent
    }

    /// The decisions of a string, in order.
    pub fn decisions(&self, id: StringId) -> Vec<Decision> {
        let mut found = Vec::new();
        let mut at = id;
        while at != 0 {
            let node = &self.nodes[at as usize];
            found.push(node.decision);
            at = node.parent;
        }
        found.reverse();
        found
    }

    /// Number of nodes in use.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }
}

/// A string as bytes whose order is that of strings, the same in every run: values that other states took do not count.
pub fn sortable(decisions: &[Decision]) -> Vec<u8> {
    let mut out = Vec::new();
    for decision in decisions {
        let (kind, value) = match decision.choice {
            Choice::Differs(_) => continue,
            Choice::Only(value) => Choice::Equal(value).parts(),
            choice => choice.parts(),
        };
        out.extend(decision.step.to_be_bytes());
        out.extend(decision.point.to_be_bytes());
        out.push(kind);
        out.extend(value.to_be_bytes());
    }
    out
}

/// Mixes a number into a hash.
pub fn mix(hash: u64, number: u64) -> u64 {
    let mixed = (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ number.rotate_left(17)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(step: u64, choice: Choice) -> Decision {
        Decision { step, point: 1, choice, func: FuncId(3), pc: 300, course: 201 }
    }

    #[test]
    fn strings_are_shared_and_dropped() {
        let mut strings = Strings::default();
        let first = strings.push(0, decision(7, Choice::Truth(true)));
        strings.retain(first);
        let left = strings.push(first, decision(9, Choice::Equal(5)));
        let right = strings.push(first, decision(9, Choice::Differs(5)));
        assert_eq!(strings.len(), 4);
        assert_eq!(strings.decisions(left)[1].choice, Choice::Equal(5));
        strings.release(left);
        assert_eq!(strings.decisions(right).len(), 2);
        strings.release(right);
        assert_eq!(strings.len(), 1);
    }

    /// The order in which values were tried does not count.
    #[test]
    fn the_hash_of_a_value_does_not_depend_on_the_order() {
        let mut strings = Strings::default();
        let equal = strings.push(0, decision(9, Choice::Equal(2)));
        let differs = strings.push(0, decision(9, Choice::Differs(1)));
        assert_eq!(strings.hash(differs), strings.hash(0));
        let only = strings.push(differs, decision(9, Choice::Only(2)));
        assert_eq!(strings.hash(equal), strings.hash(only));
        assert_eq!(sortable(&strings.decisions(equal)), sortable(&strings.decisions(only)));
    }

    #[test]
    fn decisions_are_encoded() {
        let all = [
            decision(4, Choice::Truth(false)),
            decision(400, Choice::Edge(17)),
            decision(400, Choice::Target(1)),
            decision(1 << 40, Choice::Equal(u64::MAX)),
            decision(1 << 40, Choice::Only(0)),
            decision(1 << 41, Choice::Differs(9)),
            decision(1 << 41, Choice::Thread(2)),
        ];
        let (mut out, mut before) = (Vec::new(), 0);
        for each in all {
            each.put(&mut out, before);
            before = each.step;
        }
        let (mut from, mut before) = (Decoder::new(&out), 0);
        for each in all {
            assert_eq!(Decision::get(&mut from, before), Some(each));
            before = each.step;
        }
        assert!(from.is_at_end());
    }
}
