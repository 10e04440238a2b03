"""Links native programs with the files of musl that they need, which are compiled when a program first needs them.

zig compiles all of musl, its runtime library and that of UBSan when it first links: 40 s of processor time. A program
needs about a tenth of musl. An index in the package (`runtime/musl/native.txt`, made as `frontends/musl_files.py`
describes) has the names that each file defines and needs. The linker takes from the files what it wants, as from an
archive. If a name stays undefined (`__udivti3`, or one of another library), zig links.

Files are those of musl's own build for x86-64, machine code included, but for mathematics: there they are the C files
that the executor runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.toolchain import runtime_include, zig_dir

_START = "crt/crt1.c"
# Our own files, by their places in `runtime`.
_OURS = ("partita/copy.c", "partita/lib/complex.c")
# Parts of musl that are no libraries of their own.
_OWN_LIBRARIES = frozenset(f"-l{name}" for name in "c m pthread rt dl util crypt resolv xnet".split())
# Files that are compiled without a word: configure scripts take any output of a compiler for a warning.
_MAX_UNSAID = 32
_MATH_FOLDERS = ("math", "complex")


def index_path() -> Path:
    return runtime_include().parent / "musl" / "native.txt"


def _root() -> Path:
    return zig_dir() / "lib" / "libc" / "musl"


def all_files() -> list[str]:
    """Names of all files, as `src/stdio/printf.c`, in the order of musl's own archive."""
    root = _root()
    found = {}
    for path in sorted((root / "src").rglob("*.c")):
        folder = path.parent.relative_to(root / "src")
        if len(folder.parts) == 1 or str(folder) == "malloc/mallocng":
            found[path.with_suffix("").relative_to(root)] = path.relative_to(root)
    for suffix in ("c", "s"):
        for path in sorted((root / "src").glob(f"*/x86_64/*.{suffix}")):
            if path.parent.parent.name not in _MATH_FOLDERS:
                plain = path.parent.parent / path.stem
                found[plain.relative_to(root)] = path.relative_to(root)
    return [_START, *(str(found[name]) for name in sorted(found)), *_OURS]


def _path(name: str) -> Path:
    ours = name.removeprefix("partita/")
    return runtime_include().parent / ours if ours != name else _root() / name


def link(words: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Links objects and archives. None if a word is not known here, or if a name is undefined: zig is to link."""
    kept = [word for word in words if word not in _OWN_LIBRARIES and word not in ("-static", "-pthread", "-g")]
    inputs, rest = [], iter(kept)
    for word in rest:
        if word == "-o":
            next(rest, None)
        elif word.endswith((".o", ".a")) and not word.startswith("-") and os.path.exists(word):
            inputs.append(word)
        else:
            return None
    start, *others = _compiled(_needed(_undefined(inputs)))
    command = [str(zig_dir() / "zig"), "ld.lld", "-static", "--eh-frame-hdr", "-z", "noexecstack", start, *kept]
    done = subprocess.run([*command, "--start-lib", *others, "--end-lib"], capture_output=True, text=True, check=False)
    return None if "undefined symbol" in done.stderr else done


def prepare() -> None:
    """Compiles what most programs and the runtime of replay need, if this installation does not have it yet."""
    names = "printf malloc free exit fopen fread snprintf strtol qsort mmap fork waitpid signal time".split()
    _compiled(_needed(names))


def _undefined(inputs: Iterable[str]) -> set[str]:
    """Names that objects or members of archives need."""
    from partita.cc import elf
    from partita.cc.archive import is_archive, members

    found: set[str] = set()
    for name in inputs:
        data = Path(name).read_bytes()
        for part in members(name, data) if is_archive(data) else [data]:
            if elf.is_elf(part):
                found.update(elf.symbols(part).needs)
    return found


def _needed(names: Iterable[str]) -> list[str]:
    from partita.frontends.musl_files import needed, rows_of

    return needed(names, [_START], rows_of(index_path()))


def _compiled(files: Sequence[str]) -> list[str]:
    """The objects of these files, from the cache or newly compiled."""
    from partita.cc.musl import locked, zig_cache

    status = (zig_dir() / "zig").stat()
    ours = zlib.crc32(b"".join(_path(name).read_bytes() for name in _OURS))
    folder = os.path.join(zig_cache(), f"partita-parts-{status.st_size:x}-{status.st_mtime_ns:x}-{ours:08x}")
    objects = [os.path.join(folder, name.replace("/", "-") + ".o") for name in files]
    if all(map(os.path.exists, objects)):
        return objects
    with locked(os.path.join(folder, "lock")):
        missing = [(name, made) for name, made in zip(files, objects, strict=True) if not os.path.exists(made)]
        if len(missing) > _MAX_UNSAID:
            about = "what the program needs of musl, for native programs"
            print(f"partita: compiling {about}, once for this installation (some seconds)", file=sys.stderr, flush=True)
        compile_files(missing)
    return objects


def compile_files(files: Sequence[tuple[str, str]]) -> None:
    """Compiles files into the objects beside them, which appear when they are complete."""
    from concurrent.futures import ThreadPoolExecutor

    from partita.frontends.musl import compile_command

    command = compile_command()

    def compile_one(item: tuple[str, str]) -> None:
        name, made = item
        words = [*command, "-o", f"{made}.new", "--", str(_path(name))]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise UsageError(f"cannot compile {name} of musl:\n{done.stderr.rstrip()}")
        os.replace(f"{made}.new", made)

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(compile_one, files))


def main() -> None:
    """Prints the index anew."""
    import tempfile

    from partita.cc import elf

    with tempfile.TemporaryDirectory(prefix="partita-parts-") as folder:
        items = [(name, os.path.join(folder, f"{i}.o")) for i, name in enumerate(all_files())]
        compile_files(items)
        for name, made in items:
            found = elf.symbols(Path(made).read_bytes())
            print(f"{name}: {' '.join(sorted(found.defines))} < {' '.join(sorted(found.needs))}")


if __name__ == "__main__":
    main()
