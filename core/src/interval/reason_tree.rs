//! Sets of reasons, merged only when they are needed.
//!
//! A set narrowed by a hundred constraints in turn has a hundred reasons. Copying them at each step would make
//! learning a path quadratic. A `ReasonTree` is persistent: `union` allocates one node, and `flatten` visits each
//! shared node once. Dropping is iterative, because a tree can be as deep as a path is long.

use crate::expr::Expr;
use crate::query::Reasons;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// Constraints that a fact depends on. Cheap to clone and to merge.
#[derive(Clone, Debug, Default)]
pub struct ReasonTree(Option<Arc<ReasonNode>>);

#[derive(Debug)]
struct ReasonNode {
    constraint: Option<Expr>,
    parts: [ReasonTree; 2],
    /// Upper bound of the number of constraints below.
    size: u32,
}

impl ReasonTree {
    pub fn one(constraint: Expr) -> ReasonTree {
        ReasonTree(Some(Arc::new(ReasonNode {
            constraint: Some(constraint),
            parts: Default::default(),
            size: 1,
        })))
    }

    pub fn union(&self, other: &ReasonTree) -> ReasonTree {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => self.clone(),
            (Some(a), Some(b)) => {
                let size = a.size.saturating_add(b.size);
                ReasonTree(Some(Arc::new(ReasonNode {
                    constraint: None,
                    parts: [self.clone(), other.clone()],
                    size,
                })))
            }
        }
    }

    /// Upper bound of the number of constraints; shared subtrees count once per occurrence.
    pub fn size(&self) -> u32 {
        self.0.as_ref().map_or(0, |node| node.size)
    }

    /// The oldest constraint that satisfies the test; `None` if `size()` is above `max_size`.
    pub fn find(&self, max_size: u32, mut test: impl FnMut(Expr) -> bool) -> Option<Expr> {
        let mut stack: SmallVec<[&Arc<ReasonNode>; 32]> =
            self.0.iter().filter(|node| node.size <= max_size).collect();
        while let Some(node) = stack.pop() {
            if let Some(constraint) = node.constraint.filter(|&e| test(e)) {
                return Some(constraint);
            }
            stack.extend(node.parts.iter().rev().filter_map(|part| part.0.as_ref()));
        }
        None
    }

    /// All constraints.
    pub fn flatten(&self) -> Reasons {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut stack: Vec<&Arc<ReasonNode>> = self.0.iter().collect();
        while let Some(node) = stack.pop() {
            if node.constraint.is_none() && !seen.insert(Arc::as_ptr(node)) {
                continue;
            }
            found.extend(node.constraint);
            stack.extend(node.parts.iter().filter_map(|part| part.0.as_ref()));
        }
        found.into_iter().collect()
    }
}

impl Drop for ReasonNode {
    fn drop(&mut self) {
        let mut stack: Vec<ReasonNode> = Vec::new();
        let release = |node: &mut ReasonNode, stack: &mut Vec<ReasonNode>| {
            for part in &mut node.parts {
                stack.extend(part.0.take().and_then(Arc::into_inner));
            }
        };
        release(self, &mut stack);
        while let Some(mut node) = stack.pop() {
            release(&mut node, &mut stack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Graph;

    #[test]
    fn shared_subtrees_count_once_and_deep_trees_are_dropped() {
        let mut g = Graph::new();
        let e: Vec<Expr> = (0..3).map(|i| g.word(8, i)).collect();
        let mut all = ReasonTree::one(e[0]);
        for i in 0..200_000 {
            all = all.union(&ReasonTree::one(e[i % 3]));
        }
        assert_eq!(all.find(1000, |_| true), None, "too many to search");
        let few = ReasonTree::one(e[1]).union(&ReasonTree::one(e[2]).union(&ReasonTree::one(e[0])));
        assert_eq!(few.find(3, |c| c != e[1]), Some(e[2]));
        assert_eq!((few.find(2, |_| true), few.find(3, |_| false)), (None, None));
        let twice = all.union(&all.union(&ReasonTree::default()));
        assert_eq!(twice.flatten().as_slice(), &e[..]);
        let mut doubled = ReasonTree::one(e[0]).union(&ReasonTree::one(e[1]));
        for _ in 0..100 {
            doubled = doubled.union(&doubled.union(&ReasonTree::one(e[2])));
        }
        assert_eq!(doubled.flatten().as_slice().len(), 3);
    }
}
