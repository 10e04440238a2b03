//! A file in use: what was in it when it was opened, and a writer for what is to come.
//!
//! Only questions that were there at the start are looked up. So a run that begins with an empty file goes exactly as
//! one without, and what a run finds does not depend on how fast another thread or process writes.

use super::file::{Change, File};
use super::writer::Writer;
use rustc_hash::FxHashMap;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

pub struct Shelf {
    file: ManuallyDrop<File>,
    writer: ManuallyDrop<Option<Writer>>,
    /// Shapes of questions, and what solving one took at most, in microseconds.
    known: FxHashMap<u64, u32>,
    path: PathBuf,
    limit: u64,
    process: u32,
}

impl Shelf {
    /// `limit`: the size in bytes that the file may grow to.
    pub fn open(path: PathBuf, limit: u64) -> Result<Shelf, String> {
        let file = File::open(&path)?;
        let known = file.shapes()?.into_iter().collect();
        let (file, writer) = (ManuallyDrop::new(file), ManuallyDrop::new(None));
        Ok(Shelf { file, writer, known, path, limit, process: std::process::id() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What solving a question of this shape took, in microseconds, if there is one.
    pub fn cost_us(&self, shape: u64) -> Option<u32> {
        self.known.get(&shape).copied()
    }

    /// The file, unless this process was forked off the one that opened it: neither SQLite nor the thread comes along.
    pub fn file(&self) -> Option<&File> {
        (self.process == std::process::id()).then_some(&*self.file)
    }

    /// Hands a change to the writer. False: it takes no more.
    pub fn put(&mut self, change: Change) -> bool {
        if self.file().is_none() {
            return false;
        }
        let writer = self.writer.get_or_insert_with(|| Writer::new(&self.path, self.limit));
        writer.put(change)
    }

    /// Waits until everything handed over is written.
    pub fn flush(&self) {
        if let (Some(_), Some(writer)) = (self.file(), &*self.writer) {
            writer.flush();
        }
    }

    /// Why nothing is written any more, once.
    pub fn take_trouble(&self) -> Option<String> {
        self.writer.as_ref().and_then(Writer::take_trouble)
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        if self.file().is_some() {
            // SAFETY: neither is used again.
            unsafe {
                ManuallyDrop::drop(&mut self.writer);
                ManuallyDrop::drop(&mut self.file);
            }
        }
    }
}
