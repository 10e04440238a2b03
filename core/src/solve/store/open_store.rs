//! An open store: the shapes that the file had when it was opened, and a writer for new answers.
//!
//! Only queries that were in the file at that time are looked up. So a run that begins with an empty file behaves as if
//! there were no store, and hits do not depend on how fast another thread or process writes.

use super::backend::{Backend, Change, Found, Put};
use super::canonical::Key;
use super::file::File;
use super::writer::Writer;
use rustc_hash::FxHashMap;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

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

    /// The file; `None` in a process forked from the one that opened it, where neither SQLite nor the thread works.
    fn file(&self) -> Option<&File> {
        (self.process == std::process::id()).then_some(&*self.file)
    }
}

impl Backend for OpenStore {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    fn cost_us(&self, shape: u64) -> Option<u32> {
        self.shapes.get(&shape).copied()
    }

    fn find(&mut self, shape: u64, key: &Key) -> Result<Found, String> {
        self.file().map_or(Ok(Found::Nothing), |file| file.find(shape, key))
    }

    fn put(&mut self, change: Change) -> Put {
        if self.file().is_none() {
            return Put::Refused;
        }
        let writer = self.writer.get_or_insert_with(|| Writer::new(&self.path, self.limit));
        writer.put(change)
    }

    fn flush(&self) {
        if let (Some(_), Some(writer)) = (self.file(), &*self.writer) {
            writer.flush();
        }
    }

    fn take_error(&self) -> Option<String> {
        let error = self.writer.as_ref().and_then(Writer::take_error)?;
        Some(format!("{error}; going on without writing it"))
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
