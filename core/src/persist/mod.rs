//! A persistent map with small integer keys: clones share everything, and a change copies one branch.
//!
//! A radix tree over the bits of the key with 16 children per level; nodes only store the children they have.
//! Keys are dense handles (expressions, path nodes, objects), so the tree is shallow: its height grows with
//! the largest key. An unshared map is modified in place.

mod list;
mod recent;
pub use list::List;
pub use recent::Recent;

use std::sync::Arc;

const BITS_PER_LEVEL: u32 = 4;
const FANOUT: u32 = 1 << BITS_PER_LEVEL;

#[derive(Clone)]
enum Branch<V> {
    /// `present` is the set of child positions; `items` holds the children in order.
    Inner {
        present: u16,
        items: Vec<Arc<Branch<V>>>,
    },
    Leaf {
        present: u16,
        items: Vec<V>,
    },
}

/// A map with `u32` keys.
#[derive(Clone)]
pub struct Map<V> {
    root: Option<Arc<Branch<V>>>,
    /// Levels below the root: keys below `16^(height + 1)` fit.
    height: u32,
    len: u32,
}

impl<V> Default for Map<V> {
    fn default() -> Map<V> {
        Map { root: None, height: 0, len: 0 }
    }
}

#[inline]
fn place(present: u16, digit: u32) -> (bool, usize) {
    let all = (1u16 << digit) - 1;
    let below = present & all;
    // Most nodes are filled from the start; counting takes a dozen instructions on processors of this baseline.
    let at = if below == all { digit } else { below.count_ones() };
    (present >> digit & 1 == 1, at as usize)
}

#[inline]
fn digit(key: u32, level: u32) -> u32 {
    key >> (level * BITS_PER_LEVEL) & (FANOUT - 1)
}

/// Returns the level of a root that can hold `key`.
#[inline]
fn height_for(key: u32) -> u32 {
    (u32::BITS - key.leading_zeros()).max(1).div_ceil(BITS_PER_LEVEL) - 1
}

impl<V: Clone> Map<V> {
    pub fn new() -> Map<V> {
        Map::default()
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn get(&self, key: u32) -> Option<&V> {
        if height_for(key) > self.height {
            return None;
        }
        let mut branch = self.root.as_deref()?;
        let mut level = self.height;
        loop {
            match branch {
                Branch::Inner { present, items } => {
                    let (there, at) = place(*present, digit(key, level));
                    if !there {
                        return None;
                    }
                    branch = &items[at];
                    level -= 1;
                }
                Branch::Leaf { present, items } => {
                    let (there, at) = place(*present, digit(key, 0));
                    return there.then(|| &items[at]);
                }
            }
        }
    }

    /// Sets the value at `key`; returns the previous one.
    pub fn insert(&mut self, key: u32, value: V) -> Option<V> {
        let needed = height_for(key);
        while self.root.is_some() && self.height < needed {
            let old = self.root.take().expect("just looked");
            self.root = Some(Arc::new(Branch::Inner { present: 1, items: vec![old] }));
            self.height += 1;
        }
        if self.root.is_none() {
            self.height = needed;
            self.root = Some(Arc::new(empty(needed)));
        }
        let mut branch = Arc::make_mut(self.root.as_mut().expect("just made"));
        let mut level = self.height;
        loop {
            match branch {
                Branch::Inner { present, items } => {
                    let (there, at) = place(*present, digit(key, level));
                    level -= 1;
                    if !there {
                        *present |= 1 << digit(key, level + 1);
                        items.insert(at, Arc::new(empty(level)));
                    }
                    branch = Arc::make_mut(&mut items[at]);
                }
                Branch::Leaf { present, items } => {
                    let (there, at) = place(*present, digit(key, 0));
                    if there {
                        return Some(std::mem::replace(&mut items[at], value));
                    }
                    *present |= 1 << digit(key, 0);
                    items.insert(at, value);
                    self.len += 1;
                    return None;
                }
            }
        }
    }

    /// Returns whether both are clones of one map and neither was changed since.
    pub fn is_shared_with(&self, other: &Map<V>) -> bool {
        match (&self.root, &other.root) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Calls `visit` with the values of both maps at each key that is not in a branch that they share.
    pub fn for_each_change<'a>(
        &'a self,
        other: &'a Map<V>,
        mut visit: impl FnMut(Option<&'a V>, Option<&'a V>),
    ) {
        let level = self.height.max(other.height);
        let roots = [self, other].map(|map| map.root.as_deref().map(|root| (root, map.height)));
        changes(roots, level, &mut visit);
    }

    /// Returns the value at `key` for modification.
    pub fn get_mut(&mut self, key: u32) -> Option<&mut V> {
        self.get(key)?;
        let mut branch = Arc::make_mut(self.root.as_mut()?);
        let mut level = self.height;
        loop {
            match branch {
                Branch::Inner { present, items } => {
                    let (_, at) = place(*present, digit(key, level));
                    level -= 1;
                    branch = Arc::make_mut(&mut items[at]);
                }
                Branch::Leaf { present, items } => {
                    let (_, at) = place(*present, digit(key, 0));
                    return Some(&mut items[at]);
                }
            }
        }
    }

    /// Removes and returns the value at `key`. Also removes empty branches, because object numbers are not
    /// reused.
    pub fn remove(&mut self, key: u32) -> Option<V> {
        self.get(key)?;
        let root = Arc::make_mut(self.root.as_mut()?);
        let value = take(root, key, self.height);
        self.len -= 1;
        if self.len == 0 {
            self.root = None;
        }
        Some(value)
    }

    /// Iterates over all entries by ascending key.
    pub fn iter(&self) -> Iter<'_, V> {
        self.iter_from(0)
    }

