//! A finished path: how and where it ended, and its inputs.
use super::input_value::{InputValue, SparseBytes};
use crate::exec::outcome::{Outcome, Place};
use std::borrow::Cow;

/// Values of the inputs, in the order of their creation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestCase {
    pub objects: Vec<(String, InputValue)>,
}

/// Version of the `.ktest` format that is written.
const KTEST_VERSION: u32 = 3;

fn add_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The `.ktest` format of KLEE before its objects: big-endian lengths, the program's arguments.
pub fn ktest_head(arguments: &[String]) -> Vec<u8> {
    let mut out = b"KTEST".to_vec();
    out.extend(KTEST_VERSION.to_be_bytes());
    out.extend((arguments.len() as u32).to_be_bytes());
    arguments.iter().for_each(|argument| add_counted(&mut out, argument.as_bytes()));
    // Number and length of symbolic arguments: none.
    out.extend([0; 8]);
    out
}

/// The `.ktest` format: the head, then name and bytes of each object.
pub fn to_ktest<'a>(
    head: &[u8],
    objects: impl ExactSizeIterator<Item = (&'a str, Cow<'a, InputValue>)>,
) -> SparseBytes {
    let mut out = SparseBytes::default();
    out.bytes.reserve(head.len() + 4 + 32 * objects.len());
    out.bytes.extend_from_slice(head);
    out.bytes.extend_from_slice(&(objects.len() as u32).to_be_bytes());
    for (name, value) in objects {
        add_counted(&mut out.bytes, name.as_bytes());
        out.bytes.extend_from_slice(&(value.len() as u32).to_be_bytes());
        out.append(&value);
    }
    out
}

impl TestCase {
    pub fn to_ktest(&self, arguments: &[String]) -> SparseBytes {
        let objects = self.objects.iter().map(|(name, value)| (name.as_str(), Cow::Borrowed(value)));
        to_ktest(&ktest_head(arguments), objects)
    }
}

/// A part of a bug's report: other stacks, the schedule.
#[derive(Clone, Debug)]
pub struct Section {
    pub title: String,
    pub lines: Vec<String>,
}

/// A finished path.
#[derive(Clone, Debug)]
pub struct Finished {
    pub outcome: Outcome,
    /// Place of the innermost frame in the user's code.
    pub place: Place,
    /// Places of all frames, innermost first.
    pub stack: Vec<Place>,
    /// More about a bug of a path with threads.
    pub sections: Vec<Section>,
    pub test: TestCase,
    /// Number of its test, if one was written.
    pub number: Option<u64>,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Is its bug reported with this path? It is the first path into it, unless this is a worker (`Bugs::pick_least`).
    pub first: bool,
    /// Its path condition as an SMT-LIB script, if conditions are kept.
    pub condition: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ktest_has_klees_layout() {
        let test = TestCase { objects: vec![("x".to_string(), vec![1, 2].into())] };
        let expected =
            b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x03a.c\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01x\0\0\0\x02\x01\x02";
        assert_eq!(test.to_ktest(&["a.c".to_string()]).bytes, expected);
    }
}
