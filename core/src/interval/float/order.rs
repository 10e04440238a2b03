//! Floats as ordered words: the order of numbers is that of their bits after one monotone map.
//!
//! The ordinal of a number is its magnitude's bits, or their complement if it is negative: negative infinity has the
//! least, -0 has -1, +0 has 0. NaNs have none. The value of an ordinal makes zeros equal, as comparisons do.

use crate::expr::float::Format;
use crate::interval::set::{Interval, Set};
use smallvec::SmallVec;

/// A closed interval of ordinals.
pub type Piece = (i64, i64);
pub type Pieces = SmallVec<[Piece; 4]>;

/// Number of pieces of a set above which the hulls of its negative and of its positive numbers are taken.
const MAX_PIECES: usize = 8;

/// NaNs in a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Nans {
    None,
    /// Only the one that operations make.
    Default,
    Some,
}

/// Words of a format of at most 64 bits, and their order.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    format: Format,
}

/// The numbers of a set in ascending order, no piece with both signs, and its NaNs.
#[derive(Clone, Debug)]
pub struct Numbers {
    pub pieces: Pieces,
    pub nans: Nans,
    /// The set has no other members missing or added.
    pub exact: bool,
}

impl Numbers {
    pub fn least(&self) -> Option<i64> {
        self.pieces.first().map(|piece| piece.0)
    }

    pub fn greatest(&self) -> Option<i64> {
        self.pieces.last().map(|piece| piece.1)
    }

    pub fn has_nan(&self) -> bool {
        self.nans != Nans::None
    }
}

/// The value of an ordinal: zero for both zeros.
pub fn value(ordinal: i64) -> i64 {
    if ordinal < 0 { ordinal + 1 } else { ordinal }
}

impl Order {
    pub fn new(format: Format) -> Order {
        debug_assert!(format.width() <= 64 && !format.is_explicit());
        Order { format }
    }

    pub fn width(self) -> u32 {
        self.format.width()
    }

    fn sign(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// Ordinal of infinity, the greatest of a number.
    pub fn infinity(self) -> i64 {
        ((1i64 << self.format.exponent()) - 1) << self.format.stored()
    }

    /// The NaN that operations make.
    pub fn default_nan(self) -> u64 {
        self.sign() | self.infinity() as u64 | 1 << (self.format.stored() - 1)
    }

    pub fn word(self, ordinal: i64) -> u64 {
        if ordinal >= 0 { ordinal as u64 } else { !ordinal as u64 | self.sign() }
    }

    /// The ordinal of a word; of a NaN, one outside of those of numbers.
    pub fn ordinal(self, word: u64) -> i64 {
        if word & self.sign() == 0 { word as i64 } else { !((word ^ self.sign()) as i64) }
    }

    /// The ordinal of a word that is a number.
    pub fn number(self, word: u64) -> Option<i64> {
        let ordinal = self.ordinal(word);
        (value(ordinal).abs() <= self.infinity()).then_some(ordinal)
    }

    /// All numbers.
    pub fn all(self) -> [Piece; 2] {
        [(!self.infinity(), -1), (0, self.infinity())]
    }

    pub fn numbers(self, set: &Set) -> Numbers {
        let (infinity, sign) = (self.infinity() as u64, self.sign());
        let (mut negative, mut positive) = (Pieces::new(), Pieces::new());
        let mut has_nan = false;
        for (low, high) in set.intervals() {
            if low < sign {
                if low <= infinity {
                    positive.push((low as i64, high.min(infinity) as i64));
                }
                has_nan |= high.min(sign - 1) > infinity;
            }
            if high >= sign {
                let (low, high) = (low.max(sign) ^ sign, high ^ sign);
                if low <= infinity {
                    negative.push((!(high.min(infinity) as i64), !(low as i64)));
                }
                has_nan |= high > infinity;
            }
        }
        negative.reverse();
        let mut exact = !set.is_aligned();
        if negative.len() + positive.len() > MAX_PIECES {
            exact = false;
            for half in [&mut negative, &mut positive] {
                if let (Some(&(low, _)), Some(&(_, high))) = (half.first(), half.last()) {
                    half.clear();
                    half.push((low, high));
                }
            }
        }
        negative.extend(positive);
        let nans = match has_nan {
            false => Nans::None,
            true if self.only_default_nan(set) => Nans::Default,
            true => Nans::Some,
        };
        Numbers { pieces: negative, nans, exact }
    }

    fn only_default_nan(self, set: &Set) -> bool {
        let (infinity, default) = (self.infinity() as u64, self.default_nan());
        set.next_from(infinity + 1).is_none_or(|next| next >= self.sign())
            && set.next_from(self.sign() + infinity + 1) == Some(default)
            && default
                .checked_add(1)
                .filter(|&next| next >> (self.width() - 1) == 1)
                .and_then(|next| set.next_from(next))
                .is_none()
    }

    /// Intervals of the words of all NaNs.
    pub fn nan_words(self) -> [Interval; 2] {
        let (first, last) = (self.infinity() as u64 + 1, self.sign() - 1);
        [(first, last), (self.sign() | first, self.sign() | last)]
    }

    /// Intervals of the words of quiet NaNs.
    fn quiet_words(self) -> [Interval; 2] {
        let quiet = 1 << (self.format.stored() - 1);
        self.nan_words().map(|(first, last)| ((first - 1) | quiet, last))
    }

    /// Whether every quiet NaN is in the set.
    pub fn has_all_quiet(self, set: &Set) -> bool {
        let covered = |(low, high): Interval| set.intervals().iter().any(|&(p, q)| p <= low && high <= q);
        !set.is_aligned() && self.quiet_words().into_iter().all(covered)
    }

    /// Intervals of the words of the numbers with these ordinals.
    pub fn words(self, (low, high): Piece) -> SmallVec<[Interval; 2]> {
        let mut words = SmallVec::new();
        if high >= 0 {
            words.push((self.word(low.max(0)), self.word(high)));
        }
        if low < 0 {
            words.push((self.word(high.min(-1)), self.word(low)));
        }
        words
    }

    /// Words of the numbers in `pieces` and of NaNs, as results of an operation.
    pub fn set(self, pieces: &[Piece], nans: Nans) -> Set {
        let nans: SmallVec<[Interval; 2]> = match nans {
            Nans::None => SmallVec::new(),
            Nans::Default => [(self.default_nan(), self.default_nan())].into_iter().collect(),
            Nans::Some => self.quiet_words().into_iter().collect(),
        };
        let numbers = pieces.iter().flat_map(|&piece| self.words(piece));
        Set::from_intervals(self.width(), numbers.chain(nans)).set
    }
}
