//! Open states as the leaves of a binary tree of their forks, for `random-path`. Every inner node has two
//! children: ended states are cut out. A walk from the root that takes either side with equal probability
//! draws a state; on average it takes as many steps as the entropy of the draw, at most the logarithm of the
//! number of states, however unbalanced the tree is.
//!
//! A fork may have statistics of its subtrees: number and cost of the turns in each, and what they covered first. Then a
//! side is drawn with a probability inverse to the mean cost of its turns, and growing with what it covered: both sides
//! get about the same cost, not the same number of turns, and a side that finds something gets more. Old figures fade, so
//! that what a side was worth at the beginning does not decide for ever; a mean does not change when they do.
use super::split_mix::SplitMix64;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
enum NodeKind {
    /// Leaf of the state with this number.
    Leaf(u32),
    Inner([u32; 2]),
}

#[derive(Clone, Copy)]
struct TreeNode {
    parent: u32,
    kind: NodeKind,
    spent: Spent,
    /// Number of turns in the subtree, fading as `spent` does.
    turns: u64,
    /// The subtree gets a share: see `RARE_SHARE`.
    is_rare: bool,
}

/// Statistics of a subtree: estimated nanoseconds of its turns, and the number of marks that they set first.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub cost: u64,
    pub found: u64,
}

impl TreeNode {
    fn add(&mut self, spent: Spent) {
        self.spent.cost += spent.cost;
        self.spent.found += spent.found;
        self.turns += 1;
        if self.spent.cost > FADING_COST {
            self.spent.cost /= 2;
            self.spent.found /= 2;
            self.turns /= 2;
        }
    }

    /// Mean cost of a turn, times its share if it is rare.
    fn mean_cost(&self) -> u64 {
        let mean = (self.spent.cost + FIRST_COST) / (self.turns + 1);
        mean.max(1) * if self.is_rare { RARE_SHARE } else { 1 }
    }

    fn reward(&self) -> u128 {
        u128::from(1 + self.spent.found.min(MAX_REWARD))
    }

    /// Probability of this subtree against its sibling, of 2^32: rewards per cost.
    fn share(&self, sibling: &TreeNode) -> u64 {
        let own = self.reward() * u128::from(sibling.mean_cost());
        let all = own + sibling.reward() * u128::from(self.mean_cost());
        ((own << 32) / all) as u64
    }
}

/// Cost of a turn that a side has before its first one.
const FIRST_COST: u64 = 100_000;
/// Statistics are halved at this cost: a second.
const FADING_COST: u64 = 1_000_000_000;
/// A rare subtree is drawn as if its turns had this many times their cost.
const RARE_SHARE: u64 = 8;
/// Largest number of marks that counts for a side.
const MAX_REWARD: u64 = 15;

pub struct ExecutionTree {
    nodes: Vec<TreeNode>,
    free: Vec<u32>,
    root: u32,
    /// Leaf of each state, by number.
    leaves: Vec<u32>,
    /// Subtree that turns are charged to.
    charged: u32,
}

impl ExecutionTree {
    pub fn new() -> ExecutionTree {
        ExecutionTree { nodes: Vec::new(), free: Vec::new(), root: NONE, leaves: Vec::new(), charged: NONE }
    }

    fn add(&mut self, parent: u32, state: u32) -> u32 {
        let node = TreeNode {
            parent,
            kind: NodeKind::Leaf(state),
            spent: Spent::default(),
            turns: 0,
            is_rare: false,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        if self.leaves.len() <= state as usize {
            self.leaves.resize(state as usize + 1, NONE);
        }
        self.leaves[state as usize] = id;
        id
    }

    /// Adds the first state of an empty tree.
    pub fn plant(&mut self, state: u32) {
        debug_assert_eq!(self.root, NONE);
        self.root = self.add(NONE, state);
    }

    /// Turns the leaf of `state` into a fork of `state` and `child`.
    pub fn fork(&mut self, state: u32, child: u32) {
        let fork = self.leaves[state as usize];
        let kids = [self.add(fork, state), self.add(fork, child)];
        self.nodes[fork as usize].kind = NodeKind::Inner(kids);
    }

    /// Adds a state as the sibling of all others, of which there must be one.
    pub fn graft(&mut self, state: u32) {
        let leaf = self.add(NONE, state);
        let mut above = self.nodes[self.root as usize];
        above.kind = NodeKind::Inner([self.root, leaf]);
        let root = self.nodes.len() as u32;
        self.nodes.push(above);
        for kid in [self.root, leaf] {
            self.nodes[kid as usize].parent = root;
        }
        self.root = root;
    }

    /// Removes a state: its sibling takes the place of their fork.
    pub fn remove(&mut self, state: u32) {
        let leaf = self.leaves[state as usize];
        let fork = self.nodes[leaf as usize].parent;
        self.free.push(leaf);
        if fork == NONE {
            (self.root, self.charged) = (NONE, NONE);
            return;
        }
        let NodeKind::Inner(kids) = self.nodes[fork as usize].kind else {
            unreachable!("a parent is a fork")
        };
        let sibling = if kids[0] == leaf { kids[1] } else { kids[0] };
        let above = self.nodes[fork as usize].parent;
        self.nodes[sibling as usize].parent = above;
        self.free.push(fork);
        // The cost of a subtree counts there, also for the part of it that ended.
        self.nodes[sibling as usize].spent = self.nodes[fork as usize].spent;
        self.nodes[sibling as usize].turns = self.nodes[fork as usize].turns;
        self.nodes[sibling as usize].is_rare |= self.nodes[fork as usize].is_rare;
        if self.charged == leaf || self.charged == fork {
            self.charged = sibling;
        }
        if above == NONE {
            self.root = sibling;
            return;
        }
        let NodeKind::Inner(kids) = &mut self.nodes[above as usize].kind else { unreachable!("as above") };
        *kids.iter_mut().find(|kid| **kid == fork).expect("its child") = sibling;
    }

    /// Turns are charged to this state and what is forked from it, from now on.
    pub fn set_charged(&mut self, state: u32) {
        self.charged = self.leaves[state as usize];
    }

    /// Gives the subtree of this state a share, from now on.
    pub fn set_rare(&mut self, state: u32) {
        self.nodes[self.leaves[state as usize] as usize].is_rare = true;
    }

    /// Adds to the statistics of the subtree that is charged, and of those around it.
    pub fn charge(&mut self, spent: Spent) {
        let mut at = self.charged;
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            node.add(spent);
            at = node.parent;
        }
    }

