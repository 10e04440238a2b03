"""Cache of lowered programs.

The key of an entry is a hash of the request (paths, flags, tools, the lowering code). The entry has the content hashes
of every file it was made from, including headers, and is valid only if none has changed. Entries are written to a
temporary name and renamed, so that concurrent processes see complete entries or none; a damaged one is replaced.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import struct
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from partita.toolchain import package_dir


def cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "partita"


filling_s = 0.0
"""Time that this process has spent on compiling libraries because they were not in the cache."""


@contextlib.contextmanager
def filling() -> Iterator[None]:
    """Counts the time of compiling a library."""
    global filling_s
    start = time.perf_counter()
    try:
        yield
    finally:
        filling_s += time.perf_counter() - start


def key_of(request: object) -> str:
    """The name of the entry for a request that JSON can express."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def file_hash(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


@functools.cache
def lowering_identity() -> list[str]:
    """Hashes of llvmlite's version file and of the lowering code: a change of either changes lowered programs."""
    sources = (
        "frontends/bitcode.py",
        "frontends/c.py",
        "folded.py",
        "frontends/executable.py",
        "frontends/rust.py",
        "toolchain.py",
    )
    package = Path(__file__).resolve().parent.parent
    files = [*(package / name for name in sources), *sorted(package.glob("llvm/*.py"))]
    files.append(package_dir("llvmlite") / "_version.py")
    return [file_hash(str(file)) or "" for file in files]


def lookup(key: str) -> bytes | None:
    """The program of a valid entry, or None."""
    try:
        raw = _entry(key).read_bytes()
    except OSError:
        return None
    head, _, program = raw.partition(b"\n")
    try:
        files: dict[str, str] = json.loads(head)
    except ValueError:
        return None
    if not isinstance(files, dict) or not has_valid_checksum(program):
        return None
    return program if all(file_hash(path) == found for path, found in files.items()) else None


def save(key: str, files: Iterable[str], program: bytes) -> None:
    """Writes an entry. Failures are ignored: the program is lowered again next time."""
    hashes = {path: file_hash(path) for path in files}
    if any(found is None for found in hashes.values()):
        return
    import tempfile  # not needed if the program is cached

    entry = _entry(key)
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=entry.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(hashes).encode() + b"\n" + program)
            os.replace(temporary, entry)
        except OSError:
            os.unlink(temporary)
    except OSError:
        return


def _entry(key: str) -> Path:
    return cache_dir() / "programs" / key[:2] / key[2:]


def has_valid_checksum(program: bytes) -> bool:
    """Whether the checksum in the header (see `llvm/write.py`) matches the contents."""
    return len(program) > 24 and struct.unpack_from("<I", program, 12)[0] == zlib.crc32(memoryview(program)[16:])
