//! A thread that writes changes to the file, so that solving never waits for the disk. Changes that arrive during a write
//! are written together afterwards. Until then an answer is in the journal: a process that is killed loses at most the
//! answer it is about to append.
//!
//! The thread opens the file itself. If that or a write fails, the error is reported once and no more changes are
//! accepted. Pending changes are written before the writer is dropped.

use super::backend::{Change, Put};
use super::file::File;
use super::journal::Journal;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Limit on pending changes; more are dropped.
const MAX_PENDING: usize = 1024;
/// A journal above this size is emptied when no change is pending.
const CLEAR_ABOVE_BYTES: u64 = 64 << 10;
/// A journal above this size accepts no more answers.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

enum Message {
    Change(Change),
    /// Answered when all changes before it are written.
    Flush(SyncSender<()>),
}

/// The error that ended writing.
#[derive(Default)]
enum WriteError {
    #[default]
    None,
    Pending(String),
    Reported,
}

/// State shared with the thread.
#[derive(Default)]
struct State {
    /// Number of changes written.
    written: AtomicU64,
    error: Mutex<WriteError>,
}

impl State {
    /// Keeps the first error: later ones follow from it.
    fn set_error(&self, message: String) {
        let mut error = self.error.lock().expect("no panic while locked");
        if let WriteError::None = *error {
            *error = WriteError::Pending(message);
        }
    }
}

pub struct Writer {
    path: PathBuf,
    /// Created with the first answer; `Some(None)` after an error.
    journal: Option<Option<Journal>>,
    sender: Option<SyncSender<Message>>,
    /// Number of changes handed to the thread.
    sent: u64,
    thread: Option<JoinHandle<()>>,
    state: Arc<State>,
}

impl Writer {
    pub fn new(path: &Path, limit: u64) -> Writer {
        let (sender, receiver) = sync_channel(MAX_PENDING);
        let state = Arc::new(State::default());
        let (for_thread, shared) = (path.to_path_buf(), state.clone());
        let run = move || match File::open(&for_thread) {
            Ok(mut file) => run_thread(&mut file, &receiver, limit, &shared),
            Err(message) => shared.set_error(message),
        };
        let thread = std::thread::Builder::new().name("partita-store".to_string()).spawn(run);
        if let Err(error) = &thread {
            state.set_error(format!("cannot write the store: no thread for it: {error}"));
        }
        let path = path.to_path_buf();
        Writer { path, journal: None, sender: Some(sender), sent: 0, thread: thread.ok(), state }
    }

    /// Hands a change over; an answer that is accepted is safe when this returns.
    pub fn put(&mut self, change: Change) -> Put {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return Put::Refused;
        }
        // Other changes (`Used`, `Remove`) may be lost: the next run makes them again.
        if let Change::Insert(row) = &change {
            let store = &self.path;
            let journal =
                self.journal.get_or_insert_with(|| ok_or_report(&self.state, store, Journal::create(store)));
            let all_written = self.state.written.load(Ordering::Acquire) == self.sent;
            let appended = match journal {
                None => return Put::Refused,
                Some(journal) if journal.bytes() > CLEAR_ABOVE_BYTES && all_written => {
                    journal.clear().and_then(|()| journal.append(row))
                }
                Some(journal) if journal.bytes() > MAX_JOURNAL_BYTES => return Put::Full,
                Some(journal) => journal.append(row),
            };
            if ok_or_report(&self.state, store, appended).is_none() {
                *journal = None;
                return Put::Refused;
            }
        }
        let sent = self.sender.as_ref().map(|sender| sender.try_send(Message::Change(change)));
        match sent {
            Some(Ok(())) => {
                self.sent += 1;
                Put::Accepted
            }
            Some(Err(TrySendError::Full(_))) => Put::Full,
            Some(Err(TrySendError::Disconnected(_))) | None => Put::Refused,
        }
    }

    /// Waits until all changes handed over are written.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(Message::Flush(done)).is_ok());
        if sent {
            // An error means that the thread has ended; `take_error` has the reason.
            let _ = wait.recv();
        }
    }

    /// The error that ended writing; returned once.
    pub fn take_error(&self) -> Option<String> {
        let mut error = self.state.error.lock().expect("no panic while locked");
        match std::mem::take(&mut *error) {
            WriteError::None => None,
            WriteError::Pending(message) => {
                *error = WriteError::Reported;
                Some(message)
            }
            WriteError::Reported => {
                *error = WriteError::Reported;
                None
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed already.
            let _ = thread.join();
        }
        // Answers that could not be written stay for the next process, which may have more space.
        let all_written = self.state.written.load(Ordering::Acquire) == self.sent;
        if let Some(journal) = self.journal.take().flatten().filter(|_| all_written) {
            journal.remove();
        }
    }
}

/// The result; an error is kept for `take_error`.
fn ok_or_report<T>(state: &State, store: &Path, result: io::Result<T>) -> Option<T> {
    result
        .map_err(|error| state.set_error(format!("cannot write the store {}: {error}", store.display())))
        .ok()
}

/// Writes changes until the sender is dropped or an error occurs.
fn run_thread(file: &mut File, receiver: &Receiver<Message>, limit: u64, state: &State) {
    while let Ok(first) = receiver.recv() {
        let (mut changes, mut waiting) = (Vec::new(), Vec::new());
        // Including the messages that arrived during the last write.
        for message in std::iter::once(first).chain(receiver.try_iter()).take(MAX_PENDING) {
            match message {
                Message::Change(change) => changes.push(change),
                Message::Flush(done) => waiting.push(done),
            }
        }
        if !changes.is_empty() {
            if let Err(message) = file.apply(&changes, limit) {
                // Before `waiting` is dropped: callers of `flush` ask for the error right afterwards.
                return state.set_error(message);
            }
            state.written.fetch_add(changes.len() as u64, Ordering::Release);
        }
        for done in waiting {
            // The caller may have been dropped.
            let _ = done.send(());
        }
    }
}
