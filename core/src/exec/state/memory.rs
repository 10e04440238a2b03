//! Memory of one state: objects by id, shared between states until one of them writes.
use super::address::{ObjectId, REGION_COUNT};
use super::object::{Kind, MAX_OBJECT_BYTES, Object};
use crate::persist::Map;
use crate::program::PointerWidth;
use std::sync::Arc;

#[derive(Clone)]
pub enum Slot {
    Live(Arc<Object>),
    /// A freed heap object: distinguishes a second `free` from an invalid one.
    Freed,
}

#[derive(Clone, Default)]
pub struct Memory {
    slots: [Map<Slot>; REGION_COUNT],
    next: [u32; REGION_COUNT],
    changes: u64,
    pointers: PointerWidth,
}

/// Alignment of every object.
pub const MALLOC_ALIGNMENT: u64 = 16;

/// Reason why an object cannot be allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationError {
    TooLarge,
    TooMany,
}

impl Memory {
    /// Memory without objects, of a program with pointers of this width.
    pub fn new(pointers: PointerWidth) -> Memory {
        Memory { pointers, ..Memory::default() }
    }

    pub fn pointers(&self) -> PointerWidth {
        self.pointers
    }

    /// Is the address in the window of an object, whether or not it is allocated?
    pub fn has_window_at(&self, address: u64) -> bool {
        ObjectId::of_address(address).is_some_and(|id| id.belongs_to(self.pointers))
    }

    /// Allocates an object of zeros.
    pub fn allocate(&mut self, size: u64, kind: Kind) -> Result<ObjectId, AllocationError> {
        self.allocate_aligned(size, MALLOC_ALIGNMENT, kind)
    }

    /// Allocates an object of zeros at a multiple of `align`, a power of two.
    pub fn allocate_aligned(
        &mut self,
        size: u64,
        align: u64,
        kind: Kind,
    ) -> Result<ObjectId, AllocationError> {
        self.allocate_with(size, align, kind, None, |_| {})
    }

    /// Allocates an object at a multiple of `align`, a power of two: one of zeros that `finish` changed. It is
    /// made of `spare`, one that was removed and that nothing else has.
    pub fn allocate_with(
        &mut self,
        size: u64,
        align: u64,
        kind: Kind,
        spare: Option<Arc<Object>>,
        finish: impl FnOnce(&mut Object),
    ) -> Result<ObjectId, AllocationError> {
        let region = ObjectId::region_for(size, align, self.pointers).filter(|_| size <= MAX_OBJECT_BYTES);
        let region = region.ok_or(AllocationError::TooLarge)?;
        let index = self.next[usize::from(region)];
        if index >= ObjectId::capacity(region) {
            return Err(AllocationError::TooMany);
        }
        self.next[usize::from(region)] = index + 1;
        self.changes += 1;
        let id = ObjectId { region, index };
        let object = match spare {
            Some(mut object) => {
                let own = Arc::get_mut(&mut object).expect("nothing else has it");
                own.renew(id.base(), size, kind);
                finish(own);
                object
            }
            None => {
                let mut object = Object::new(id.base(), size, kind);
                finish(&mut object);
                Arc::new(object)
            }
        };
        self.slots[usize::from(region)].insert(index, Slot::Live(object));
        Ok(id)
    }

    /// Removes and returns an object. A heap object is remembered as freed.
    pub fn remove(&mut self, id: ObjectId) -> Arc<Object> {
        self.changes += 1;
        let slots = &mut self.slots[usize::from(id.region)];
        let Some(Slot::Live(object)) = slots.remove(id.index) else {
            unreachable!("a live object is removed")
        };
        if object.kind == Kind::Heap {
            slots.insert(id.index, Slot::Freed);
        }
        object
    }

    pub fn get(&self, id: ObjectId) -> Option<&Arc<Object>> {
        match self.slots[usize::from(id.region)].get(id.index) {
            Some(Slot::Live(object)) => Some(object),
            Some(Slot::Freed) | None => None,
        }
    }

    /// Number of allocations, removals and accesses for writing so far: while it is the same, so are the contents.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Was there an object with this id that is gone?
    pub fn is_gone(&self, id: ObjectId) -> bool {
        id.index < self.next[usize::from(id.region)] && self.get(id).is_none()
    }

    /// Does it have the objects of an earlier version of itself, with the same contents?
    pub fn has_contents_of(&self, other: &Memory) -> bool {
        let same = |a: Option<&Slot>, b: Option<&Slot>| match (a, b) {
            (Some(Slot::Live(a)), Some(Slot::Live(b))) => Arc::ptr_eq(a, b) || a.has_contents_of(b),
            (Some(Slot::Freed), Some(Slot::Freed)) | (None, None) => true,
            (Some(Slot::Live(_) | Slot::Freed) | None, _) => false,
        };
        self.slots.iter().zip(&other.slots).all(|(mine, others)| {
            mine.len() == others.len()
                && (mine.is_shared_with(others)
                    || mine.iter().all(|(index, slot)| same(Some(slot), others.get(index))))
        })
    }

    pub fn was_freed(&self, id: ObjectId) -> bool {
        matches!(self.slots[usize::from(id.region)].get(id.index), Some(Slot::Freed))
    }

    /// A live object for writing: copied first if other states share it.
    pub fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.changes += 1;
        match self.slots[usize::from(id.region)].get_mut(id.index) {
            Some(Slot::Live(object)) => Some(Arc::make_mut(object)),
            Some(Slot::Freed) | None => None,
        }
    }

    /// Objects, and freed ones as `None`, in the windows from `first` to `last` of one region.
    pub fn between(
        &self,
        first: ObjectId,
        last: ObjectId,
    ) -> impl Iterator<Item = (ObjectId, Option<&Arc<Object>>)> {
        self.slots[usize::from(first.region)]
            .iter_from(first.index)
            .take_while(move |(index, _)| *index <= last.index)
            .map(move |(index, slot)| {
                let id = ObjectId { region: first.region, index };
                match slot {
                    Slot::Live(object) => (id, Some(object)),
                    Slot::Freed => (id, None),
                }
            })
    }

    /// Live objects, in address order within each region.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Arc<Object>)> {
        self.slots.iter().enumerate().flat_map(|(region, slots)| {
            slots.iter().filter_map(move |(index, slot)| match slot {
                Slot::Live(object) => Some((ObjectId { region: region as u8, index }, object)),
                Slot::Freed => None,
            })
        })
    }
}
