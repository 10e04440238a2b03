//! An open store: the shapes that the file had when it was opened, and a writer for new answers.
//!
//! Only queries that were in the file at that time are looked up. So a run that begins with an empty file behaves as if
//! there were no store, and hits do not depend on how fast another thread or process writes.

use super::file::{Change, File};
use super::writer::Writer;
use rustc_hash::FxHashMap;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

pub struct OpenStore {
    file: ManuallyDrop<File>,
    writer: ManuallyDrop<Option<Writer>>,
    /// Shapes in the file, each with the longest solving time in microseconds.
    shapes: FxHashMap<u64, u32>,
    path: PathBuf,
    limit: u64,
    /// Id of the process that opened the file.
    process: u32,
}

impl OpenStore {
    /// `limit`: maximum size of the file in bytes.
    pub fn open(path: PathBuf, limit: u64) -> Result<OpenStore, String> {
        let file = File::open(&path)?;
        let shapes = file.shapes()?.into_iter().collect();
        let (file, writer) = (ManuallyDrop::new(file), ManuallyDrop::new(None));
        Ok(OpenStore { file, writer, shapes, path, limit, process: std::process::id() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// The longest solving time of a query of this shape in microseconds, if there is one.
    pub fn cost_us(&self, shape: u64) -> Option<u32> {
        self.shapes.get(&shape).copied()
    }

    /// The file; `None` in a process forked from the one that opened it, where neither SQLite nor the thread works.
    pub fn file(&self) -> Option<&File> {
        (self.process == std::process::id()).then_some(&*self.file)
    }

    /// Hands a change to the writer. False if it accepts no more.
    pub fn put(&mut self, change: Change) -> bool {
        if self.file().is_none() {
            return false;
        }
        let writer = self.writer.get_or_insert_with(|| Writer::new(&self.path, self.limit));
        writer.put(change)
    }

    /// Waits until all changes handed over are written.
    pub fn flush(&self) {
        if let (Some(_), Some(writer)) = (self.file(), &*self.writer) {
            writer.flush();
        }
    }

    /// The error that ended writing; returned once.
    pub fn take_error(&self) -> Option<String> {
        self.writer.as_ref().and_then(Writer::take_error)
    }
}

impl Drop for OpenStore {
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
