//! Watches the limits of time and memory while states run, in a thread of its own, so that a limit is noticed wherever the
//! engine is: in a long turn, a bulk copy, or a query. It only raises flags, which the inner loop, the loops of long
//! operations and the layers poll. What has not ended `GRACE` after its flag was raised is unwound.
use super::memory_limit::{MemoryMeter, Pressure};
use crate::budget::Cancel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two measurements: a process that fills memory at 5 GB/s is seen after 25 MB.
const INTERVAL: Duration = Duration::from_millis(5);
/// Time between the end of the run and the unwinding of what still runs.
const GRACE: Duration = Duration::from_millis(100);

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
        let mut watch = Watch { ended: Arc::clone(&ended), cancel, deadline, memory, over_since: None };
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
    /// When the run was first seen to be over.
    over_since: Option<Instant>,
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
            match self.memory.as_ref().map(MemoryMeter::pressure) {
                None | Some(Pressure::None) => {}
                Some(Pressure::Short) => self.cancel.raise_memory(),
                Some(Pressure::Exceeded) => {
                    self.cancel.raise_memory();
                    self.cancel.raise_overdue();
                }
            }
            if self.cancel.is_over() && self.over_since.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                self.cancel.raise_overdue();
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
