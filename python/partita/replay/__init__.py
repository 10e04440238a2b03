"""Runs tests natively: compiles the program once; the program then forks one child process per test."""

from __future__ import annotations

import contextlib
import enum
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.cc.compile import native_command
from partita.cc.musl import link, names_mathematics
from partita.errors import UsageError
from partita.frontends.c import C_SOURCES, CPP_SOURCES, SOURCES, for_clang, renamed_builtins
from partita.frontends.compile_commands import flags_of
from partita.ktest import Test
from partita.options import ENVIRONMENT
from partita.toolchain import CPP_STANDARD, OLDER_C, is_narrow, runtime_include

_SIGNALS = {
    "assert": {signal.SIGABRT},
    "exception": {signal.SIGABRT},
    "panic": {signal.SIGABRT},
    "abort": {signal.SIGABRT, signal.SIGILL, signal.SIGTRAP, signal.SIGSEGV},
    "null": {signal.SIGSEGV, signal.SIGBUS},
    "division-by-zero": {signal.SIGFPE},
    "stack-overflow": {signal.SIGSEGV},
    "read-only-write": {signal.SIGSEGV},
    "non-termination": {signal.SIGALRM},
}
"""Signals of the bugs that a native run shows. Other bugs are undefined behaviour, which may have any effect."""

TRAPS = {signal.SIGILL, signal.SIGTRAP}
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, *TRAPS}
_MEMORY = frozenset(
    "out-of-bounds-read out-of-bounds-write use-after-free double-free invalid-free mismatched-free".split()
)
UNDEFINED = _MEMORY | set("overlap uninitialized-read overflow shift float-cast alignment bounds sanitizer".split())
"""Undefined behaviour: a native run need not show it, and one that crashes does."""
SANITIZERS: dict[str, tuple[str, ...]] = {
    "float-cast": ("-fsanitize=float-cast-overflow", "-fsanitize-trap=float-cast-overflow")
}
"""Flags with which our compiler makes a class of undefined behaviour end the program, always."""


_PLAIN = ("-O0", "-g")
_FAILING = ["-DPARTITA_FAILING"]
_ALLOCATORS = "malloc calloc realloc reallocarray aligned_alloc memalign valloc posix_memalign"
_FAILING_WRAPPED = [f"-Wl,--wrap={name}" for name in _ALLOCATORS.split()]


def flags_for(tests: Sequence[Test], *, musl: bool = True) -> list[str]:
    """Flags that the native program needs for these tests: with some, allocations fail (`--malloc-fails`)."""
    if not any(name == "malloc_fails" for test in tests for name, _ in test.objects):
        return []
    return _FAILING if musl else _FAILING_WRAPPED


class Verdict(enum.Enum):
    AS_PREDICTED = "as predicted"
    DIFFERENT = "different"
    UNDEFINED = "not observable natively"
    UNSTABLE = "not the same from run to run"


@dataclass(frozen=True)
class ReplayResult:
    """The native ending of a test, and whether it was predicted."""

    test: Test
    ending: str
    verdict: Verdict

    def __str__(self) -> str:
        predicted = self.test.ending or "not recorded"
        return f"{self.test.name}: {self.verdict.value}: {self.ending} (predicted: {predicted})"


@contextlib.contextmanager
def compile_native(programs: Sequence[str], *, cflags: Sequence[str] = ()) -> Iterator[Path]:
    """The program linked with the replay runtime, as an executable that exists within the `with`."""
    runtime = runtime_include().parent / "replay.c"
    with tempfile.TemporaryDirectory(prefix="partita-replay-") as folder:
        binary = Path(folder) / "program"
        cpp = any(name.endswith(CPP_SOURCES) for name in programs)
        renamed = [flag for name in programs if name.endswith(".c") for flag in renamed_builtins(name)]
        first = ["-w", *OLDER_C, *renamed, "-I", str(runtime_include()), *cflags]
        if any(map(_defines_error, programs)):
            weak = Path(folder) / "weak.h"
            weak.write_text("#pragma weak reach_error\n#pragma weak __VERIFIER_error\n")
            first += ["-include", str(weak), "-DOWN_ERROR"]
        if any(name.endswith(".i") for name in programs):
            # Names that are no macros any more.
            first += ["-Ulinux", "-Uunix", "-Ui386"]
        sources = [*(_as_source(name, Path(folder)) for name in programs), str(runtime)]
        flags = [*cflags, *(word for name in programs for word in flags_of(name))]
        narrow = is_narrow(flags) or any(map(_is_narrow_bitcode, programs))
        # Objects are linked with parts of musl; zig compiles and links other programs with one command.
        apart = cpp or not (narrow or _links(flags))
        if apart and not cpp:
            first = [*_PLAIN, *first]
        inputs = [_object(name, first, Path(folder) / f"{i}.o", apart=apart) for i, name in enumerate(sources)]
        words = [*([] if apart else first), *inputs, "-o", str(binary)]
        words = [word for word in words if word != "-m32"]
        done = link(words, mathematics=names_mathematics(programs, flags), cpp=cpp, narrow=narrow)
        if done.returncode != 0:
            raise UsageError(f"cannot compile {' '.join(programs)} natively:\n{done.stderr.rstrip()}")
        yield binary


_ERROR_DEFINITION = re.compile(
    rb"^[ \t]*(?:extern\s+)?void\s+(?:reach_error|__VERIFIER_error)\s*\([^;{}]*\)[^;{}]*\{", re.MULTILINE
)


