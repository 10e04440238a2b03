//! Something of the core, lent to a Python object while one call lasts.

use pyo3::prelude::*;
use std::ptr::NonNull;
use std::sync::Mutex;

struct Pointer<T>(NonNull<T>);

// SAFETY: whatever is lent refers to things that are `Send`, and `Loan` hands it to one thread at a time.
unsafe impl<T> Send for Pointer<T> {}

/// Held by the Python object. Empty once the call is over: Python may keep the object, but not what was lent.
pub(crate) struct Loan<T>(Mutex<Option<Pointer<T>>>);

impl<T> Loan<T> {
    /// Lends `thing`, whose lifetimes `T` may leave out, to the object that `hold` makes, while `f` runs.
    pub(crate) fn during<'py, U, O, R>(
        py: Python<'py>,
        thing: &mut U,
        hold: impl FnOnce(Loan<T>) -> PyResult<Bound<'py, O>>,
        of: impl for<'a> Fn(&'a Bound<'py, O>) -> &'a Loan<T>,
        f: impl FnOnce(&Bound<'py, O>) -> R,
    ) -> PyResult<R> {
        let object = hold(Loan(Mutex::new(Some(Pointer(NonNull::from(thing).cast())))))?;
        /// Takes the loan back even if `f` panics; waits for a call under way in another thread.
        struct End<'a, 'py, T>(&'a Loan<T>, Python<'py>);
        impl<T> Drop for End<'_, '_, T> {
            fn drop(&mut self) {
                let loan = self.0;
                self.1.detach(|| match loan.0.lock() {
                    Ok(mut lent) => *lent = None,
                    Err(mut poisoned) => **poisoned.get_mut() = None,
                });
            }
        }
        let end = End(of(&object), py);
        let result = f(&object);
        drop(end);
        Ok(result)
    }

    /// Uses what was lent; `None` when the loan is over, or another thread is using it.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut guard = self.0.try_lock().ok()?;
        let lent = guard.as_mut()?;
        // SAFETY: `during` keeps it borrowed until it has taken the loan back under this lock.
        Some(f(unsafe { lent.0.as_mut() }))
    }
}
