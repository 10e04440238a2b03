//! Address translation cache: where the objects last used by the running state keep their bytes. It makes a
//! concrete load cost a few cycles.
//!
//! An entry points into an `Arc<Object>` of the running state's memory. It stays valid because that object
//! does not move while the state holds it, and because every event that would invalidate the entry drops it:
//! the object is freed, copied before a write, or gets symbolic contents (`drop_object`); the state forks, or
//! another one runs (`clear`). A writable entry is only made for an object that no other state shares.
use crate::exec::state::address::ObjectId;
use crate::exec::state::object::Object;

const ENTRIES: usize = 64;
/// Windows of small objects have this size, so each maps to one entry.
const SHIFT: u32 = 17;

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
}

// SAFETY: the pointers are only followed through `&self` of the machine that owns both the cache and the memory.
unsafe impl Send for AddressCache {}

impl AddressCache {
    pub fn new() -> AddressCache {
        AddressCache { entries: [EMPTY; ENTRIES] }
    }

    #[inline(always)]
    fn entry(&self, address: u64) -> &Entry {
        &self.entries[(address >> SHIFT) as usize % ENTRIES]
    }

    /// Pointer to `count` bytes at `address`, if a cached plain object has them all.
    #[inline(always)]
    pub fn readable(&self, address: u64, count: u64) -> Option<*const u8> {
        let entry = self.entry(address);
        let offset = address.wrapping_sub(entry.base);
        // SAFETY: in bounds of the object's bytes, which are there as long as the entry is.
        (offset < entry.size && entry.size - offset >= count)
            .then(|| unsafe { entry.data.add(offset as usize) }.cast_const())
    }

    /// Pointer for writing `count` bytes at `address`, if a cached plain object that is not shared has them
    /// all.
    #[inline(always)]
    pub fn writable(&self, address: u64, count: u64) -> Option<*mut u8> {
        let entry = self.entry(address);
        let offset = address.wrapping_sub(entry.base);
        // SAFETY: as above; the object is not shared.
        (offset < entry.size && entry.size - offset >= count && entry.writable)
            .then(|| unsafe { entry.data.add(offset as usize) })
    }

    /// Adds a plain object for reading, under the address just used.
    pub fn add_readable(&mut self, address: u64, object: &Object) {
        debug_assert!(object.is_freely_readable());
        let data = object.bytes.as_ptr().cast_mut();
        self.entries[(address >> SHIFT) as usize % ENTRIES] =
            Entry { base: object.base, size: object.size, data, writable: false };
    }

    /// Adds a plain object that only the running state has, for writing.
    pub fn add_writable(&mut self, address: u64, object: &mut Object) {
        debug_assert!(object.is_freely_writable());
        let data = object.bytes.as_mut_ptr();
        self.entries[(address >> SHIFT) as usize % ENTRIES] =
            Entry { base: object.base, size: object.size, data, writable: true };
    }

    /// Drops the entries of an object that is about to change.
    pub fn drop_object(&mut self, id: ObjectId) {
        let base = id.base();
        if id.region == 0 {
            let entry = &mut self.entries[(base >> SHIFT) as usize % ENTRIES];
            if entry.base == base {
                *entry = EMPTY;
            }
            return;
        }
        for entry in &mut self.entries {
            if entry.base == base {
                *entry = EMPTY;
            }
        }
    }

    /// Drops all entries: the running state forks, or another one runs.
    pub fn clear(&mut self) {
        self.entries = [EMPTY; ENTRIES];
    }
}
