"""Runs tests of Java programs in the virtual machine of the machine, one process per test."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError
from partita.jvm.compile import STUBS, compile_java
from partita.jvm.descriptor import BUG_CLASSES
from partita.jvm.frontend import Entry, find_start
from partita.jvm.jdk import java
from partita.jvm.native_input import SEED, STDIN
from partita.ktest import Test
from partita.replay import ReplayResult, Verdict

_DIVERGED = 113
"""Exit status of `partita.Inputs` when the program does not read the inputs of the test."""


def replay_java(
    programs: Sequence[str],
    tests: Sequence[Test],
    *,
    classpath: str | None = None,
    entry: str | None = None,
    arguments: Sequence[str] = (),
    timeout: int = 10,
) -> list[ReplayResult]:
    """Runs every test and compares its ending with the recorded one."""
    machine = java()
    if machine is None:
        raise UsageError("expected `java` on PATH to replay tests of a Java program, found none: install a JDK")
    with tempfile.TemporaryDirectory(prefix="partita-replay-") as name:
        folder = Path(name)
        start = find_start(programs, classpath, entry, folder / "program")
        stubs = folder / "stubs"
        stubs.mkdir()
        compile_java(sorted(STUBS.rglob("*.java")), [], stubs)
        places = [str(stubs), *(str(place.path) for place in start.places)]
        command = [machine, "-ea", "-Xss1m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", ":".join(places)]
        return [_replay(command, start, arguments, test, folder / "inputs", timeout) for test in tests]


def _replay(
    command: Sequence[str], start: Entry, arguments: Sequence[str], test: Test, inputs: Path, timeout: int
) -> ReplayResult:
    calls = [data for name, data in test.objects if name not in (STDIN, SEED)]
    inputs.write_bytes(b"".join(len(data).to_bytes(4, "big") + data for data in calls))
    stdin = b"".join(data for name, data in test.objects if name == STDIN)
    types = start.descriptor.partition(")")[0] + ")"
    words = [f"-Dpartita.inputs={inputs}", "partita.Replay", start.owner.replace("/", "."), start.method, types]
    whole = [*command, *words, *arguments]
    try:
        ended = subprocess.run(whole, input=stdin, capture_output=True, check=False, timeout=timeout)
        done = subprocess.CompletedProcess(whole, ended.returncode, "", ended.stderr.decode("utf-8", "replace"))
    except subprocess.TimeoutExpired:
        return ReplayResult(test, f"no end within {timeout} s", Verdict.DIFFERENT)
    ending = _ending(done)
    predicted = test.ending
    if predicted is None or predicted.startswith("limit") or predicted == "unsupported":
        return ReplayResult(test, ending, Verdict.UNDEFINED)
    if ending == predicted:
        return ReplayResult(test, ending, Verdict.AS_PREDICTED)
    return ReplayResult(test, ending, Verdict.UNDEFINED if is_random(test) else Verdict.DIFFERENT)


def is_random(test: Test) -> bool:
    """Does the ending depend on a seed that the virtual machine chooses?"""
    return any(name == SEED for name, _ in test.objects)


def _ending(done: subprocess.CompletedProcess[str]) -> str:
    found = re.search(r"^partita: threw (.*)$", done.stderr, re.MULTILINE)
    if found is not None:
        classes = [name.replace(".", "/") for name in found[1].split()]
        for name, bug in BUG_CLASSES.items():
            if name in classes:
                return bug
        return "exception"
    if done.returncode == _DIVERGED:
        why = re.search(r"^partita: diverged: (.*)$", done.stderr, re.MULTILINE)
        return f"diverged {why[1] if why else ''}"
    return f"exit {done.returncode}"
