"""Bitcode embedded in objects: `partita cc` writes it, `partita run ./prog` reads it. docs/formats.md has the format.

Each object has one record in a separate section. Linkers concatenate sections with the same name, so an executable has
the records of exactly the objects it was linked from. Archives, `ld -r` and moved files need no special treatment, and
no file outside the executable is needed.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from partita.cc import elf
from partita.cc.symbols import Symbols, symbols

SECTION = ".partita_bc"
SCHEMA = 1
_MAGIC = b"PARTBC01"
_HEAD = struct.Struct("<8sIII")
_COMPRESSION_LEVEL = 3


class DamagedError(ValueError):
    """A section of embedded bitcode that cannot be read."""


class BitcodeRecord(NamedTuple):
    """One source file: its bitcode, or the reason why there is none."""

    source: str
    folder: str
    bitcode: bytes
    why: str = ""


class PackedRecord(NamedTuple):
    """A record as in the file, with compressed bitcode."""

    head: dict[str, Any]
    whole: bytes
    body: bytes

    @property
    def defines(self) -> list[str]:
        return cast("list[str]", self.head["defines"])

    @property
    def needs(self) -> list[str]:
        return cast("list[str]", self.head["needs"])


def pack(record: BitcodeRecord) -> bytes:
    names = symbols(record.bitcode) if record.bitcode else Symbols([], [])
    head = {"schema": SCHEMA, "source": record.source, "folder": record.folder, "why": record.why, **names._asdict()}
    text = json.dumps(head, separators=(",", ":")).encode()
    body = zlib.compress(record.bitcode, _COMPRESSION_LEVEL) if record.bitcode else b""
    checksum = zlib.crc32(body, zlib.crc32(text))
    return _HEAD.pack(_MAGIC, len(text), len(body), checksum) + text + body


def split(data: bytes) -> Iterator[PackedRecord]:
    """The records of a section. Linkers may have inserted zeros between them."""
    at = 0
    while True:
        while at < len(data) and data[at] == 0:
            at += 1
        if at == len(data):
            return
        start = at
        if len(data) - at < _HEAD.size or data[at : at + len(_MAGIC)] != _MAGIC:
            raise DamagedError(f"expected a record at offset {at}")
        _, text_size, body_size, checksum = _HEAD.unpack_from(data, at)
        at += _HEAD.size + text_size + body_size
        text = data[start + _HEAD.size : start + _HEAD.size + text_size]
        body = data[at - body_size : at]
        if at > len(data) or zlib.crc32(body, zlib.crc32(text)) != checksum:
            raise DamagedError(f"the record at offset {start} is truncated or damaged")
        head = json.loads(text)
        if head["schema"] > SCHEMA:
            raise DamagedError(f"it was written by a newer partita (schema {head['schema']}, known: {SCHEMA})")
        yield PackedRecord(head, data[start:at], body)


def records(data: bytes) -> list[BitcodeRecord] | None:
    """The records in an ELF file, or None if it was not made by `partita cc`."""
    contents = elf.section(data, SECTION)
    if contents is None:
        return None
    return [
        BitcodeRecord(head["source"], head["folder"], zlib.decompress(body) if body else b"", head["why"])
        for head, _, body in split(contents)
    ]


def add(path: str, contents: bytes) -> None:
    """Adds packed records to an object or executable."""
    with open(path, "r+b") as file:
        whole = elf.add_section(file.read(), SECTION, contents)
        file.seek(0)
        file.write(whole)


def has_records(data: bytes) -> bool:
    """Whether an object or archive has records. Fast: it does not parse them."""
    return _MAGIC in data
