"""Archives of objects (`ar`): their members, and the members that bitcode needs although the linker did not take them.

The native compiler may inline a call or remove it as dead. The bitcode is not optimised and still has the call, so the
bitcode of an executable may need a member of an archive that the linker did not take. Members are selected by the
linker's rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from partita.cc import elf, embedded

_MAGIC, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60


def is_archive(data: bytes) -> bool:
    return data.startswith((_MAGIC, _THIN))


def members(path: str, data: bytes) -> Iterator[bytes]:
    """The contents of each member. The members of a thin archive are read from their files."""
    thin = data.startswith(_THIN)
    names = b""
    at = len(_MAGIC)
    while at + _HEADER <= len(data):
        name, size = data[at : at + 16].rstrip(), data[at + 48 : at + 58].strip()
        if not size.isdigit():
            return
        at += _HEADER
        contents = data[at : at + int(size)]
        if name == b"//":
            names = contents
        elif name not in (b"/", b"/SYM64/", b"__.SYMDEF"):
            if thin:
                start = int(name[1:]) if name[:1] == b"/" else 0
                file = names[start : names.index(b"/\n", start)] if name[:1] == b"/" else name.rstrip(b"/")
                contents = _read(os.path.join(os.fsencode(os.path.dirname(path)), file))
            yield contents
        if not thin or name in (b"/", b"//", b"/SYM64/"):
            at += int(size) + int(size) % 2


def _read(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # the linker has reported it


def records_needed(executable: bytes, archives: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Records of archive members that define symbols which the bitcode of an executable needs and lacks."""
    defined: set[str] = set()
    needed: set[str] = set()
    for record in embedded.split(elf.section(executable, embedded.SECTION) or b""):
        defined.update(record.defines)
        needed.update(record.needs)
    available = [
        record
        for path, data in archives
        for member in members(path, data)
        if elf.is_elf(member)
        for record in embedded.split(elf.section(member, embedded.SECTION) or b"")
    ]
    taken: list[bytes] = []
    progress = True
    while progress:
        progress = False
        for record in available:
            if any(name in needed and name not in defined for name in record.defines):
                taken.append(record.whole)
                defined.update(record.defines)
                needed.update(record.needs)
                progress = True
    return taken
