//! Address translation cache: where the objects last used by the running state keep their bytes. It makes a
//! concrete load cost a few cycles.
//!
//! An entry points into an `Arc<Object>` of the running state's memory. It stays valid because that object
//! does not move while the state holds it, and because every event that would invalidate the entry drops it:
//! the object is freed, copied before a write, or gets symbolic contents (`drop_object`); the state forks, or
//! another one runs (`clear`). A writable entry is only made for an object that no other state shares. Entries of pages of
//! large objects are in a table of their own, which is looked at if the first one has no entry.
use crate::exec::state::address::{ObjectId, smallest_window};
use crate::exec::state::bytes::{Bytes, PAGE_BYTES, PAGE_SHIFT};
use crate::exec::state::object::Object;
use crate::program::PointerWidth;
use std::ops::Range;

const ENTRIES: usize = 64;
/// Number of pages of large objects that are cached.
const PAGES: usize = 256;

#[derive(Clone, Copy)]
struct Entry {
    base: u64,
    /// 0 in an empty entry.
    size: u64,
    data: *mut u8,
    writable: bool,
}

const EMPTY: Entry = Entry { base: 0, size: 0, data: std::ptr::null_mut(), writable: false };

pub struct AddressCache {
    entries: [Entry; ENTRIES],
    pages: Box<[Entry; PAGES]>,
    has_pages: bool,
    /// Binary logarithm of the size of the smallest windows: an object with such a window maps to one entry, others may
    /// have several.
    shift: u32,
    /// Region of the objects with the smallest windows.
    smallest: u8,
}

impl Entry {
    fn of(base: u64, bytes: &[u8], writable: bool) -> Entry {
        Entry { base, size: bytes.len() as u64, data: bytes.as_ptr().cast_mut(), writable }
    }

    #[inline(always)]
    fn readable(&self, address: u64, count: u64) -> Option<*const u8> {
        let offset = address.wrapping_sub(self.base);
        // SAFETY: in bounds of the bytes, which are there as long as the entry is.
        (offset < self.size && self.size - offset >= count)
            .then(|| unsafe { self.data.add(offset as usize) }.cast_const())
    }

    #[inline(always)]
    fn writable(&self, address: u64, count: u64) -> Option<*mut u8> {
        let offset = address.wrapping_sub(self.base);
        // SAFETY: as above; the object is not shared.
        (offset < self.size && self.size - offset >= count && self.writable)
            .then(|| unsafe { self.data.add(offset as usize) })
    }
}

// SAFETY: the pointers are only followed through `&self` of the machine that owns both the cache and the memory.
unsafe impl Send for AddressCache {}

impl AddressCache {
    /// Empty cache for a program with pointers of this width.
    pub fn new(pointers: PointerWidth) -> AddressCache {
        let smallest = ObjectId::region_for(0, 1, pointers).expect("objects of no bytes fit");
        AddressCache {
            entries: [EMPTY; ENTRIES],
            pages: Box::new([EMPTY; PAGES]),
            has_pages: false,
            shift: smallest_window(pointers),
            smallest,
        }
    }

    /// Pointer to `count` bytes at `address`, if a cached plain object has them all.
    #[inline(always)]
    pub fn readable(&self, address: u64, count: u64) -> Option<*const u8> {
        self.entries[(address >> self.shift) as usize % ENTRIES].readable(address, count)
    }

    /// Pointer for writing `count` bytes at `address`, if a cached plain object that is not shared has them
    /// all.
    #[inline(always)]
    pub fn writable(&self, address: u64, count: u64) -> Option<*mut u8> {
        self.entries[(address >> self.shift) as usize % ENTRIES].writable(address, count)
    }

    /// As `readable`, in a cached page of a large object.
    #[inline]
    pub fn readable_in_page(&self, address: u64, count: u64) -> Option<*const u8> {
        self.pages[(address >> PAGE_SHIFT) as usize % PAGES].readable(address, count)
    }

    /// As `writable`, in a cached page of a large object.
    #[inline]
    pub fn writable_in_page(&self, address: u64, count: u64) -> Option<*mut u8> {
        self.pages[(address >> PAGE_SHIFT) as usize % PAGES].writable(address, count)
    }

    fn add(&mut self, address: u64, is_page: bool, entry: Entry) {
        if is_page {
            self.has_pages = true;
            self.pages[(address >> PAGE_SHIFT) as usize % PAGES] = entry;
        } else {
            self.entries[(address >> self.shift) as usize % ENTRIES] = entry;
        }
    }

