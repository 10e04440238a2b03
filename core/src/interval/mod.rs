//! Sets of values for the leaves of expressions: the multi-intervals of PARTI (ASE 2018). Sound everywhere, exact
//! where possible. The layers `intervals` and `enumerate` decide queries with them.

mod aligned;
pub mod backward;
pub mod field;
mod float;
mod fold;
pub mod forward;
mod guess;
mod learn;
mod propagate;
mod range;
mod reason_tree;
pub mod set;
mod summary;

pub use fold::{Imprecision, image};
pub use guess::{GuessStrategy, guess_model};
pub use learn::{Facts, KnownSet, LEARNING_EFFORT, Learner};
pub use range::{BitRange, BitRanges};
pub use reason_tree::ReasonTree;
pub use set::{Approx, Set};
pub use summary::{Comparison, Inventory, Summary};
