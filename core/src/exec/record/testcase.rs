//! A finished path: how and where it ended, and its inputs.
use crate::exec::outcome::{Outcome, Place};

/// Values of the inputs, in the order of their creation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TestCase {
    pub objects: Vec<(String, Vec<u8>)>,
}

/// Version of the `.ktest` format that is written.
const KTEST_VERSION: u32 = 3;

impl TestCase {
    /// The `.ktest` format of KLEE: big-endian lengths, the program's arguments, then name and bytes of each
    /// object.
    pub fn to_ktest(&self, arguments: &[String]) -> Vec<u8> {
        fn counted(out: &mut Vec<u8>, bytes: &[u8]) {
            out.extend((bytes.len() as u32).to_be_bytes());
            out.extend(bytes);
        }
        let mut out = b"KTEST".to_vec();
        out.extend(KTEST_VERSION.to_be_bytes());
        out.extend((arguments.len() as u32).to_be_bytes());
        arguments.iter().for_each(|argument| counted(&mut out, argument.as_bytes()));
        // Number and length of symbolic arguments: none.
        out.extend([0; 8]);
        out.extend((self.objects.len() as u32).to_be_bytes());
        for (name, bytes) in &self.objects {
            counted(&mut out, name.as_bytes());
            counted(&mut out, bytes);
        }
        out
    }
}

/// A finished path.
#[derive(Clone, Debug)]
pub struct Finished {
    pub outcome: Outcome,
    /// Place of the innermost frame in the user's code.
    pub place: Place,
    /// Places of all frames, innermost first.
    pub stack: Vec<Place>,
    pub test: TestCase,
    /// Number of its test, if one was written.
    pub number: Option<u64>,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Is this the first path into its bug?
    pub first: bool,
    /// Its path condition as an SMT-LIB script, if conditions are kept.
    pub condition: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ktest_has_klees_layout() {
        let test = TestCase { objects: vec![("x".to_string(), vec![1, 2])] };
        let expected =
            b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x03a.c\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01x\0\0\0\x02\x01\x02";
        assert_eq!(test.to_ktest(&["a.c".to_string()]), expected);
    }
}
