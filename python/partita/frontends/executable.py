"""Executables built with `partita cc`: the bitcode of the objects they were linked from."""

from __future__ import annotations

from partita.cc import elf, embedded
from partita.errors import UsageError

_ADVICE = 'build it with `partita cc`, such as ./configure CC="partita cc" && make'


def is_executable(data: bytes) -> bool:
    return elf.is_executable(data)


def bitcode_of(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """Source and bitcode of every object in an executable."""
    found = [(record.source, record.bitcode) for record in _records(name, data) if record.bitcode]
    if not found:
        raise UsageError(f"`{name}` has no bitcode, only machine code of {', '.join(_without(name, data))}")
    return found


def without_bitcode(name: str) -> list[str]:
    """Sources of which an executable has only machine code, each with the reason. Empty for other files."""
    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError:
        return []
    return _without(name, data) if is_executable(data) else []


def _without(name: str, data: bytes) -> list[str]:
    return [f"{record.source} ({record.why})" for record in _records(name, data) if not record.bitcode]


def _records(name: str, data: bytes) -> list[embedded.BitcodeRecord]:
    try:
        records = embedded.records(data)
    except (elf.ElfError, embedded.DamagedError) as error:
        raise UsageError(f"cannot read the bitcode embedded in `{name}`: {error}; link it again") from None
    if records is None:
        raise UsageError(f"`{name}` has no bitcode: {_ADVICE}")
    return records
