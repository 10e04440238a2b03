//! Runs work in a thread of its own, so that Ctrl-C reaches Python meanwhile.
//!
//! Python handles signals only in its main thread, between bytecodes. The calling thread releases the GIL, checks for
//! signals at intervals, and on an exception cancels the work and waits until it has ended.

use partita_core::budget::Cancel;
use partita_core::exec::Divergence;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const SIGNAL_CHECK: Duration = Duration::from_millis(40);

/// Enough for any layer: traversals do not recurse.
const STACK_BYTES: usize = 64 << 20;

/// Returns the result of `work`, or the exception that a signal handler or `write` raised, after the work has ended.
/// Lines that the work emits go to `write` as they come, several at a time if they come quickly.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    interrupt: impl Fn(Python<'_>) + Sync,
    mut write: impl FnMut(Python<'_>, Vec<String>) -> PyResult<()> + Send,
    work: impl FnOnce(&mut dyn FnMut(&str)) -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = channel::<String>();
            let worker =
                std::thread::Builder::new().name("partita".into()).stack_size(STACK_BYTES).spawn_scoped(
                    scope,
                    // A line that cannot be sent is dropped: the work has been cancelled.
                    move || work(&mut |line| drop(sender.send(line.to_string()))),
                )?;
            let mut raised = None;
            loop {
                let lines = match receiver.recv_timeout(SIGNAL_CHECK) {
                    Ok(first) => std::iter::once(first).chain(receiver.try_iter()).collect(),
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
                (None, Err(panic)) if panic.is::<Divergence>() => {
                    let Divergence(message) = *panic.downcast().expect("just seen");
                    let class = Python::attach(|py| {
                        Ok::<_, PyErr>(py.import("partita.errors")?.getattr("InternalError")?.unbind())
                    });
                    class.and_then(|class| {
                        Python::attach(|py| Err(PyErr::from_value(class.bind(py).call1((message,))?)))
                    })
                }
                (None, Err(panic)) => {
                    let message = panic.downcast_ref::<String>().map(String::as_str);
                    let message =
                        message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
                    Err(PyRuntimeError::new_err(format!("internal error of partita: {message}")))
                }
            }
        })
    })
}
