"""Test files: `.ktest` files as KLEE writes them, the pack with the tests after the first 10,000, and `endings`.

`docs/formats.md` describes the pack and `endings`.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from partita.errors import UsageError

MAGIC = b"KTEST"
LEGACY_MAGIC = b"BOUT\n"
NEWEST_VERSION = 3
PACK_MAGIC = b"PARTPK01"


@dataclass(frozen=True)
class TestCase:
    """The inputs of one path, and its recorded ending (None: not recorded)."""

    __test__ = False  # not for pytest to collect

    name: str
    """Name of its file, or its number in the pack."""
    arguments: tuple[str, ...]
    """Arguments of the program, starting with its name."""
    objects: tuple[tuple[str, bytes], ...]
    """Name and bytes of each symbolic object, in the order of their creation."""
    ending: str | None = None


Test = TestCase


def parse(data: bytes, name: str, ending: str | None = None) -> Test:
    """Parses the bytes of a `.ktest` file."""
    at = len(MAGIC)
    if data[:at] not in (MAGIC, LEGACY_MAGIC):
        raise UsageError(f"expected a .ktest file, found `{name}`, which does not start with KTEST")

    def take(count: int) -> bytes:
        nonlocal at
        if at + count > len(data):
            raise UsageError(f"`{name}` ends early: expected {count} more bytes at offset {at}, found {len(data) - at}")
        at += count
        return data[at - count : at]

    def number() -> int:
        return int(struct.unpack(">I", take(4))[0])

    version = number()
    if version > NEWEST_VERSION:
        raise UsageError(f"expected .ktest version {NEWEST_VERSION} or older in `{name}`, found {version}")
    arguments = tuple(take(number()).decode("utf-8", "replace") for _ in range(number()))
    if version >= 2:
        take(8)
    objects = tuple((take(number()).decode("utf-8", "replace"), take(number())) for _ in range(number()))
    return Test(name, arguments, objects, ending)


def read(path: str | os.PathLike[str]) -> Test:
    """Reads one `.ktest` file, with its ending if the file is in the folder of a run."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read `{file}`: {error.strerror}") from None
    number = file.stem.removeprefix("test")
    return parse(data, str(file), endings(file.parent).get(number))


def endings(folder: Path) -> dict[str, str]:
    """Endings of the tests that are files, by the number in the file's name."""
    try:
        lines = (folder / "endings").read_text().splitlines()
    except OSError:
        return {}
    return dict(line.split(" ", 1) for line in lines if " " in line)


def read_folder(folder: str | os.PathLike[str]) -> Iterator[Test]:
    """Reads all tests of a run, in the order in which they were written."""
    directory = Path(folder)
    known = endings(directory)
    for file in sorted(directory.glob("test*.ktest")):
        yield parse(file.read_bytes(), file.name, known.get(file.stem.removeprefix("test")))
    pack = directory / "tests.pack"
    if pack.exists():
        yield from read_pack(pack)


def count_endings(folder: str | os.PathLike[str]) -> Counter[str]:
    """Number of tests by ending, without reading their inputs."""
    directory = Path(folder)
    known = endings(directory)
    numbers = (file.stem.removeprefix("test") for file in directory.glob("test*.ktest"))
    found = Counter(known.get(number, "ending not recorded") for number in numbers)
    pack = directory / "tests.pack"
    if pack.exists():
        found.update(_pack_endings(pack))
    return found


def _pack_endings(path: Path) -> Iterator[str]:
    data = path.read_bytes()
    if not data.startswith(PACK_MAGIC):
        raise UsageError(f"expected a pack of tests, found `{path}`, which does not start with PARTPK01")
    at, heads = len(PACK_MAGIC), struct.Struct(">IQH")
    while at + heads.size <= len(data):
        length, _, size = heads.unpack_from(data, at)
        if at + 4 + length > len(data):
            return
        yield data[at + heads.size : at + heads.size + size].decode()
        at += 4 + length


def read_pack(path: Path) -> Iterator[Test]:
    """Reads the tests of a pack. A killed run leaves an incomplete record at the end, which is skipped."""
    with path.open("rb") as file:
        if file.read(len(PACK_MAGIC)) != PACK_MAGIC:
            raise UsageError(f"expected a pack of tests, found `{path}`, which does not start with PARTPK01")
        while len(head := file.read(4)) == 4:
            (length,) = struct.unpack(">I", head)
            record = file.read(length)
            if len(record) < length:
                return
            body, checksum = record[:-4], struct.unpack(">I", record[-4:])[0]
            if zlib.crc32(body) != checksum:
                raise UsageError(f"`{path}` is damaged: the checksum of a record is wrong")
            number, size = struct.unpack(">QH", body[:10])
            yield parse(body[10 + size :], f"test{number:06}", body[10 : 10 + size].decode())
