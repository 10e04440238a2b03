//! Writes tests in a thread of its own, so that exploring does not wait for the disk.
//!
//! The first `SINGLE_FILES` tests are files; later ones, and those of most states that are open when the run stops, go into
//! one append-only `tests.pack`, each record with a length and a checksum. Every test's ending is a line of `endings`, or part of its record. A killed
//! run leaves only complete tests: a file gets its name when it is complete, after its ending was written,
//! and readers of the pack ignore a truncated record. `docs/formats.md` describes both.
use super::input_value::{Piece, SparseBytes};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Number of tests that are files of their own.
pub const SINGLE_FILES: u64 = 10_000;
const PACK_HEAD: &[u8; 8] = b"PARTPK01";
/// Largest number of tests waiting to be written.
const BACKLOG: usize = 4096;
/// Number of waiting tests that are written before a caller notices.
const SHORT_BACKLOG: u64 = 256;
/// Bytes of waiting tests above which exploring waits: a test may have megabytes.
const BACKLOG_BYTES: usize = 16 << 20;
/// Bytes of a test from which on it is the bytes that take time, and not the file.
const LARGE_TEST: usize = 1 << 16;
/// Time for files of tests once the run must end soon.
const TIME_FOR_FILES: Duration = Duration::from_millis(200);
/// Time between two looks at whether the writer has caught up.
const WAIT: Duration = Duration::from_micros(200);

/// A test to be written.
pub struct QueuedTest {
    pub number: u64,
    /// Is it a file of its own?
    pub is_file: bool,
    pub ktest: SparseBytes,
    pub ending: String,
    /// Class of the bug, and the text of the `.err` file.
    pub error: Option<(&'static str, String)>,
}

/// Number of tests written, and the time it took.
#[derive(Debug, Default, Clone, Copy)]
pub struct Written {
    pub tests: u64,
    pub time: Duration,
}

/// Progress of the writer, for the thread that explores.
#[derive(Default)]
struct Progress {
    /// Bytes of the tests that wait to be written, or are.
    waiting: AtomicUsize,
    /// Bytes of the large tests that were written, and the time that this took.
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
    /// Number of tests that were written.
    written: AtomicU64,
    /// Number of tests that a killed process leaves on the disk.
    flushed: AtomicU64,
}

pub struct Writer {
    /// Number of tests given to the writer.
    queued: AtomicU64,
    sender: Option<SyncSender<QueuedTest>>,
    progress: Arc<Progress>,
    /// Time after which tests without a bug go into the pack.
    pack_after: Arc<OnceLock<Instant>>,
    thread: Option<JoinHandle<io::Result<Written>>>,
}

impl Writer {
    /// Starts a writer for an existing folder; `appends` to the tests of an earlier part of the run.
    pub fn new(folder: &Path, appends: bool) -> io::Result<Writer> {
        let folder = folder.to_path_buf();
        let endings = open(&folder.join("endings"), appends)?;
        let (sender, receiver) = sync_channel::<QueuedTest>(BACKLOG);
        let progress = Arc::new(Progress::default());
        let made = Arc::clone(&progress);
        let pack_after = Arc::new(OnceLock::new());
        let hurries = Arc::clone(&pack_after);
        let thread = std::thread::Builder::new().name("partita-writer".to_string()).spawn(move || {
            let mut tests =
                TestFolder { folder, appends, endings, pack: None, written: 0, progress: Arc::clone(&made) };
            let mut written = Written::default();
            while let Some(mut record) = tests.next(&receiver)? {
                let start = Instant::now();
                record.is_file &= record.error.is_some() || hurries.get().is_none_or(|after| start < *after);
                // Files have holes, the pack has a checksum of every byte.
                record.is_file |= record.ktest.has_holes();
                let bytes = record.ktest.bytes.len();
                let result = tests.write(&record);
                made.waiting.fetch_sub(bytes, Ordering::Relaxed);
                result?;
                let time = start.elapsed();
                if bytes >= LARGE_TEST {
                    made.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                    made.nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
                }
                made.written.fetch_add(1, Ordering::Relaxed);
                written.tests += 1;
                written.time += time;
            }
            Ok(written)
        })?;
        Ok(Writer {
            queued: AtomicU64::new(0),
            sender: Some(sender),
            progress,
            pack_after,
            thread: Some(thread),
        })
    }

