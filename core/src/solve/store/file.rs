//! The file: one SQLite database that several processes share. The only file that knows SQLite.
//!
//! Rows are written in transactions with a write-ahead log, so a process that is killed leaves whole rows. Each row
//! has a checksum over everything it says. A file that is not a store, damaged, or of a newer format is left alone;
//! one of an older format is emptied. What goes wrong is a line of text for the user: the run goes on without.

use super::answer::Verdict;
use super::canonical::Key;
use super::journal;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Of tables, canonical bytes and shapes.
const FORMAT: i64 = 1;
/// "Ptta": what kind of SQLite file it is.
const APPLICATION: i64 = 0x5074_7461;
/// How long a reader waits for another process, and a writer.
const READ_WAIT: Duration = Duration::from_millis(50);
const WRITE_WAIT: Duration = Duration::from_secs(5);
/// The use of a row is noted when the last one is so many seconds ago, so that a hit rarely writes.
const AGE_STEP: i64 = 3600;
/// When the file is too large, this share of it goes.
const EVICTED: f64 = 0.25;

/// One question and its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub shape: u64,
    pub key: Key,
    pub question: Vec<u8>,
    pub verdict: Verdict,
    pub answer: Vec<u8>,
    /// How long solving took.
    pub cost_us: u32,
    /// When it was last of use, in seconds since 1970. Set by the file.
    pub used: i64,
}

impl Row {
    /// Should the file be told that it was of use?
    pub fn is_stale(&self) -> bool {
        self.used < now() - AGE_STEP
    }

    pub fn checksum(&self) -> i64 {
        let mut hash = Sha256::new();
        hash.update(self.shape.to_le_bytes());
        hash.update(self.key);
        hash.update((self.question.len() as u64).to_le_bytes());
        hash.update(&self.question);
        hash.update([self.verdict as u8]);
        hash.update(&self.answer);
        let digest = hash.finalize();
        i64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }
}

/// A change to be made.
pub enum Change {
    Insert(Row),
    /// The row was of use.
    Used(u64, Key),
    Remove(u64, Key),
}

/// What was found under a key.
pub enum Found {
    Row(Row),
    Nothing,
    /// A row whose checksum is wrong.
    Damaged,
}

/// What is in a file.
#[derive(Clone, Default, Debug)]
pub struct Contents {
    pub sat: u64,
    pub unsat: u64,
    pub bytes: u64,
    /// What solving everything took.
    pub cost_us: u64,
}

pub struct File {
    connection: Connection,
    path: PathBuf,
}

impl File {
    /// Opens the file, or makes it with its folder, and takes in what killed processes have left beside it.
    pub fn open(path: &Path) -> Result<File, String> {
        File::try_open(path).map_err(|error| format!("cannot use the store {}: {error}", path.display()))
    }

    fn try_open(path: &Path) -> Result<File, String> {
        if path.is_dir() {
            return Err("expected a file, found a directory".into());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        // The path is one of the file system, whatever it looks like, so no URIs.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(words)?;
        let mut file = File { connection, path: path.to_path_buf() };
        file.prepare()?;
        journal::take_orphans(path, |rows| {
            let rows: Vec<Change> = rows.into_iter().map(Change::Insert).collect();
            file.write(&rows).map_err(words)
        })?;
        file.connection.busy_timeout(READ_WAIT).map_err(words)?;
        Ok(file)
    }

    fn prepare(&mut self) -> Result<(), String> {
        // Making the tables can mean waiting for another process that does.
        self.connection.busy_timeout(WRITE_WAIT).map_err(words)?;
        if !self.is_ready()? {
            self.connection.pragma_update(None, "auto_vacuum", "incremental").map_err(words)?;
            self.create()?;
        }
        // Where there can be no write-ahead log SQLite keeps another journal, which is as safe.
        self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).map_err(words)?;
        self.connection.pragma_update(None, "synchronous", "normal").map_err(words)?;
        if self.connection.is_readonly("main").map_err(words)? {
            return Err("it is read-only".into());
        }
        Ok(())
    }

