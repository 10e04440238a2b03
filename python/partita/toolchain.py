"""The pinned compiler: clang from the ziglang wheel, with the wheel's musl headers.

The wheel of zig 0.14.1 has all C sources of musl. Later ones have `sin`, `floor`, `strcasecmp` and others in zig's own
language, which the executor cannot run.

`zig clang` is clang itself; `zig cc` would turn sanitizers on and lose its output when dependencies are requested.
"""

from __future__ import annotations

import importlib.util
import signal
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError

TARGET = "x86_64-linux-musl"
# Target of 32-bit programs, as clang and as zig name it. Arithmetic of float and double is that of SSE: the x87 unit
# would compute with more digits.
NARROW_TARGET, NARROW_ZIG_TARGET = "i386-linux-musl", "x86-linux-musl"
NARROW_FLAGS = ("-march=pentium4", "-msse2", "-mfpmath=sse")
# Packages that exploring needs and the solver does not, as in pyproject.toml: the compiler, and the reader of bitcode.
EXPLORING_PACKAGES = {"llvmlite": "'llvmlite>=0.46'", "ziglang": "ziglang==0.14.1"}
_LIBC_INCLUDES = ("x86_64-linux-musl", "generic-musl", "x86-linux-any", "any-linux-any")
_NARROW_LIBC_INCLUDES = ("x86-linux-musl", *_LIBC_INCLUDES[1:])
# -O0 without the attribute that forbids passes. Line tables only: debug records of variables would be a third of the
# text and are not read.
PLAIN = ("-O0", "-Xclang", "-disable-O0-optnone")
# Marks where the block of each local variable begins and ends, which -O0 alone does not.
SCOPES = ("-Xclang", "-fsanitize-address-use-after-scope")
# Calls of functions without a declaration, `main()` without its type, and conversions between integers and pointers:
# errors in clang, and what gcc accepted for decades. A function that nothing defines still ends its path.
OLDER_C = tuple(
    f"-Wno-{name}"
    for name in (
        *("implicit-function-declaration", "implicit-int", "int-conversion", "incompatible-function-pointer-types"),
        *("incompatible-pointer-types", "return-type", "return-mismatch"),
    )
)
TO_BITCODE = ("-gline-tables-only", "-fno-stack-protector", "-w", "-fno-color-diagnostics", "-emit-llvm", "-c")


# Names that gcc gives to generic builtin functions and clang does not know.
_OTHER_NAMES = tuple(
    f"-D__builtin_{name}{suffix}=__builtin_{name}" for name in ("isinf", "isnan", "isfinite") for suffix in "fl"
)


def how_it_ended(status: int) -> str:
    """The exit status of a tool that ended without a message, or the signal that ended it."""
    return f"was ended by a signal: {signal.strsignal(-status)}" if status < 0 else f"ended with status {status}"


def runtime_include() -> Path:
    """The folder of `klee/klee.h` and `partita.h`, in the package both installed and in a source checkout."""
    return Path(__file__).resolve().parent / "runtime" / "include"


def cpp_include() -> Path:
    """The folder of headers that replace some of libc++'s, and of `partita.hpp`."""
    return runtime_include().parent / "cpp" / "include"


def package_dir(name: str) -> Path:
    """The folder of one of `EXPLORING_PACKAGES`.

    Errors: `UsageError` with all of them that are not installed.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        missing = [text for each, text in EXPLORING_PACKAGES.items() if importlib.util.find_spec(each) is None]
        raise UsageError(f"exploring programs needs packages that are not installed: pip install {' '.join(missing)}")
    return Path(spec.submodule_search_locations[0])


def zig_dir() -> Path:
    return package_dir("ziglang")


def is_narrow(flags: Sequence[str]) -> bool:
    """Do these flags of the compiler make a 32-bit program?"""
    return next((flag == "-m32" for flag in reversed(flags) if flag in ("-m32", "-m64")), False)


def driver(clang: str | None = None, *, narrow: bool = False) -> list[str]:
    """The compiler command for our target, without include folders. Another clang keeps its own built-in headers."""
    command = [str(zig_dir() / "zig"), "clang", "-nostdinc"] if clang is None else [clang, "-nostdlibinc"]
    return [*command, "-target", *([NARROW_TARGET, *NARROW_FLAGS] if narrow else [TARGET])]


def include_flags(clang: str | None = None, *, narrow: bool = False) -> list[str]:
    """Flags for the include folders: ours, the compiler's own, musl's."""
    zig = zig_dir()
    names = _NARROW_LIBC_INCLUDES if narrow else _LIBC_INCLUDES
    headers = [zig / "lib" / "libc" / "include" / name for name in names]
    if clang is None:
        headers.insert(0, zig / "lib" / "include")
    return [word for directory in (runtime_include(), *headers) for word in ("-isystem", str(directory))]


# Misuse of containers and iterators ends the program: it is a bug that is found.
HARDENING = "-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE"
_LIBCPP = (
    *("-D_LIBCPP_HAS_MUSL_LIBC", "-D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS", "-D_LIBCPP_PSTL_BACKEND_SERIAL"),
    *("-D_LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS", "-D_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS"),
    *("-D_LIBCPP_ABI_VERSION=1", "-D_LIBCPP_ABI_NAMESPACE=__1"),
    HARDENING,
)


CPP_STANDARD = "-std=gnu++20"


def cpp_flags() -> list[str]:
    """Flags for C++: the headers of libc++, which come before those of C, and its configuration."""
    folders = [cpp_include(), *(zig_dir() / "lib" / name / "include" for name in ("libcxx", "libcxxabi"))]
    return [*_LIBCPP, *(word for folder in folders for word in ("-isystem", str(folder)))]


def compiler(clang: str | None, *, cpp: bool = False, narrow: bool = False) -> list[str]:
    own = cpp_flags() if cpp else ()
    return [*driver(clang, narrow=narrow), *own, *include_flags(clang, narrow=narrow), *_OTHER_NAMES]
