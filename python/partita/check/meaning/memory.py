"""Memory of one path: objects in windows of their own, as docs/certificates.md describes the address space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from partita.check.decide import EndedError
from partita.check.terms import UNWRITTEN, NoSemanticsError, apply, byte_of, concat, extract, ite

NULL_PAGE, FUNCTIONS, LABELS = 4096, 1 << 32, 1 << 36
_REGIONS = ((1 << 46, 1 << 47, 17), (1 << 45, 1 << 46, 27), (1 << 40, 1 << 45, 37))
MAX_CHOICES = 1 << 14


def trailing_zeros(value: Any) -> int:
    """Number of low bits that are zero in every case."""
    if isinstance(value, int):
        return (value & -value).bit_length() - 1 if value else 64
    if value.op == "bvmul":
        return sum(trailing_zeros(arg) for arg in value.args[1:])
    if value.op == "bvshl" and isinstance(value.args[2], int):
        return trailing_zeros(value.args[1]) + value.args[2]
    if value.op in ("bvadd", "ite"):
        return min(trailing_zeros(arg) for arg in value.args[1:3])
    if value.op == "concat":
        low = trailing_zeros(value.args[1])
        return low if low < value.args[2] else value.args[2] + trailing_zeros(value.args[0])
    return 0


@dataclass
class Object:
    base: int
    kind: str
    data: bytearray
    terms: dict[int, Any] = field(default_factory=dict)
    is_constant: bool = False
    owner: int = 0
    blank: bytearray | None = None
    """1 for bytes that were never written; None if there are none."""

    def is_blank(self, at: int, count: int) -> bool:
        return self.blank is not None and self.blank.find(1, at, at + count) >= 0

    def read(self, at: int, count: int) -> Any:
        if not any(i in self.terms for i in range(at, at + count)) and not self.is_blank(at, count):
            return int.from_bytes(self.data[at : at + count], "little")
        value: Any = self.byte(at)
        for i in range(1, count):
            value = concat(self.byte(at + i), 8, value, 8 * i)
        return value

    def byte(self, at: int) -> Any:
        if self.blank is not None and self.blank[at]:
            return byte_of(f"{UNWRITTEN}{self.base:x}", at)
        return self.terms.get(at, self.data[at])

    def write(self, at: int, value: Any, count: int) -> None:
        if self.blank is not None:
            self.blank[at : at + count] = bytes(count)
        for i in range(count):
            byte = extract(value, 8 * i, 8)
            if isinstance(byte, int):
                self.data[at + i] = byte
                self.terms.pop(at + i, None)
            else:
                self.terms[at + i] = byte

    def places(self, offset: Any, count: int) -> range:
        """Offsets at which the access may be."""
        step = 1 << min(trailing_zeros(offset), 12)
        places = range(0, len(self.data) - count + 1, step)
        if len(places) > MAX_CHOICES:
            raise NoSemanticsError(f"an access at a symbolic offset of an object of {len(self.data)} bytes")
        return places

    def read_among(self, offset: Any, count: int) -> Any:
        places = self.places(offset, count)
        values = [self.read(place, count) for place in places]
        low = places.step.bit_length() - 1
        # A tree of choices by the bits of the offset. Positions past the end were proved impossible.
        for bit in range(low, 64):
            if len(values) == 1:
                break
            chosen = extract(offset, bit, 1)
            values.append(values[-1])
            values = [ite(chosen, values[i + 1], values[i], 8 * count) for i in range(0, len(values) - 1, 2)]
        return values[0]

    def write_among(self, offset: Any, value: Any, count: int) -> None:
        for place in self.places(offset, count):
            here = apply("=", 64, offset, place)
            self.write(place, ite(here, value, self.read(place, count), 8 * count), count)


class Memory:
    owners = 0

    def __init__(self) -> None:
        self.objects: dict[int, Object] = {}
        self.freed: set[int] = set()
        self.out_of_scope: dict[int, int] = {}
        """Sizes of local variables whose block has ended."""
        self.next = [0, 0, 0]
        self.owner = 0

    def copy(self) -> Memory:
        new = Memory()
        new.objects, new.freed, new.next = dict(self.objects), set(self.freed), list(self.next)
        new.out_of_scope = dict(self.out_of_scope)
        Memory.owners += 2
        new.owner, self.owner = Memory.owners, Memory.owners - 1
        return new

    def allocate(self, size: int, kind: str, is_blank: bool = False) -> int:
        region = next((i for i, (_, _, window) in enumerate(_REGIONS) if size <= 1 << (window - 1)), None)
        if region is None or size > 1 << 28:
            raise NoSemanticsError(f"an object of {size} bytes")
        start, _, window = _REGIONS[region]
        base = start + (self.next[region] << window) + (1 << (window - 2))
        self.next[region] += 1
        blank = bytearray(b"\1") * size if is_blank else None
        self.objects[base] = Object(base, kind, bytearray(size), owner=self.owner, blank=blank)
        return base

    def window(self, address: int) -> int | None:
        """Base of the object that has or had the address in its window."""
        for start, end, window in _REGIONS:
            if start <= address < end:
                return start + ((address - start) >> window << window) + (1 << (window - 2))
        return None

    def own(self, base: int) -> Object:
        """The object for writing."""
        found = self.objects[base]
        if found.owner != self.owner:
            blank = None if found.blank is None else bytearray(found.blank)
            data, terms = bytearray(found.data), dict(found.terms)
            found = Object(base, found.kind, data, terms, found.is_constant, self.owner, blank)
            self.objects[base] = found
        return found

    def set_scope(self, base: Any, begins: bool) -> None:
        """Begins the block of a local variable, or ends it."""
        found = self.objects.get(base)
        if found is not None and found.kind != "stack":
            return
        size = self.out_of_scope.pop(base, None) if found is None else len(found.data)
        if size is None:
            return
        self.objects.pop(base, None)
        if begins:
            self.objects[base] = Object(base, "stack", bytearray(size), owner=self.owner, blank=bytearray(b"\1") * size)
        else:
            self.out_of_scope[base] = size

    def remove(self, base: int) -> None:
        if self.out_of_scope.pop(base, None) is None and self.objects.pop(base).kind == "heap":
            self.freed.add(base)

    def was_allocated(self, base: int) -> bool:
        for region, (start, end, window) in enumerate(_REGIONS):
            if start <= base < end:
                return (base - start) >> window < self.next[region]
        return False

    def fault(self, address: int, verb: str) -> EndedError:
        """The bug of an access at this address."""
        if address < NULL_PAGE:
            return EndedError("null")
        base = self.window(address)
        if base is not None and base not in self.objects and self.was_allocated(base):
            return EndedError("use-after-free")
        return EndedError(f"out-of-bounds-{verb}")

    def at(self, address: int, count: int, verb: str) -> tuple[Object, int]:
        """Object and offset of an access, or its bug."""
        found = self.objects.get(self.window(address) or 0)
        if found is None or not 0 <= address - found.base <= len(found.data) - count:
            raise self.fault(address, verb)
        if verb == "write" and found.is_constant:
            raise EndedError("read-only-write")
        return found, address - found.base
