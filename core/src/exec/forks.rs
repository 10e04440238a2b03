//! The tree of forks, for reports: where paths part, which way each goes, how each ends.
//!
//! Every state stands on a leaf; a fork makes it an inner node with a new leaf for each of the two. The first `KEPT` nodes
//! stay for the whole run, later ones as long as an open path leads through them: so every open path knows its decisions,
//! whenever it was born, at a cost of one node a fork. Of what is dropped only the number of paths remains, at the
//! nearest node that stays.
use super::Engine;
use super::outcome::Place;
use super::state::State;
use crate::program::{EdgeId, FuncId, Function, Inst};
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;
/// The way of a node that is none of the program's: a branch of many ways asks for one after the other.
const BETWEEN: u32 = u32::MAX - 1;
/// The root and both sides of fifteen thousand forks: what a page can draw, and about a megabyte.
const KEPT: u32 = 30_001;
/// Decisions remembered of the path into a bug: so many of its beginning, and as many of its end.
const DECISIONS: usize = 500;
/// Blocks passed by that only lead on.
const EMPTY_BLOCKS: usize = 8;
/// Cases of a switch that a way is named by.
const CASES: usize = 8;

/// An instruction of the user's own code, and the library function that it had called, if paths part in there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct At {
    func: u32,
    pc: u32,
    inside: u32,
}

const NOWHERE: At = At { func: NONE, pc: NONE, inside: NONE };

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// States that stand here, and children.
    holders: u32,
    /// Where its children part.
    at: At,
    /// The edge that was taken from the parent, if it parts at a branch.
    way: u32,
    /// Into `Forks::endings`.
    ending: u32,
    /// Paths that ended below it in nodes that are gone.
    left_out: u32,
    test: u64,
}

/// One decision of a path: where, and along which edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    at: At,
    way: u32,
}

/// The decisions of a path, the first ones first.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    pub(super) steps: Vec<Step>,
    /// Decisions in the middle that are not among them.
    pub left_out: usize,
}

pub(super) struct Forks {
    nodes: Vec<Node>,
    free: Vec<u32>,
    endings: Vec<String>,
}

impl Forks {
    /// With the leaf of the first state, which is node 0.
    pub fn new() -> Forks {
        let mut forks = Forks { nodes: Vec::new(), free: Vec::new(), endings: Vec::new() };
        forks.add(NONE);
        forks
    }

    fn add(&mut self, parent: u32) -> u32 {
        let node = Node { parent, holders: 1, at: NOWHERE, way: NONE, ending: NONE, left_out: 0, test: 0 };
        match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 open forks")
            }
        }
    }

    /// The state on this leaf forks: the new leaves of itself and of the other one.
    pub fn fork(&mut self, leaf: u32, at: At) -> (u32, u32) {
        let node = &mut self.nodes[leaf as usize];
        (node.at, node.holders) = (at, 2);
        (self.add(leaf), self.add(leaf))
    }

    /// The state on this leaf, just born or left by a fork, takes that edge.
    pub fn went(&mut self, leaf: u32, edge: EdgeId) {
        self.nodes[leaf as usize].way = edge.0;
    }

    /// This node forked again at the same branch: its children are its parent's.
    pub fn between(&mut self, node: u32) {
        self.nodes[node as usize].way = BETWEEN;
    }

    /// The path on this leaf has ended.
    pub fn end(&mut self, leaf: u32, ending: impl FnOnce() -> String, test: Option<u64>) {
        let node = &mut self.nodes[leaf as usize];
        if leaf >= KEPT {
            node.left_out = node.left_out.saturating_add(1);
            return;
        }
        let text = ending();
        let found = self.endings.iter().position(|known| *known == text);
        node.ending = found.unwrap_or_else(|| {
            self.endings.push(text);
            self.endings.len() - 1
        }) as u32;
        node.test = test.unwrap_or(0);
    }

    /// No state stands on this leaf any more.
    pub fn leave(&mut self, leaf: u32) {
        let mut id = leaf;
        loop {
            let node = &mut self.nodes[id as usize];
            node.holders -= 1;
            if node.holders > 0 || id < KEPT {
                return;
            }
            let lost = node.left_out;
            self.free.push(id);
            id = node.parent;
            let parent = &mut self.nodes[id as usize];
            parent.left_out = parent.left_out.saturating_add(lost);
        }
    }
}

/// One node of the tree, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForkNode {
    /// An earlier one; `None` for the first.
    pub parent: Option<u32>,
    /// Into `places`: where its children part.
    pub place: Option<u32>,
    /// Into `ways`: how it was reached from where its parent's children part.
    pub way: Option<u32>,
    /// Into `endings`.
    pub ending: Option<u32>,
    pub test: Option<u64>,
    /// Paths below it that are not in the tree.
    pub left_out: u32,
}

/// The tree of forks, as far as it was kept.
#[derive(Clone, Debug, Default)]
pub struct ForkTree {
    pub nodes: Vec<ForkNode>,
    /// Of the user's code, with the library function in which it happened.
    pub places: Vec<(Place, Option<String>)>,
    pub ways: Vec<String>,
    pub endings: Vec<String>,
}

/// Numbers for what is met again and again.
struct Numbers<K, V> {
    known: FxHashMap<K, u32>,
    values: Vec<V>,
}

impl<K: Eq + std::hash::Hash, V> Numbers<K, V> {
    fn new() -> Numbers<K, V> {
        Numbers { known: FxHashMap::default(), values: Vec::new() }
    }

    fn of(&mut self, key: K, value: impl FnOnce() -> V) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.values.push(value());
            (self.values.len() - 1) as u32
        })
    }
}

