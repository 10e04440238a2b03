"""C and C++ to bitcode, with the pinned compiler (`toolchain.py`) or another clang."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from partita import folded
from partita.errors import UsageError
from partita.toolchain import (
    CPP_STANDARD,
    OLDER_C,
    PLAIN,
    SCOPES,
    TO_BITCODE,
    compiler,
    how_it_ended,
    is_narrow,
    runtime_include,
)

C_SOURCES = (".c", ".i")
CPP_SOURCES = (".cc", ".cpp", ".cxx", ".c++", ".cp", ".C", ".CPP", ".ii")
SOURCES = (*C_SOURCES, *CPP_SOURCES)
_PREPROCESSED = (".i", ".ii")
_OPTIMIZABLE = ("-O1", "-Xclang", "-disable-llvm-passes")
_MISSING_HEADER = re.compile(r"fatal error: '([^']+)' file not found")
_DEPENDENCY = re.compile(r"((?:\\.|\$\$|[^\s\\])+)")


class Compiled(NamedTuple):
    """The bitcode of one source file, and the files it depends on."""

    path: str
    bitcode: bytes
    dependencies: tuple[str, ...]


def check_flags(check: Sequence[str]) -> list[str]:
    """Flags for checks of which the compiler does a part: LLVM's shifts have no sign, its addresses no members."""
    flags = []
    if "shift" in check or "all" in check:
        flags.append("-fsanitize=shift")
    if "member" in check or "all" in check:
        header = runtime_include().parent / "member.h"
        flags += ["-fsanitize=array-bounds", "-fstrict-flex-arrays=2", "-include", str(header)]
    return flags


def names_as(names: Sequence[str], began_as: Sequence[str]) -> list[str]:
    """Flags that make `__FILE__` in sources what it was under other names."""
    moved = [(now, then) for now, then in zip(names, began_as, strict=False) if now != then and now.endswith(SOURCES)]
    return [f"-fmacro-prefix-map={now}={then}" for now, then in moved]


def compile_c(
    paths: Sequence[str], *, cflags: Sequence[str] = (), clang: str | None = None, optimize: bool = False
) -> list[Compiled]:
    """Compiles each file to bitcode.

    Errors: `UsageError` with the compiler's messages as printed.
    """
    words = [*(_OPTIMIZABLE if optimize else PLAIN), *TO_BITCODE, *cflags]

    narrow = is_narrow(cflags)
    is_program = SCOPES[-1] in cflags  # not of our own libraries

    def command(path: str) -> list[str]:
        if path.endswith(CPP_SOURCES):
            if narrow:
                raise UsageError(f"expected C for a 32-bit program, found C++ (`{path}`): leave out `-m32`")
            return [*compiler(clang, cpp=True), CPP_STANDARD, *words]
        return [*compiler(clang, narrow=narrow), *OLDER_C, *words]

    from concurrent.futures import ThreadPoolExecutor  # not needed if the program is cached

    with ThreadPoolExecutor(max_workers=max(1, min(len(paths), os.cpu_count() or 1))) as pool:
        return list(pool.map(lambda path: _compile(command(path), path, is_program=is_program), paths))


def _compile(command: list[str], path: str, *, is_program: bool) -> Compiled:
    if not is_program:
        return _compile_once(command, path)
    # Side by side: the second is to see whether operations on constants are folded that have to be checked.
    from concurrent.futures import ThreadPoolExecutor

    checked = [*command, *folded.flags(command)]
    with ThreadPoolExecutor(max_workers=1) as pool:
        as_text = pool.submit(_compile_once, [*checked, "-S"], path)
        compiled = _compile_once(command, path)
        text = as_text.result().bitcode.decode("utf-8", "replace")
    if not folded.has_checks(text):
        return compiled
    from partita.frontends.bitcode import bitcode_of, linked_text

    text = linked_text([(path, _compile_once(checked, path).bitcode)])
    return compiled._replace(bitcode=bitcode_of(folded.without_other_checks(text, command)))


