//! The allocator: the core makes and drops many small things, and mimalloc is a tenth faster at that than the C library.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Gives memory that is not used back to the system at once; otherwise that takes a second.
pub fn give_back() {
    // SAFETY: callable at any time from any thread.
    unsafe { libmimalloc_sys::mi_collect(true) };
}
