"""Tests of bugs that a plain native run does not show, with the sanitizers of a compiler of the machine.

gcc or clang, whichever is found first with a working AddressSanitizer, compiles the program with the address and
undefined-behaviour sanitizers. A report of one of them confirms the bug, and the message says which one it was.
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
from partita.replay import ReplayResult, Verdict, flags_for, to_bytes
from partita.toolchain import OLDER_C, runtime_include

COMPILERS = ("gcc", "clang")
FLAGS = ("-g", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
CLASSES = frozenset(
    """out-of-bounds-read out-of-bounds-write use-after-free double-free invalid-free mismatched-free read-only-write
    overflow shift bounds sanitizer float-cast null overlap alignment""".split()
)
"""Classes that these sanitizers report."""
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

    Programs whose inputs are arguments and files are left as they are, and so are all if nothing can compile them.
    """
    from partita.replay.environment import uses_environment

    wanted = [
        i
        for i, result in enumerate(results)
        if result.verdict is Verdict.UNDEFINED and result.test.ending in CLASSES and not uses_environment(result.test)
    ]
    compiler = find_compiler() if wanted else None
    if compiler is None:
        return list(results)
    found = list(results)
    with tempfile.TemporaryDirectory(prefix="partita-asan-") as folder:
        binary = Path(folder) / "program"
        linking = flags_for([results[i].test for i in wanted], musl=False)
        if not _compile(compiler, programs, [*cflags, *linking], binary):
            return found
        for i in wanted:
            report = _report(binary, results[i].test, Path(folder), timeout)
            if report is not None:
                found[i] = replace(results[i], ending=report, verdict=Verdict.AS_PREDICTED)
    return found


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
