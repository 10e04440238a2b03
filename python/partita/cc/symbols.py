"""The names a bitcode file defines and needs, from the symbol table that LLVM writes behind the module.

Reading it takes a millisecond, LLVM itself would take hundreds. A bitcode file is a row of blocks, each with its length
in words; the table of symbols and the names are one blob each (LLVM's documentation: "LLVM Bitcode File Format"). The
table starts with its version, and we read that of the pinned compiler only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC = b"BC\xc0\xde"
_NAMES, _SYMBOLS = 23, 25
# The abbreviation "code 1, then a blob" is defined and used at once (24 bits).
_BLOB_FOLLOWS = 0x940312
_TABLE_VERSION = 3
# The version, then where these lie: the producer's name, modules, comdats, symbols.
_TABLE = struct.Struct("<I2I2I2I2I")
# Where its name lies, as linkers and as the module write it; its comdat; flags.
_SYMBOL = struct.Struct("<2I2III")
_UNDEFINED, _WEAK, _GLOBAL, _INTRINSIC = 1 << 3, 1 << 4, 1 << 10, 1 << 11


class Symbols(NamedTuple):
    defines: list[str]
    needs: list[str]


def symbols(bitcode: bytes) -> Symbols:
    """The global names of a bitcode file."""
    blobs = dict(_blobs(bitcode))
    names, table = blobs.get(_NAMES, b""), blobs.get(_SYMBOLS, b"")
    if len(table) < _TABLE.size:
        raise ValueError("expected bitcode with a table of symbols")
    version, *_, offset, count = _TABLE.unpack_from(table)
    if version != _TABLE_VERSION:
        raise ValueError(f"expected a table of symbols of version {_TABLE_VERSION}, found {version}")
    found = Symbols([], [])
    for at in range(offset, offset + count * _SYMBOL.size, _SYMBOL.size):
        start, size, *_, flags = _SYMBOL.unpack_from(table, at)
        if flags & _GLOBAL and not flags & _INTRINSIC:
            name = names[start : start + size].decode("utf-8", "surrogateescape")
            if not flags & _UNDEFINED:
                found.defines.append(name)
            elif not flags & _WEAK:
                found.needs.append(name)
    return found


def _blobs(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and blob of the blocks at the top that hold one."""
    if not data.startswith(_MAGIC):
        raise ValueError("expected bitcode")
    at = len(_MAGIC)
    while at + 8 <= len(data):
        # A block starts at a word: its mark (2 bits), number and width (variable), then its length in words.
        block, _ = _variable(int.from_bytes(data[at : at + 4], "little") >> 2, 8)
        (words,) = struct.unpack_from("<I", data, at + 4)
        body = data[at + 8 : at + 8 + 4 * words]
        if block in (_NAMES, _SYMBOLS):
            yield block, _blob(body)
        at += 8 + 4 * words


def _blob(body: bytes) -> bytes:
    """The one blob of a block: its length, and from the next whole word on its bytes."""
    start = int.from_bytes(body[:16], "little")
    if start & 0xFFFFFF != _BLOB_FOLLOWS:
        raise ValueError("expected a block with a blob")
    size, bits = _variable(start >> 24, 6)
    at = -(-(24 + bits) // 32) * 4
    return body[at : at + size]


def _variable(bits: int, width: int) -> tuple[int, int]:
    """A number in groups of bits of which the highest says whether another follows; and how many bits it has."""
    value, groups, more = 0, 0, 1 << (width - 1)
    while True:
        group = bits >> (groups * width)
        value |= (group & (more - 1)) << (groups * (width - 1))
        groups += 1
        if not group & more:
            return value, groups * width
