//! Answers on their way into the file. Whoever has solved a question appends the answer here before going on; a process
//! that is killed leaves what is not in the file yet to the next one that opens the store.
//!
//! Each process has a journal of its own, locked while it lives, in a folder beside the store. An answer is one `write`,
//! and what the system has accepted outlives the process. A record has its length and the row's checksum: one that is
//! cut short is the one in flight, and reading ends there. A row that is there already stays as it is, so records may
//! be taken in twice.

use super::answer::Verdict;
use super::bytes::{Reader, put};
use super::file::Row;
use std::fs::{self, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a journal of this kind begins with; the last byte counts versions.
const HEAD: &[u8] = b"Partita journal\x01";
/// Names tried for a new one, should others be taken.
const TRIES: u32 = 16;

pub struct Journal {
    file: fs::File,
    path: PathBuf,
    bytes: u64,
}

/// Where the journals of a store are.
fn folder(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_os_string();
    name.push("-journals");
    name.into()
}

impl Journal {
    pub fn create(store: &Path) -> io::Result<Journal> {
        /// No name is used twice by a process: whoever looks after one that is gone finds no other in its place.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = folder(store);
        let mut trouble = io::Error::from(ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            fs::create_dir_all(&folder)?;
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            match fs::File::options().append(true).create_new(true).open(&path) {
                Ok(mut file) => match file.try_lock() {
                    // Before it was locked, somebody may have taken it for one that was left behind.
                    Ok(()) if path.exists() => {
                        file.write_all(HEAD)?;
                        return Ok(Journal { file, path, bytes: 0 });
                    }
                    Ok(()) | Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(error)) => return Err(error),
                },
                // Its name is taken, or the folder was just removed.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                    trouble = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(trouble)
    }

    /// Bytes of answers in it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds an answer. When this returns it is safe, whatever happens to the process.
    pub fn append(&mut self, row: &Row) -> io::Result<()> {
        let record = record(row);
        self.bytes += record.len() as u64;
        self.file.write_all(&record)
    }

    /// Everything in it has been written elsewhere.
    pub fn clear(&mut self) -> io::Result<()> {
        self.bytes = 0;
        self.file.set_len(HEAD.len() as u64)
    }

    /// The same, for good.
    pub fn remove(self) {
        // What cannot be removed is taken in once more by the next process, which changes nothing.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            // There may be others in it.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Hands the answers that processes left behind to `take`, then removes them.
pub fn take_orphans(
    store: &Path,
    mut take: impl FnMut(Vec<Row>) -> Result<(), String>,
) -> Result<(), String> {
    let folder = folder(store);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        // One that is gone, or locked, is somebody else's.
        let Ok(file) = fs::File::options().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let Some(records) = bytes.strip_prefix(HEAD) else {
            if !HEAD.starts_with(&bytes) {
                // Another version's.
                continue;
            }
            Journal { file, path, bytes: 0 }.remove();
            continue;
        };
        take(rows(records))?;
        Journal { file, path, bytes: 0 }.remove();
    }
    Ok(())
}

fn record(row: &Row) -> Vec<u8> {
    let mut body = Vec::with_capacity(row.question.len() + row.answer.len() + 64);
    put(&mut body, row.checksum() as u64);
    put(&mut body, row.shape);
    body.extend_from_slice(&row.key);
    body.push(row.verdict as u8);
    put(&mut body, row.cost_us.into());
    put(&mut body, row.question.len() as u64);
    body.extend_from_slice(&row.question);
    body.extend_from_slice(&row.answer);
    let mut record = Vec::with_capacity(body.len() + 10);
    put(&mut record, body.len() as u64);
    record.append(&mut body);
    record
}

/// The whole records, up to the first that is not.
fn rows(bytes: &[u8]) -> Vec<Row> {
    let mut reader = Reader::new(bytes);
    std::iter::from_fn(|| {
        let length = reader.count()?;
        row(reader.bytes(length)?)
    })
    .collect()
}

fn row(body: &[u8]) -> Option<Row> {
    let mut reader = Reader::new(body);
    let (checksum, shape) = (reader.number()?, reader.number()?);
    let key = reader.bytes(16)?.try_into().ok()?;
    let verdict = Verdict::of(reader.byte()?)?;
    let cost_us = u32::try_from(reader.number()?).ok()?;
    let length = reader.count()?;
    let question = reader.bytes(length)?.to_vec();
    let row = Row { shape, key, question, verdict, answer: reader.rest().to_vec(), cost_us, used: 0 };
    (row.checksum() as u64 == checksum).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::conformance::Random;

    fn some_rows() -> Vec<Row> {
        let row = |n: u8| Row {
            shape: u64::MAX - u64::from(n),
            key: [n; 16],
            question: vec![n; 200 * usize::from(n)],
            verdict: if n.is_multiple_of(2) { Verdict::Sat } else { Verdict::Unsat },
            answer: vec![7; usize::from(n)],
            cost_us: 1 << n,
            used: 0,
        };
        (0..5).map(row).collect()
    }

    fn temporary(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("partita-journal-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(folder(&path));
        path
    }

    fn taken(store: &Path) -> Vec<Row> {
        let mut all = Vec::new();
        take_orphans(store, |rows| {
            all.extend(rows);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn cut_anywhere_it_has_the_records_before() {
        let all = some_rows();
        let records: Vec<Vec<u8>> = all.iter().map(record).collect();
        let whole = records.concat();
        for cut in 0..=whole.len() {
            let mut end = 0;
            let complete = records.iter().take_while(|record| {
                end += record.len();
                end <= cut
            });
            assert_eq!(rows(&whole[..cut]), all[..complete.count()], "cut at {cut}");
        }
    }

    #[test]
    fn no_damaged_record_is_taken_for_a_whole_one() {
        let all = some_rows();
        let whole: Vec<u8> = all.iter().flat_map(record).collect();
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let mut bad = whole.clone();
            bad[random.below(whole.len() as u64) as usize] ^= 1 << random.below(8);
            // What solving took is not part of what a row says.
            assert!(rows(&bad).iter().all(|row| all.iter().any(|own| own.checksum() == row.checksum())));
        }
    }

    #[test]
    fn a_journal_is_left_alone_while_it_is_in_use_and_taken_once_after() {
        let store = temporary("use");
        let mut journal = Journal::create(&store).unwrap();
        let all = some_rows();
        all.iter().for_each(|row| journal.append(row).unwrap());
        assert!(journal.bytes() > 1000);
        assert_eq!(taken(&store), []);
        drop(journal);
        assert_eq!(taken(&store), all);
        assert_eq!(taken(&store), []);
        assert!(!folder(&store).exists());
        let mut journal = Journal::create(&store).unwrap();
        journal.append(&all[0]).unwrap();
        journal.clear().unwrap();
        journal.append(&all[1]).unwrap();
        drop(journal);
        assert_eq!(taken(&store), all[1..2]);
        Journal::create(&store).unwrap().remove();
        assert!(!folder(&store).exists());
    }

    #[test]
    fn what_cannot_be_taken_in_stays() {
        let store = temporary("stays");
        let mut journal = Journal::create(&store).unwrap();
        let all = some_rows();
        journal.append(&all[0]).unwrap();
        drop(journal);
        assert_eq!(take_orphans(&store, |_| Err("no room".into())), Err("no room".into()));
        // A version that is not known is left alone.
        fs::write(folder(&store).join("other"), b"Partita journal\x02...").unwrap();
        assert_eq!(taken(&store), all[..1]);
        assert_eq!(fs::read_dir(folder(&store)).unwrap().count(), 1);
        fs::remove_dir_all(folder(&store)).unwrap();
    }
}
