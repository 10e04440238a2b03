//! Layout of the analysed program's address space.
//!
//! Every object has a window of its own, so that an address identifies its object in constant time, also when
//! it is out of bounds or the object is gone. Windows have one of three sizes. Indices are assigned in order
//! and never reused on a path, so the same run has the same addresses. All addresses are canonical 47-bit
//! user addresses.
//!
//! A program with pointers of 32 bits has regions of its own below 4 GB, with windows of six sizes: 128 KB for every
//! object would leave room for 32,768. A quarter of the window on each side of an object is its red zone here too.
//! The two layouts have no address in common, so an address alone identifies its window.
use crate::program::{BlockId, FuncId, PointerWidth, Program};

/// Addresses below this are null pointers.
pub const NULL_PAGE: u64 = 4096;

struct Region {
    start: u64,
    end: u64,
    /// Binary logarithm of the window size. The object starts a quarter into its window and fills at most
    /// half of it.
    window: u32,
}

/// Number of regions of both layouts.
pub const REGION_COUNT: usize = 9;

const REGIONS: [Region; REGION_COUNT] = [
    Region { start: 1 << 46, end: 1 << 47, window: 17 },
    Region { start: 1 << 45, end: 1 << 46, window: 27 },
    Region { start: 1 << 40, end: 1 << 45, window: 37 },
    Region { start: 0x4000_0000, end: 0x8000_0000, window: 6 },
    Region { start: 0x8000_0000, end: 0xa000_0000, window: 9 },
    Region { start: 0xa000_0000, end: 0xc000_0000, window: 13 },
    Region { start: 0x2000_0000, end: 0x4000_0000, window: 17 },
    Region { start: 0x1000_0000, end: 0x2000_0000, window: 23 },
    Region { start: 0xc000_0000, end: 0x1_0000_0000, window: 28 },
];
/// Regions of the layout for pointers of this width.
fn regions(pointers: PointerWidth) -> std::ops::Range<usize> {
    match pointers {
        PointerWidth::Bits64 => 0..3,
        PointerWidth::Bits32 => 3..REGION_COUNT,
    }
}

/// Binary logarithm of the size of the smallest windows.
pub fn smallest_window(pointers: PointerWidth) -> u32 {
    REGIONS[regions(pointers).start].window
}

const FUNCTION_STEP: u64 = 16;

/// Address of the first function.
fn first_function(pointers: PointerWidth) -> u64 {
    match pointers {
        PointerWidth::Bits64 => 1 << 32,
        PointerWidth::Bits32 => 1 << 20,
    }
}

/// Address of the first label, and the number of addresses for the labels of a function.
fn labels(pointers: PointerWidth) -> (u64, u64) {
    match pointers {
        PointerWidth::Bits64 => (1 << 36, 1 << 16),
        PointerWidth::Bits32 => (1 << 26, 1 << 10),
    }
}

/// Identifies an object: its region, and its index in the region.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId {
    pub region: u8,
    pub index: u32,
}

impl ObjectId {
    /// Region for an object of this size and alignment; `None` if it is too large for any.
    pub fn region_for(size: u64, align: u64, pointers: PointerWidth) -> Option<u8> {
        let fits = |r: &usize| {
            let window = REGIONS[*r].window;
            size <= 1 << (window - 1) && align <= 1 << (window - 2)
        };
        regions(pointers).find(fits).map(|r| r as u8)
    }