impl Engine {
    /// Where a state parts that stands at its next instruction.
    pub(super) fn fork_place(&self, state: &State) -> At {
        let frame = self.user_frame(state);
        let inside = if std::ptr::eq(frame, &state.frame) { NONE } else { state.frame.func.0 };
        At { func: frame.func.0, pc: frame.pc, inside }
    }

    /// The decisions that led a state to where it is.
    pub(super) fn trail(&self, state: &State) -> Trail {
        let forks = &self.forks;
        let mut steps = Vec::new();
        let mut id = state.node;
        while forks.nodes[id as usize].parent != NONE {
            let node = &forks.nodes[id as usize];
            if node.way != BETWEEN {
                steps.push(Step { at: forks.nodes[node.parent as usize].at, way: node.way });
            }
            id = node.parent;
        }
        steps.reverse();
        let left_out = steps.len().saturating_sub(2 * DECISIONS);
        steps.drain(DECISIONS.min(steps.len())..(DECISIONS + left_out).min(steps.len()));
        Trail { steps, left_out }
    }

    /// Each decision of a trail: the place in the user's code, the library function it is in, the way taken.
    pub fn decisions<'a>(
        &'a self,
        trail: &'a Trail,
    ) -> impl Iterator<Item = (Place, Option<String>, Option<String>)> + 'a {
        trail.steps.iter().map(|step| {
            let (place, inside) = self.describe(step.at);
            (place, inside, self.describe_way(step.at, step.way))
        })
    }

    /// What was kept of the tree of forks.
    pub fn fork_tree(&self) -> ForkTree {
        let forks = &self.forks;
        let (mut places, mut ways) = (Numbers::new(), Numbers::new());
        let mut numbers: Vec<u32> = Vec::new();
        let mut nodes: Vec<ForkNode> = Vec::new();
        for node in forks.nodes.iter().take(KEPT as usize) {
            let parent = (node.parent != NONE).then(|| numbers[node.parent as usize]);
            if node.way == BETWEEN {
                let parent = parent.expect("a fork was before it");
                nodes[parent as usize].left_out += node.left_out;
                numbers.push(parent);
                continue;
            }
            numbers.push(nodes.len() as u32);
            let from = if node.parent == NONE { NOWHERE } else { forks.nodes[node.parent as usize].at };
            nodes.push(ForkNode {
                parent,
                place: (node.at != NOWHERE).then(|| places.of(node.at, || self.describe(node.at))),
                way: self.describe_way(from, node.way).map(|way| ways.of(way.clone(), || way)),
                ending: (node.ending != NONE).then_some(node.ending),
                test: (node.test != 0).then_some(node.test),
                left_out: node.left_out,
            });
        }
        ForkTree { nodes, places: places.values, ways: ways.values, endings: forks.endings.clone() }
    }

    fn function(&self, number: u32) -> &Function {
        &self.program.functions[number as usize]
    }

    fn describe(&self, at: At) -> (Place, Option<String>) {
        let inside =
            (at.inside != NONE).then(|| self.program.string(self.function(at.inside).name).to_string());
        (self.place_of(FuncId(at.func), at.pc), inside)
    }

    /// Cases of a switch, and the line where it goes on. Edges of a library function say nothing to whoever reads the
    /// user's code.
    fn describe_way(&self, at: At, way: u32) -> Option<String> {
        if at.inside != NONE || way == NONE {
            return None;
        }
        let function = self.function(at.func);
        let mut block = function.blocks[function.edges[way as usize].to.index()];
        // A block of the same line that only leads on is nowhere to go.
        let here = function.locs[at.pc as usize].line;
        for _ in 0..EMPTY_BLOCKS {
            let insts = &function.insts[block.start as usize..block.end as usize];
            let [Inst::Jump { edge }] = insts else { break };
            if ![0, here].contains(&function.locs[block.start as usize].line) {
                break;
            }
            block = function.blocks[function.edges[edge.index()].to.index()];
        }
        let lines = &function.locs[block.start as usize..block.end as usize];
        let line = lines.iter().find(|loc| loc.line != 0).map(|loc| format!("line {}", loc.line));
        let case = match &function.insts[at.pc as usize] {
            Inst::Switch { default, .. } if default.0 == way => Some("default".to_string()),
            Inst::Switch { cases, .. } => {
                let own = cases.iter().filter(|case| case.1.0 == way).take(CASES);
                Some(format!("case {}", own.map(|case| case.0.to_string()).collect::<Vec<_>>().join(", ")))
            }
            _ => None,
        };
        let words: Vec<String> = case.into_iter().chain(line).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: At = At { func: 1, pc: 2, inside: NONE };

    #[test]
    fn nodes_past_the_kept_ones_live_as_long_as_their_paths() {
        let mut forks = Forks::new();
        let mut leaf = 0;
        while forks.nodes.len() < KEPT as usize {
            let (stays, other) = forks.fork(leaf, AT);
            forks.end(other, || "exit 0".to_string(), Some(1));
            forks.leave(other);
            leaf = stays;
        }
        let last = leaf;
        assert_eq!(forks.nodes.len(), KEPT as usize);
        // A comb of a thousand more: its ended teeth are used again, its back stays.
        for _ in 0..1000 {
            let (stays, other) = forks.fork(leaf, AT);
            forks.end(other, || unreachable!("nobody reads it"), None);
            forks.leave(other);
            leaf = stays;
        }
        assert_eq!(forks.nodes.len(), KEPT as usize + 1001);
        assert_eq!(forks.nodes[last as usize].left_out, 1);
        forks.end(leaf, || unreachable!("as above"), None);
        forks.leave(leaf);
        assert_eq!(forks.free.len(), 1001);
        assert_eq!(forks.nodes[last as usize].left_out, 1001);
        assert_eq!(forks.endings, ["exit 0"]);
    }
}
