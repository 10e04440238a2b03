//! The file: one SQLite database that several processes share. The only file that knows SQLite.
//!
//! Rows are written in transactions with a write-ahead log, so a process that is killed leaves whole rows. Each row has
//! a checksum over its content. A file that is not a store, damaged, or of a newer format is not changed; one of an older
//! format is emptied. Errors are messages for the user; the run continues without the store.

use super::answer::Verdict;
use super::backend::{Change, Found};
use super::canonical::Key;
use super::journal;
use super::row::{Row, now};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of tables, canonical bytes and shapes.
const FORMAT: i64 = 2;
/// SQLite's `application_id` of a store: "Ptta".
const APPLICATION_ID: i64 = 0x5074_7461;
/// How long a reader waits for another process.
const READ_WAIT: Duration = Duration::from_millis(50);
/// How long a writer waits for another process.
const WRITE_WAIT: Duration = Duration::from_secs(5);
/// Share of the rows removed when the file is too large.
const EVICTED_SHARE: f64 = 0.25;

/// Summary of a file.
#[derive(Clone, Default, Debug)]
pub struct Contents {
    pub sat: u64,
    pub unsat: u64,
    pub bytes: u64,
    /// Solving time of all answers.
    pub cost_us: u64,
}

pub struct File {
    connection: Connection,
    path: PathBuf,
}

