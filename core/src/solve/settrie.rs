//! A trie of sets of numbers that finds stored subsets and supersets of a set. Each set is a path of ascending numbers,
//! so branches that cannot match are not visited.

use crate::expr::Expr;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Expressions as a set: their slots, ascending.
pub fn numbers(all: impl Iterator<Item = Expr>) -> Vec<u32> {
    let mut set: Vec<u32> = all.map(Expr::id).collect();
    set.sort_unstable();
    set.dedup();
    set
}

struct TrieNode<V> {
    children: BTreeMap<u32, usize>,
    value: Option<V>,
}

/// A map from sets (ascending, no repetitions) to values.
pub struct SetTrie<V> {
    nodes: Vec<TrieNode<V>>,
    /// Elements of all sets: a set with another one has no superset.
    elements: FxHashSet<u32>,
    len: usize,
}

impl<V> Default for SetTrie<V> {
    fn default() -> SetTrie<V> {
        let root = TrieNode { children: BTreeMap::new(), value: None };
        SetTrie { nodes: vec![root], elements: FxHashSet::default(), len: 0 }
    }
}

impl<V> SetTrie<V> {
    /// Number of sets.
    pub fn count(&self) -> usize {
        self.len
    }

    /// Replaces the value of an equal set.
    pub fn insert(&mut self, set: &[u32], value: V) {
        debug_assert!(set.is_sorted_by(|a, b| a < b));
        let mut at = 0;
        for &element in set {
            let next = self.nodes.len();
            let child = *self.nodes[at].children.entry(element).or_insert(next);
            if child == next {
                self.elements.insert(element);
                self.nodes.push(TrieNode { children: BTreeMap::new(), value: None });
            }
            at = child;
        }
        self.len += self.nodes[at].value.is_none() as usize;
        self.nodes[at].value = Some(value);
    }

    /// A stored subset of `set`, found within `steps` nodes.
    pub fn subset_of(&self, set: &[u32], steps: usize) -> Option<Vec<u32>> {
        self.subset_where(set, steps, |_| true).map(|(found, _)| found)
    }

    /// A stored subset of `set` whose value is `wanted`, with its value, found within `steps` nodes.
    pub fn subset_where(
        &self,
        set: &[u32],
        steps: usize,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> Option<(Vec<u32>, &V)> {
        // Node, position in `set` from which to continue, length of the stored set up to the node.
        let mut stack = vec![(0, 0, 0)];
        let mut found: Vec<u32> = Vec::new();
        for _ in 0..steps {
            let (node, from, depth) = stack.pop()?;
            if depth > 0 {
                found.truncate(depth - 1);
                found.push(set[from - 1]);
            }
            let node: &TrieNode<V> = &self.nodes[node];
            if let Some(value) = node.value.as_ref().filter(|value| wanted(value)) {
                return Some((found, value));
            }
            if node.children.len() <= set.len() - from {
                // Fewer children than elements: look each child up in the set.
                for (element, child) in node.children.iter().rev() {
                    if let Ok(at) = set[from..].binary_search(element) {
                        stack.push((*child, from + at + 1, depth + 1));
                    }
                }
            } else {
                for (at, element) in set[from..].iter().enumerate().rev() {
                    if let Some(child) = node.children.get(element) {
                        stack.push((*child, from + at + 1, depth + 1));
                    }
                }
            }
        }
        None
    }

    /// The value of a stored superset of `set`, found within `steps` nodes.
    pub fn superset_of(&self, set: &[u32], steps: usize) -> Option<&V> {
        // The newest element is the one that most often is in no set.
        if set.iter().rev().any(|element| !self.elements.contains(element)) {
            return None;
        }
        let mut stack = vec![(0, 0)];
        for _ in 0..steps {
            let (node, from) = stack.pop()?;
            let node: &TrieNode<V> = &self.nodes[node];
            match set.get(from) {
                None => {
                    if let Some(value) = &node.value {
                        return Some(value);
                    }
                    stack.extend(node.children.values().map(|child| (*child, from)));
                }
                Some(&wanted) => {
                    // Elements are ascending: smaller ones may precede the wanted one, larger ones cannot.
                    stack.extend(node.children.range(..wanted).map(|(_, child)| (*child, from)));
                    stack.extend(node.children.get(&wanted).map(|child| (*child, from + 1)));
                }
            }
        }
        None
    }

    /// Removes sets with an element that is not alive and applies `change` to the values of the others.
    pub fn sweep(&mut self, alive: impl Fn(u32) -> bool, mut change: impl FnMut(&mut V)) {
        for (set, mut value) in std::mem::take(self).into_sets() {
            if set.iter().all(|&element| alive(element)) {
                change(&mut value);
                self.insert(&set, value);
            }
        }
    }

    /// All sets with their values, in ascending order.
    fn into_sets(mut self) -> Vec<(Vec<u32>, V)> {
        let mut all = Vec::new();
        let mut stack = vec![(0, Vec::new())];
        while let Some((at, set)) = stack.pop() {
            for (element, child) in self.nodes[at].children.iter().rev() {
                let mut longer: Vec<u32> = set.clone();
                longer.push(*element);
                stack.push((*child, longer));
            }
            if let Some(value) = self.nodes[at].value.take() {
                all.push((set, value));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn list(set: &BTreeSet<u32>) -> Vec<u32> {
        set.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn finds_subsets_and_supersets_if_they_exist(
            sets in vec(btree_set(0u32..10, 0..6), 0..20),
            query in btree_set(0u32..10, 0..8),
        ) {
            let mut trie = SetTrie::default();
            for set in &sets {
                trie.insert(&list(set), list(set));
            }
            let below = trie.subset_of(&list(&query), 10_000);
            prop_assert_eq!(below.is_some(), sets.iter().any(|s| s.is_subset(&query)));
            prop_assert!(below.as_ref().is_none_or(|s| s.iter().all(|e| query.contains(e))));
            prop_assert!(below.is_none_or(|s| sets.iter().any(|t| list(t) == s)));
            let above = trie.superset_of(&list(&query), 10_000);
            prop_assert_eq!(above.is_some(), sets.iter().any(|s| s.is_superset(&query)));
            prop_assert!(above.is_none_or(|s| query.iter().all(|e| s.contains(e))));
            let distinct: BTreeSet<_> = sets.iter().collect();
            prop_assert_eq!(trie.count(), distinct.len());
            prop_assert_eq!(trie.into_sets().len(), distinct.len());
        }
    }
}
