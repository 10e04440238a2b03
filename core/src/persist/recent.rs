//! A bounded map that drops entries which were not used recently.
//!
//! Two generations: new and used entries are young. When the weight of the young entries exceeds the limit,
//! they become the old ones, and the previous old ones are dropped. So the total weight is at most twice the
//! limit, and the most recently used entries, up to weight `limit`, are present.

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

pub struct Recent<K, V> {
    young: FxHashMap<K, (V, u32)>,
    old: FxHashMap<K, (V, u32)>,
    weight: usize,
    limit: usize,
}

impl<K: Eq + Hash + Copy, V> Recent<K, V> {
    pub fn new(limit: usize) -> Recent<K, V> {
        Recent { young: FxHashMap::default(), old: FxHashMap::default(), weight: 0, limit }
    }

    pub fn get(&mut self, key: K) -> Option<&V> {
        match self.young.entry(key) {
            Entry::Occupied(found) => Some(&found.into_mut().0),
            Entry::Vacant(free) => {
                let (value, weight) = self.old.remove(&key)?;
                self.weight += weight as usize;
                Some(&free.insert((value, weight)).0)
            }
        }
    }

    pub fn insert(&mut self, key: K, value: V, weight: u32) {
        self.weight += weight as usize;
        if self.weight > self.limit {
            self.old = std::mem::take(&mut self.young);
            self.weight = weight as usize;
        }
        self.young.insert(key, (value, weight));
    }

    pub fn remove(&mut self, key: K) {
        self.young.remove(&key);
        self.old.remove(&key);
    }

    pub fn retain(&mut self, keep: impl Fn(K) -> bool) {
        self.young.retain(|key, _| keep(*key));
        self.old.retain(|key, _| keep(*key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_entries_stay_and_the_size_is_bounded() {
        let mut map = Recent::new(100);
        map.insert(0, "used", 1);
        map.insert(1, "unused", 1);
        for key in 2..1000 {
            map.insert(key, "new", 1);
            assert_eq!(map.get(0), Some(&"used"));
            assert!(map.young.len() + map.old.len() <= 201);
        }
        assert_eq!(map.get(1), None);
        assert_eq!(map.get(999), Some(&"new"));
        map.remove(999);
        assert_eq!(map.get(999), None);
        map.retain(|key| key == 0);
        assert_eq!(map.get(0), Some(&"used"));
        assert_eq!(map.get(998), None);
    }

    #[test]
    fn entries_count_by_weight() {
        let mut map = Recent::new(100);
        for key in 0..10 {
            map.insert(key, key, 60);
        }
        let kept = [9, 8, 7].map(|key| map.get(key).copied());
        assert_eq!(kept, [Some(9), Some(8), None]);
    }
}
