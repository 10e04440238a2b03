//! Tree of forks, for reports: where paths fork, which side each takes, how each ends.
//!
//! Every open state has a leaf; a fork turns it into an inner node with a new leaf for each of the two
//! states. The first `KEPT_NODES` nodes are kept for the whole run, later ones as long as an open path leads
//! through them: every open path knows its decisions, at a cost of one node per fork. Dropped nodes leave
//! only the number of their paths, at the nearest node that is kept.
use super::place_at;
use crate::exec::outcome::Place;
use crate::program::{EdgeId, FuncId, Inst, Program};
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;
/// Side of a node that is not an edge of the program: a branch with several sides queries them one by one.
const INTERMEDIATE: u32 = u32::MAX - 1;
/// Root and both sides of 15,000 forks: about a megabyte, and as much as a page can draw.
const KEPT_NODES: u32 = 30_001;
/// Decisions kept of the path into a bug: this many at its beginning, and at its end.
const KEPT_DECISIONS: usize = 500;
/// Largest number of blocks skipped that contain only a jump.
const MAX_SKIPPED_BLOCKS: usize = 8;
/// Largest number of switch cases listed in the description of a side.
const NAMED_CASES: usize = 8;

/// Instruction of the user's own code, and the library function it called if the fork is inside of that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ForkPlace {
    func: u32,
    pc: u32,
    inside: u32,
}

impl ForkPlace {
    /// `user`: function and pc of the innermost frame in the user's code; `top`: the function that runs, if it
    /// is another one.
    pub fn new(user: (FuncId, u32), top: Option<FuncId>) -> ForkPlace {
        ForkPlace { func: user.0.0, pc: user.1, inside: top.map_or(NONE, |func| func.0) }
    }
}

const NO_PLACE: ForkPlace = ForkPlace { func: NONE, pc: NONE, inside: NONE };

#[derive(Clone, Copy)]
struct TreeNode {
    parent: u32,
    /// Number of states at this node, plus children.
    holders: u32,
    /// Where its children forked.
    at: ForkPlace,
    /// Edge that was taken from the parent, if that forked at a branch.
    side: u32,
    /// Index into `ForkTree::endings`.
    ending: u32,
    /// Number of paths that ended below it in dropped nodes.
    left_out: u32,
    test: u64,
}

/// One decision of a path: the place, and the edge taken.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    at: ForkPlace,
    side: u32,
}

/// Decisions of a path, in order.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    decisions: Vec<Decision>,
    /// Number of decisions in the middle that were dropped.
    pub left_out: usize,
}

pub struct ForkTree {
    nodes: Vec<TreeNode>,
    free: Vec<u32>,
    endings: Vec<String>,
}

impl ForkTree {
    /// Tree with one leaf, node 0, for the first state.
    pub fn new() -> ForkTree {
        let mut forks = ForkTree { nodes: Vec::new(), free: Vec::new(), endings: Vec::new() };
        forks.add(NONE);
        forks
    }

