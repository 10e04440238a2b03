//! The edges of one path at a time.
//!
//! The edges that a path node adds are computed once and kept. The edges of the active path are linked into the
//! graph. To activate another path, the edges below the common ancestor are unlinked and those of the other path
//! linked, so that continuing on the same path or at a nearby fork is cheap. (Baker's persistent arrays, 1991, use
//! the same technique.)

use super::assignment::Assignment;
use super::{Differences, ExternalBounds};
use crate::query::{Path, PathTree, Reasons};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The edges that a node adds, in the order in which they are linked.
pub type Edges = SmallVec<[u32; 4]>;

struct NodeEdges {
    /// Depth of the node in the path tree.
    depth: u32,
    edges: Edges,
}

#[derive(Default)]
pub struct ActivePath {
    pub domain: Differences,
    nodes: FxHashMap<u32, NodeEdges>,
    /// The nodes of the active path from the top, without the root, which adds no edges.
    path: Vec<u32>,
}

impl ActivePath {
    fn is_active(&self, id: u32, depth: u32) -> bool {
        self.path.get(depth as usize - 1) == Some(&id)
    }

    /// Unlinks nodes until the active path is a prefix of `path` of at most `depth` nodes. Returns the missing
    /// nodes, newest first.
    pub fn backtrack_to(&mut self, tree: &PathTree, path: Path, depth: u32) -> Vec<Path> {
        let is_missing =
            |node: &Path| tree.depth(*node) > depth || !self.is_active(node.id(), tree.depth(*node));
        let missing: Vec<Path> = tree.upwards(path).take_while(is_missing).collect();
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

    /// Appends a node whose edges are known; `None` if they are not. Adapts the assignment, if one is given, to the
    /// new edges. On a contradiction the active path is unchanged. Errors: the reasons of the contradiction.
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
                && let Err(reasons) = assignment.satisfy(&self.domain, edge, external)
            {
                edges[..=i].iter().rev().for_each(|&edge| self.domain.unlink(edge));
                return Some(Err(reasons));
            }
        }
        self.path.push(node.id());
        Some(Ok(()))
    }

    /// Appends a new node with the given edges, which are already linked.
    pub fn enter(&mut self, tree: &PathTree, node: Path, edges: Edges) {
        let depth = tree.depth(node);
        debug_assert_eq!(self.path.len() as u32 + 1, depth);
        self.path.push(node.id());
        self.nodes.insert(node.id(), NodeEdges { depth, edges });
    }

    /// Drops nodes whose identifiers are about to be reused.
    pub fn drop_paths(&mut self, gone: &[u32]) {
        for &id in gone {
            let Some(depth) = self.nodes.get(&id).map(|node| node.depth) else { continue };
            if self.is_active(id, depth) {
                self.cut(depth - 1);
            }
            let node = self.nodes.remove(&id).expect("a known node");
            node.edges.into_iter().for_each(|edge| self.domain.drop_edge(edge));
        }
    }
}
