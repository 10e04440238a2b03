//! Seeds that a path follows: inputs from elsewhere, such as a fuzzer's corpus.
//!
//! A seed satisfies the path condition of every state that has it, so its values are a model of the path. A state takes
//! the side of its path model at each decision; a state with seeds has the model of its first one, and a fork takes
//! those that satisfy its side along (`decide/seeding.rs`). Where no seed remains, exploration goes on as usual.
use crate::expr::value::{ArrayValue, Value};
use crate::expr::{Expr, Model};
use std::sync::Arc;

/// One input from elsewhere.
pub struct Seed {
    /// Values of inputs by name, as in a test; the n-th of a name is for the n-th input of that name.
    pub objects: Vec<(String, Vec<u8>)>,
    /// Bytes for the inputs that no object is for, in the order of their creation.
    pub stream: Vec<u8>,
}

/// A seed on a path, with its values for the inputs made so far.
#[derive(Clone)]
pub struct Followed {
    seed: Arc<Seed>,
    pub model: Model,
    /// Number of bytes of the stream that earlier inputs have taken.
    used: usize,
}

impl Followed {
    pub fn new(seed: Arc<Seed>) -> Followed {
        Followed { seed, model: Model::new(), used: 0 }
    }

    /// Gives a value to an input that was just made: `before` is the number of earlier ones of this name. Missing
    /// bytes of a seed are zero, excess ones are ignored.
    pub fn add_input(&mut self, variable: Expr, name: &str, before: usize, size: u64) {
        let seed = Arc::clone(&self.seed);
        let object = seed.objects.iter().filter(|(known, _)| known == name).nth(before);
        let bytes = match object {
            Some((_, bytes)) => bytes.as_slice(),
            None => {
                let rest = &seed.stream[self.used..];
                let taken = rest.len().min(usize::try_from(size).unwrap_or(usize::MAX));
                self.used += taken;
                &rest[..taken]
            }
        };
        let mut value = ArrayValue::zero(super::contents::INDEX_WIDTH, 8);
        for (at, byte) in (0..size).zip(bytes) {
            value.set_word(at, (*byte).into());
        }
        self.model.set(variable, Value::Array(Arc::new(value)));
    }
}
