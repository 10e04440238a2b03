//! Changes to the file, made by a thread of their own: solving never waits for the disk. A change is written as soon as
//! the one before it is, together with all that have come meanwhile: a process that is killed loses what is being written
//! and what came since that began.
//!
//! The thread opens the file for itself. When that or writing fails it says so once and takes no more; what waits is
//! written before the writer goes.

use super::file::{Change, File};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// Changes that may wait; more are dropped.
const BACKLOG: usize = 1024;

enum Message {
    Change(Change),
    /// To be told when everything before is written.
    Flush(SyncSender<()>),
}

pub struct Writer {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Writer {
    pub fn new(path: &Path, limit: u64) -> Writer {
        let (sender, receiver) = sync_channel(BACKLOG);
        let trouble = Arc::new(Mutex::new(None));
        let (path, told) = (path.to_path_buf(), trouble.clone());
        let run = move || {
            let tell = |words| *told.lock().expect("nobody panics with it") = Some(words);
            match File::open(&path) {
                Ok(mut file) => write(&mut file, &receiver, limit, tell),
                Err(words) => tell(words),
            }
        };
        let thread = std::thread::Builder::new().name("partita-store".to_string()).spawn(run);
        if let Err(error) = &thread {
            let words = format!("cannot write the store: no thread for it: {error}");
            *trouble.lock().expect("nobody panics with it") = Some(words);
        }
        Writer { sender: Some(sender), thread: thread.ok(), trouble }
    }

    /// Hands a change over. False: too many are waiting, or the writer has ended.
    pub fn put(&self, change: Change) -> bool {
        match self.sender.as_ref().map(|sender| sender.try_send(Message::Change(change))) {
            Some(Ok(())) => true,
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
        self.trouble.lock().expect("nobody panics with it").take()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; there is nobody to tell.
            let _ = thread.join();
        }
    }
}

/// Writes what comes until nobody is left to send, or tells why it cannot.
fn write(file: &mut File, receiver: &Receiver<Message>, limit: u64, tell: impl Fn(String)) {
    while let Ok(first) = receiver.recv() {
        let (mut changes, mut waiting) = (Vec::new(), Vec::new());
        // What has come while the last ones were being written.
        for message in std::iter::once(first).chain(receiver.try_iter()).take(BACKLOG) {
            match message {
                Message::Change(change) => changes.push(change),
                Message::Flush(done) => waiting.push(done),
            }
        }
        if !changes.is_empty()
            && let Err(words) = file.apply(&changes, limit)
        {
            // Before `waiting` goes: who waits looks for trouble as soon as it does.
            return tell(words);
        }
        for done in waiting {
            // Whoever asked may have gone.
            let _ = done.send(());
        }
    }
}