    /// Iterates over the entries from `key` on by ascending key, without visiting smaller keys.
    pub fn iter_from(&self, key: u32) -> Iter<'_, V> {
        let mut stack = Vec::new();
        if height_for(key) > self.height {
            return Iter { stack };
        }
        let mut next = self.root.as_deref().map(|root| (root, 0, self.height));
        while let Some((branch, prefix, level)) = next {
            let digit = digit(key, level);
            next = match branch {
                Branch::Inner { present, items } => match place(*present, digit) {
                    (true, at) => Some((&*items[at], prefix << BITS_PER_LEVEL | digit, level - 1)),
                    (false, _) => None,
                },
                Branch::Leaf { .. } => None,
            };
            let first = if next.is_some() { digit + 1 } else { digit };
            stack.push((branch, prefix, first, level));
        }
        Iter { stack }
    }
}

/// Removes a value that exists. Recursion depth is the height of the tree, at most eight.
fn take<V: Clone>(branch: &mut Branch<V>, key: u32, level: u32) -> V {
    match branch {
        Branch::Inner { present, items } => {
            let (_, at) = place(*present, digit(key, level));
            let child = Arc::make_mut(&mut items[at]);
            let value = take(child, key, level - 1);
            let gone = match child {
                Branch::Inner { present, .. } | Branch::Leaf { present, .. } => *present == 0,
            };
            if gone {
                *present &= !(1 << digit(key, level));
                items.remove(at);
            }
            value
        }
        Branch::Leaf { present, items } => {
            let (_, at) = place(*present, digit(key, 0));
            *present &= !(1 << digit(key, 0));
            items.remove(at)
        }
    }
}

/// A branch with its level, if there is one.
type Place<'a, V> = Option<(&'a Branch<V>, u32)>;

/// The child at a digit of a branch that stands at `level` or below. A lower one is its own first child.
fn child<'a, V>(at: Place<'a, V>, digit: u32, level: u32) -> Place<'a, V> {
    let (branch, own) = at?;
    if own < level {
        return (digit == 0).then_some((branch, own));
    }
    match branch {
        Branch::Inner { present, items } => match place(*present, digit) {
            (true, at) => Some((&*items[at], level - 1)),
            (false, _) => None,
        },
        Branch::Leaf { .. } => None,
    }
}

/// Digits of the children of a branch that stands at `level` or below.
fn children<V>(branch: &Branch<V>, own: u32, level: u32) -> u16 {
    match branch {
        _ if own < level => 1,
        Branch::Inner { present, .. } | Branch::Leaf { present, .. } => *present,
    }
}

