"""Libraries that are compiled once per installation, from the sources in the ziglang wheel, and cached."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from partita.errors import UsageError
from partita.frontends import cache


class Library(NamedTuple):
    folder: str
    about: str
    size: str
    """How much space it needs."""
    time: str
    """How long it takes to compile."""

    def load(self, key: str, build: Callable[[], bytes]) -> bytes:
        """The library with this key, from the cache or newly built."""
        folder = cache.cache_dir() / self.folder
        entry = folder / key
        found = _read(entry)
        if found is not None:
            return found
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with self._locked(folder / "lock"):
                found = _read(entry)  # another process may have built it in the meantime
                if found is None:
                    with cache.filling():
                        found = build()
                        _save(entry, found)
                return found
        except OSError as error:
            raise UsageError(
                f"cannot save {self.about} in `{folder}`: {error.strerror}; it needs {self.size}: free some space, or"
                " choose another folder with XDG_CACHE_HOME"
            ) from None

    @contextlib.contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        """Holds a lock that excludes other processes. It is released when the process ends."""
        with open(path, "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(f"partita: another run is compiling {self.about}: waiting for it", file=sys.stderr)
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def compile(self, sources: Sequence[Path], command: Callable[[Path], list[str]]) -> list[tuple[str, bytes]]:
        """Name and bitcode of each source, compiled on all cores with the command for it."""
        with tempfile.TemporaryDirectory(prefix="partita-library-") as folder, self._progress(len(sources)) as advance:

            def compile_one(item: tuple[int, Path]) -> tuple[str, bytes]:
                number, source = item
                output = Path(folder) / f"{number}.bc"
                words = [*command(source), "-o", str(output), "--", str(source)]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise UsageError(f"cannot compile {self.about}: {done.stderr.rstrip() or source}")
                advance()
                data = output.read_bytes()
                output.unlink()
                return source.name, data

            with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
                return list(pool.map(compile_one, enumerate(sources)))

    @contextlib.contextmanager
    def _progress(self, total: int):  # type: ignore[no-untyped-def]
        """A progress bar on standard error if that is a terminal, otherwise one line."""
        if importlib.util.find_spec("rich") is None or not sys.stderr.isatty():
            print(f"partita: compiling {self.about}, once for this installation ({self.time})", file=sys.stderr)
            yield lambda: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(f"compiling {self.about}, once for this installation", total=total)
            yield lambda: bar.advance(task)


def _read(entry: Path) -> bytes | None:
    """The contents of an entry, which begins with their hash; None if it is damaged or not there."""
    try:
        data = entry.read_bytes()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def _save(entry: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=entry.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(temporary, entry)
    except OSError:
        os.unlink(temporary)
        raise