    fn add(&mut self, parent: u32) -> u32 {
        let node =
            TreeNode { parent, holders: 1, at: NO_PLACE, side: NONE, ending: NONE, left_out: 0, test: 0 };
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

    /// Forks the state on this leaf. Returns the new leaves of this state and of the other one.
    pub fn fork(&mut self, leaf: u32, at: ForkPlace) -> (u32, u32) {
        let node = &mut self.nodes[leaf as usize];
        (node.at, node.holders) = (at, 2);
        (self.add(leaf), self.add(leaf))
    }

    /// New leaf for a state whose forks are not known: its path was taken up.
    pub fn graft(&mut self) -> u32 {
        self.nodes[0].holders += 1;
        self.add(0)
    }

    /// Sets the edge that the state on this leaf takes.
    pub fn set_side(&mut self, leaf: u32, edge: EdgeId) {
        self.nodes[leaf as usize].side = edge.0;
    }

    /// Marks a node that forked again at the same branch: its children count as its parent's.
    pub fn set_intermediate(&mut self, node: u32) {
        self.nodes[node as usize].side = INTERMEDIATE;
    }

    /// Ends the path on this leaf.
    /// Gives tests other numbers.
    pub fn renumber(&mut self, number: impl Fn(u64) -> Option<u64>) {
        for node in self.nodes.iter_mut().filter(|node| node.test != 0) {
            node.test = number(node.test).unwrap_or(0);
        }
    }

    pub fn end(&mut self, leaf: u32, ending: impl FnOnce() -> String, test: Option<u64>) {
        let node = &mut self.nodes[leaf as usize];
        if leaf >= KEPT_NODES {
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

    /// Releases the leaf of a state that is gone.
    pub fn release(&mut self, leaf: u32) {
        let mut id = leaf;
        loop {
            let node = &mut self.nodes[id as usize];
            node.holders -= 1;
            if node.holders > 0 || id < KEPT_NODES {
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

/// Node of the fork tree, for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForkNode {
    /// Number of an earlier node; `None` for the root.
    pub parent: Option<u32>,
    /// Index into `places`: where its children forked.
    pub place: Option<u32>,
    /// Index into `sides`: the side taken from its parent's place.
    pub side: Option<u32>,
    /// Index into `endings`.
    pub ending: Option<u32>,
    pub test: Option<u64>,
    /// Number of paths below it whose nodes were dropped.
    pub left_out: u32,
}

/// The kept part of the fork tree, as a table for reports.
#[derive(Clone, Debug, Default)]
pub struct ForkTable {
    pub nodes: Vec<ForkNode>,
    /// Places in the user's code, with the library function in which the fork happened.
    pub places: Vec<(Place, Option<String>)>,
    pub sides: Vec<String>,
    pub endings: Vec<String>,
}

/// Numbers distinct values in order of appearance.
struct Interner<K, V> {
    known: FxHashMap<K, u32>,
    values: Vec<V>,
}

impl<K: Eq + std::hash::Hash, V> Interner<K, V> {
    fn new() -> Interner<K, V> {
        Interner { known: FxHashMap::default(), values: Vec::new() }
    }

    fn of(&mut self, key: K, value: impl FnOnce() -> V) -> u32 {
        *self.known.entry(key).or_insert_with(|| {
            self.values.push(value());
            (self.values.len() - 1) as u32
        })
    }
}

impl ForkTree {
    /// Decisions of the path on this leaf.
    pub fn trail(&self, leaf: u32) -> Trail {
        let mut decisions = Vec::new();
        let mut id = leaf;
        while self.nodes[id as usize].parent != NONE {
            let node = &self.nodes[id as usize];
            let at = self.nodes[node.parent as usize].at;
            // A path that was taken up has no known forks before.
            if node.side != INTERMEDIATE && at != NO_PLACE {
                decisions.push(Decision { at, side: node.side });
            }
            id = node.parent;
        }
        decisions.reverse();
        let left_out = decisions.len().saturating_sub(2 * KEPT_DECISIONS);
        decisions
            .drain(KEPT_DECISIONS.min(decisions.len())..(KEPT_DECISIONS + left_out).min(decisions.len()));
        Trail { decisions, left_out }
    }

    /// Table of the kept part of the fork tree.
    pub fn table(&self, program: &Program) -> ForkTable {
        let (mut places, mut sides) = (Interner::new(), Interner::new());
        let mut numbers: Vec<u32> = Vec::new();
        let mut nodes: Vec<ForkNode> = Vec::new();
        for node in self.nodes.iter().take(KEPT_NODES as usize) {
            let parent = (node.parent != NONE).then(|| numbers[node.parent as usize]);
            if node.side == INTERMEDIATE {
                let parent = parent.expect("an intermediate node has a parent");
                nodes[parent as usize].left_out += node.left_out;
                numbers.push(parent);
                continue;
            }
            numbers.push(nodes.len() as u32);
            let from = if node.parent == NONE { NO_PLACE } else { self.nodes[node.parent as usize].at };
            nodes.push(ForkNode {
                parent,
                place: (node.at != NO_PLACE).then(|| places.of(node.at, || describe(program, node.at))),
                side: describe_side(program, from, node.side).map(|side| sides.of(side.clone(), || side)),
                ending: (node.ending != NONE).then_some(node.ending),
                test: (node.test != 0).then_some(node.test),
                left_out: node.left_out,
            });
        }
        ForkTable { nodes, places: places.values, sides: sides.values, endings: self.endings.clone() }
    }
}

impl Trail {
    /// Decisions as numbers: function, instruction, library function, side.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = [u32; 4]> + '_ {
        self.decisions.iter().map(|d| [d.at.func, d.at.pc, d.at.inside, d.side])
    }

    /// Trail of numbers that `numbers` made of a path of this program. `None` if they are of another one.
    pub fn of_numbers(program: &Program, rows: &[[u32; 4]], left_out: usize) -> Option<Trail> {
        let mut decisions = Vec::with_capacity(rows.len());
        for &[func, pc, inside, side] in rows {
            let function = program.functions.get(func as usize)?;
            let is_known = (pc as usize) < function.insts.len()
                && (inside == NONE || (inside as usize) < program.functions.len())
                && (inside != NONE || side == NONE || (side as usize) < function.edges.len());
            decisions.push(is_known.then_some(Decision { at: ForkPlace { func, pc, inside }, side })?);
        }
        Some(Trail { decisions, left_out })
    }

    /// Describes each decision: place in the user's code, library function it is in, side taken.
    pub fn describe<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = (Place, Option<String>, Option<String>)> + 'a {
        self.decisions.iter().map(|decision| {
            let (place, inside) = describe(program, decision.at);
            (place, inside, describe_side(program, decision.at, decision.side))
        })
    }
}

fn describe(program: &Program, at: ForkPlace) -> (Place, Option<String>) {
    let inside = (at.inside != NONE).then(|| program.shown_name(FuncId(at.inside)));
    (place_at(program, FuncId(at.func), at.pc), inside)
}

/// Describes a side: cases of a switch, and the line of its target. `None` inside of library functions,
/// whose edges mean nothing to the reader of the user's code.
fn describe_side(program: &Program, at: ForkPlace, side: u32) -> Option<String> {
    if at.inside != NONE || side == NONE {
        return None;
    }
    let function = &program.functions[at.func as usize];
    let mut block = function.blocks[function.edges[side as usize].to.index()];
    // Skips blocks on the same line that contain only a jump.
    let here = function.locs[at.pc as usize].line;
    for _ in 0..MAX_SKIPPED_BLOCKS {
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
        Inst::Switch { default, .. } if default.0 == side => Some("default".to_string()),
        Inst::Switch { cases, .. } => {
            let own = cases.iter().filter(|case| case.1.0 == side).take(NAMED_CASES);
            Some(format!("case {}", own.map(|case| case.0.to_string()).collect::<Vec<_>>().join(", ")))
        }
        _ => None,
    };
    let parts: Vec<String> = case.into_iter().chain(line).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: ForkPlace = ForkPlace { func: 1, pc: 2, inside: NONE };

    #[test]
    fn later_nodes_are_dropped_with_their_paths() {
        let mut forks = ForkTree::new();
        let mut leaf = 0;
        while forks.nodes.len() < KEPT_NODES as usize {
            let (stays, other) = forks.fork(leaf, AT);
            forks.end(other, || "exit 0".to_string(), Some(1));
            forks.release(other);
            leaf = stays;
        }
        let last = leaf;
        assert_eq!(forks.nodes.len(), KEPT_NODES as usize);
        // 1000 more forks of one path: nodes of ended paths are reused, those of the open path stay.
        for _ in 0..1000 {
            let (stays, other) = forks.fork(leaf, AT);
            forks.end(other, || unreachable!("the node is not kept"), None);
            forks.release(other);
            leaf = stays;
        }
        assert_eq!(forks.nodes.len(), KEPT_NODES as usize + 1001);
        assert_eq!(forks.nodes[last as usize].left_out, 1);
        forks.end(leaf, || unreachable!("as above"), None);
        forks.release(leaf);
        assert_eq!(forks.free.len(), 1001);
        assert_eq!(forks.nodes[last as usize].left_out, 1001);
        assert_eq!(forks.endings, ["exit 0"]);
    }
}
