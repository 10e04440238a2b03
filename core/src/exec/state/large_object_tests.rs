//! Large objects at known and symbolic offsets, against a vector of bytes.
use super::bytes::{MAX_FLAT_BYTES, PAGE_BYTES};
use super::contents::{Contents, INDEX_WIDTH};
use super::object::{Kind, Object};
use crate::expr::{Bits, Evaluator, Expr, Graph, Model, Sort};
use crate::interval::Set;
use crate::random::Random;

const SIZE: u64 = 5 * MAX_FLAT_BYTES + 123;

/// An object, and the value of each of its bytes under the model.
struct Checked {
    object: Object,
    expected: Vec<u8>,
}

impl Checked {
    fn new(size: u64) -> Checked {
        Checked { object: Object::new(1 << 40, size, Kind::Heap), expected: vec![0; size as usize] }
    }
}

struct Inputs {
    graph: Graph,
    model: Model,
    count: u32,
}

impl Inputs {
    fn value(&mut self, width: u32, word: u64) -> Expr {
        self.count += 1;
        let e = self.graph.var(&format!("v{}", self.count), Sort::Bits(width)).unwrap();
        self.model.set_bits(e, Bits::word(width, word));
        e
    }

    fn evaluate(&self, e: Expr) -> u64 {
        Evaluator::new().under(&self.graph, &self.model).word(e)
    }
}

fn step(random: &mut Random, inputs: &mut Inputs, all: &mut [Checked; 2]) {
    let (which, other) = (random.below(2) as usize, random.below(2) as usize);
    let at = random.below(4) * MAX_FLAT_BYTES + random.below(3 * PAGE_BYTES);
    let Checked { object, expected } = &mut all[which];
    match random.below(6) {
        0 | 1 => {
            let word = random.word();
            expected[at as usize..at as usize + 4].copy_from_slice(&word.to_le_bytes()[..4]);
            if random.below(2) == 0 {
                object.write_concrete(at, 4, word & 0xffff_ffff);
            } else {
                let value = inputs.value(32, word & 0xffff_ffff);
                object.write(&inputs.graph, at, value);
            }
        }
        2 => {
            let (count, byte) = (random.below(3 * PAGE_BYTES), random.below(3) as u8);
            object.fill(at, count, byte);
            expected[at as usize..(at + count) as usize].fill(byte);
        }
        3 => {
            let word = random.word();
            let value = inputs.value(16, word & 0xffff);
            let place = inputs.value(64, at);
            let places = Set::interval(64, 0, SIZE - 2);
            if !object.is_too_large_for_array(0, SIZE) {
                object.write_among(&mut inputs.graph, place, &places, value);
                expected[at as usize..at as usize + 2].copy_from_slice(&word.to_le_bytes()[..2]);
            }
        }
        _ => {
            let start = random.below(4) * MAX_FLAT_BYTES + random.below(2) * (at % PAGE_BYTES);
            let whole = random.below(3) == 0;
            let (at, start, count) =
                if whole { (0, 0, SIZE) } else { (at, start, random.below(2 * PAGE_BYTES)) };
            let (from, data) = (all[other].object.clone(), all[other].expected.clone());
            let Checked { object, expected } = &mut all[which];
            object.copy_from(&mut inputs.graph, at, &from, start, count).unwrap();
            let data = &data[start as usize..(start + count) as usize];
            expected[at as usize..(at + count) as usize].copy_from_slice(data);
        }
    }
}

#[test]
fn a_large_object_behaves_like_bytes() {
    let mut random = Random::new(3);
    for round in 0..12 {
        let mut inputs = Inputs { graph: Graph::new(), model: Model::new(), count: 0 };
        let mut all = [Checked::new(SIZE), Checked::new(SIZE)];
        for number in 0..16 {
            step(&mut random, &mut inputs, &mut all);
            for Checked { object, expected } in &all {
                let at = random.below(4) * MAX_FLAT_BYTES + random.below(3 * PAGE_BYTES);
                let known = object.read(&mut inputs.graph, at, 3);
                let right = expected[at as usize..at as usize + 3].iter().rev();
                let right = right.fold(0, |word, &byte| word << 8 | u64::from(byte));
                assert_eq!(inputs.evaluate(known), right, "round {round}, step {number}: at {at}");
                let place = inputs.value(64, at);
                let near = Set::interval(64, at.saturating_sub(5), at + 9);
                for places in [near, Set::interval(64, 0, SIZE - 3)] {
                    let (least, most) = places.min().zip(places.max()).unwrap();
                    if !object.is_too_large_for_array(least, most + 3) {
                        let among = object.read_among(&mut inputs.graph, place, &places, 3);
                        assert_eq!(inputs.evaluate(among), right, "round {round}, step {number}: among");
                    }
                }
            }
        }
    }
}

#[test]
fn a_symbolic_write_into_a_huge_object_costs_one_element() {
    let mut inputs = Inputs { graph: Graph::new(), model: Model::new(), count: 0 };
    let mut huge = Object::new(1 << 40, 1 << 32, Kind::Heap);
    huge.write_concrete((1 << 32) - 8, 8, 5);
    let (place, value) = (inputs.value(64, 1 << 31), inputs.value(8, 77));
    let nodes = inputs.graph.len();
    huge.write_among(&mut inputs.graph, place, &Set::interval(64, 0, (1 << 32) - 1), value);
    assert!(inputs.graph.len() < nodes + 10_000, "{} nodes", inputs.graph.len() - nodes);
    for (at, expected) in [(1 << 31, 77), ((1 << 32) - 8, 5), (9, 0)] {
        let read = huge.read(&mut inputs.graph, at, 1);
        assert_eq!(inputs.evaluate(read), expected);
    }
    // Filling it again makes it plain.
    huge.fill(0, 1 << 32, 1);
    assert!(huge.is_plain());
    assert_eq!(huge.read_concrete(12345, 8), Some(0x0101_0101_0101_0101));
}

#[test]
fn an_object_with_too_much_in_it_has_no_array() {
    let mut full = Object::new(1 << 40, 1 << 30, Kind::Heap);
    assert!(!full.is_too_large_for_array(0, 1 << 30), "zeros cost nothing");
    full.fill(0, 1 << 30, 7);
    assert!(full.is_too_large_for_array(0, 1 << 30));
    assert!(!full.is_too_large_for_array(1 << 20, (1 << 20) + 4096), "a part is small");
    let mut g = Graph::new();
    let input = g.var("in", Sort::Array { index: INDEX_WIDTH, element: 8 }).unwrap();
    full.set_contents(Contents::of_bytes(input));
    let mut other = Object::new(1 << 41, 1 << 31, Kind::Heap);
    other.copy_from(&mut g, 0, &full, 0, 1 << 30).unwrap();
    assert_eq!(
        other.read(&mut g, 1 << 29, 1),
        full.read(&mut g, 1 << 29, 1),
        "a whole object is copied at once"
    );
    assert_eq!(other.read_concrete(1 << 30, 8), Some(0));
    assert!(other.copy_from(&mut g, 1, &full, 0, 1 << 30).is_err());
}