impl File {
    /// Opens or creates the file, and inserts the answers in journals of processes that were killed.
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
        // Without SQLITE_OPEN_URI: a path that looks like a URI is still a path.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(describe)?;
        let mut file = File { connection, path: path.to_path_buf() };
        file.prepare()?;
        journal::insert_orphans(path, |rows| {
            let rows: Vec<Change> = rows.into_iter().map(Change::Insert).collect();
            file.write(&rows).map_err(describe)
        })?;
        file.connection.busy_timeout(READ_WAIT).map_err(describe)?;
        Ok(file)
    }

    fn prepare(&mut self) -> Result<(), String> {
        // Creating the tables may wait for another process that does the same.
        self.connection.busy_timeout(WRITE_WAIT).map_err(describe)?;
        if !self.is_ready()? {
            self.connection.pragma_update(None, "auto_vacuum", "incremental").map_err(describe)?;
            self.create()?;
        }
        // If a write-ahead log is impossible, SQLite uses another journal, which is as safe.
        self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).map_err(describe)?;
        self.connection.pragma_update(None, "synchronous", "normal").map_err(describe)?;
        if self.connection.is_readonly("main").map_err(describe)? {
            return Err("it is read-only".into());
        }
        Ok(())
    }

    /// Whether the file has our tables. Errors: it is not a store, or of a newer format.
    fn is_ready(&self) -> Result<bool, String> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let (application, format) =
            (number("application_id").map_err(describe)?, number("user_version").map_err(describe)?);
        let tables: i64 = self
            .connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(describe)?;
        if application == APPLICATION_ID && format > FORMAT {
            return Err(format!(
                "it was written by a newer version of Partita (format {format}, known are formats up to {FORMAT})"
            ));
        }
        if application != APPLICATION_ID && (tables > 0 || application != 0) {
            return Err("it is a database of something else".into());
        }
        Ok(application == APPLICATION_ID && format == FORMAT && tables > 0)
    }

    /// Creates the tables, unless another process just has.
    fn create(&mut self) -> Result<(), String> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Exclusive).map_err(describe)?;
        let format: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(describe)?;
        if format != FORMAT {
            let text = format!(
                "DROP TABLE IF EXISTS answer;
                 CREATE TABLE answer (
                     shape INTEGER NOT NULL, key BLOB NOT NULL, verdict INTEGER NOT NULL,
                     cost_us INTEGER NOT NULL, used INTEGER NOT NULL, checksum INTEGER NOT NULL,
                     answer BLOB NOT NULL, query BLOB NOT NULL);
                 CREATE INDEX answer_by_key ON answer (shape, key, cost_us);
                 PRAGMA application_id = {APPLICATION_ID};
                 PRAGMA user_version = {FORMAT};"
            );
            transaction.execute_batch(&text).map_err(describe)?;
        }
        transaction.commit().map_err(describe)
    }

    /// All shapes, each with the longest solving time of its queries. Reads only the index.
    pub fn shapes(&self) -> Result<Vec<(u64, u32)>, String> {
        let text = "SELECT shape, max(cost_us) FROM answer INDEXED BY answer_by_key GROUP BY shape";
        let mut statement = self.connection.prepare(text).map_err(describe)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)));
        rows.and_then(|rows| rows.collect()).map_err(describe)
    }

    pub fn find(&self, shape: u64, key: &Key) -> Result<Found, String> {
        let text =
            "SELECT verdict, cost_us, checksum, answer, query, used FROM answer WHERE shape = ? AND key = ?";
        let found = self.connection.prepare_cached(text).and_then(|mut statement| {
            statement.query_row(params![shape as i64, key], |row| Ok(row_of(shape, *key, row))).optional()
        });
        match found {
            Ok(Some(Some(row))) => Ok(Found::Row(row)),
            Ok(Some(None)) => Ok(Found::Damaged),
            Ok(None) => Ok(Found::Nothing),
            // Another process has locked the file for longer than is worth waiting.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(Found::Nothing),
            Err(error) => Err(self.message("read", error)),
        }
    }

    /// Applies all changes or none, and keeps the file below `limit` bytes.
    pub fn apply(&mut self, changes: &[Change], limit: u64) -> Result<(), String> {
        let result = self.write(changes).and_then(|()| self.shrink(limit));
        result.map_err(|error| self.message("write", error))
    }

    fn write(&mut self, changes: &[Change]) -> rusqlite::Result<()> {
        self.connection.busy_timeout(WRITE_WAIT)?;
        let now = now();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for change in changes {
            match change {
                Change::Insert(row) => {
                    // An existing row stays.
                    let text =
                        "INSERT INTO answer (shape, key, verdict, cost_us, used, checksum, answer, query)
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
                        row.query
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

    /// Size of the pages in use.
    fn bytes(&self) -> rusqlite::Result<u64> {
        let number = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let pages = number("page_count")? - number("freelist_count")?;
        Ok(pages as u64 * number("page_size")? as u64)
    }

    /// Removes the least recently used rows if the file is too large.
    fn shrink(&mut self, limit: u64) -> rusqlite::Result<()> {
        while self.bytes()? > limit {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let rows: i64 = transaction.query_row("SELECT count(*) FROM answer", [], |row| row.get(0))?;
            let text =
                "DELETE FROM answer WHERE rowid IN (SELECT rowid FROM answer ORDER BY used, cost_us LIMIT ?)";
            let gone = transaction.execute(text, [(rows as f64 * EVICTED_SHARE).ceil() as i64])?;
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
        read().map_err(|error| self.message("read", error))
    }

    /// Calls `visit` with every row, `None` for a damaged one, until it returns false.
    pub fn each(&self, mut visit: impl FnMut(Option<Row>) -> bool) -> Result<(), String> {
        let text = "SELECT verdict, cost_us, checksum, answer, query, used, shape, key FROM answer";
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
        read().map_err(|error| self.message("read", error))
    }

    /// Removes every row and returns their number.
    pub fn clear(&mut self) -> Result<u64, String> {
        let clear = || -> rusqlite::Result<u64> {
            self.connection.busy_timeout(WRITE_WAIT)?;
            let gone = self.connection.execute("DELETE FROM answer", [])?;
            self.connection.execute_batch("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")?;
            Ok(gone as u64)
        };
        clear().map_err(|error| self.message("clear", error))
    }

    fn message(&self, action: &str, error: rusqlite::Error) -> String {
        format!("cannot {action} the store {}: {}", self.path.display(), describe(error))
    }
}

/// A row of the file; `None` if its checksum is wrong.
fn row_of(shape: u64, key: Key, row: &rusqlite::Row<'_>) -> Option<Row> {
    let verdict = Verdict::of(row.get(0).ok()?)?;
    let (cost_us, answer, query) = (row.get(1).ok()?, row.get(3).ok()?, row.get(4).ok()?);
    let whole = Row { shape, key, query, verdict, answer, cost_us, used: row.get(5).ok()? };
    (row.get::<_, i64>(2).ok()? == whole.checksum()).then_some(whole)
}

/// SQLite's message, with advice for some errors.
fn describe(error: rusqlite::Error) -> String {
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => ": it is no store, or damaged",
        Some(ErrorCode::DatabaseCorrupt) => ": it is damaged; remove it, or choose another with --store",
        _ => "",
    };
    format!("{error}{advice}")
}
