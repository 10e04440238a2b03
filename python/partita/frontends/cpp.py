"""C++ to bitcode: libc++ and libc++abi from the sources in the ziglang wheel, compiled once per installation.

The libraries are one bitcode file, linked with a program before code that `main` does not reach is removed. So only
what a program uses of them is lowered. Unwinding is ours (`runtime/cpp`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from partita.frontends import cache
from partita.frontends.bitcode import joined_bitcode
from partita.frontends.library import Library
from partita.toolchain import cpp_flags, cpp_include, driver, include_flags, runtime_include, zig_dir

_LIBRARY = Library("libc++", "the C++ library", "60 MB", "about two minutes")
# Its constructor, which every program that is linked with it calls, needs most of the library.
_STREAMS = "iostream"
_STREAM_NAMES = re.compile(rb"_ZNSt3__1\dw?(?:cin|cout|cerr|clog)E")
# Names in the bitcode of a program that needs the libraries.
_NEEDED = re.compile(rb"__gxx_personality_v0|__cxa_(?!thread_atexit_impl|atexit|finalize)|_ZNK?St|_Zn[aw]m|_Zd[al]Pv")
_FLAGS = (
    *("-std=c++23", "-O1", "-fno-stack-protector", "-gline-tables-only", "-w", "-fno-color-diagnostics"),
    *("-DNDEBUG", "-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-D_LIBCXXABI_BUILDING_LIBRARY"),
    *("-x", "c++", "-emit-llvm", "-c"),
)
# Not needed in a program for Linux, or replaced by `runtime/cpp`.
_LEFT_OUT = {"cxa_noexception", "cxa_personality", "abort_message", "verbose_abort", "legacy_pointer_safety"}
_LEFT_OUT |= {"new", "stdlib_new_delete"}
_FOLDERS = ("libcxx/src", "libcxx/src/filesystem", "libcxx/src/ryu", "libcxxabi/src")


ENTRIES = ("_Unwind_Resume",)
"""Functions that lowered code calls and that its bitcode does not name."""


def library_folders() -> tuple[str, ...]:
    """The folders of the libraries' sources and headers."""
    return (*(str(zig_dir() / "lib" / name) for name in ("libcxx", "libcxxabi")), str(_runtime()))


def libraries(program: Sequence[bytes]) -> list[tuple[str, bytes]]:
    """Names and bitcode of the libraries that a program in bitcode needs, from the cache or newly compiled."""
    if not any(map(_NEEDED.search, program)):
        return []
    status = (zig_dir() / "zig").stat()
    own_files = [*sorted(_runtime().glob("*.cpp")), cpp_include() / "__assertion_handler", Path(__file__)]
    ours = [cache.file_hash(str(path)) for path in own_files]
    found = []
    for name in ("libc++", *([_STREAMS] if any(map(_STREAM_NAMES.search, program)) else [])):
        sources = [path for path in _sources() if (path.stem == _STREAMS) == (name == _STREAMS)]
        key = cache.key_of([name, _FLAGS, cpp_flags(), ours, str(zig_dir()), status.st_size, status.st_mtime_ns])
        found.append((name, _LIBRARY.load(key, functools.partial(_build, sources))))
    return found


def _runtime() -> Path:
    return runtime_include().parent / "cpp"


def _sources() -> list[Path]:
    root = zig_dir() / "lib"
    own = sorted(_runtime().glob("*.cpp"))
    theirs = [path for folder in _FOLDERS for path in sorted((root / folder).glob("*.cpp"))]
    return own + [path for path in theirs if path.stem not in _LEFT_OUT]


def _build(sources: Sequence[Path]) -> bytes:
    root = zig_dir() / "lib"
    includes = [word for name in ("libcxx/src", "libcxxabi/src") for word in ("-I", str(root / name))]
    includes += ["-isystem", str(root / "libunwind" / "include")]
    command = [*driver(), *cpp_flags(), *_FLAGS, *includes, *include_flags()]
    return joined_bitcode(_LIBRARY.compile(sources, lambda _: command))