    /// Queues a test. Returns false if the writer has failed; `finish` returns the error.
    pub fn write(&self, record: QueuedTest) -> bool {
        let runs = || self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        while self.progress.waiting.load(Ordering::Relaxed) > BACKLOG_BYTES && runs() {
            std::thread::sleep(WAIT);
        }
        self.progress.waiting.fetch_add(record.ktest.bytes.len(), Ordering::Relaxed);
        self.queued.fetch_add(1, Ordering::Relaxed);
        self.sender.as_ref().is_some_and(|sender| sender.send(record).is_ok())
    }

    /// Is waiting for `flush` short?
    pub fn is_flushed_soon(&self) -> bool {
        self.queued.load(Ordering::Relaxed) - self.progress.written.load(Ordering::Relaxed) <= SHORT_BACKLOG
    }

    /// Waits until a killed process would leave all tests on the disk.
    pub fn flush(&self) {
        let runs = || self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        let queued = self.queued.load(Ordering::Relaxed);
        while self.progress.flushed.load(Ordering::Acquire) < queued && runs() {
            std::thread::sleep(WAIT);
        }
    }

    /// Time per byte of large tests so far, in seconds; 0 if there were none.
    pub fn time_per_byte(&self) -> f64 {
        let (bytes, time) = (&self.progress.bytes, &self.progress.nanoseconds);
        let (bytes, time) = (bytes.load(Ordering::Relaxed), time.load(Ordering::Relaxed));
        1e-9 * time as f64 / bytes.max(1) as f64
    }

    /// Estimate of the time until all tests that wait are written.
    pub fn time_left(&self) -> Duration {
        let waiting = self.progress.waiting.load(Ordering::Relaxed);
        Duration::from_secs_f64(waiting as f64 * self.time_per_byte())
    }

    /// The run must end soon: tests that are not written within `TIME_FOR_FILES` go into the pack. On a busy disk a file takes
    /// milliseconds.
    pub fn hurry(&self) {
        // The first call counts.
        self.pack_after.get_or_init(|| Instant::now() + TIME_FOR_FILES);
    }

