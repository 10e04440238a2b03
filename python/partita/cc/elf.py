"""Sections of ELF files, as far as embedded bitcode needs them: reads a section by name, adds a section to an object.

To add a section, its contents, a new table of names and a new table of section headers are appended to the file, and
the file's header is changed to refer to them. Existing contents do not move, so that no offset changes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_MAGIC = b"\x7fELF\x02\x01"
# Name, kind and binding, visibility, section, value, size.
_SYMBOL = struct.Struct("<IBBHQQ")
_PROGBITS = 1
_SYMBOL_TABLE = 2
_LOCAL, _WEAK = 0, 2
_ALIGNMENT = 8
# From this index on, counts and indices of sections are stored elsewhere. Compilers emit far fewer sections.
_FIRST_RESERVED_INDEX = 0xFF00


class ElfError(ValueError):
    """Not a 64-bit little-endian ELF file, or its tables are outside the file."""


class Section(NamedTuple):
    name: str
    offset: int
    size: int


class Symbols(NamedTuple):
    defines: set[str]
    needs: set[str]


def is_elf(data: bytes) -> bool:
    return data.startswith(_MAGIC)


def is_executable(data: bytes) -> bool:
    """Whether the file is an executable or a shared object, not an object file."""
    return is_elf(data) and len(data) >= _HEADER.size and _HEADER.unpack_from(data)[1] in (2, 3)


def sections(data: bytes) -> Iterator[Section]:
    """All sections. Only sections with program data have a size."""
    names, headers = _tables(data)
    for fields in headers:
        name, kind, offset, size = fields[0], fields[1], fields[4], fields[5]
        end = names.find(b"\0", name)
        yield Section(names[name:end].decode("latin-1"), offset, size if kind == _PROGBITS else 0)


def section(data: bytes, wanted: str) -> bytes | None:
    """The contents of the sections with this name, or None."""
    found = None
    for name, offset, size in sections(data):
        if name == wanted:
            if offset + size > len(data):
                raise ElfError(f"section {name} extends past the end of the file")
            found = (found or b"") + data[offset : offset + size]
    return found


def symbols(data: bytes) -> Symbols:
    """The global names that an object defines, weak ones too, and those that it needs."""
    _, headers = _tables(data)
    found = Symbols(set(), set())
    for fields in headers:
        kind, offset, size, names = fields[1], fields[4], fields[5], fields[6]
        if kind != _SYMBOL_TABLE or names >= len(headers) or offset + size > len(data):
            continue
        start = headers[names][4]
        for at in range(offset, offset + size, _SYMBOL.size):
            name, info, _, index, _, _ = _SYMBOL.unpack_from(data, at)
            binding = info >> 4
            if name and binding != _LOCAL:
                end = data.find(b"\0", start + name)
                text = data[start + name : end].decode("utf-8", "surrogateescape")
                if index != 0:
                    found.defines.add(text)
                elif binding != _WEAK:
                    found.needs.add(text)
    return found


def add_section(data: bytes, name: str, contents: bytes) -> bytes:
    """The file with an added section. It is not loaded, and linkers concatenate sections with the same name."""
    header = list(_HEADER.unpack_from(data)) if len(data) >= _HEADER.size else []
    names, headers = _tables(data)
    if len(headers) + 1 >= _FIRST_RESERVED_INDEX:
        raise ElfError(f"{len(headers)} sections are too many to add one")
    names_index = header[13]
    contents_offset = len(data)
    names_offset = contents_offset + len(contents)
    new_names = names + name.encode() + b"\0"
    table_offset = -(-(names_offset + len(new_names)) // _ALIGNMENT) * _ALIGNMENT
    headers[names_index][4:6] = [names_offset, len(new_names)]
    headers.append([len(names), _PROGBITS, 0, 0, contents_offset, len(contents), 0, 0, 1, 0])
    header[6], header[12] = table_offset, len(headers)
    parts = [
        _HEADER.pack(*header),
        data[_HEADER.size :],
        contents,
        new_names,
        bytes(table_offset - names_offset - len(new_names)),
        *(_SECTION.pack(*fields) for fields in headers),
    ]
    return b"".join(parts)


def _tables(data: bytes) -> tuple[bytes, list[list[int]]]:
    """The names of sections, and the fields of their headers."""
    if not is_elf(data) or len(data) < _HEADER.size:
        raise ElfError("expected a 64-bit little-endian ELF file")
    header = _HEADER.unpack_from(data)
    table, size, count, names_index = header[6], header[11], header[12], header[13]
    if count == 0 and table == 0:
        return b"", []
    if size != _SECTION.size or count == 0 or table + count * size > len(data) or names_index >= count:
        raise ElfError("the table of sections extends past the end of the file")
    headers = [list(_SECTION.unpack_from(data, table + i * size)) for i in range(count)]
    offset, length = headers[names_index][4:6]
    if offset + length > len(data):
        raise ElfError("the table of section names extends past the end of the file")
    return data[offset : offset + length], headers
