//! The allocator. The core allocates many small objects, for which mimalloc is a tenth faster than the C library.
//!
//! If the system refuses memory (`ulimit -v`, a full machine), the process ends with a message and a documented status. Tests
//! that were written stay: files are renamed when they are complete, and readers skip an incomplete record of the pack.
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Exit status of `partita` for failures that are not the user's.
const INTERNAL_STATUS: i32 = 4;

struct Allocator;

// SAFETY: everything is done by mimalloc; a null pointer is not returned.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as required of the caller; this holds for the following functions too.
        checked(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see `alloc`.
        checked(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: see `alloc`.
        unsafe { MiMalloc.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see `alloc`.
        checked(unsafe { MiMalloc.realloc(place, layout, size) }, size)
    }
}

#[inline(always)]
fn checked(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() {
        end_without_memory(size);
    }
    place
}

/// Ends the process. Nothing here allocates.
#[cold]
fn end_without_memory(size: usize) -> ! {
    unsafe extern "C" {
        fn write(descriptor: i32, bytes: *const u8, count: usize) -> isize;
        fn _exit(status: i32) -> !;
    }
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = size;
    while rest > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let head: &[u8] = b"partita: error: out of memory: the system refused ";
    let tail: &[u8] =
        b" bytes; raise `ulimit -v`, or set a lower --max-memory. Tests written so far are complete.\n";
    for part in [head, &digits[first..], tail] {
        // SAFETY: the bytes exist. A failure cannot be reported anywhere.
        unsafe { write(2, part.as_ptr(), part.len()) };
    }
    // SAFETY: ends the process without running anything of it.
    unsafe { _exit(INTERNAL_STATUS) }
}

/// Returns unused memory to the system at once; by itself mimalloc does so after a second.
pub fn release_memory() {
    // SAFETY: callable at any time from any thread.
    unsafe { libmimalloc_sys::mi_collect(true) };
}
