//! The allocator of the extension module with counters, for benchmarks of memory.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const MIMALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are forwarded unchanged to the other allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { MIMALLOC.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { MIMALLOC.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `f`. Returns its result, the bytes still allocated after it, and the peak, both relative to the start.
pub fn counted<T>(f: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = f();
    (result, NOW.load(Relaxed).saturating_sub(before), MOST.load(Relaxed) - before)
}
