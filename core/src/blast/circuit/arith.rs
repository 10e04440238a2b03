//! Addition, multiplication and division. Carries ripple: with constants folded, the circuits are small, and unit
//! propagation, which decides easy queries, follows them bit by bit.

use super::{Gates, Lit, Word, choose};

pub(super) fn add_carry(g: &mut Gates, a: &[Lit], b: &[Lit], mut carry: Lit) -> Word {
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

/// Length of the run of equal digits at `i` if it is cheaper as one subtraction and one addition, otherwise 1.
fn run(word: &[Lit], i: usize) -> usize {
    let length = word[i..].iter().take_while(|lit| **lit == word[i]).count();
    // At the top, as in every extended number, the addition is not needed.
    if length > 2 || (length == 2 && i + length == word.len()) { length } else { 1 }
}

/// Number of additions for a multiplication by `word`.
fn rows(word: &[Lit]) -> usize {
    let (mut i, mut count) = (0, 0);
    while i < word.len() {
        let length = run(word, i);
        count +=
            usize::from(word[i] != Lit::FALSE) * if length > 1 && i + length < word.len() { 2 } else { 1 };
        i += length;
    }
    count
}

fn masked(g: &mut Gates, word: &[Lit], digit: Lit) -> Word {
    word.iter().map(|&lit| g.and(lit, digit)).collect()
}

/// One row per digit of the operand that needs fewer rows. A run of equal digits from `i` to `j`, constant or not,
/// is `2^j - 2^i` times the digit: two rows, or one at the top.
pub fn multiply(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Word {
    if a == b {
        return square(g, a);
    }
    let (a, b) = if rows(a) < rows(b) { (b, a) } else { (a, b) };
    let width = a.len();
    let mut sum = vec![Lit::FALSE; width];
    let mut i = 0;
    while i < width && g.stopped().is_none() {
        let length = run(b, i);
        if b[i] != Lit::FALSE {
            let row = masked(g, &a[..width - i], b[i]);
            if length == 1 {
                let sum_above = add(g, &sum[i..], &row);
                sum[i..].copy_from_slice(&sum_above);
            } else {
                let difference = subtract(g, &sum[i..], &row);
                sum[i..].copy_from_slice(&difference);
                let j = i + length;
                if j < width {
                    let sum_above = add(g, &sum[j..], &row[..width - j]);
                    sum[j..].copy_from_slice(&sum_above);
                }
            }
        }
        i += length;
    }
    sum
}

/// Every product of two different digits occurs twice, so it is added once, one place higher: half the length of
/// the rows. A number whose digits from `k` on are all `s` is `low - s 2^k`, and its square `low^2 + s 2^2k - s low
/// 2^(k + 1)`.
fn square(g: &mut Gates, a: &[Lit]) -> Word {
    let width = a.len();
    let top = a.iter().rev().take_while(|lit| **lit == a[width - 1]).count();
    let extended = top > 1;
    let digits = if extended { width - top } else { width };
    let mut sum = vec![Lit::FALSE; width];
    for i in 0..digits {
        if 2 * i >= width || g.stopped().is_some() {
            break;
        }
        let mut row = vec![Lit::FALSE; width - 2 * i];
        row[0] = a[i];
        for (j, place) in (i + 1..digits).zip(2..row.len()) {
            row[place] = g.and(a[i], a[j]);
        }
        let sum_above = add(g, &sum[2 * i..], &row);
        sum[2 * i..].copy_from_slice(&sum_above);
    }
    if extended {
        let sign = a[width - 1];
        let above = (2 * digits).min(width);
        let mut row = vec![Lit::FALSE; width - above];
        row.iter_mut().take(1).for_each(|lit| *lit = sign);
        let sum_above = add(g, &sum[above..], &row);
        sum[above..].copy_from_slice(&sum_above);
        let above = (digits + 1).min(width);
        let low: Word =
            a[..digits].iter().copied().chain(std::iter::repeat(Lit::FALSE)).take(width - above).collect();
        let row = masked(g, &low, sign);
        let difference = subtract(g, &sum[above..], &row);
        sum[above..].copy_from_slice(&difference);
    }
    sum
}

/// Quotient and remainder by restoring division, highest bit first. A zero divisor is subtracted at every step, so
/// the quotient is all ones and the remainder is the dividend, as in SMT-LIB.
pub fn divide(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let width = a.len();
    let mut quotient = vec![Lit::FALSE; width];
    let mut remainder = vec![Lit::FALSE; width];
    let divisor: Word = b.iter().copied().chain([Lit::FALSE]).collect();
    for i in (0..width).rev() {
        if g.stopped().is_some() {
            break;
        }
        // The remainder is less than the divisor, so one more bit holds its double.
        let shifted: Word = [a[i]].into_iter().chain(remainder.iter().copied()).collect();
        let fits = super::less(g, &divisor, &shifted, true, false);
        let difference = subtract(g, &shifted[..width], b);
        quotient[i] = fits;
        remainder = choose(g, fits, &difference, &shifted[..width]);
    }
    (quotient, remainder)
}

/// Division rounded towards zero; the remainder has the sign of the dividend.
pub fn divide_signed(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let (a_sign, b_sign) = (a[a.len() - 1], b[b.len() - 1]);
    let a_size = negate_if(g, a_sign, a);
    let b_size = negate_if(g, b_sign, b);
    let (quotient, remainder) = divide(g, &a_size, &b_size);
    let differ = g.xor(a_sign, b_sign);
    (negate_if(g, differ, &quotient), negate_if(g, a_sign, &remainder))
}

pub(super) fn negate_if(g: &mut Gates, condition: Lit, a: &[Lit]) -> Word {
    let flipped: Word = a.iter().map(|&lit| g.xor(lit, condition)).collect();
    let mut one = vec![Lit::FALSE; a.len()];
    one[0] = condition;
    add(g, &flipped, &one)
}
