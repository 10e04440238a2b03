//! A domain of sets of values for the leaves of expressions: the first paper's multi-intervals, exact where it can be
//! and sound everywhere. Usable alone; the layers `intervals` and `enumerate` decide queries with it.

pub mod backward;
pub mod field;
pub mod forward;
pub mod set;

pub use set::{Approx, Set};