    /// Has it our tables? An error if it is a file of something else.
    fn is_ready(&self) -> Result<bool, String> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (application, format) =
            (number("application_id").map_err(words)?, number("user_version").map_err(words)?);
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(words)?;
        if application == APPLICATION && format > FORMAT {
            return Err(format!(
                "it was written by a newer version of Partita (format {format}, known are formats up to {FORMAT})"
            ));
        }
        if application != APPLICATION && (tables > 0 || application != 0) {
            return Err("it is a database of something else".into());
        }
        Ok(application == APPLICATION && format == FORMAT && tables > 0)
    }

    /// Makes the tables, unless another process just has.
    fn create(&mut self) -> Result<(), String> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(words)?;
        let format: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(words)?;
        if format != FORMAT {
            let text = format!(
                "DROP TABLE IF EXISTS answer;
                 CREATE TABLE answer (
                     shape INTEGER NOT NULL, key BLOB NOT NULL, verdict INTEGER NOT NULL,
                     cost_us INTEGER NOT NULL, used INTEGER NOT NULL, checksum INTEGER NOT NULL,
                     answer BLOB NOT NULL, question BLOB NOT NULL);
                 CREATE INDEX answer_by_key ON answer (shape, key, cost_us);
                 PRAGMA application_id = {APPLICATION};
                 PRAGMA user_version = {FORMAT};"
            );
            transaction.execute_batch(&text).map_err(words)?;
        }
        transaction.commit().map_err(words)
    }

    /// Every shape there is, with what solving a question of it took at most. Reads only the index.
    pub fn shapes(&self) -> Result<Vec<(u64, u32)>, String> {
        let text = "SELECT shape, max(cost_us) FROM answer INDEXED BY answer_by_key GROUP BY shape";
        let mut statement = self.connection.prepare(text).map_err(words)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)));
        rows.and_then(|rows| rows.collect()).map_err(words)
    }

    pub fn find(&self, shape: u64, key: &Key) -> Result<Found, String> {
        let text = "SELECT verdict, cost_us, checksum, answer, question, used FROM answer WHERE shape = ? AND key = ?";
        let found = self.connection.prepare_cached(text).and_then(|mut statement| {
            statement.query_row(params![shape as i64, key], |row| Ok(row_of(shape, *key, row))).optional()
        });
        match found {
            Ok(Some(Some(row))) => Ok(Found::Row(row)),
            Ok(Some(None)) => Ok(Found::Damaged),
            Ok(None) => Ok(Found::Nothing),
            // Another process holds the file for longer than is worth waiting.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(Found::Nothing),
            Err(error) => Err(self.trouble("read", error)),
        }
    }

    /// Makes changes, all or none, and keeps the file below `limit` bytes.
    pub fn apply(&mut self, changes: &[Change], limit: u64) -> Result<(), String> {
        let result = self.write(changes).and_then(|()| self.shrink(limit));
        result.map_err(|error| self.trouble("write", error))
    }

    fn write(&mut self, changes: &[Change]) -> rusqlite::Result<()> {
        self.connection.busy_timeout(WRITE_WAIT)?;
        let now = now();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for change in changes {
            match change {
                Change::Insert(row) => {
                    // A row that is there stays: what was asked of it has been compared with it.
                    let text =
                        "INSERT INTO answer (shape, key, verdict, cost_us, used, checksum, answer, question)
                                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
                                WHERE NOT EXISTS (SELECT 1 FROM answer WHERE shape = ?1 AND key = ?2)";
                    transaction.prepare_cached(text)?.execute(params![
                        row.shape as i64,
                        row.key,
                        row.verdict as u8,
                        row.cost_us,
                        now,
                        row.checksum(),
                        row.answer,
                        row.question
                    ])?;
                }
                Change::Used(shape, key) => {
                    let text = "UPDATE answer SET used = ?1 WHERE shape = ?2 AND key = ?3";
                    let params = params![now, *shape as i64, key];
                    transaction.prepare_cached(text)?.execute(params)?;
                }
                Change::Remove(shape, key) => {
                    let text = "DELETE FROM answer WHERE shape = ? AND key = ?";
                    transaction.prepare_cached(text)?.execute(params![*shape as i64, key])?;
                }
            }
        }
        transaction.commit()
    }

    /// Bytes in use, without free pages.
    fn bytes(&self) -> rusqlite::Result<u64> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = number("page_count")? - number("freelist_count")?;
        Ok(pages as u64 * number("page_size")? as u64)
    }

    /// Drops the rows that were of no use for longest, if the file is too large.
    fn shrink(&mut self, limit: u64) -> rusqlite::Result<()> {
        while self.bytes()? > limit {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let rows: i64 = transaction.query_row("SELECT count(*) FROM answer", [], |row| row.get(0))?;
            let text =
                "DELETE FROM answer WHERE rowid IN (SELECT rowid FROM answer ORDER BY used, cost_us LIMIT ?)";
            let gone = transaction.execute(text, [(rows as f64 * EVICTED).ceil() as i64])?;
            transaction.commit()?;
            self.connection.execute_batch("PRAGMA incremental_vacuum")?;
            if gone == 0 {
                break;
            }
        }
        Ok(())
    }

    pub fn contents(&self) -> Result<Contents, String> {
        let text = "SELECT verdict, count(*), sum(cost_us) FROM answer GROUP BY verdict";
        let read = || -> rusqlite::Result<Contents> {
            let mut contents = Contents { bytes: self.bytes()?, ..Contents::default() };
            let mut statement = self.connection.prepare(text)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let count = row.get::<_, i64>(1)? as u64;
                contents.cost_us += row.get::<_, i64>(2)? as u64;
                match row.get::<_, i64>(0)? {
                    1 => contents.sat += count,
                    _ => contents.unsat += count,
                }
            }
            Ok(contents)
        };
        read().map_err(|error| self.trouble("read", error))
    }

    /// Calls `visit` with every row, `None` for a damaged one, until it says false.
    pub fn each(&self, mut visit: impl FnMut(Option<Row>) -> bool) -> Result<(), String> {
        let text = "SELECT verdict, cost_us, checksum, answer, question, used, shape, key FROM answer";
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(text)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let key = row.get_ref(7)?.as_blob().ok().and_then(|key| key.try_into().ok());
                let whole = match (row.get_ref(6)?, key) {
                    (ValueRef::Integer(shape), Some(key)) => row_of(shape as u64, key, row),
                    _ => None,
                };
                if !visit(whole) {
                    break;
                }
            }
            Ok(())
        };
        read().map_err(|error| self.trouble("read", error))
    }

    /// Removes every row; gives how many there were.
    pub fn clear(&mut self) -> Result<u64, String> {
        let clear = || -> rusqlite::Result<u64> {
            self.connection.busy_timeout(WRITE_WAIT)?;
            let gone = self.connection.execute("DELETE FROM answer", [])?;
            self.connection.execute_batch("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")?;
            Ok(gone as u64)
        };
        clear().map_err(|error| self.trouble("clear", error))
    }

    fn trouble(&self, what: &str, error: rusqlite::Error) -> String {
        format!("cannot {what} the store {}: {}", self.path.display(), words(error))
    }
}

/// A row as it is in the file, if its checksum is right.
fn row_of(shape: u64, key: Key, row: &rusqlite::Row<'_>) -> Option<Row> {
    let verdict = Verdict::of(row.get(0).ok()?)?;
    let (cost_us, answer, question) = (row.get(1).ok()?, row.get(3).ok()?, row.get(4).ok()?);
    let whole = Row { shape, key, question, verdict, answer, cost_us, used: row.get(5).ok()? };
    (row.get::<_, i64>(2).ok()? == whole.checksum()).then_some(whole)
}

/// SQLite's words, and what to do where that is known.
fn words(error: rusqlite::Error) -> String {
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ": it is no store, or damaged",
        Some(ErrorCode::DatabaseCorrupt) => ": it is damaged; remove it, or choose another with --store",
        _ => "",
    };
    format!("{error}{advice}")
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
}
