"""Archives of objects (`ar`): their members, and those that bitcode needs beyond what the linker took.

Natively a call can vanish: inlined, or proved dead. The bitcode is not optimised and still has it, so an executable's
bitcode may need a member of an archive that the linker had no reason to take. It is found here, by the linker's rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from partita.cc import elf, kept

_MAGIC, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60


def is_archive(data: bytes) -> bool:
    return data.startswith((_MAGIC, _THIN))


def members(path: str, data: bytes) -> Iterator[bytes]:
    """The contents of each member; a thin archive only names its files."""
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
        return b""  # the linker has said so


def records_needed(executable: bytes, archives: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Records of members that the bitcode in an executable needs and does not have."""
    defined: set[str] = set()
    needed: set[str] = set()
    for record in kept.split(elf.section(executable, kept.SECTION) or b""):
        defined.update(record.defines)
        needed.update(record.needs)
    left = [
        record
        for path, data in archives
        for member in members(path, data)
        if elf.is_elf(member)
        for record in kept.split(elf.section(member, kept.SECTION) or b"")
    ]
    taken: list[bytes] = []
    progress = True
    while progress:
        progress = False
        for record in left:
            if any(name in needed and name not in defined for name in record.defines):
                taken.append(record.whole)
                defined.update(record.defines)
                needed.update(record.needs)
                progress = True
    return taken
