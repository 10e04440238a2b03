//! Addition, multiplication and division. Ripple carries: with constants folded they are small, and the unit
//! propagation that decides easy queries follows them bit by bit.

use super::{Gates, Lit, Word, choose};

fn add_carry(g: &mut Gates, a: &[Lit], b: &[Lit], mut carry: Lit) -> Word {
    debug_assert_eq!(a.len(), b.len());
    let mut sum = Vec::with_capacity(a.len());
    for (&x, &y) in a.iter().zip(b) {
        let half = g.xor(x, y);
        sum.push(g.xor(half, carry));
        carry = g.majority(x, y, carry);
    }
    sum
}

pub fn add(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    add_carry(g, a, b, Lit::FALSE)
}

pub fn subtract(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    let complement: Word = b.iter().map(|&lit| !lit).collect();
    add_carry(g, a, &complement, Lit::TRUE)
}

pub fn negate(g: &mut Gates, a: &[Lit]) -> Word {
    subtract(g, &vec![Lit::FALSE; a.len()], a)
}

/// One row for each bit of the operand with fewer unknown bits; constant runs of ones are taken as one
/// subtraction and one addition. Rows stop when building has.
pub fn multiply(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    let unknown = |word: &[Lit]| word.iter().filter(|lit| **lit != Lit::FALSE).count();
    let (a, b) = if unknown(a) < unknown(b) { (b, a) } else { (a, b) };
    let width = a.len();
    let mut sum = vec![Lit::FALSE; width];
    let mut i = 0;
    while i < width && g.stopped().is_none() {
        let run = b[i..].iter().take_while(|lit| **lit == Lit::TRUE).count();
        if run > 2 {
            // Ones from i to i + run: 2^(i + run) - 2^i.
            let less = subtract(g, &sum[i..], &a[..width - i]);
            sum[i..].copy_from_slice(&less);
            i += run;
            if i < width {
                let more = add(g, &sum[i..], &a[..width - i]);
                sum[i..].copy_from_slice(&more);
                // The digit at the end of a run is not a one, and is still to come.
            }
            continue;
        }
        if b[i] != Lit::FALSE {
            let row: Word = a[..width - i].iter().map(|&lit| g.and(lit, b[i])).collect();
            let more = add(g, &sum[i..], &row);
            sum[i..].copy_from_slice(&more);
        }
        i += 1;
    }
    sum
}

/// Quotient and remainder by restoring division, highest bit first. A zero divisor is subtracted at every step:
/// the quotient is all ones and the remainder the dividend, as SMT-LIB wants.
pub fn divide(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let width = a.len();
    let mut quotient = vec![Lit::FALSE; width];
    let mut remainder = vec![Lit::FALSE; width];
    let divisor: Word = b.iter().copied().chain([Lit::FALSE]).collect();
    for i in (0..width).rev() {
        if g.stopped().is_some() {
            break;
        }
        // The remainder is below the divisor, so one more bit holds it doubled.
        let shifted: Word = [a[i]].into_iter().chain(remainder.iter().copied()).collect();
        let fits = super::less(g, &divisor, &shifted, true, false);
        let less = subtract(g, &shifted[..width], b);
        quotient[i] = fits;
        remainder = choose(g, fits, &less, &shifted[..width]);
    }
    (quotient, remainder)
}

/// Rounded towards zero; the remainder has the dividend's sign.
pub fn divide_signed(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let (a_sign, b_sign) = (a[a.len() - 1], b[b.len() - 1]);
    let a_size = negate_if(g, a_sign, a);
    let b_size = negate_if(g, b_sign, b);
    let (quotient, remainder) = divide(g, &a_size, &b_size);
    let differ = g.xor(a_sign, b_sign);
    (negate_if(g, differ, &quotient), negate_if(g, a_sign, &remainder))
}

fn negate_if(g: &mut Gates, condition: Lit, a: &[Lit]) -> Word {
    let flipped: Word = a.iter().map(|&lit| g.xor(lit, condition)).collect();
    let mut one = vec![Lit::FALSE; a.len()];
    one[0] = condition;
    add(g, &flipped, &one)
}
