//! Layout of the analysed program's address space.
//!
//! Every object has a window of its own, so that an address identifies its object in constant time, also when
//! it is out of bounds or the object is gone. Windows have one of three sizes. Indices are assigned in order
//! and never reused on a path, so the same run has the same addresses. All addresses are canonical 47-bit
//! user addresses.
use crate::program::{BlockId, FuncId};

/// Addresses below this are null pointers.
pub const NULL_PAGE: u64 = 4096;

struct Region {
    start: u64,
    end: u64,
    /// Binary logarithm of the window size. The object starts a quarter into its window and fills at most
    /// half of it.
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

/// Identifies an object: its region, and its index in the region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId {
    pub region: u8,
    pub index: u32,
}

impl ObjectId {
    /// Region for an object of this size; `None` if it is too large for any.
    pub fn region_for(size: u64) -> Option<u8> {
        REGIONS.iter().position(|r| size <= 1 << (r.window - 1)).map(|r| r as u8)
    }

    /// Number of objects that fit a region.
    pub fn capacity(region: u8) -> u32 {
        let r = &REGIONS[usize::from(region)];
        ((r.end - r.start) >> r.window) as u32
    }

    /// Address of the object's first byte.
    pub fn base(self) -> u64 {
        let r = &REGIONS[usize::from(self.region)];
        r.start + (u64::from(self.index) << r.window) + (1 << (r.window - 2))
    }

    /// First address of the object's window, and the window's size.
    pub fn window(self) -> (u64, u64) {
        let r = &REGIONS[usize::from(self.region)];
        (r.start + (u64::from(self.index) << r.window), 1 << r.window)
    }

    /// Object whose window contains the address, whether or not it is allocated.
    #[inline]
    pub fn of_address(address: u64) -> Option<ObjectId> {
        let region = REGIONS.iter().position(|r| (r.start..r.end).contains(&address))?;
        let r = &REGIONS[region];
        Some(ObjectId { region: region as u8, index: ((address - r.start) >> r.window) as u32 })
    }
}

/// Windows that overlap a range of addresses: the first and the last per region.
pub fn windows(low: u64, high: u64) -> impl Iterator<Item = (ObjectId, ObjectId)> {
    REGIONS.iter().enumerate().filter_map(move |(region, r)| {
        let (low, high) = (low.max(r.start), high.min(r.end - 1));
        let id =
            |address: u64| ObjectId { region: region as u8, index: ((address - r.start) >> r.window) as u32 };
        (low <= high).then(|| (id(low), id(high)))
    })
}

/// Functions among the first `count` whose addresses lie in a range.
pub fn functions_in(low: u64, high: u64, count: usize) -> impl Iterator<Item = FuncId> {
    let first = low.saturating_sub(FUNCTIONS).div_ceil(FUNCTION_STEP);
    let end = match high.checked_sub(FUNCTIONS) {
        Some(offset) => (offset / FUNCTION_STEP + 1).min(count as u64),
        None => 0,
    };
    (first..end).map(|index| FuncId(index as u32))
}

/// Address of a function.
pub fn of_function(func: FuncId) -> u64 {
    FUNCTIONS + u64::from(func.0) * FUNCTION_STEP
}

/// Function that starts at an address, among the first `count`.
pub fn function_at(address: u64, count: usize) -> Option<FuncId> {
    let offset = address.checked_sub(FUNCTIONS)?;
    let index = offset / FUNCTION_STEP;
    (offset.is_multiple_of(FUNCTION_STEP) && index < count as u64).then_some(FuncId(index as u32))
}

/// Address of a label.
pub fn of_label(func: FuncId, block: BlockId) -> u64 {
    LABELS + (u64::from(func.0) << LABEL_BITS) + u64::from(block.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_window_maps_to_its_object() {
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
    fn ranges_list_the_windows_and_functions_they_overlap() {
        let id = |region, index| ObjectId { region, index };
        let all: Vec<_> = windows(0, u64::MAX).collect();
        let last = |region| id(region, ObjectId::capacity(region) - 1);
        assert_eq!(all, [(id(0, 0), last(0)), (id(1, 0), last(1)), (id(2, 0), last(2))]);
        let (a, b) = (id(0, 5), id(0, 9));
        assert_eq!(windows(a.base() + 1, b.base()).collect::<Vec<_>>(), [(a, b)]);
        assert_eq!(windows(1, 4096).count(), 0);
        let f = |i| of_function(FuncId(i));
        let found = |low, high| functions_in(low, high, 4).map(|f| f.0).collect::<Vec<_>>();
        assert_eq!(found(0, u64::MAX), [0, 1, 2, 3]);
        assert_eq!(found(f(1), f(2)), [1, 2]);
        assert_eq!(found(f(1) + 1, f(3) - 1), [2]);
        assert!(found(0, f(0) - 1).is_empty() && found(f(3) + 1, u64::MAX).is_empty());
    }

    #[test]
    fn functions_and_labels_have_addresses_outside_of_objects() {
        let f = FuncId(70_000);
        assert_eq!(function_at(of_function(f), 70_001), Some(f));
        assert_eq!(function_at(of_function(f) + 1, 70_001), None);
        assert_eq!(function_at(of_function(f), 70_000), None);
        assert_eq!(ObjectId::of_address(of_label(FuncId(1 << 20), BlockId(7))), None);
    }
}
