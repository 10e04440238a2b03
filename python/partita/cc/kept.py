"""Bitcode kept in objects: what `partita cc` leaves and `partita run ./prog` finds (docs/formats.md describes it).

Each object has one record in a section of its own. Linkers join sections of one name, so an executable holds the
records of exactly the objects that went into it: archives, `ld -r` and moved files need nothing from us, and nothing
outside the executable has to stay where it was.
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
_SPEED = 3


class DamagedError(ValueError):
    """A section of kept bitcode that cannot be read."""


class Record(NamedTuple):
    """One source file: its bitcode, or why there is none."""

    source: str
    folder: str
    bitcode: bytes
    why: str = ""


class Packed(NamedTuple):
    """A record as it stands in the file, its bitcode still compressed."""

    head: dict[str, Any]
    whole: bytes
    body: bytes

    @property
    def defines(self) -> list[str]:
        return cast("list[str]", self.head["defines"])

    @property
    def needs(self) -> list[str]:
        return cast("list[str]", self.head["needs"])


def pack(record: Record) -> bytes:
    names = symbols(record.bitcode) if record.bitcode else Symbols([], [])
    head = {"schema": SCHEMA, "source": record.source, "folder": record.folder, "why": record.why, **names._asdict()}
    text = json.dumps(head, separators=(",", ":")).encode()
    body = zlib.compress(record.bitcode, _SPEED) if record.bitcode else b""
    checksum = zlib.crc32(body, zlib.crc32(text))
    return _HEAD.pack(_MAGIC, len(text), len(body), checksum) + text + body


def split(data: bytes) -> Iterator[Packed]:
    """The records of a section, which linkers may have padded with zeros between them."""
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
            raise DamagedError(f"the record at offset {start} is not whole")
        head = json.loads(text)
        if head["schema"] > SCHEMA:
            raise DamagedError(f"it was written by a newer partita (schema {head['schema']}, known: {SCHEMA})")
        yield Packed(head, data[start:at], body)


def records(data: bytes) -> list[Record] | None:
    """The records in an ELF file, or None if it has none: it was not made by `partita cc`."""
    contents = elf.section(data, SECTION)
    if contents is None:
        return None
    return [
        Record(head["source"], head["folder"], zlib.decompress(body) if body else b"", head["why"])
        for head, _, body in split(contents)
    ]


def add(path: str, contents: bytes) -> None:
    """Puts packed records into an object or executable."""
    with open(path, "r+b") as file:
        whole = elf.add_section(file.read(), SECTION, contents)
        file.seek(0)
        file.write(whole)


def has_records(data: bytes) -> bool:
    """As `records`, quickly, for an object or an archive: without reading them."""
    return _MAGIC in data
