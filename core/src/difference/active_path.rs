//! The constraints of one path at a time.
//!
//! What a path node adds is found out once and kept as edges; the line is the path whose edges are linked. To follow
//! another path, the line is taken back to where the two part and the other's edges are linked: what they share is not
//! touched, so that going on from the last question, or to a fork nearby, costs next to nothing, and going elsewhere a
//! few nanoseconds for each constraint left and entered. (Baker's persistent arrays do the same, 1991.)

use super::assignment::Assignment;
use super::{Differences, ExternalBounds};
use crate::query::{Path, PathTree, Reasons};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The edges that a node adds, in the order in which they are linked.
pub type Edges = SmallVec<[u32; 4]>;

struct Learnt {
    /// Of the node: where on the line it would be.
    depth: u32,
    edges: Edges,
}

#[derive(Default)]
pub struct ActivePath {
    pub domain: Differences,
    nodes: FxHashMap<u32, Learnt>,
    /// The nodes of the path, topmost first; the root adds nothing and is left out.
    path: Vec<u32>,
}

impl ActivePath {
    fn is_on(&self, id: u32, depth: u32) -> bool {
        self.path.get(depth as usize - 1) == Some(&id)
    }

    /// Goes back to where the line has at most some nodes, all of them of the path. Gives the others, newest first.
    pub fn backtrack_to(&mut self, tree: &PathTree, path: Path, depth: u32) -> Vec<Path> {
        let beyond = |node: &Path| tree.depth(*node) > depth || !self.is_on(node.id(), tree.depth(*node));
        let missing: Vec<Path> = tree.upwards(path).take_while(beyond).collect();
        self.cut(tree.depth(path) - missing.len() as u32);
        missing
    }

    fn cut(&mut self, depth: u32) {
        for id in self.path.drain(depth as usize..).rev() {
            for &edge in self.nodes[&id].edges.iter().rev() {
                self.domain.unlink(edge);
            }
        }
    }

    /// Makes a node the line's next if it is known what it adds. Moves the assignment, if any are given, so that they
    /// satisfy it; on a contradiction the line stays as it is.
    pub fn enter_known(
        &mut self,
        node: Path,
        mut assignment: Option<&mut Assignment>,
        external: &mut dyn ExternalBounds,
    ) -> Option<Result<(), Reasons>> {
        let edges = &self.nodes.get(&node.id())?.edges;
        for (i, &edge) in edges.iter().enumerate() {
            self.domain.link(edge);
            if let Some(assignment) = &mut assignment
                && let Err(reasons) = assignment.push(&self.domain, edge, external)
            {
                edges[..=i].iter().rev().for_each(|&edge| self.domain.unlink(edge));
                return Some(Err(reasons));
            }
        }
        self.path.push(node.id());
        Some(Ok(()))
    }

    /// Makes a new node the line's next. Its edges are those given, which are linked.
    pub fn enter(&mut self, tree: &PathTree, node: Path, edges: Edges) {
        let depth = tree.depth(node);
        debug_assert_eq!(self.path.len() as u32 + 1, depth);
        self.path.push(node.id());
        self.nodes.insert(node.id(), Learnt { depth, edges });
    }

    /// Forgets nodes whose numbers are about to be used again.
    pub fn drop_paths(&mut self, gone: &[u32]) {
        for &id in gone {
            let Some(depth) = self.nodes.get(&id).map(|learnt| learnt.depth) else { continue };
            if self.is_on(id, depth) {
                self.cut(depth - 1);
            }
            let learnt = self.nodes.remove(&id).expect("just looked");
            learnt.edges.into_iter().for_each(|edge| self.domain.drop_edge(edge));
        }
    }
}