/// Visits what differs below two branches. Recursion depth is the height of the tree, at most eight.
fn changes<'a, V>(at: [Place<'a, V>; 2], level: u32, visit: &mut impl FnMut(Option<&'a V>, Option<&'a V>)) {
    match at {
        [None, None] => return,
        [Some((own, _)), Some((other, _))] if std::ptr::eq(own, other) => return,
        _ => {}
    }
    let mut left = at.iter().flatten().fold(0, |all, (branch, own)| all | children(branch, *own, level));
    while left != 0 {
        let digit = left.trailing_zeros();
        left &= left - 1;
        if level > 0 {
            changes(at.map(|at| child(at, digit, level)), level - 1, visit);
            continue;
        }
        let [own, other] = at.map(|at| match at {
            Some((Branch::Leaf { present, items }, _)) => match place(*present, digit) {
                (true, at) => Some(&items[at]),
                (false, _) => None,
            },
            Some((Branch::Inner { .. }, _)) | None => None,
        });
        if own.is_some() || other.is_some() {
            visit(own, other);
        }
    }
}

impl<V: std::fmt::Debug + Clone> std::fmt::Debug for Map<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

fn empty<V>(level: u32) -> Branch<V> {
    if level == 0 {
        Branch::Leaf { present: 0, items: Vec::new() }
    } else {
        Branch::Inner { present: 0, items: Vec::new() }
    }
}

pub struct Iter<'a, V> {
    /// Branch, key prefix, next child position, level.
    stack: Vec<(&'a Branch<V>, u32, u32, u32)>,
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (u32, &'a V);

    fn next(&mut self) -> Option<(u32, &'a V)> {
        while let Some((branch, prefix, next, level)) = self.stack.pop() {
            if next == FANOUT {
                continue;
            }
            self.stack.push((branch, prefix, next + 1, level));
            match branch {
                Branch::Inner { present, items } => {
                    if let (true, at) = place(*present, next) {
                        self.stack.push((&items[at], prefix << BITS_PER_LEVEL | next, 0, level - 1));
                    }
                }
                Branch::Leaf { present, items } => {
                    if let (true, at) = place(*present, next) {
                        return Some((prefix << BITS_PER_LEVEL | next, &items[at]));
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Any sequence of changes to any of several versions behaves like ordinary maps.
        #[test]
        fn behaves_like_a_map(ops in proptest::collection::vec((0usize..4, 0u8..4, prop_oneof![0u32..40, any::<u32>()], any::<u16>()), 0..200)) {
            let mut versions = vec![(Map::new(), BTreeMap::new()); 4];
            for (version, what, key, value) in ops {
                let (map, reference) = &mut versions[version];
                match what {
                    0 | 1 => prop_assert_eq!(map.insert(key, value), reference.insert(key, value)),
                    2 => prop_assert_eq!(map.remove(key), reference.remove(&key)),
                    _ => {
                        let copy = versions[version].clone();
                        versions[(version + 1) % 4] = copy;
                    }
                }
            }
            for (map, reference) in &versions {
                prop_assert_eq!(map.len(), reference.len());
                let all: Vec<_> = map.iter().map(|(k, v)| (k, *v)).collect();
                let expected: Vec<_> = reference.iter().map(|(k, v)| (*k, *v)).collect();
                prop_assert_eq!(all, expected);
                for key in 0..40 {
                    prop_assert_eq!(map.get(key), reference.get(&key));
                }
                for (other, other_reference) in &versions {
                    let mut visited = BTreeMap::new();
                    let mut number = 0;
                    map.for_each_change(other, |a, b| {
                        visited.insert(number, (a.copied(), b.copied()));
                        number += 1;
                    });
                    let keys: std::collections::BTreeSet<u32> =
                        reference.keys().chain(other_reference.keys()).copied().collect();
                    let all = keys.iter().map(|key| (reference.get(key).copied(), other_reference.get(key).copied()));
                    let expected: Vec<_> = all.filter(|(a, b)| a != b).collect();
                    // Equal values may be visited, different ones must be, by ascending key.
                    let found: Vec<_> = visited.into_values().filter(|(a, b)| a != b).collect();
                    prop_assert_eq!(found, expected);
                    if map.is_shared_with(other) {
                        prop_assert_eq!(number, 0);
                    }
                }
                for key in (0..40).chain(reference.keys().flat_map(|k| [*k, k.wrapping_add(1)])) {
                    let rest: Vec<_> = map.iter_from(key).map(|(k, v)| (k, *v)).collect();
                    let expected: Vec<_> = reference.range(key..).map(|(k, v)| (*k, *v)).collect();
                    prop_assert_eq!(rest, expected);
                }
            }
        }
    }
}
