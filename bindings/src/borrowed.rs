//! A reference into the core that a Python object holds for the duration of one call.

use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::Mutex;

struct Pointer<T>(NonNull<T>);

// SAFETY: everything that is lent consists of `Send` parts, and `Borrowed` gives it to one thread at a time.
unsafe impl<T> Send for Pointer<T> {}

/// Held by the Python object. Empty once the call is over: Python may keep the object, but not the reference.
pub(crate) struct Borrowed<T>(Mutex<Option<Pointer<T>>>);

impl<T> Borrowed<T> {
    /// Runs `f` with the object that `hold` makes, which holds a reference to `thing`. `T` is the type of `thing` with
    /// its lifetimes erased.
    pub(crate) fn during<'py, U, O, R>(
        py: Python<'py>,
        thing: &mut U,
        hold: impl FnOnce(Borrowed<T>) -> PyResult<Bound<'py, O>>,
        of: impl for<'a> Fn(&'a Bound<'py, O>) -> &'a Borrowed<T>,
        f: impl FnOnce(&Bound<'py, O>) -> R,
    ) -> PyResult<R> {
        let object = hold(Borrowed(Mutex::new(Some(Pointer(NonNull::from(thing).cast())))))?;
        /// Clears the reference even if `f` panics; waits for a call that another thread is executing.
        struct End<'a, 'py, T>(&'a Borrowed<T>, Python<'py>);
        impl<T> Drop for End<'_, '_, T> {
            fn drop(&mut self) {
                let borrowed = self.0;
                self.1.detach(|| match borrowed.0.lock() {
                    Ok(mut pointer) => *pointer = None,
                    Err(mut poisoned) => **poisoned.get_mut() = None,
                });
            }
        }
        let end = End(of(&object), py);
        let result = f(&object);
        drop(end);
        Ok(result)
    }

    /// Calls `f` with the reference; `None` when the call is over, or another thread is using it.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut guard = self.0.try_lock().ok()?;
        let pointer = guard.as_mut()?;
        // SAFETY: `during` keeps the borrow alive until it has cleared the pointer under this lock.
        Some(f(unsafe { pointer.0.as_mut() }))
    }
}
