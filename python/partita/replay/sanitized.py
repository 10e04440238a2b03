"""Tests of bugs that a plain native run does not show, with sanitizers.

gcc or clang of the machine, whichever is found first with a working AddressSanitizer, compiles the program with the
address and undefined-behaviour sanitizers. A report of one of them confirms the bug, and the message says which one it
was. What is left, or all without such a compiler, runs with the undefined-behaviour sanitizer of our own one (zig),
which has no library for reports: a check that fails ends the program.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from partita.frontends.compile_commands import flags_of
from partita.ktest import Test
from partita.options import ENVIRONMENT
from partita.replay import TRAPS, UNDEFINED, ReplayResult, Verdict, compile_native, flags_for, replay, to_bytes
from partita.toolchain import OLDER_C, runtime_include

COMPILERS = ("gcc", "clang")
FLAGS = ("-g", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
CLASSES = frozenset(
    """out-of-bounds-read out-of-bounds-write use-after-free double-free invalid-free mismatched-free read-only-write
    overflow shift bounds sanitizer float-cast null overlap alignment""".split()
)
"""Classes that these sanitizers report."""
TRAPPING = {
    "overflow": "signed-integer-overflow",
    "shift": "shift",
    "alignment": "alignment",
    "bounds": "array-bounds",
    "out-of-bounds-read": "array-bounds",
    "out-of-bounds-write": "array-bounds",
    "null": "null",
    "sanitizer": "undefined",
}
"""Checks of our compiler's sanitizer that show a class."""
_OPTIONS = {
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=0:halt_on_error=1",
}
_ADDRESS = re.compile(r"ERROR: AddressSanitizer: ([\w-]+)")
_UNDEFINED = re.compile(r"runtime error: (.+)")


@functools.cache
def find_compiler() -> str | None:
    """A compiler on the path whose AddressSanitizer works; None without one."""
    with tempfile.TemporaryDirectory(prefix="partita-asan-") as folder:
        source = Path(folder) / "check.c"
        source.write_text("int main(void) { return 0; }\n")
        for name in COMPILERS:
            path = shutil.which(name)
            if path is None:
                continue
            binary = str(Path(folder) / "check")
            done = subprocess.run([path, *FLAGS, str(source), "-o", binary], capture_output=True, check=False)
            if done.returncode == 0 and subprocess.run([binary], capture_output=True, check=False).returncode == 0:
                return path
    return None


def confirm(
    programs: Sequence[str], results: Sequence[ReplayResult], *, cflags: Sequence[str] = (), timeout: int = 10
) -> list[ReplayResult]:
    """The results, with those replaced that were not observable natively and that a sanitizer reports.

    Programs whose inputs are arguments and files are left as they are.
    """
    from partita.replay.environment import uses_environment

    wanted = [
        i
        for i, result in enumerate(results)
        if result.test.ending in CLASSES and _is_vague(result) and not uses_environment(result.test)
    ]
    found = list(results)
    compiler = find_compiler() if wanted else None
    if compiler is not None:
        _confirm_by(compiler, programs, found, wanted, cflags, timeout)
    left = [i for i in wanted if found[i].verdict is Verdict.UNDEFINED]
    for check in dict.fromkeys(TRAPPING[found[i].test.ending or ""] for i in left if found[i].test.ending in TRAPPING):
        _confirm_by_traps(check, programs, found, left, cflags, timeout)
    return found


def _is_vague(result: ReplayResult) -> bool:
    """Did the native run show nothing, or a crash that may have any cause?"""
    crashed = result.verdict is Verdict.AS_PREDICTED and result.ending.startswith("signal")
    return result.verdict is Verdict.UNDEFINED or (crashed and result.test.ending in UNDEFINED)


def _confirm_by_traps(
    check: str,
    programs: Sequence[str],
    found: list[ReplayResult],
    wanted: Sequence[int],
    cflags: Sequence[str],
    timeout: int,
) -> None:
    """Replaces the results of those tests that a check of our compiler's sanitizer ends."""
    chosen = [i for i in wanted if TRAPPING.get(found[i].test.ending or "") == check]
    tests = [found[i].test for i in chosen]
    flags = [f"-fsanitize={check}", f"-fsanitize-trap={check}", *flags_for(tests)]
    with compile_native(programs, cflags=[*cflags, *flags]) as binary:
        for i, result in zip(chosen, replay(binary, tests, timeout=timeout), strict=True):
            kind, _, number = result.ending.partition(" ")
            if kind == "signal" and int(number) in TRAPS:
                ending = f"UndefinedBehaviorSanitizer: a check of {check} failed"
                found[i] = replace(found[i], ending=ending, verdict=Verdict.AS_PREDICTED)


def _confirm_by(
    compiler: str,
    programs: Sequence[str],
    found: list[ReplayResult],
    wanted: Sequence[int],
    cflags: Sequence[str],
    timeout: int,
) -> None:
    """Replaces the results of those tests that a sanitizer of a compiler of the machine reports."""
    with tempfile.TemporaryDirectory(prefix="partita-asan-") as folder:
        binary = Path(folder) / "program"
        linking = flags_for([found[i].test for i in wanted], musl=False)
        if not _compile(compiler, programs, [*cflags, *linking], binary):
            return
        for i in wanted:
            report = _report(binary, found[i].test, Path(folder), timeout)
            if report is not None:
                found[i] = replace(found[i], ending=report, verdict=Verdict.AS_PREDICTED)


def _compile(compiler: str, programs: Sequence[str], cflags: Sequence[str], binary: Path) -> bool:
    """Compiles the program with the runtime of replay. The machine's own headers may differ from musl's."""
    runtime = runtime_include().parent / "replay.c"
    first = [compiler, *FLAGS, *OLDER_C, "-I", str(runtime_include()), *cflags]
    objects = []
    for i, name in enumerate(programs):
        objects.append(str(binary.with_name(f"{i}.o")))
        command = [*first, *flags_of(name), "-c", name, "-o", objects[-1]]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            return False
    command = [*first, *objects, str(runtime), "-o", str(binary), "-lm"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _report(binary: Path, test: Test, folder: Path, timeout: int) -> str | None:
    """The first line of a sanitizer's report on one test; None if it does not report anything."""
    file = folder / "test.ktest"
    file.write_bytes(to_bytes(test.objects))
    diverged = folder / "diverged"
    diverged.unlink(missing_ok=True)
    variables = {"PARTITA_REPLAY_TEST": str(file), "PARTITA_REPLAY_DIVERGED": str(diverged)}
    try:
        done = subprocess.run(
            [str(binary), *test.arguments[1:]],
            env={**ENVIRONMENT, **_OPTIONS, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    text = done.stderr.decode("utf-8", "replace")
    if diverged.exists():
        return None
    if address := _ADDRESS.search(text):
        return f"AddressSanitizer: {address[1]}"
    if undefined := _UNDEFINED.search(text):
        return f"UndefinedBehaviorSanitizer: {undefined[1]}"
    return None
