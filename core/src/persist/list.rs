//! A persistent list that grows at one end: clones share everything, an addition is one allocation.

use std::sync::Arc;

/// Newest first.
pub struct List<T> {
    newest: Option<Arc<Link<T>>>,
    len: u32,
}

struct Link<T> {
    item: T,
    before: Option<Arc<Link<T>>>,
}

impl<T> Clone for List<T> {
    fn clone(&self) -> List<T> {
        List { newest: self.newest.clone(), len: self.len }
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List { newest: None, len: 0 }
    }
}

impl<T> List<T> {
    pub fn push(&mut self, item: T) {
        let before = self.newest.take();
        self.newest = Some(Arc::new(Link { item, before }));
        self.len += 1;
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All items, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.newest.as_deref(), |link| link.before.as_deref()).map(|link| &link.item)
    }
}

/// Without recursion: a list is as long as a path.
impl<T> Drop for List<T> {
    fn drop(&mut self) {
        let mut next = self.newest.take();
        while let Some(mut link) = next.and_then(Arc::into_inner) {
            next = link.before.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_go_their_own_ways_and_length_is_no_matter() {
        let mut long = List::default();
        (0..300_000).for_each(|i| long.push(i));
        let (mut left, mut right) = (long.clone(), long.clone());
        left.push(-1);
        right.push(-2);
        drop(long);
        assert_eq!(left.iter().take(3).copied().collect::<Vec<_>>(), [-1, 299_999, 299_998]);
        assert_eq!(right.iter().take(2).copied().collect::<Vec<_>>(), [-2, 299_999]);
        assert_eq!((left.len(), left.iter().count()), (300_001, 300_001));
        assert!(!left.is_empty() && List::<u32>::default().is_empty());
    }
}
