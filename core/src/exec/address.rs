//! Where things stand in the address space of the analysed program.
//!
//! Every object has a window of its own, so that an address names its object in constant time, also when it is out of
//! bounds or the object is gone. Windows come in three sizes; numbers are given out in order and never twice on a
//! path, so the same run has the same addresses. All addresses are canonical 47-bit user addresses.
use crate::program::{BlockId, FuncId};

/// Accesses below this are through a null pointer.
pub const NULL_PAGE: u64 = 4096;

struct Region {
    start: u64,
    end: u64,
    /// Logarithm of the window's size. The object starts a quarter into its window and fills at most half of it.
    window: u32,
}

const REGIONS: [Region; 3] = [
    Region { start: 1 << 46, end: 1 << 47, window: 17 },
    Region { start: 1 << 45, end: 1 << 46, window: 27 },
    Region { start: 1 << 40, end: 1 << 45, window: 37 },
];

const FUNCTIONS: u64 = 1 << 32;
const FUNCTION_STEP: u64 = 16;
const LABELS: u64 = 1 << 36;
const LABEL_BITS: u32 = 16;

/// An object's number: its region, and its place there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId {
    pub region: u8,
    pub index: u32,
}

impl ObjectId {
    /// The region for an object of this size; `None` if it is too large for any.
    pub fn region_for(size: u64) -> Option<u8> {
        REGIONS.iter().position(|r| size <= 1 << (r.window - 1)).map(|r| r as u8)
    }

    /// How many objects a region has room for.
    pub fn capacity(region: u8) -> u32 {
        let r = &REGIONS[usize::from(region)];
        ((r.end - r.start) >> r.window) as u32
    }

    /// The address of the object's first byte.
    pub fn base(self) -> u64 {
        let r = &REGIONS[usize::from(self.region)];
        r.start + (u64::from(self.index) << r.window) + (1 << (r.window - 2))
    }

    /// The object in whose window the address lies, whether or not there is one.
    #[inline]
    pub fn of_address(address: u64) -> Option<ObjectId> {
        let region = REGIONS.iter().position(|r| (r.start..r.end).contains(&address))?;
        let r = &REGIONS[region];
        Some(ObjectId { region: region as u8, index: ((address - r.start) >> r.window) as u32 })
    }
}

/// The address of a function.
pub fn of_function(func: FuncId) -> u64 {
    FUNCTIONS + u64::from(func.0) * FUNCTION_STEP
}

/// The function that starts at an address, of `count` functions.
pub fn function_at(address: u64, count: usize) -> Option<FuncId> {
    let offset = address.checked_sub(FUNCTIONS)?;
    let index = offset / FUNCTION_STEP;
    (offset.is_multiple_of(FUNCTION_STEP) && index < count as u64).then_some(FuncId(index as u32))
}

/// The address of a label.
pub fn of_label(func: FuncId, block: BlockId) -> u64 {
    LABELS + (u64::from(func.0) << LABEL_BITS) + u64::from(block.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_an_object_and_its_gaps_name_it() {
        for (region, size) in [(0u8, 1u64 << 16), (1, 1 << 26), (2, 1 << 36)] {
            assert_eq!(ObjectId::region_for(size), Some(region));
            for index in [0, 1, ObjectId::capacity(region) - 1] {
                let id = ObjectId { region, index };
                for address in [id.base() - 64, id.base(), id.base() + size - 1, id.base() + size] {
                    assert_eq!(ObjectId::of_address(address), Some(id), "{address:#x}");
                    assert!(address < 1 << 47);
                }
            }
        }
        assert_eq!(ObjectId::region_for(1 << 37), None);
        assert_eq!(ObjectId::of_address(0), None);
    }

    #[test]
    fn functions_and_labels_stand_apart_from_objects() {
        let f = FuncId(70_000);
        assert_eq!(function_at(of_function(f), 70_001), Some(f));
        assert_eq!(function_at(of_function(f) + 1, 70_001), None);
        assert_eq!(function_at(of_function(f), 70_000), None);
        assert_eq!(ObjectId::of_address(of_label(FuncId(1 << 20), BlockId(7))), None);
    }
}
