//! Open states as the leaves of a binary tree of their forks, for `random-path`. Every inner node has two
//! children: ended states are cut out. A walk from the root that takes either side with equal probability
//! draws a state; on average it takes as many steps as the entropy of the draw, at most the logarithm of the
//! number of states, however unbalanced the tree is.
use super::split_mix::SplitMix64;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
enum NodeKind {
    /// Leaf of the state with this number.
    Leaf(u32),
    Inner([u32; 2]),
}

struct TreeNode {
    parent: u32,
    kind: NodeKind,
}

pub struct ExecutionTree {
    nodes: Vec<TreeNode>,
    free: Vec<u32>,
    root: u32,
    /// Leaf of each state, by number.
    leaves: Vec<u32>,
}

impl ExecutionTree {
    pub fn new() -> ExecutionTree {
        ExecutionTree { nodes: Vec::new(), free: Vec::new(), root: NONE, leaves: Vec::new() }
    }

    fn add(&mut self, parent: u32, state: u32) -> u32 {
        let node = TreeNode { parent, kind: NodeKind::Leaf(state) };
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

    /// Removes a state: its sibling takes the place of their fork.
    pub fn remove(&mut self, state: u32) {
        let leaf = self.leaves[state as usize];
        let fork = self.nodes[leaf as usize].parent;
        self.free.push(leaf);
        if fork == NONE {
            self.root = NONE;
            return;
        }
        let NodeKind::Inner(kids) = self.nodes[fork as usize].kind else {
            unreachable!("a parent is a fork")
        };
        let sibling = if kids[0] == leaf { kids[1] } else { kids[0] };
        let above = self.nodes[fork as usize].parent;
        self.nodes[sibling as usize].parent = above;
        self.free.push(fork);
        if above == NONE {
            self.root = sibling;
            return;
        }
        let NodeKind::Inner(kids) = &mut self.nodes[above as usize].kind else { unreachable!("as above") };
        *kids.iter_mut().find(|kid| **kid == fork).expect("its child") = sibling;
    }

    /// Draws a state: either side of a fork is equally likely.
    pub fn draw(&self, random: &mut SplitMix64) -> Option<u32> {
        if self.root == NONE {
            return None;
        }
        let (mut at, mut bits, mut left) = (self.root, 0, 0);
        loop {
            match self.nodes[at as usize].kind {
                NodeKind::Leaf(state) => return Some(state),
                NodeKind::Inner(kids) => {
                    if left == 0 {
                        (bits, left) = (random.word(), u64::BITS);
                    }
                    at = kids[(bits & 1) as usize];
                    bits >>= 1;
                    left -= 1;
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
}
