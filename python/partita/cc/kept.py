"""Bitcode kept in objects: what `partita cc` leaves and `partita run ./prog` finds (docs/formats.md describes it).

Each object has one record in a section of its own. Linkers join sections of one name, so an executable holds the
records of exactly the objects that went into it: archives, `ld -r` and moved files need nothing from us, and nothing
outside the executable has to stay where it was.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import NamedTuple

from partita.cc import elf

SECTION = ".partita_bc"
SCHEMA = 1
_MAGIC = b"PARTBC01"
_HEAD = struct.Struct("<8sIIII")
_SPEED = 3


class DamagedError(ValueError):
    """A section of kept bitcode that cannot be read."""


class Record(NamedTuple):
    """One source file: its bitcode, or why there is none."""

    source: str
    folder: str
    bitcode: bytes
    why: str = ""


def pack(record: Record) -> bytes:
    head = {"schema": SCHEMA, "source": record.source, "folder": record.folder, "why": record.why}
    text = json.dumps(head, separators=(",", ":")).encode()
    body = zlib.compress(record.bitcode, _SPEED) if record.bitcode else b""
    checksum = zlib.crc32(body, zlib.crc32(text))
    return _HEAD.pack(_MAGIC, len(text), len(body), len(record.bitcode), checksum) + text + body


def unpack(data: bytes) -> list[Record]:
    """The records of a section, which linkers may have padded with zeros between them."""
    records: list[Record] = []
    at = 0
    while True:
        while at < len(data) and data[at] == 0:
            at += 1
        if at == len(data):
            return records
        if len(data) - at < _HEAD.size or data[at : at + len(_MAGIC)] != _MAGIC:
            raise DamagedError(f"expected a record at offset {at}")
        _, text_size, body_size, size, checksum = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        text, body = data[at : at + text_size], data[at + text_size : at + text_size + body_size]
        at += text_size + body_size
        if len(text) + len(body) < text_size + body_size or zlib.crc32(body, zlib.crc32(text)) != checksum:
            raise DamagedError(f"the record that ends at offset {at} is not whole")
        head = json.loads(text)
        if head["schema"] > SCHEMA:
            raise DamagedError(f"it was written by a newer partita (schema {head['schema']}, known: {SCHEMA})")
        bitcode = zlib.decompress(body) if body else b""
        if len(bitcode) != size:
            raise DamagedError(f"the bitcode of {head['source']} is not whole")
        records.append(Record(head["source"], head["folder"], bitcode, head["why"]))


def add(path: str, record: Record) -> None:
    """Puts a record into an object file."""
    with open(path, "r+b") as file:
        whole = elf.add_section(file.read(), SECTION, pack(record))
        file.seek(0)
        file.write(whole)


def records(data: bytes) -> list[Record] | None:
    """The records in an ELF file, or None if it has none: it was not made by `partita cc`."""
    contents = elf.section(data, SECTION)
    return None if contents is None else unpack(contents)


def has_records(data: bytes) -> bool:
    """As `records`, quickly, for an object or an archive: without reading them."""
    return _MAGIC in data
