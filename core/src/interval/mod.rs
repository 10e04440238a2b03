//! A domain of sets of values for the leaves of expressions: the first paper's multi-intervals, exact where it can be
//! and sound everywhere. Usable alone; the layers `intervals` and `enumerate` decide queries with it.

mod aligned;
pub mod backward;
mod because;
pub mod field;
mod fold;
pub mod forward;
mod learn;
mod meaning;
mod narrow;
mod range;
pub mod set;
mod witness;

pub use because::Because;
pub use fold::{Stop, shape};
pub use learn::{Facts, LEARNING_EFFORT, Learner, View};
pub use meaning::{Comparison, Inventory, Meaning};
pub use range::{Range, Ranges};
pub use set::{Approx, Set};
pub use witness::{Strategy, dive};
