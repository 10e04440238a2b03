//! Shifts by a computed amount: one stage per bit of the amount below the width; a higher bit shifts everything
//! out.

use super::{Gates, Lit, Word};

/// The bits shifted in from the top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    Zero,
    Sign,
}

pub fn left(g: &mut Gates, a: &[Lit], amount: &[Lit]) -> Word {
    let mut mirrored: Word = a.iter().rev().copied().collect();
    mirrored = shift_right(g, mirrored, amount, Lit::FALSE);
    mirrored.reverse();
    mirrored
}

pub fn right(g: &mut Gates, a: &[Lit], amount: &[Lit], fill: Fill) -> Word {
    let fill = match fill {
        Fill::Zero => Lit::FALSE,
        Fill::Sign => a[a.len() - 1],
    };
    shift_right(g, a.to_vec(), amount, fill)
}

/// Shifts towards the low end; `fill` is shifted in from the top.
fn shift_right(g: &mut Gates, mut word: Word, amount: &[Lit], fill: Lit) -> Word {
    let width = word.len();
    let mut stage = 0;
    while stage < amount.len() && stage < 32 && 1 << stage < width {
        let distance = 1 << stage;
        word = (0..width)
            .map(|i| {
                let from = word.get(i + distance).copied().unwrap_or(fill);
                g.mux(amount[stage], from, word[i])
            })
            .collect();
        stage += 1;
    }
    let out = g.any(amount[stage..].to_vec());
    word.into_iter().map(|lit| g.mux(out, fill, lit)).collect()
}
