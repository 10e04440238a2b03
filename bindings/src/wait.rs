//! Running a question in a thread of its own, so that Ctrl-C reaches Python meanwhile.
//!
//! Python handles signals only in its main thread, between bytecodes: the calling thread gives up the GIL, looks
//! for signals every now and then, and on an exception calls the question off and waits until it has ended.

use partita_core::budget::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const SIGNAL_CHECK: Duration = Duration::from_millis(40);

/// Deep enough for any layer; traversals do not recurse.
const STACK: usize = 64 << 20;

/// The result of `work`; or the exception that a signal handler or `write` raised, after the work has ended. Lines
/// that the work gives out are handed to `write` as they come, several at a time if they come quickly.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    interrupt: impl Fn(Python<'_>) + Sync,
    mut write: impl FnMut(Python<'_>, Vec<String>) -> PyResult<()> + Send,
    work: impl FnOnce(&mut dyn FnMut(&str)) -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (give, take) = channel::<String>();
            let worker = std::thread::Builder::new().name("partita".into()).stack_size(STACK).spawn_scoped(
                scope,
                // A line that nobody takes any more is lost on purpose: the question has been called off.
                move || work(&mut |line| drop(give.send(line.to_string()))),
            )?;
            let mut raised = None;
            loop {
                let lines = match take.recv_timeout(SIGNAL_CHECK) {
                    Ok(first) => std::iter::once(first).chain(take.try_iter()).collect(),
                    Err(RecvTimeoutError::Timeout) => Vec::new(),
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                Python::attach(|py| {
                    if raised.is_none() {
                        raised = py.check_signals().err();
                    }
                    if raised.is_none() && !lines.is_empty() {
                        raised = write(py, lines).err();
                    }
                    if raised.is_some() || cancel.is_cancelled() {
                        cancel.cancel();
                        // Repeated: a solver that was not yet solving misses an interrupt.
                        interrupt(py);
                    }
                });
            }
            match (raised, worker.join()) {
                (Some(error), _) => Err(error),
                (None, Ok(value)) => Ok(value),
                (None, Err(panic)) => {
                    let words = panic.downcast_ref::<String>().map(String::as_str);
                    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                    Err(PyRuntimeError::new_err(format!("internal error of partita: {words}")))
                }
            }
        })
    })
}
