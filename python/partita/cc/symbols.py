"""The names that a bitcode file defines and needs, from the symbol table that LLVM writes after the module.

Reading the table takes a millisecond; loading LLVM would take hundreds. A bitcode file is a sequence of blocks, each
with its length in words. The symbol table and the string table are one blob each (LLVM's documentation: "LLVM Bitcode
File Format"). The table starts with its version; only the version of the pinned compiler is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC = b"BC\xc0\xde"
_NAMES, _SYMBOLS = 23, 25
# The abbreviation "code 1, then a blob" is defined and used immediately (24 bits).
_BLOB_FOLLOWS = 0x940312
_TABLE_VERSION = 3
# The version, then offset and size of each of: producer's name, modules, comdats, symbols.
_TABLE = struct.Struct("<I2I2I2I2I")
# Offset and size of the mangled name and of the name in the IR, comdat, flags.
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
    """Number and blob of the top-level blocks that have one."""
    if not data.startswith(_MAGIC):
        raise ValueError("expected bitcode")
    at = len(_MAGIC)
    while at + 8 <= len(data):
        # A block starts at a word boundary: tag (2 bits), number and width (VBR), then its length in words.
        block, _ = _variable(int.from_bytes(data[at : at + 4], "little") >> 2, 8)
        (words,) = struct.unpack_from("<I", data, at + 4)
        body = data[at + 8 : at + 8 + 4 * words]
        if block in (_NAMES, _SYMBOLS):
            yield block, _blob(body)
        at += 8 + 4 * words


def _blob(body: bytes) -> bytes:
    """The only blob of a block: its length, then its bytes from the next word boundary."""
    start = int.from_bytes(body[:16], "little")
    if start & 0xFFFFFF != _BLOB_FOLLOWS:
        raise ValueError("expected a block with a blob")
    size, bits = _variable(start >> 24, 6)
    at = -(-(24 + bits) // 32) * 4
    return body[at : at + size]


def _variable(bits: int, width: int) -> tuple[int, int]:
    """A number in VBR encoding, and the number of bits it occupies."""
    value, groups, more = 0, 0, 1 << (width - 1)
    while True:
        group = bits >> (groups * width)
        value |= (group & (more - 1)) << (groups * (width - 1))
        groups += 1
        if not group & more:
            return value, groups * width
