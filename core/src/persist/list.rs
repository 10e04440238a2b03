//! A persistent list that grows at one end: clones share all items, and a push allocates once.

use std::sync::Arc;

/// A list, newest item first.
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

    /// The item pushed last.
    pub fn newest(&self) -> Option<&T> {
        self.newest.as_deref().map(|link| &link.item)
    }

    /// The list before the last push.
    pub fn before_newest(&self) -> List<T> {
        let before = self.newest.as_deref().and_then(|link| link.before.clone());
        List { newest: before, len: self.len.saturating_sub(1) }
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Iterates over all items, newest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.newest.as_deref(), |link| link.before.as_deref()).map(|link| &link.item)
    }
}

/// Drops without recursion, because a list can be as long as a path.
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
    fn clones_are_independent_and_long_lists_are_dropped() {
        let mut long = List::default();
        (0..300_000).for_each(|i| long.push(i));
        let (mut left, mut right) = (long.clone(), long.clone());
        left.push(-1);
        right.push(-2);
        drop(long);
        assert_eq!((left.newest(), right.before_newest().newest()), (Some(&-1), Some(&299_999)));
        assert_eq!(right.before_newest().len(), 300_000);
        assert!(List::<u32>::default().before_newest().is_empty());
        assert_eq!(left.iter().take(3).copied().collect::<Vec<_>>(), [-1, 299_999, 299_998]);
        assert_eq!(right.iter().take(2).copied().collect::<Vec<_>>(), [-2, 299_999]);
        assert_eq!((left.len(), left.iter().count()), (300_001, 300_001));
        assert!(!left.is_empty() && List::<u32>::default().is_empty());
    }
}
