//! Circuits of the float operators, for any format and rounding mode, which are constants of the node.
//!
//! A circuit unpacks its operands (`unpack`), computes an exact result with a sticky bit, rounds it (`round`), and
//! replaces what zeros, infinities and NaNs make special (`special`). Exponents carry their range (`exponent`).

mod add;
mod align;
mod compare;
mod convert;
mod divide;
mod exponent;
mod fused;
mod integral;
mod multiply;
mod normalise;
mod remainder;
mod root;
mod round;
mod special;
mod sum;
mod unpack;

pub use add::add;
pub use compare::{equal, less};
pub use convert::{from_integer, to_format, to_integer};
pub use divide::divide;
pub use fused::multiply_add;
pub use integral::round_to_integral;
pub use multiply::multiply;
pub use remainder::remainder;
pub use root::root;

use super::{Gates, Lit, Word};
use crate::expr::float::{Format, Rounding};