def _defines_error(name: str) -> bool:
    """Does this source define the function that SV-COMP's tasks call on an error? Its body does not matter then."""
    return name.endswith(C_SOURCES) and _ERROR_DEFINITION.search(Path(name).read_bytes()) is not None


def _links(flags: Sequence[str]) -> bool:
    """Are there flags for the linker among these?"""
    return any(flag.startswith(("-l", "-L", "-Wl,")) for flag in flags)


def _as_source(name: str, folder: Path) -> str:
    """The file, or a copy with a suffix that zig knows if it is preprocessed C."""
    if not name.endswith(".i"):
        return name
    copy = folder / f"{Path(name).stem}.c"
    copy.write_bytes(for_clang(name))
    return str(copy)


def _is_narrow_bitcode(name: str) -> bool:
    """Is the file bitcode or LLVM text of a 32-bit program?"""
    if not name.endswith((".bc", ".ll")):
        return False
    from partita.frontends.bitcode import target_of
    from partita.llvm.target import is_narrow_target

    return is_narrow_target(target_of(name, Path(name).read_bytes()))


def _object(name: str, words: Sequence[str], output: Path, *, apart: bool) -> str:
    """The object of a source with flags of its own, or of any if `apart` (flags for C++ are errors for C)."""
    if not (apart and name.endswith(SOURCES)) and not flags_of(name):
        return name
    cpp = name.endswith(CPP_SOURCES)
    standard = [CPP_STANDARD] if cpp else []
    command = native_command([*standard, *words, *flags_of(name), "-c", name, "-o", str(output)], cpp=cpp)
    done = _run(command)
    if done.returncode != 0:
        raise UsageError(f"cannot compile {name} natively:\n{done.stderr.rstrip()}")
    return str(output)


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def replay(
    binary: Path,
    tests: Sequence[Test],
    *,
    timeout: int = 10,
    sanitized: bool = False,
    variables: Mapping[str, str] = ENVIRONMENT,
) -> list[ReplayResult]:
    """Runs every test in this environment. All tests must have the same program arguments."""
    if not tests:
        return []
    arguments = tests[0].arguments[1:]
    if any(test.arguments[1:] != arguments for test in tests):
        raise UsageError("expected tests with the same program arguments: replay them separately")
    with tempfile.TemporaryDirectory(prefix="partita-replay-") as folder:
        names = []
        for i, test in enumerate(tests):
            path = Path(folder) / f"{i}.ktest"
            path.write_bytes(to_bytes(test.objects))
            names.append(str(path))
        done = subprocess.run(
            [str(binary), *arguments],
            input="".join(f"{name}\n" for name in names),
            capture_output=True,
            text=True,
            check=False,
            env={**variables, "PARTITA_REPLAY_SECONDS": str(timeout)},
        )
    endings = done.stdout.splitlines()
    if len(endings) != len(tests):
        raise UsageError(f"the replayed program answered {len(endings)} of {len(tests)} tests: {done.stderr.strip()}")
    return [
        ReplayResult(test, ending, judge(test.ending, ending, sanitized=sanitized))
        for test, ending in zip(tests, endings, strict=True)
    ]


def to_bytes(objects: Sequence[tuple[str, bytes]]) -> bytes:
    """A `.ktest` of these objects, for the replay runtime."""

    def counted(data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + data

    body = b"".join(counted(name.encode()) + counted(data) for name, data in objects)
    return b"KTEST" + (3).to_bytes(4, "big") + bytes(12) + len(objects).to_bytes(4, "big") + body


def judge(predicted: str | None, ending: str, *, sanitized: bool = False) -> Verdict:
    """Compares a native ending (`exit N`, `signal N`, `diverged WHY`) with the prediction.

    `sanitized` if the program was compiled with the flags that `SANITIZERS` has for the prediction.
    """
    if predicted is None or predicted.startswith("limit") or predicted == "unsupported":
        return Verdict.UNDEFINED
    kind, _, number = ending.partition(" ")
    if predicted.startswith("exit"):
        # A signal that ends the program is predicted as the status that a shell shows.
        shown = f"exit {128 + int(number)}" if kind == "signal" else ending
        return Verdict.AS_PREDICTED if shown == predicted else Verdict.DIFFERENT
    if predicted == "overflow" and kind == "signal" and int(number) == signal.SIGFPE:
        # An overflow of a division. Other overflows wrap.
        return Verdict.AS_PREDICTED
    if predicted == "panic" and ending == "exit 101":
        # One that unwinds; with `panic=abort` it is a signal.
        return Verdict.AS_PREDICTED
    wanted = TRAPS if sanitized else _SIGNALS.get(predicted)
    if wanted is None and kind == "signal" and predicted in UNDEFINED:
        # The C library aborts where it finds its heap damaged.
        crashed = int(number) in _CRASHES or (predicted in _MEMORY and int(number) == signal.SIGABRT)
        return Verdict.AS_PREDICTED if crashed else Verdict.UNDEFINED
    if wanted is None:
        return Verdict.DIFFERENT if ending.startswith("diverged") else Verdict.UNDEFINED
    fits = kind == "signal" and int(number) in {int(s) for s in wanted}
    return Verdict.AS_PREDICTED if fits else Verdict.DIFFERENT
