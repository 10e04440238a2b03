"""musl as a lowered program, built once per installation from the sources in the ziglang wheel, and cached.

Each C file of musl is compiled to bitcode. Our headers replace those with machine code (`runtime/musl/include`), and
our C files replace a few of musl's. LLVM links the bitcode and `partita.llvm` lowers it. The result is one library; a
run links the functions that the program reaches (`core/src/program/link.rs`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from partita.frontends import cache
from partita.frontends.bitcode import module_text
from partita.frontends.library import Library
from partita.frontends.musl_files import index, index_path, needed
from partita.toolchain import TARGET, driver, include_flags, runtime_include, zig_dir

_MUSL = Library("libc", "the C library", "10 MB", "about a minute")
_PARTS = Library("libc", "what the program needs of the C library", "10 MB", "some seconds")
# Prefix of the names of our own files.
_OURS = "partita/"
_FLAGS = (
    *("-std=c99", "-ffreestanding", "-fno-builtin", "-D_XOPEN_SOURCE=700", "-DPARTITA_MUSL"),
    *("-O1", "-fno-stack-protector", "-gline-tables-only", "-w", "-fno-color-diagnostics", "-c"),
)
_FOLDERS = (
    "complex conf crypt ctype dirent env errno exit fcntl fenv internal ipc legacy linux locale math misc mman mq"
    " multibyte network passwd prng process regex sched search select signal stat stdio stdlib string temp termios"
    " thread time unistd"
).split()
# If __GNUC__ is defined, musl's string functions read whole words, past the end of their arguments.
_BYTEWISE_FLAGS = ("-U__GNUC__",)
# Functions that the executor has as operators, each for double, float and long double.
_OPERATORS = (
    "ceil copysign fabs floor fma fmax fmin fmod llrint llround lrint lround nearbyint remainder rint round sqrt trunc"
).split()
# Files that `runtime` or the executor replaces: start and end of processes and threads, copying and comparing bytes,
# the floating-point environment.
_REPLACED = frozenset(
    (
        "env/__libc_start_main env/__init_tls env/__reset_tls env/__stack_chk_fail internal/vdso exit/exit exit/_Exit"
        " exit/abort exit/atexit exit/assert unistd/_exit thread/clone thread/__unmapself thread/pthread_cancel"
        " thread/synccall thread/pthread_cond_wait thread/cnd_wait"
        " string/memcpy string/memmove string/mempcpy string/memset string/bzero string/memcmp string/strlen"
        " string/strnlen string/strcmp string/strncmp fenv/fenv fenv/fesetround fenv/feholdexcept fenv/feupdateenv"
        " fenv/fegetexceptflag fenv/fesetexceptflag stdlib/strtod"
    ).split()
) | {f"math/{name}{suffix}" for name in _OPERATORS for suffix in ("", "f", "l")}

# 32-bit programs call functions with a time of 64 bits by names of their own; the index has those of x86-64.
_TIME64 = re.compile(r"__(\w+?)(?:_time)?64")
# `process.c` has it for 32-bit programs: the kernel model has the numbers of x86-64.
_REPLACED_NARROW = frozenset(("misc/syscall.c",))


def public_names() -> frozenset[str]:
    """The names that musl exports, from the list in the ziglang wheel, so that musl need not be built."""
    text = (zig_dir() / "lib" / "libc" / "musl" / "libc.S").read_text()
    words = (line.split() for line in text.splitlines() if line.startswith((".globl ", ".weak ", "WEAK")))
    return frozenset(found[1] for found in words)


def stdio_names() -> frozenset[str]:
    """The functions and variables of <stdio.h>, under all the names that musl's files define, glibc's among them."""
    return frozenset(name for file, row in index().items() if file.startswith("stdio/") for name in row.defines)


def musl(names: Iterable[str] | None = None, *, narrow: bool = False) -> bytes:
    """The serialised library, from the cache or newly built: all of it, or what is needed for these names; `narrow` for
    32-bit programs.

    Files that define a name strongly replace weak definitions, as in an archive, so that a program must not get more
    files because they are there.
    """
    identity = {"flags": [_FLAGS, _BYTEWISE_FLAGS, narrow], "sources": _identity()}
    if names is None:
        return _MUSL.load(cache.key_of(identity), lambda: _build(all_files(), narrow))
    if narrow:
        names = [*names, *(word for name in names if (found := _TIME64.fullmatch(name)) for word in found.groups())]
    files = needed(names, always=[name for name in all_files() if name.startswith(_OURS)])
    return _PARTS.load(cache.key_of({**identity, "files": files}), lambda: _build(files, narrow))


def _identity() -> list[object]:
    zig = zig_dir()
    status = (zig / "zig").stat()
    our_files = sorted([*_overrides().glob("*.c"), *_overrides().glob("include*/**/*.h")])
    hashes = [cache.file_hash(str(path)) for path in [*our_files, index_path(), Path(__file__)]]
    return [str(zig), status.st_size, status.st_mtime_ns, hashes, cache.lowering_identity()]


def _overrides() -> Path:
    return runtime_include().parent / "musl"


def all_files() -> list[str]:
    """Names of all files: ours, then those of musl as `folder/name.c`."""
    root = _root()
    musl_files = [
        f"{folder}/{path.name}"
        for folder in _FOLDERS
        for path in sorted((root / folder).glob("*.c"))
        if f"{folder}/{path.stem}" not in _REPLACED
    ]
    return [*(f"{_OURS}{path.name}" for path in sorted(_overrides().glob("*.c"))), *musl_files]


def _root() -> Path:
    return zig_dir() / "lib" / "libc" / "musl" / "src"


def _path(name: str) -> Path:
    return _overrides() / name.removeprefix(_OURS) if name.startswith(_OURS) else _root() / name


def compile_command(*headers: Path, narrow: bool = False) -> list[str]:
    """The command that compiles a file of musl natively; `headers` are folders that replace some of musl's headers."""
    root = zig_dir() / "lib" / "libc" / "musl"
    machine = "arch/i386" if narrow else "arch/x86_64"
    folders = (root / name for name in f"{machine} arch/generic src/include src/internal include".split())
    command = [*driver(narrow=narrow), *_FLAGS]
    for path in (*headers, *folders):
        command += ["-I", str(path)]
    return [*command, *include_flags(narrow=narrow)]


