//! Floating-point numbers as words: formats, rounding modes, and what every float operator means.

mod format;

pub use format::{Format, Rounding};
