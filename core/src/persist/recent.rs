//! A map that forgets what was not asked for while much else was, so that its memory stays within a bound.
//!
//! Two generations: what is new or asked for is young. When the young weigh more than the limit they become the old
//! ones, and those that were old and not asked for since are dropped. So the whole weighs at most twice the limit, and
//! whatever was used among the last `limit` is there.

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
    fn what_is_used_stays_and_the_rest_is_bounded() {
        let mut map = Recent::new(100);
        map.insert(0, "used", 1);
        map.insert(1, "left alone", 1);
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
    fn heavy_things_count_by_their_weight() {
        let mut map = Recent::new(100);
        for key in 0..10 {
            map.insert(key, key, 60);
        }
        let kept = [9, 8, 7].map(|key| map.get(key).copied());
        assert_eq!(kept, [Some(9), Some(8), None]);
    }
}