    /// Adds a plain object for reading, or its page at the address just used.
    pub fn add_readable(&mut self, address: u64, object: &Object) {
        debug_assert!(object.is_freely_readable());
        let (entry, is_page) = match &object.bytes {
            Bytes::Flat(bytes) => (Entry::of(object.base, bytes, false), false),
            Bytes::Paged(_) => {
                let (offset, base) = page_at(object, address);
                (Entry::of(base, object.bytes.page(offset).expect("a paged object"), false), true)
            }
        };
        self.add(address, is_page, entry);
    }

    /// Adds a plain object that only the running state has, or its page, for writing.
    pub fn add_writable(&mut self, address: u64, object: &mut Object) {
        debug_assert!(object.is_freely_writable());
        let (entry, is_page) = match &mut object.bytes {
            Bytes::Flat(bytes) => (Entry::of(object.base, bytes.as_mut_slice(), true), false),
            Bytes::Paged(_) => {
                let (offset, base) = page_at(object, address);
                (Entry::of(base, object.bytes.page_mut(offset).expect("a paged object"), true), true)
            }
        };
        self.add(address, is_page, entry);
    }

    /// Adds `written`, bytes around the address just used (or its page), of a plain object of which other bytes were
    /// never written, for reading.
    pub fn add_readable_part(&mut self, address: u64, object: &Object, written: Range<u64>) {
        let (entry, is_page) = match &object.bytes {
            Bytes::Flat(bytes) => {
                let part = &bytes[written.start as usize..written.end as usize];
                (Entry::of(object.base + written.start, part, false), false)
            }
            Bytes::Paged(_) => {
                let (offset, base) = page_at(object, address);
                (Entry::of(base, object.bytes.page(offset).expect("a paged object"), false), true)
            }
        };
        self.add(address, is_page, entry);
    }

    /// As `add_readable_part`, for writing: only the running state has the object.
    pub fn add_writable_part(&mut self, address: u64, object: &mut Object, written: Range<u64>) {
        let (entry, is_page) = match &mut object.bytes {
            Bytes::Flat(bytes) => {
                let part = &mut bytes[written.start as usize..written.end as usize];
                (Entry::of(object.base + written.start, part, true), false)
            }
            Bytes::Paged(_) => {
                let (offset, base) = page_at(object, address);
                (Entry::of(base, object.bytes.page_mut(offset).expect("a paged object"), true), true)
            }
        };
        self.add(address, is_page, entry);
    }

    /// Drops the entries of an object that is about to change.
    pub fn drop_object(&mut self, id: ObjectId) {
        let (start, size) = id.window();
        if id.region == self.smallest {
            let entry = &mut self.entries[(start >> self.shift) as usize % ENTRIES];
            if entry.base.wrapping_sub(start) < size {
                *entry = EMPTY;
            }
            return;
        }
        for entry in &mut self.entries {
            if entry.base.wrapping_sub(start) < size {
                *entry = EMPTY;
            }
        }
        if self.has_pages {
            for entry in self.pages.iter_mut().filter(|entry| entry.base.wrapping_sub(start) < size) {
                *entry = EMPTY;
            }
        }
    }

    /// Drops the entries that a write of `count` bytes at this offset of the object invalidates.
    pub fn drop_written(&mut self, id: ObjectId, object: &Object, offset: u64, count: u64) {
        match object.bytes {
            // Other pages stay where they are, also if the object was copied for this write.
            Bytes::Paged(_) if object.is_plain() => {
                for at in [offset, offset + count - 1] {
                    self.pages[((object.base + at) >> PAGE_SHIFT) as usize % PAGES] = EMPTY;
                }
            }
            Bytes::Paged(_) | Bytes::Flat(_) => self.drop_object(id),
        }
    }

    /// Drops all entries: the running state forks, or another one runs.
    pub fn clear(&mut self) {
        self.entries = [EMPTY; ENTRIES];
        if self.has_pages {
            self.pages.fill(EMPTY);
            self.has_pages = false;
        }
    }
}

/// Offset in a paged object, and the address at which its page starts.
fn page_at(object: &Object, address: u64) -> (u64, u64) {
    let offset = address.wrapping_sub(object.base);
    (offset, object.base + offset / PAGE_BYTES * PAGE_BYTES)
}
