//! Value of an input in a test. Memory is taken for the bytes that a model sets; the others are one byte repeated, so that an
//! input of a gigabyte costs no more than what the program looked at.
use crate::expr::ArrayValue;

/// Shorter repetitions are stored as bytes.
const MIN_HOLE: u64 = 1 << 16;

/// The bytes of an input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InputValue {
    head: Vec<u8>,
    /// Places after the head with another byte than `fill`, ascending.
    others: Vec<(u64, u8)>,
    /// The byte at all other places after the head.
    fill: u8,
    len: u64,
}

impl From<Vec<u8>> for InputValue {
    fn from(head: Vec<u8>) -> InputValue {
        InputValue { len: head.len() as u64, head, others: Vec::new(), fill: 0 }
    }
}

impl InputValue {
    /// The first `len` elements of an array of bytes; zeros without an array.
    pub fn new(array: Option<&ArrayValue>, len: u64) -> InputValue {
        let Some(array) = array else { return InputValue { len, ..InputValue::default() } };
        let (head, others) = array.bytes_below(len);
        InputValue { head, others, fill: array.default_element().low() as u8, len }
    }

    /// Its parts: the first bytes, others by place, the byte of all other places, its length.
    pub fn parts(&self) -> (&[u8], &[(u64, u8)], u8, u64) {
        (&self.head, &self.others, self.fill, self.len)
    }

    pub fn of_parts(head: Vec<u8>, others: Vec<(u64, u8)>, fill: u8, len: u64) -> InputValue {
        InputValue { head, others, fill, len }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// At most the first `count` bytes.
    pub fn prefix(&self, count: u64) -> Vec<u8> {
        let count = count.min(self.len) as usize;
        let mut bytes = self.head[..count.min(self.head.len())].to_vec();
        bytes.resize(count, self.fill);
        for &(at, byte) in self.others.iter().take_while(|(at, _)| *at < count as u64) {
            bytes[at as usize] = byte;
        }
        bytes
    }

    pub fn to_vec(&self) -> Vec<u8> {
        self.prefix(self.len)
    }
}

/// Contents of a file, with the long repetitions of a byte left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SparseBytes {
    pub bytes: Vec<u8>,
    holes: Vec<Hole>,
}

/// A repetition of a byte that is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hole {
    /// Number of `SparseBytes::bytes` before it.
    after: usize,
    byte: u8,
    count: u64,
}

/// A part of the contents of a file.
pub enum Piece<'a> {
    Bytes(&'a [u8]),
    /// A byte and the number of its repetitions.
    Repeated(u8, u64),
}

impl From<Vec<u8>> for SparseBytes {
    fn from(bytes: Vec<u8>) -> SparseBytes {
        SparseBytes { bytes, holes: Vec::new() }
    }
}

impl SparseBytes {
    pub fn has_holes(&self) -> bool {
        !self.holes.is_empty()
    }

    fn repeat(&mut self, byte: u8, count: u64) {
        if count < MIN_HOLE {
            self.bytes.resize(self.bytes.len() + count as usize, byte);
        } else {
            self.add_hole(byte, count);
        }
    }

    /// Appends a repetition of a byte that is left out.
    pub fn add_hole(&mut self, byte: u8, count: u64) {
        self.holes.push(Hole { after: self.bytes.len(), byte, count });
    }

    /// Appends the bytes of an input.
    pub fn append(&mut self, value: &InputValue) {
        self.bytes.extend_from_slice(&value.head);
        let mut at = value.head.len() as u64;
        for &(next, byte) in &value.others {
            self.repeat(value.fill, next - at);
            self.bytes.push(byte);
            at = next + 1;
        }
        self.repeat(value.fill, value.len - at);
    }

    /// The contents, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut from = 0;
        let before = self.holes.iter().flat_map(move |hole| {
            let bytes = &self.bytes[from..hole.after];
            from = hole.after;
            [Piece::Bytes(bytes), Piece::Repeated(hole.byte, hole.count)]
        });
        let last = self.holes.last().map_or(0, |hole| hole.after);
        before.chain([Piece::Bytes(&self.bytes[last..])])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Bits;

    fn expanded(file: &SparseBytes) -> Vec<u8> {
        let piece = |piece: Piece<'_>| match piece {
            Piece::Bytes(bytes) => bytes.to_vec(),
            Piece::Repeated(byte, count) => vec![byte; count as usize],
        };
        file.pieces().flat_map(piece).collect()
    }

    #[test]
    fn pieces_of_a_file_are_the_bytes_of_its_inputs() {
        for len in [0, 3, 70_000, 400_000] {
            let mut array = ArrayValue::new(32, Bits::word(8, 7));
            for at in [0, 2, 65_535, 65_536, 65_540, 200_000, 399_999] {
                array.set(&Bits::word(32, at), Bits::word(8, at & 0x3f));
            }
            let expected: Vec<u8> = (0..len).map(|at| array.get_word(at) as u8).collect();
            let value = InputValue::new(Some(&array), len);
            assert_eq!(value.to_vec(), expected, "{len} bytes");
            assert_eq!(value.prefix(66_000), expected[..expected.len().min(66_000)]);
            let mut file = SparseBytes { bytes: b"head".to_vec(), ..SparseBytes::default() };
            file.append(&value);
            file.bytes.extend(b"between");
            file.append(&InputValue::new(None, len));
            assert_eq!(expanded(&file), [b"head", &*expected, b"between", &*vec![0; len as usize]].concat());
            assert_eq!(file.has_holes(), len >= MIN_HOLE);
        }
    }

    #[test]
    fn a_gigabyte_takes_what_is_set() {
        let mut array = ArrayValue::zero(32, 8);
        array.set(&Bits::word(32, 1 << 29), Bits::word(8, 5));
        let mut file = SparseBytes::default();
        file.append(&InputValue::new(Some(&array), 1 << 30));
        assert_eq!(file.bytes, [5]);
        let lengths = file.pieces().map(|piece| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::Repeated(_, count) => count,
        });
        assert_eq!(lengths.sum::<u64>(), 1 << 30);
    }
}