def narrow_flags() -> list[str]:
    """Flags for what calls or is the kernel model, in 32-bit programs: headers with the numbers of system calls."""
    numbers = zig_dir() / "lib" / "libc" / "include" / TARGET / "bits" / "syscall.h"
    return ["-I", str(_overrides() / "include32"), f'-DPARTITA_SYSCALLS="{numbers}"']


def compiled(files: Sequence[str], *, narrow: bool = False) -> list[tuple[str, bytes]]:
    """Name and bitcode of each file."""
    command = [*compile_command(_overrides() / "include", narrow=narrow), "-emit-llvm"]
    if narrow:
        at = len(driver(narrow=True))
        command = [*command[:at], *narrow_flags(), *command[at:]]

    def of_source(source: Path) -> list[str]:
        return [*command, *(_BYTEWISE_FLAGS if source.parent.name == "string" else ())]

    library = _MUSL if len(files) == len(all_files()) else _PARTS
    found = library.compile([_path(name) for name in files], of_source)
    return [(name, data) for name, (_, data) in zip(files, found, strict=True)]


def _build(files: Sequence[str], narrow: bool) -> bytes:
    from partita.llvm import lower

    kept = [name for name in files if not (narrow and name in _REPLACED_NARROW)]
    text = module_text(compiled(kept, narrow=narrow), entry=None)
    # The blocks of the library's own variables need no check.
    return lower(re.sub(r"^  call void @llvm\.lifetime\.[^\n]*\n", "", text, flags=re.M))
