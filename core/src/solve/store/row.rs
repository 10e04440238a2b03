//! A row of the store: a query, its answer and what it cost, with a checksum over its content.

use super::answer::Verdict;
use super::canonical::Key;
use crate::encoding::{Decoder, put};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds after which the use of a row is written again, so that a hit rarely writes.
const USED_RESOLUTION_S: i64 = 3600;

/// A query and its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub shape: u64,
    pub key: Key,
    /// Canonical bytes of the query.
    pub query: Vec<u8>,
    pub verdict: Verdict,
    pub answer: Vec<u8>,
    /// Solving time.
    pub cost_us: u32,
    /// Time of the last use, in seconds since 1970. Set when the row is written.
    pub used: i64,
}

impl Row {
    /// Whether a use should be written to the file.
    pub fn is_stale(&self) -> bool {
        self.used < now() - USED_RESOLUTION_S
    }

    pub fn checksum(&self) -> i64 {
        let mut hash = Sha256::new();
        hash.update(self.shape.to_le_bytes());
        hash.update(self.key);
        hash.update((self.query.len() as u64).to_le_bytes());
        hash.update(&self.query);
        hash.update([self.verdict as u8]);
        hash.update(&self.answer);
        let digest = hash.finalize();
        i64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }
    /// The row as bytes, with its checksum; without the time of the last use.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.query.len() + self.answer.len() + 64);
        put(&mut bytes, self.checksum() as u64);
        put(&mut bytes, self.shape);
        bytes.extend_from_slice(&self.key);
        bytes.push(self.verdict as u8);
        put(&mut bytes, self.cost_us.into());
        put(&mut bytes, self.query.len() as u64);
        bytes.extend_from_slice(&self.query);
        bytes.extend_from_slice(&self.answer);
        bytes
    }

    /// The row of these bytes; `None` if they are damaged.
    pub fn decode(bytes: &[u8]) -> Option<Row> {
        let mut decoder = Decoder::new(bytes);
        let (checksum, shape) = (decoder.number()?, decoder.number()?);
        let key = decoder.bytes(16)?.try_into().ok()?;
        let verdict = Verdict::of(decoder.byte()?)?;
        let cost_us = u32::try_from(decoder.number()?).ok()?;
        let length = decoder.count()?;
        let query = decoder.bytes(length)?.to_vec();
        let row = Row { shape, key, query, verdict, answer: decoder.rest().to_vec(), cost_us, used: 0 };
        (row.checksum() as u64 == checksum).then_some(row)
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
}
