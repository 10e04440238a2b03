//! Slice of a path: the constraints that matter for a query.

use super::index::{Components, Numbers};
use crate::expr::Expr;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Some constraints of a path. Cheap to clone. The list of components is made when a layer first needs it, since most
/// queries are answered without.
#[derive(Clone)]
pub struct Slice(Arc<Inner>);

struct Inner {
    of: Option<(Arc<Components>, Numbers)>,
    len: usize,
    list: OnceLock<Arc<[Expr]>>,
    /// Number of constraints in lists that were made, of all slices.
    listed: Arc<AtomicU64>,
}

/// Identity of a slice: equal keys mean equal sets of constraints.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SliceKey {
    Components(SmallVec<[u64; 2]>),
    Constraints(Arc<[Expr]>),
}

impl Slice {
    /// The constraints of some components of a path, given by ascending numbers. `listed` counts those that are put into
    /// a list.
    pub(super) fn of_components(of: Arc<Components>, numbers: Numbers, listed: Arc<AtomicU64>) -> Slice {
        let len = numbers.iter().map(|number| of.component(*number).len()).sum();
        Slice(Arc::new(Inner { of: Some((of, numbers)), len, list: OnceLock::new(), listed }))
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.0.len
    }

    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// The constraints, oldest first.
    pub fn list(&self) -> &Arc<[Expr]> {
        self.0.list.get_or_init(|| match &self.0.of {
            Some((of, numbers)) => {
                self.0.listed.fetch_add(self.0.len as u64, Ordering::Relaxed);
                of.constraints(numbers)
            }
            None => unreachable!("a slice has components or a list"),
        })
    }

    /// As `list`, for assertions: neither counted nor kept.
    pub fn list_uncounted(&self) -> Arc<[Expr]> {
        match (self.0.list.get(), &self.0.of) {
            (Some(list), _) => Arc::clone(list),
            (None, Some((of, numbers))) => of.constraints(numbers),
            (None, None) => unreachable!("a slice has components or a list"),
        }
    }

    pub fn key(&self) -> SliceKey {
        match &self.0.of {
            Some((of, numbers)) => {
                let mut key: SmallVec<[u64; 2]> =
                    numbers.iter().map(|number| of.component(*number).identity()).collect();
                key.sort_unstable();
                SliceKey::Components(key)
            }
            None => SliceKey::Constraints(Arc::clone(self.list())),
        }
    }

    /// Components of the path and the numbers of those in the slice, or else the list of constraints.
    pub(super) fn parts(&self) -> Result<(&Components, &[u32]), &Arc<[Expr]>> {
        match &self.0.of {
            Some((of, numbers)) => Ok((of, numbers)),
            None => Err(self.list()),
        }
    }
}

impl FromIterator<Expr> for Slice {
    fn from_iter<I: IntoIterator<Item = Expr>>(constraints: I) -> Slice {
        let list: Arc<[Expr]> = constraints.into_iter().collect();
        Slice(Arc::new(Inner {
            of: None,
            len: list.len(),
            list: OnceLock::from(list),
            listed: Arc::default(),
        }))
    }
}

impl std::fmt::Debug for Slice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.list().fmt(f)
    }
}
