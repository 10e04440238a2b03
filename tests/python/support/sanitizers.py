"""Replays tests under gcc's sanitizers and compares their reports with the predictions."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.ktest import Test
from partita.toolchain import runtime_include

FLAGS = ("-g", "-O0", "-w", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
_NEVER = "(?!)"
REPORTS = {
    "out-of-bounds-read": r"READ of size|out of bounds|insufficient space",
    "out-of-bounds-write": r"WRITE of size|out of bounds|insufficient space",
    "null": r"null pointer|points to the zero page",
    "use-after-free": r"heap-use-after-free|stack-use-after-(return|scope)",
    "double-free": r"attempting double-free",
    "invalid-free": r"attempting free on address which was not malloc",
    "read-only-write": r"SEGV on unknown address[^\n]*\n[^\n]*WRITE",
    "division-by-zero": r"division by zero",
    "overflow": r"signed integer overflow|cannot be represented in type",
    "shift": r"shift exponent|left shift of",
    "overlap": r"memcpy-param-overlap|strcpy-param-overlap",
    "alignment": r"misaligned address",
    "leak": r"detected memory leaks",
    "assert": _NEVER,
    "abort": _NEVER,
    "unreachable": r"reached an unreachable program point",
    "stack-overflow": r"stack-overflow",
}


@dataclass(frozen=True)
class Report:
    """The ending of a test and the output of the sanitizers."""

    test: Test
    ending: str
    log: str

    def matches_prediction(self, line: int | None) -> bool:
        """Does the report match the prediction, and the line if the report has a place?"""
        predicted = self.test.ending or ""
        if predicted.startswith("exit"):
            return self.ending == predicted and not self.log
        if predicted in ("assert", "abort"):
            return self.ending == "signal 6" and "Sanitizer" not in self.log
        # A call through a null function pointer has no frame to report.
        places = [] if "#0 0x0 " in self.log else re.findall(r"\.c:(\d+)", self.log)
        found = re.search(REPORTS[predicted], self.log) is not None
        return found and (line is None or not places or str(line) in places)

    def __str__(self) -> str:
        return f"{self.test.name}: predicted {self.test.ending}, found {self.ending}: {self.log[:400]}"


def missing() -> str | None:
    """Returns why the sanitizers cannot be used, or None."""
    if shutil.which("gcc") is None:
        return "gcc is not installed"
    probe = ["gcc", *FLAGS, "-x", "c", "-", "-o", os.devnull]
    done = subprocess.run(probe, input="int main(void) { return 0; }", capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else "gcc has no sanitizers here"


def build(program: Path, folder: Path, cflags: Sequence[str] = ()) -> Path:
    binary = folder / f"{program.stem}-sanitized"
    runtime = runtime_include().parent / "replay.c"
    command = ["gcc", *FLAGS, "-I", str(runtime_include()), *cflags, str(program), str(runtime), "-o", str(binary)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return binary


def run(binary: Path, tests: Sequence[Test], out: Path, *, leaks: bool = False) -> list[Report]:
    """Runs each test of a run's folder in its own process with its own log file."""
    folder = binary.parent
    found = []
    for test in tests:
        path = out / test.name
        log = folder / f"{test.name}.log"
        options = f"detect_leaks={int(leaks)}:detect_stack_use_after_return=1"
        options += ":allocator_may_return_null=1:handle_abort=0"
        environment = {"PARTITA_REPLAY_SECONDS": "10", "PARTITA_REPLAY_LOG": str(log), "ASAN_OPTIONS": options}
        done = subprocess.run(
            [str(binary)],
            input=f"{path}\n",
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **environment},
        )
        found.append(Report(test, done.stdout.strip(), log.read_text(errors="replace")))
    return found