    /// Waits until everything is on disk.
    pub fn finish(&mut self) -> io::Result<Written> {
        self.sender = None;
        match self.thread.take() {
            Some(thread) => thread.join().map_err(|_| io::Error::other("the writer of tests panicked"))?,
            None => Ok(Written::default()),
        }
    }
}

struct TestFolder {
    folder: PathBuf,
    appends: bool,
    endings: File,
    pack: Option<BufWriter<File>>,
    written: u64,
    progress: Arc<Progress>,
}

/// Opens a file for writing: a new one, or the end of one that may exist.
fn open(path: &Path, appends: bool) -> io::Result<File> {
    if appends { File::options().append(true).create(true).open(path) } else { File::create(path) }
}

impl TestFolder {
    /// Next test, or `None` at the end. Buffered data is flushed before a wait.
    fn next(&mut self, receiver: &Receiver<QueuedTest>) -> io::Result<Option<QueuedTest>> {
        match receiver.try_recv() {
            Ok(record) => return Ok(Some(record)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        if let Some(pack) = &mut self.pack {
            pack.flush()?;
        }
        self.progress.flushed.store(self.written, Ordering::Release);
        Ok(receiver.recv().ok())
    }

    /// Writes a file that is either complete or absent.
    fn file(&self, name: &str, contents: &SparseBytes) -> io::Result<()> {
        let part = self.folder.join("test.part");
        let written = if contents.has_holes() {
            File::create(&part).and_then(|mut file| write_sparse(&mut file, contents))
        } else {
            std::fs::write(&part, &contents.bytes)
        };
        let written = written.and_then(|()| std::fs::rename(&part, self.folder.join(name)));
        if written.is_err() {
            // The disk may be full. The error that is reported is the first one.
            let _ = std::fs::remove_file(&part);
        }
        written
    }

    fn write(&mut self, record: &QueuedTest) -> io::Result<()> {
        self.written += 1;
        let number = record.number;
        if let Some((class, text)) = &record.error {
            self.file(&format!("test{number:06}.{class}.err"), &text.clone().into_bytes().into())?;
        }
        if record.is_file {
            self.endings.write_all(format!("{number:06} {}\n", record.ending).as_bytes())?;
            return self.file(&format!("test{number:06}.ktest"), &record.ktest);
        }
        let pack = match &mut self.pack {
            Some(pack) => pack,
            None => {
                let file = open(&self.folder.join("tests.pack"), self.appends)?;
                let is_new = file.metadata()?.len() == 0;
                let mut file = BufWriter::with_capacity(1 << 18, file);
                if is_new {
                    file.write_all(PACK_HEAD)?;
                }
                self.pack.insert(file)
            }
        };
        write_record(pack, record)
    }
}

/// Writes a new file. Zeros that are left out become holes, which take no space on the disk.
fn write_sparse(file: &mut File, contents: &SparseBytes) -> io::Result<()> {
    for piece in contents.pieces() {
        match piece {
            Piece::Bytes(bytes) => file.write_all(bytes)?,
            Piece::Repeated(0, count) => {
                let end = file.stream_position()? + count;
                file.set_len(end)?;
                file.seek(SeekFrom::Start(end))?;
            }
            Piece::Repeated(byte, mut count) => {
                let block = [byte; 1 << 16];
                while count > 0 {
                    let next = count.min(block.len() as u64);
                    file.write_all(&block[..next as usize])?;
                    count -= next;
                }
            }
        }
    }
    Ok(())
}

/// Writes a record of the pack: length of the rest, test number, ending with its length, the test, and the CRC-32 of
/// number to test.
fn write_record(pack: &mut impl Write, record: &QueuedTest) -> io::Result<()> {
    let (ending, test) = (record.ending.as_bytes(), &record.ktest.bytes);
    let mut head = [0; 14];
    head[..4].copy_from_slice(&((10 + ending.len() + test.len() + 4) as u32).to_be_bytes());
    head[4..12].copy_from_slice(&record.number.to_be_bytes());
    head[12..].copy_from_slice(&(ending.len() as u16).to_be_bytes());
    let sum = [&head[4..], ending, test].into_iter().fold(u32::MAX, crc32);
    for part in [&head, ending, test, &(!sum).to_be_bytes()] {
        pack.write_all(part)?;
    }
    Ok(())
}

/// Bytes of the checksum's inner loop.
const STRIDE: usize = 8;

/// `CRC_TABLES[k][b]`: the checksum's change by byte `b` that `k` bytes follow.
const CRC_TABLES: [[u32; 256]; STRIDE] = {
    let mut tables = [[0; 256]; STRIDE];
    let mut i = 0;
    while i < 256 {
        let mut c = i as u32;
        let mut k = 0;
        while k < 8 {
            c = if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 };
            k += 1;
        }
        tables[0][i] = c;
        i += 1;
    }
    let mut k = 1;
    while k < STRIDE {
        let mut i = 0;
        while i < 256 {
            let before = tables[k - 1][i];
            tables[k][i] = tables[0][(before & 0xff) as usize] ^ (before >> 8);
            i += 1;
        }
        k += 1;
    }
    tables
};

/// CRC-32 of zlib, PNG and Ethernet, eight bytes at a time, from the value for the bytes before. The first value has all bits
/// set, and all bits of the last one are inverted.
fn crc32(before: u32, bytes: &[u8]) -> u32 {
    let mut words = bytes.chunks_exact(STRIDE);
    let mut c = before;
    for word in &mut words {
        let mixed = u64::from_le_bytes(word.try_into().expect("eight bytes")) ^ u64::from(c);
        let part = |(k, b): (usize, &u8)| CRC_TABLES[STRIDE - 1 - k][usize::from(*b)];
        c = mixed.to_le_bytes().iter().enumerate().map(part).fold(0, |c, part| c ^ part);
    }
    let byte = |c: u32, b: &u8| CRC_TABLES[0][((c ^ u32::from(*b)) & 0xff) as usize] ^ (c >> 8);
    words.remainder().iter().fold(c, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_agrees_with_zlib() {
        assert_eq!(!crc32(u32::MAX, b"123456789"), 0xcbf4_3926);
        let text = b"The quick brown fox jumps over the lazy dog";
        for cut in 0..text.len() {
            assert_eq!(!crc32(crc32(u32::MAX, &text[..cut]), &text[cut..]), 0x414f_a339);
        }
    }
}