# Types that gcc has as keywords, as clang names them.
_FLOAT_TYPES = {
    "_Float32": "float",
    "_Float64": "double",
    "_Float32x": "double",
    "_Float64x": "long double",
    "_Float128": "__float128",
}
_FLOAT_NAME = re.compile(r"\b_Float\d+x?\b")
_FLOAT_DEFINITION = re.compile(r"\btypedef\b[^;]*\b(_Float\d+x?)\s*;")
# gcc's attribute names the function that frees the memory.
_MALLOC_ATTRIBUTE = re.compile(r"\b__malloc__\s*\([^()]*\)")
_BUILTIN = re.compile(r"\b__builtin_(isinf|isnan|isfinite|signbit)[fl]\b")


# Sources made of the kernel define `__builtin_expect`, as gcc allows.
_BUILTIN_DEFINITION = re.compile(r"^\w[\w\s*]*?\b(__builtin_\w+)\s*\([^;{}]*\)\s*\{", re.MULTILINE)


def _own_builtins(text: str) -> list[str]:
    return sorted(set(_BUILTIN_DEFINITION.findall(text))) if "__builtin_" in text else []


def renamed_builtins(path: str) -> list[str]:
    """Flags that rename the builtin functions which a source defines."""
    try:
        text = Path(path).read_text("utf-8", "surrogateescape")
    except OSError:
        return []  # the compiler says so
    return [f"-D{name}=own{name}" for name in _own_builtins(text)]


def for_clang(path: str) -> bytes:
    """The text of a source that gcc has preprocessed, with clang's names for what only gcc knows. Lines stay."""
    text = Path(path).read_text("utf-8", "surrogateescape")
    defined = set(_FLOAT_DEFINITION.findall(text))
    text = _FLOAT_NAME.sub(
        lambda found: found[0] if found[0] in defined else _FLOAT_TYPES.get(found[0], found[0]), text
    )
    text = _MALLOC_ATTRIBUTE.sub("__malloc__", text)
    text = _BUILTIN.sub(r"__builtin_\1", text)
    for name in _own_builtins(text):
        text = re.sub(rf"\b{name}\b", f"own{name}", text)
    return f'# 1 "{path}"\n{text}'.encode("utf-8", "surrogateescape")


def _compile_once(command: list[str], path: str) -> Compiled:
    import subprocess
    import tempfile

    preprocessed = path.endswith(_PREPROCESSED)
    if preprocessed:
        # Clang would expand its predefined macros again.
        command = [*command, "-undef"]
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        rules = os.path.join(folder, "out.d")
        source = path
        if preprocessed:
            source = os.path.join(folder, "source" + os.path.splitext(path)[1])
            Path(source).write_bytes(for_clang(path))
        else:
            command = [*command, *renamed_builtins(path)]
        try:
            done = subprocess.run(
                [*command, "-MD", "-MF", rules, "-o", "-", "--", source], capture_output=True, check=False
            )
        except OSError as error:
            raise UsageError(f"cannot run the compiler `{command[0]}`: {error.strerror}; check --clang") from None
        if done.returncode != 0:
            text = done.stderr.decode("utf-8", "replace").rstrip()
            if missing := _MISSING_HEADER.search(text):
                made = ", which the project's `configure` or `cmake` makes" if missing[1].startswith("config") else ""
                text += (
                    f"\nsay where `{missing[1]}` is{made}: --cflags '-I FOLDER', or take the flags of a build from its"
                    " compile_commands.json: --project FOLDER"
                )
            raise UsageError(text or f"the compiler {how_it_ended(done.returncode)} on `{path}`, without a message")
        # A preprocessed source depends on nothing else, and has no rules.
        found = [path] if preprocessed else _dependencies(Path(rules).read_text("utf-8", "surrogateescape"))
    return Compiled(path, done.stdout, tuple(os.path.abspath(name) for name in found))


def _dependencies(rules: str) -> list[str]:
    """The prerequisites of a rule in make's syntax."""
    _, _, names = rules.replace("\\\n", " ").partition(": ")
    found = _DEPENDENCY.findall(names)
    return [re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in found]
