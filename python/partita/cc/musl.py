"""The C library of native programs: zig compiles its musl at the first link and caches it."""

from __future__ import annotations

import os
import subprocess
import sys

from partita.errors import UsageError
from partita.toolchain import TARGET, zig_dir

# Fixed flags for all objects: zig caches one musl per combination of flags.
LINKER = ("cc", "-target", TARGET, "-O0", "-g", "-fno-sanitize=all")


def prepare_musl() -> None:
    """Makes zig compile musl now, with a message, if it has not been compiled for this installation."""
    folder = _zig_cache()
    installation = str(zig_dir())
    stamp = os.path.join(folder, f"partita-musl-{_short_name(installation)}")
    if os.path.exists(stamp):
        return
    import fcntl
    import tempfile

    try:
        os.makedirs(folder, exist_ok=True)
        lock = os.open(stamp + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        why = f"{error.strerror}; set ZIG_GLOBAL_CACHE_DIR"
        raise UsageError(f"cannot write into zig's cache `{folder}`: {why}") from None
    with os.fdopen(lock), tempfile.TemporaryDirectory(prefix="partita-cc-") as made:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(stamp):
            return
        note = "partita: compiling musl for native programs, once for this installation (40 s on two cores)"
        print(note, file=sys.stderr, flush=True)
        source = os.path.join(made, "empty.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }\n")
        command = [str(zig_dir() / "zig"), *LINKER, source, "-o", os.path.join(made, "empty")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile musl:\n{done.stderr.rstrip()}")
        with open(stamp, "w") as file:
            file.write(installation + "\n")


def _short_name(text: str) -> str:
    import zlib

    return f"{zlib.crc32(text.encode()):08x}"


def _zig_cache() -> str:
    """The folder of zig's cache, by zig's rules."""
    found = os.environ.get("ZIG_GLOBAL_CACHE_DIR")
    if found:
        return found
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "zig")
