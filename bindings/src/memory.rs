//! The allocator. The core allocates many small objects, for which mimalloc is a tenth faster than the C library.
//!
//! Blocks of `MAPPED_BYTES` and more are mapped, each by itself. The vector of expressions may have half of the memory that a
//! run is allowed; mimalloc would grow it by a copy, so that for a moment it has its memory twice and `--max-memory` is exceeded.
//! The system moves the pages of a mapping instead, and has them back at once when it is freed.
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

/// Least size of a block that is mapped: at most twice this is copied when a vector grows.
const MAPPED_BYTES: usize = 4 << 20;

/// mimalloc's `MI_MAX_ALIGN_SIZE`: blocks of at least this size are aligned to it, smaller ones to their size if it is a
/// power of two.
const MAX_COMMON_ALIGN: usize = 16;

fn is_mapped(layout: Layout) -> bool {
    layout.size() >= MAPPED_BYTES && layout.align() <= mapping::PAGE
}

/// Has every block of mimalloc with this layout its alignment? Asking for that takes twice as many instructions.
fn is_aligned_anyway(layout: Layout) -> bool {
    layout.align() <= MAX_COMMON_ALIGN && layout.align() <= layout.size()
}

// SAFETY: blocks are mimalloc's or mappings of their own, which only their layout decides; a null pointer is not returned.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return checked(mapping::new(layout.size()), layout.size());
        }
        if is_aligned_anyway(layout) {
            // SAFETY: any size is allowed.
            return checked(unsafe { libmimalloc_sys::mi_malloc(layout.size()) }.cast(), layout.size());
        }
        // SAFETY: as required of the caller; this holds for the following functions too.
        checked(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            return checked(mapping::new(layout.size()), layout.size());
        }
        if is_aligned_anyway(layout) {
            // SAFETY: any size is allowed.
            return checked(unsafe { libmimalloc_sys::mi_zalloc(layout.size()) }.cast(), layout.size());
        }
        // SAFETY: see `alloc`.
        checked(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if is_mapped(layout) {
            // SAFETY: the block has this layout, so it is a mapping.
            unsafe { mapping::remove(place, layout.size()) };
            return;
        }
        // SAFETY: see `alloc`.
        unsafe { MiMalloc.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller ensures that the size, rounded up to the alignment, does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_mapped(layout), is_mapped(new_layout)) {
            // SAFETY: see `alloc`.
            (false, false) => checked(unsafe { MiMalloc.realloc(place, layout, size) }, size),
            // SAFETY: the block is a mapping of this size.
            (true, true) => checked(unsafe { mapping::resize(place, layout.size(), size) }, size),
            (true, false) | (false, true) => {
                // SAFETY: both blocks exist and have as many bytes; the old one is not used again.
                unsafe {
                    let new = self.alloc(new_layout);
                    std::ptr::copy_nonoverlapping(place, new, size.min(layout.size()));
                    self.dealloc(place, layout);
                    new
                }
            }
        }
    }
}

/// Blocks of whole pages from the system.
mod mapping {
    pub const PAGE: usize = 4096;

    // Values of Linux on x86-64.
    const READ_WRITE: i32 = 1 | 2;
    const PRIVATE_ANONYMOUS: i32 = 2 | 0x20;
    const MAY_MOVE: i32 = 1;

    unsafe extern "C" {
        fn mmap(
            place: *mut u8,
            size: usize,
            protection: i32,
            flags: i32,
            descriptor: i32,
            offset: i64,
        ) -> *mut u8;
        fn munmap(place: *mut u8, size: usize) -> i32;
        fn mremap(place: *mut u8, size: usize, new_size: usize, flags: i32, ...) -> *mut u8;
    }

    /// Null instead of the system's mark of a failure.
    fn place_or_null(place: *mut u8) -> *mut u8 {
        if place.addr() == usize::MAX { std::ptr::null_mut() } else { place }
    }

    /// A new block of zeros; null if the system refuses.
    pub fn new(size: usize) -> *mut u8 {
        // SAFETY: a new mapping touches no memory that is in use.
        place_or_null(unsafe { mmap(std::ptr::null_mut(), size, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0) })
    }

    /// # Safety
    /// `place` is a block of this size, and is not used afterwards.
    pub unsafe fn remove(place: *mut u8, size: usize) {
        // SAFETY: as required of the caller.
        unsafe { munmap(place, size) };
    }

    /// The block with its new size; null if the system refuses.
    ///
    /// # Safety
    /// `place` is a block of this size, and is not used afterwards.
    pub unsafe fn resize(place: *mut u8, size: usize, new_size: usize) -> *mut u8 {
        // SAFETY: as required of the caller.
        place_or_null(unsafe { mremap(place, size, new_size, MAY_MOVE) })
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