    /// Draws a state: either side of a fork is equally likely, unless turns were charged.
    pub fn draw(&self, random: &mut SplitMix64) -> Option<u32> {
        if self.root == NONE {
            return None;
        }
        let mut at = self.root;
        loop {
            match self.nodes[at as usize].kind {
                NodeKind::Leaf(state) => return Some(state),
                NodeKind::Inner(kids) => {
                    let [one, other] = kids.map(|kid| &self.nodes[kid as usize]);
                    at = kids[usize::from(random.below(1 << 32) >= one.share(other))];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_side_of_a_fork_is_as_likely() {
        let mut tree = ExecutionTree::new();
        let mut random = SplitMix64::new(7);
        assert_eq!(tree.draw(&mut random), None);
        tree.plant(0);
        // A chain: the same state forks again and again.
        (1..=10).for_each(|child| tree.fork(0, child));
        let mut counts = [0; 11];
        (0..4096).for_each(|_| counts[tree.draw(&mut random).expect("open") as usize] += 1);
        assert!((1900..2200).contains(&counts[1]) && (900..1150).contains(&counts[2]), "{counts:?}");
        // A removed state is not drawn: its sibling gets its share.
        tree.remove(1);
        let mut counts = [0; 11];
        (0..4096).for_each(|_| counts[tree.draw(&mut random).expect("open") as usize] += 1);
        assert!((1900..2200).contains(&counts[2]) && counts[1] == 0, "{counts:?}");
        [0, 2, 3, 4, 5, 6, 7, 8, 9].into_iter().for_each(|state| tree.remove(state));
        assert_eq!(tree.draw(&mut random), Some(10));
        tree.remove(10);
        assert_eq!(tree.draw(&mut random), None);
        tree.plant(3);
        assert_eq!(tree.draw(&mut random), Some(3));
    }

    #[test]
    fn a_grafted_state_is_the_sibling_of_all_others() {
        let mut tree = ExecutionTree::new();
        let mut random = SplitMix64::new(5);
        tree.plant(0);
        (1..=8).for_each(|child| tree.fork(0, child));
        tree.graft(9);
        let count = (0..1000).filter(|_| tree.draw(&mut random) == Some(9)).count();
        assert!((450..550).contains(&count), "{count}");
        tree.set_rare(9);
        let count = (0..1000).filter(|_| tree.draw(&mut random) == Some(9)).count();
        assert!((80..150).contains(&count), "{count}");
        (0..9).for_each(|state| tree.remove(state));
        assert_eq!(tree.draw(&mut random), Some(9));
    }

    #[test]
    fn both_sides_of_a_fork_get_the_same_cost() {
        let mut tree = ExecutionTree::new();
        let mut random = SplitMix64::new(3);
        tree.plant(0);
        (1..=3).for_each(|child| tree.fork(0, child));
        // A turn of state 1 costs a hundred times as much as one of the others.
        let mut costs = [0; 4];
        for _ in 0..20_000 {
            let state = tree.draw(&mut random).expect("open");
            let cost = if state == 1 { 10_000_000 } else { 100_000 };
            costs[state as usize] += cost;
            tree.set_charged(state);
            tree.charge(Spent { cost, found: 0 });
        }
        let others = costs[0] + costs[2] + costs[3];
        assert!(costs[1] < 2 * others && others < 2 * costs[1], "{costs:?}");
    }

    #[test]
    fn a_side_that_covers_something_is_likelier() {
        let mut tree = ExecutionTree::new();
        let mut random = SplitMix64::new(3);
        tree.plant(0);
        tree.fork(0, 1);
        for (state, found) in [(0, 0), (1, 3)] {
            tree.set_charged(state);
            tree.charge(Spent { cost: 1_000_000, found });
        }
        let count = (0..1000).filter(|_| tree.draw(&mut random) == Some(1)).count();
        assert!((750..850).contains(&count), "{count}");
        // The charge stays with the subtree when its first state has ended.
        tree.set_charged(1);
        tree.fork(1, 2);
        tree.remove(1);
        tree.charge(Spent { cost: 1 << 20, found: 0 });
        assert_eq!(tree.nodes[tree.leaves[2] as usize].spent.found, 3);
    }
}
