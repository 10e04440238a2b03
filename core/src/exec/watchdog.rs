//! Watches the limits of time and memory while states run, in a thread of its own, so that a limit is noticed wherever the
//! engine is: in a long turn, a bulk copy, or a query. It only raises flags, which the inner loop, the loops of long
//! operations and the layers poll.
use super::memory_limit::MemoryMeter;
use crate::budget::Cancel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two measurements: a process that fills memory at 5 GB/s is seen after 25 MB.
const INTERVAL: Duration = Duration::from_millis(5);

pub(super) struct Watchdog {
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts watching. `None` if there is nothing to watch, or the system refuses another thread: then limits are checked
    /// between turns only.
    pub fn start(cancel: Cancel, deadline: Option<Instant>, memory: Option<MemoryMeter>) -> Option<Watchdog> {
        if deadline.is_none() && memory.is_none() {
            return None;
        }
        let ended = Arc::new((Mutex::new(false), Condvar::new()));
        let mut watch = Watch { ended: Arc::clone(&ended), cancel, deadline, memory };
        let thread = std::thread::Builder::new().name("partita-limits".to_string());
        let thread = thread.stack_size(1 << 16).spawn(move || watch.run()).ok()?;
        Some(Watchdog { ended, thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        *self.ended.0.lock().expect("the watch does not panic") = true;
        self.ended.1.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the watch does not panic");
        }
    }
}

struct Watch {
    ended: Arc<(Mutex<bool>, Condvar)>,
    cancel: Cancel,
    deadline: Option<Instant>,
    memory: Option<MemoryMeter>,
}

impl Watch {
    fn run(&mut self) {
        let ended = Arc::clone(&self.ended);
        let mut is_over = ended.0.lock().expect("the engine does not panic with it");
        while !*is_over {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                self.cancel.raise_deadline();
                self.deadline = None;
            }
            if self.memory.as_mut().is_some_and(|meter| meter.is_short()) {
                self.cancel.raise_memory();
            }
            let wait = match self.memory {
                Some(_) => left.map_or(INTERVAL, |left| left.min(INTERVAL)),
                None => left.unwrap_or(Duration::from_secs(1)),
            };
            let wait = wait.max(Duration::from_micros(200));
            is_over = ended.1.wait_timeout(is_over, wait).expect("the engine does not panic with it").0;
        }
    }
}
