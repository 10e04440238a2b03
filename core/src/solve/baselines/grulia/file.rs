//! Grulia's repository in a file that runs share: rows of our store (`store/file.rs`) with a shape of their own.
//!
//! The file is read when the layer is made, so that hits do not depend on how fast other runs write. New entries are
//! written at `flush` and when the layer is dropped; a run that is killed loses them. The file is opened only for that,
//! since neither SQLite nor its locks survive a fork.

use super::Values;
use crate::encoding::{Decoder, put, put_bits, put_bytes, put_sort};
use crate::expr::{ArrayValue, Sort, Value};
use crate::solve::store::{Change, File, Row, Verdict, semantics};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;

const NAME: &[u8] = b"grulia";
/// Entries that wait are written from this number on.
const BATCH: usize = 4096;

/// An entry of the repository, with its distance.
pub enum Entry {
    Model(Values),
    Core(Vec<Vec<u8>>),
}

pub struct Shared {
    path: PathBuf,
    /// Limit of the file in bytes.
    limit: u64,
    waiting: Vec<Change>,
    process: u32,
    notice: Option<String>,
}

impl Shared {
    /// Opens or creates the file, and calls `add` with its entries in the order in which they were written.
    pub fn open(path: PathBuf, limit: u64, mut add: impl FnMut(u128, Entry)) -> Shared {
        let process = std::process::id();
        let mut shared = Shared { path, limit, waiting: Vec::new(), process, notice: None };
        let read = File::open(&shared.path).and_then(|file| {
            file.each(|row| {
                if let Some((anchor, entry)) = row.as_ref().and_then(decode) {
                    add(anchor, entry);
                }
                true
            })
        });
        shared.note(read);
        shared
    }

    pub fn keep(&mut self, anchor: u128, entry: &Entry) {
        self.waiting.push(Change::Insert(encode(anchor, entry)));
        if self.waiting.len() >= BATCH {
            self.write();
        }
    }

    pub fn write(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        // A forked process has a copy of what its parent writes.
        if !waiting.is_empty() && self.process == std::process::id() {
            let result = File::open(&self.path).and_then(|mut file| file.apply(&waiting, self.limit));
            self.note(result);
        }
    }

    /// A message about the last error, once.
    pub fn notice(&mut self) -> Option<String> {
        self.notice.take()
    }

    fn note(&mut self, result: Result<(), String>) {
        if let Err(message) = result {
            self.notice = Some(format!("{message}; the repository of Grulia is not shared"));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.write();
    }
}

/// The shape of all rows, which differs if the meaning of the operators does.
fn shape() -> u64 {
    let digest = Sha256::digest([NAME, &semantics().to_le_bytes()].concat());
    u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

fn encode(anchor: u128, entry: &Entry) -> Row {
    let (mut query, mut answer) = (NAME.to_vec(), Vec::new());
    put(&mut query, anchor as u64);
    put(&mut query, (anchor >> 64) as u64);
    let verdict = match entry {
        Entry::Model(values) => {
            put(&mut answer, values.len() as u64);
            values.iter().for_each(|(sort, value)| put_value(&mut answer, *sort, value));
            Verdict::Sat
        }
        Entry::Core(constraints) => {
            put(&mut answer, constraints.len() as u64);
            constraints.iter().for_each(|one| put_bytes(&mut answer, one));
            Verdict::Unsat
        }
    };
    let digest = Sha256::digest([&query[..], &[verdict as u8], &answer].concat());
    let key = digest[..16].try_into().expect("a digest has 32 bytes");
    Row { shape: shape(), key, query, verdict, answer, cost_us: 0, used: 0 }
}

/// The entry of a row; `None` if it belongs to something else or cannot be read.
fn decode(row: &Row) -> Option<(u128, Entry)> {
    if row.shape != shape() {
        return None;
    }
    let mut query = Decoder::new(row.query.strip_prefix(NAME)?);
    let anchor = u128::from(query.number()?) | u128::from(query.number()?) << 64;
    let mut answer = Decoder::new(&row.answer);
    let count = answer.count()?;
    let entry = match row.verdict {
        Verdict::Sat => Entry::Model((0..count).map(|_| take_value(&mut answer)).collect::<Option<_>>()?),
        Verdict::Unsat => {
            let constraint = |_| {
                let length = answer.count()?;
                Some(answer.bytes(length)?.to_vec())
            };
            Entry::Core((0..count).map(constraint).collect::<Option<_>>()?)
        }
    };
    answer.is_at_end().then_some((anchor, entry))
}

fn put_value(out: &mut Vec<u8>, sort: Sort, value: &Value) {
    put_sort(out, sort);
    match value {
        Value::Bits(bits) => put_bits(out, bits),
        Value::Array(array) => {
            put_bits(out, array.default_element());
            let entries = array.entries();
            put(out, entries.len() as u64);
            for (index, element) in &entries {
                put_bits(out, index);
                put_bits(out, element);
            }
        }
    }
}

fn take_value(from: &mut Decoder<'_>) -> Option<(Sort, Value)> {
    let sort = from.sort()?;
    let value = match sort {
        Sort::Bool => Value::Bits(from.bits(1)?),
        Sort::Bits(width) => Value::Bits(from.bits(width)?),
        Sort::Array { index, element } => {
            let mut array = ArrayValue::new(index, from.bits(element)?);
            for _ in 0..from.count()? {
                let at = from.bits(index)?;
                array.set(&at, from.bits(element)?);
            }
            Value::Array(Arc::new(array))
        }
    };
    Some((sort, value))
}
