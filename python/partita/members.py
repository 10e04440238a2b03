"""Names of places in objects: `table[2].tag[8]` for an offset in `struct item table[3]`.

An offset behind the end of an object has several names (`table[3].id` is as far from the start): only those whose
member has the size of the access count, and of several the one whose members the source line names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from partita.entry.debug_info import Array, Pointer, Record, Scalar, Type, size_of


def place(name: str, type_: Type | None, offset: int, count: int, source: str = "") -> str | None:
    """The place of `count` bytes at an offset of the object `name`; None if there is none, or not only one."""
    if type_ is None:
        return None
    inside = offset >= 0 and offset + count <= size_of(type_)
    found = dict.fromkeys(_inside(type_, offset, count) if inside else _outside(type_, offset, count))
    if len(found) > 1:
        found = dict.fromkeys(path for path in found if _is_named(path, source))
    return name + next(iter(found)) if len(found) == 1 else None


def _is_named(path: str, source: str) -> bool:
    return all(re.search(rf"(?:\.|->)\s*{re.escape(member)}\b", source) for member in re.findall(r"\.(\w+)", path))


def has_members(type_: Type | None) -> bool:
    """Is it a structure, or an array of structures?"""
    return has_members(type_.element) if isinstance(type_, Array) else isinstance(type_, Record)


def _inside(type_: Type, offset: int, count: int) -> Iterator[str]:
    match type_:
        case Scalar() | Pointer():
            if offset == 0 and size_of(type_) == count:
                yield ""
        case Array(element=element) if size := size_of(element):
            for path in _inside(element, offset % size, count):
                yield f"[{offset // size}]{path}"
        case Record(members=members):
            for member in members:
                if member.name and member.offset <= offset < member.offset + size_of(member.type):
                    for path in _inside(member.type, offset - member.offset, count):
                        yield f".{member.name}{path}"


def _outside(type_: Type, offset: int, count: int) -> Iterator[str]:
    """Places before the start of an array or behind it, also of the last array inside."""
    match type_:
        case Array(element=element, count=elements) if size := size_of(element):
            yield from _inside(type_, offset, count)
            for path in _outside(element, offset - size * (elements - 1), count) if elements else ():
                yield f"[{elements - 1}]{path}"
        case Record(members=members):
            for member in members:
                if member.name and offset >= member.offset + size_of(member.type):
                    for path in _outside(member.type, offset - member.offset, count):
                        yield f".{member.name}{path}"
