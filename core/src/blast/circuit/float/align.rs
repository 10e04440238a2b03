//! Shifting right without forgetting that something was lost: the lowest bit of the result is sticky.

use super::{Gates, Lit, Word};

/// Shifts right by `amount`; the lowest bit is the disjunction of itself and of all bits shifted out.
pub fn shift_sticky(g: &mut Gates, word: &[Lit], amount: &[Lit]) -> Word {
    let mut word = word.to_vec();
    let width = word.len();
    let mut sticky = Lit::FALSE;
    let mut stage = 0;
    while stage < amount.len() && stage < 32 && 1 << stage < width {
        let distance = 1 << stage;
        let lost = g.any(word[..distance].to_vec());
        let lost = g.and(lost, amount[stage]);
        sticky = g.or(sticky, lost);
        word = (0..width)
            .map(|i| {
                let from = word.get(i + distance).copied().unwrap_or(Lit::FALSE);
                g.mux(amount[stage], from, word[i])
            })
            .collect();
        stage += 1;
    }
    let out = g.any(amount[stage..].to_vec());
    let lost = g.any(word.clone());
    let lost = g.and(lost, out);
    sticky = g.or(sticky, lost);
    for lit in &mut word {
        *lit = g.and(*lit, !out);
    }
    word[0] = g.or(word[0], sticky);
    word
}

/// The highest `width` bits; the lowest of them is the disjunction of itself and of all bits below. A shorter word
/// gets zeros below.
pub fn keep_sticky(g: &mut Gates, word: &[Lit], width: usize) -> Word {
    if word.len() <= width {
        let mut padded = vec![Lit::FALSE; width - word.len()];
        padded.extend(word);
        return padded;
    }
    let (low, high) = word.split_at(word.len() - width);
    let mut kept = high.to_vec();
    let lost = g.any(low.to_vec());
    kept[0] = g.or(kept[0], lost);
    kept
}
