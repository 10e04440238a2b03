//! Changes to the file, made by a thread of their own: solving never waits for the disk. What is handed over is written as
//! soon as what came before it is, together with all that has come meanwhile. Until then an answer is in the journal: a
//! process that is killed loses the one that it was about to append, and no other.
//!
//! The thread opens the file for itself. When that or writing fails it says so once and takes no more; what waits is
//! written before the writer goes.

use super::file::{Change, File};
use super::journal::Journal;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Changes that may wait; more are dropped.
const BACKLOG: usize = 1024;
/// A journal of this size is emptied when nothing waits, and takes no more at this size.
const CLEARED_BYTES: u64 = 64 << 10;
const MOST_BYTES: u64 = 64 << 20;

enum Message {
    Change(Change),
    /// To be told when everything before is written.
    Flush(SyncSender<()>),
}

/// Why nothing is written any more.
#[derive(Default)]
enum Trouble {
    #[default]
    None,
    Known(String),
    Told,
}

/// What the thread tells the others.
#[derive(Default)]
struct State {
    /// Changes in the file.
    written: AtomicU64,
    trouble: Mutex<Trouble>,
}

impl State {
    /// Only what goes wrong first is of interest: the rest follows from it.
    fn tell(&self, words: String) {
        let mut trouble = self.trouble.lock().expect("nobody panics with it");
        if let Trouble::None = *trouble {
            *trouble = Trouble::Known(words);
        }
    }
}

pub struct Writer {
    path: PathBuf,
    /// Made with the first answer; `None` for good if that is not possible.
    journal: Option<Option<Journal>>,
    sender: Option<SyncSender<Message>>,
    /// Changes handed to the thread.
    sent: u64,
    thread: Option<JoinHandle<()>>,
    state: Arc<State>,
}

impl Writer {
    pub fn new(path: &Path, limit: u64) -> Writer {
        let (sender, receiver) = sync_channel(BACKLOG);
        let state = Arc::new(State::default());
        let (for_thread, shared) = (path.to_path_buf(), state.clone());
        let run = move || match File::open(&for_thread) {
            Ok(mut file) => write(&mut file, &receiver, limit, &shared),
            Err(words) => shared.tell(words),
        };
        let thread = std::thread::Builder::new().name("partita-store".to_string()).spawn(run);
        if let Err(error) = &thread {
            state.tell(format!("cannot write the store: no thread for it: {error}"));
        }
        let path = path.to_path_buf();
        Writer { path, journal: None, sender: Some(sender), sent: 0, thread: thread.ok(), state }
    }

    /// Hands a change over; an answer is safe when this returns. False: too many are waiting, or nothing can be written.
    pub fn put(&mut self, change: Change) -> bool {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return false;
        }
        // Notes of use, and rows that are to go, may be lost: the next run finds the same.
        if let Change::Insert(row) = &change {
            let store = &self.path;
            let journal =
                self.journal.get_or_insert_with(|| note(&self.state, store, Journal::create(store)));
            let all_written = self.state.written.load(Ordering::Acquire) == self.sent;
            let safe = match journal {
                None => return false,
                Some(journal) if journal.bytes() > CLEARED_BYTES && all_written => {
                    journal.clear().and_then(|()| journal.append(row))
                }
                Some(journal) if journal.bytes() > MOST_BYTES => return false,
                Some(journal) => journal.append(row),
            };
            if note(&self.state, store, safe).is_none() {
                *journal = None;
                return false;
            }
        }
        let sent = self.sender.as_ref().map(|sender| sender.try_send(Message::Change(change)));
        match sent {
            Some(Ok(())) => {
                self.sent += 1;
                true
            }
            Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) | None => false,
        }
    }

    /// Waits until what was handed over is written.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(Message::Flush(done)).is_ok());
        if sent {
            // An error means that the writer has ended, and `take_trouble` says why.
            let _ = wait.recv();
        }
    }

    /// Why nothing is written any more, once.
    pub fn take_trouble(&self) -> Option<String> {
        let mut trouble = self.state.trouble.lock().expect("nobody panics with it");
        match std::mem::take(&mut *trouble) {
            Trouble::None => None,
            Trouble::Known(words) => {
                *trouble = Trouble::Told;
                Some(words)
            }
            Trouble::Told => {
                *trouble = Trouble::Told;
                None
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; there is nobody to tell.
            let _ = thread.join();
        }
        // What could not be written stays for the next process, which may have more room.
        let all_written = self.state.written.load(Ordering::Acquire) == self.sent;
        if let Some(journal) = self.journal.take().flatten().filter(|_| all_written) {
            journal.remove();
        }
    }
}

/// The result, or trouble to be told.
fn note<T>(state: &State, store: &Path, result: io::Result<T>) -> Option<T> {
    result.map_err(|error| state.tell(format!("cannot write the store {}: {error}", store.display()))).ok()
}

/// Writes what comes until nobody is left to send, or tells why it cannot.
fn write(file: &mut File, receiver: &Receiver<Message>, limit: u64, state: &State) {
    while let Ok(first) = receiver.recv() {
        let (mut changes, mut waiting) = (Vec::new(), Vec::new());
        // What has come while the last ones were being written.
        for message in std::iter::once(first).chain(receiver.try_iter()).take(BACKLOG) {
            match message {
                Message::Change(change) => changes.push(change),
                Message::Flush(done) => waiting.push(done),
            }
        }
        if !changes.is_empty() {
            if let Err(words) = file.apply(&changes, limit) {
                // Before `waiting` goes: who waits looks for trouble as soon as it does.
                return state.tell(words);
            }
            state.written.fetch_add(changes.len() as u64, Ordering::Release);
        }
        for done in waiting {
            // Whoever asked may have gone.
            let _ = done.send(());
        }
    }
}
