//! Counting and removing leading zeros.

use super::super::left;
use super::{Gates, Lit, Word};

/// Number of zeros above the highest one; of a zero word, a number that is not greater than its width. A balanced
/// tree: each half has a count, and the lower half's matters if the upper half is zero.
pub fn leading_zeros(g: &mut Gates, word: &[Lit]) -> Word {
    let size = word.len().next_power_of_two();
    let mut padded = vec![Lit::TRUE; size - word.len()];
    padded.extend(word);
    count(g, &padded).0
}

/// The count for a power of two of bits, and whether all are zero.
fn count(g: &mut Gates, word: &[Lit]) -> (Word, Lit) {
    if let [bit] = word {
        return (Word::new(), !*bit);
    }
    let (low, high) = word.split_at(word.len() / 2);
    let (low_count, low_zero) = count(g, low);
    let (high_count, high_zero) = count(g, high);
    let mut zeros: Word = low_count.iter().zip(&high_count).map(|(&l, &h)| g.mux(high_zero, l, h)).collect();
    zeros.push(high_zero);
    (zeros, g.and(low_zero, high_zero))
}

/// The word without its leading zeros, and their number.
pub fn normalise(g: &mut Gates, word: &[Lit]) -> (Word, Word) {
    let zeros = leading_zeros(g, word);
    (left(g, word, &zeros), zeros)
}
