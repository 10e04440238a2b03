//! The journal: answers that are not in the file yet. An answer is appended here before its query returns. If the process
//! is killed, the next one that opens the store inserts them.
//!
//! Each process has its own journal, locked while the process lives, in a folder beside the store. An answer is one
//! `write`, which outlives the process once the system has accepted it. An entry has its length and the row's checksum:
//! an incomplete entry is the last one, and reading ends there. Existing rows are kept, so entries may be inserted twice.

use super::row::Row;
use crate::encoding::{Decoder, put};
use std::fs::{self, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The first bytes of a journal; the last one is the version.
const MAGIC: &[u8] = b"Partita journal\x01";
/// Number of names tried for a new journal.
const MAX_NAMES: u32 = 16;

pub struct Journal {
    file: fs::File,
    path: PathBuf,
    bytes: u64,
}

/// The folder of a store's journals.
fn folder(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_os_string();
    name.push("-journals");
    name.into()
}

impl Journal {
    pub fn create(store: &Path) -> io::Result<Journal> {
        /// A process uses no name twice: another one that is removing an old journal must not find a new one.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = folder(store);
        let mut last_error = io::Error::from(ErrorKind::AlreadyExists);
        for _ in 0..MAX_NAMES {
            fs::create_dir_all(&folder)?;
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{}-{number}", std::process::id()));
            match fs::File::options().append(true).create_new(true).open(&path) {
                Ok(mut file) => match file.try_lock() {
                    // Before it was locked, another process may have removed it as an orphan.
                    Ok(()) if path.exists() => {
                        file.write_all(MAGIC)?;
                        return Ok(Journal { file, path, bytes: 0 });
                    }
                    Ok(()) | Err(TryLockError::WouldBlock) => {}
                    Err(TryLockError::Error(error)) => return Err(error),
                },
                // The name exists, or the folder was just removed.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                    last_error = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(last_error)
    }

    /// Size of the answers in it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends an answer. It is safe when this returns, even if the process is killed.
    pub fn append(&mut self, row: &Row) -> io::Result<()> {
        let entry = encode(row);
        self.bytes += entry.len() as u64;
        self.file.write_all(&entry)
    }

    /// Removes all entries: they are in the file.
    pub fn clear(&mut self) -> io::Result<()> {
        self.bytes = 0;
        self.file.set_len(MAGIC.len() as u64)
    }

    /// Removes the journal.
    pub fn remove(self) {
        // If this fails, the next process inserts the entries again, which changes nothing.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            // Fails if it has other journals.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Hands the answers in journals without a process to `insert`, then removes these journals.
pub fn insert_orphans(
    store: &Path,
    mut insert: impl FnMut(Vec<Row>) -> Result<(), String>,
) -> Result<(), String> {
    let folder = folder(store);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        // A journal that is gone or locked belongs to another process.
        let Ok(file) = fs::File::options().read(true).write(true).open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let Some(entries) = bytes.strip_prefix(MAGIC) else {
            if !MAGIC.starts_with(&bytes) {
                // A journal of another version.
                continue;
            }
            Journal { file, path, bytes: 0 }.remove();
            continue;
        };
        insert(decode_all(entries))?;
        Journal { file, path, bytes: 0 }.remove();
    }
    Ok(())
}

fn encode(row: &Row) -> Vec<u8> {
    let mut body = row.encode();
    let mut entry = Vec::with_capacity(body.len() + 10);
    put(&mut entry, body.len() as u64);
    entry.append(&mut body);
    entry
}

/// The rows of all complete entries, up to the first incomplete one.
fn decode_all(bytes: &[u8]) -> Vec<Row> {
    let mut decoder = Decoder::new(bytes);
    std::iter::from_fn(|| {
        let length = decoder.count()?;
        Row::decode(decoder.bytes(length)?)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::solve::store::Verdict;

    fn some_rows() -> Vec<Row> {
        let row = |n: u8| Row {
            shape: u64::MAX - u64::from(n),
            key: [n; 16],
            query: vec![n; 200 * usize::from(n)],
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

    fn inserted(store: &Path) -> Vec<Row> {
        let mut all = Vec::new();
        insert_orphans(store, |rows| {
            all.extend(rows);
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn a_truncated_journal_has_the_complete_entries() {
        let all = some_rows();
        let entries: Vec<Vec<u8>> = all.iter().map(encode).collect();
        let whole = entries.concat();
        for cut in 0..=whole.len() {
            let mut end = 0;
            let complete = entries.iter().take_while(|entry| {
                end += entry.len();
                end <= cut
            });
            assert_eq!(decode_all(&whole[..cut]), all[..complete.count()], "cut at {cut}");
        }
    }

    #[test]
    fn damaged_entries_are_rejected() {
        let all = some_rows();
        let whole: Vec<u8> = all.iter().flat_map(encode).collect();
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let mut bad = whole.clone();
            bad[random.below(whole.len() as u64) as usize] ^= 1 << random.below(8);
            // The checksum does not cover the solving time.
            assert!(
                decode_all(&bad).iter().all(|row| all.iter().any(|own| own.checksum() == row.checksum()))
            );
        }
    }

    #[test]
    fn a_journal_is_inserted_once_and_only_after_its_process_ended() {
        let store = temporary("use");
        let mut journal = Journal::create(&store).unwrap();
        let all = some_rows();
        all.iter().for_each(|row| journal.append(row).unwrap());
        assert!(journal.bytes() > 1000);
        assert_eq!(inserted(&store), []);
        drop(journal);
        assert_eq!(inserted(&store), all);
        assert_eq!(inserted(&store), []);
        assert!(!folder(&store).exists());
        let mut journal = Journal::create(&store).unwrap();
        journal.append(&all[0]).unwrap();
        journal.clear().unwrap();
        journal.append(&all[1]).unwrap();
        drop(journal);
        assert_eq!(inserted(&store), all[1..2]);
        Journal::create(&store).unwrap().remove();
        assert!(!folder(&store).exists());
    }

    #[test]
    fn journals_that_cannot_be_inserted_stay() {
        let store = temporary("stays");
        let mut journal = Journal::create(&store).unwrap();
        let all = some_rows();
        journal.append(&all[0]).unwrap();
        drop(journal);
        assert_eq!(insert_orphans(&store, |_| Err("no room".into())), Err("no room".into()));
        // A journal of an unknown version is not changed.
        fs::write(folder(&store).join("other"), b"Partita journal\x02...").unwrap();
        assert_eq!(inserted(&store), all[..1]);
        assert_eq!(fs::read_dir(folder(&store)).unwrap().count(), 1);
        fs::remove_dir_all(folder(&store)).unwrap();
    }
}