    /// Does the object belong to programs with pointers of this width?
    pub fn belongs_to(self, pointers: PointerWidth) -> bool {
        regions(pointers).contains(&usize::from(self.region))
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

/// Functions whose addresses lie in a range.
pub fn functions_in(low: u64, high: u64, program: &Program) -> impl Iterator<Item = FuncId> + use<> {
    let start = first_function(program.pointers);
    let first = low.saturating_sub(start).div_ceil(FUNCTION_STEP);
    let end = match high.checked_sub(start) {
        Some(offset) => (offset / FUNCTION_STEP + 1).min(program.functions.len() as u64),
        None => 0,
    };
    (first..end).map(|index| FuncId(index as u32))
}

/// Address of a function.
pub fn of_function(func: FuncId, pointers: PointerWidth) -> u64 {
    first_function(pointers) + u64::from(func.0) * FUNCTION_STEP
}

/// Function that starts at an address.
pub fn function_at(address: u64, program: &Program) -> Option<FuncId> {
    let offset = address.checked_sub(first_function(program.pointers))?;
    let index = offset / FUNCTION_STEP;
    let is_function = offset.is_multiple_of(FUNCTION_STEP) && index < program.functions.len() as u64;
    is_function.then_some(FuncId(index as u32))
}

/// Address of a label. Those of a 32-bit program may repeat after as many labels as there are addresses: a computed
/// goto only compares labels of one function, which has different ones.
pub fn of_label(func: FuncId, block: BlockId, pointers: PointerWidth) -> u64 {
    let (start, step) = labels(pointers);
    let number = u64::from(func.0) * step + u64::from(block.0);
    match pointers {
        PointerWidth::Bits64 => start + number,
        PointerWidth::Bits32 => start + number % LABEL_ADDRESSES,
    }
}

/// Number of addresses for labels of a 32-bit program.
const LABEL_ADDRESSES: u64 = 0x0c00_0000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_window_maps_to_its_object() {
        let wide = [(0u8, 1u64 << 16), (1, 1 << 26), (2, 1 << 36)].map(|(r, s)| (r, s, PointerWidth::Bits64));
        let narrow = [(3u8, 32u64), (4, 256), (5, 4096), (6, 1 << 16), (7, 1 << 22), (8, 1 << 27)];
        let narrow = narrow.map(|(r, s)| (r, s, PointerWidth::Bits32));
        for (region, size, pointers) in wide.into_iter().chain(narrow) {
            assert_eq!(ObjectId::region_for(size, 1, pointers), Some(region));
            for index in [0, 1, ObjectId::capacity(region) - 1] {
                let id = ObjectId { region, index };
                for address in [id.base() - 16, id.base(), id.base() + size - 1, id.base() + size] {
                    assert_eq!(ObjectId::of_address(address), Some(id), "{address:#x}");
                    assert!(address < if pointers == PointerWidth::Bits32 { 1 << 32 } else { 1 << 47 });
                    assert!(id.belongs_to(pointers));
                }
            }
        }
        assert_eq!(ObjectId::region_for(1 << 37, 1, PointerWidth::Bits64), None);
        assert_eq!(ObjectId::region_for(1 << 28, 1, PointerWidth::Bits32), None);
        assert_eq!(ObjectId::region_for(4, 64, PointerWidth::Bits32), Some(4));
        assert_eq!(ObjectId::of_address(0), None);
    }

    #[test]
    fn ranges_list_the_windows_and_functions_they_overlap() {
        let id = |region, index| ObjectId { region, index };
        let all: Vec<_> = windows(0, u64::MAX).collect();
        let last = |region| id(region, ObjectId::capacity(region) - 1);
        let expected: Vec<_> = (0..REGION_COUNT as u8).map(|region| (id(region, 0), last(region))).collect();
        assert_eq!(all, expected);
        let (a, b) = (id(0, 5), id(0, 9));
        assert_eq!(windows(a.base() + 1, b.base()).collect::<Vec<_>>(), [(a, b)]);
        assert_eq!(windows(1, 4096).count(), 0);
        for pointers in [PointerWidth::Bits64, PointerWidth::Bits32] {
            let program = with_functions(4, pointers);
            let f = |i| of_function(FuncId(i), pointers);
            let found = |low, high| functions_in(low, high, &program).map(|f| f.0).collect::<Vec<_>>();
            assert_eq!(found(0, u64::MAX), [0, 1, 2, 3]);
            assert_eq!(found(f(1), f(2)), [1, 2]);
            assert_eq!(found(f(1) + 1, f(3) - 1), [2]);
            assert!(found(0, f(0) - 1).is_empty() && found(f(3) + 1, u64::MAX).is_empty());
        }
    }

    fn with_functions(count: usize, pointers: PointerWidth) -> Program {
        let function = crate::program::Function::declared(crate::program::StrId(0));
        Program { functions: vec![function; count], pointers, ..Program::default() }
    }

    #[test]
    fn functions_and_labels_have_addresses_outside_of_objects() {
        for pointers in [PointerWidth::Bits64, PointerWidth::Bits32] {
            let f = FuncId(70_000);
            let address = of_function(f, pointers);
            let program = with_functions(70_001, pointers);
            assert_eq!(function_at(address, &program), Some(f));
            assert_eq!(function_at(address + 1, &program), None);
            assert_eq!(function_at(address, &with_functions(70_000, pointers)), None);
            assert_eq!(ObjectId::of_address(address), None);
            assert_eq!(ObjectId::of_address(of_label(FuncId(1 << 20), BlockId(7), pointers)), None);
        }
    }
}
