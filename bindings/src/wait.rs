//! Running a question in a thread of its own, so that Ctrl-C reaches Python meanwhile.
//!
//! Python handles signals only in its main thread, between bytecodes: the calling thread gives up the GIL, looks
//! for signals every now and then, and on an exception calls the question off and waits until it has ended.

use partita_core::budget::Cancel;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

const SIGNAL_CHECK: Duration = Duration::from_millis(40);

/// Deep enough for any layer; traversals do not recurse.
const STACK: usize = 64 << 20;

/// The result of `work`; or the exception a signal handler raised, after `cancel` and `interrupt` ended it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    interrupt: impl Fn(Python<'_>) + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    cancel.reset();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = sync_channel(1);
            let worker = std::thread::Builder::new().name("partita".into()).stack_size(STACK).spawn_scoped(
                scope,
                move || {
                    let result = work();
                    done.send(()).expect("the caller waits");
                    result
                },
            )?;
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(SIGNAL_CHECK) {
                Python::attach(|py| {
                    if raised.is_none() {
                        raised = py.check_signals().err();
                    }
                    if raised.is_some() {
                        cancel.cancel();
                        // Repeated: a solver that was not yet solving misses an interrupt.
                        interrupt(py);
                    }
                });
            }
            let result = worker.join();
            match (raised, result) {
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
