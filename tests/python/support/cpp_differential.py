"""Compares a random C++ program's native run with the only path of its exploration."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from partita import explore
from support.cppgen import generate

NATIVE_S = 20
OURS_S = 120


def compare(seed: int, folder: Path) -> str:
    """A message about the difference; empty if there is none."""
    source, binary = folder / f"program{seed}.cpp", folder / f"program{seed}"
    source.write_text(generate(seed))
    command = [sys.executable, "-m", "partita", "c++", "-std=c++20", "-w", str(source), "-o", str(binary)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    if built.returncode:
        return f"seed {seed}: it does not compile: {built.stderr[-2000:]}"
    native = subprocess.run([str(binary)], capture_output=True, timeout=NATIVE_S, check=False)
    expected = f"exit {native.returncode}"
    if native.returncode == -signal.SIGABRT:
        expected = "exception" if b"uncaught exception" in native.stderr else "abort"
    run = explore(source, max_time=OURS_S)
    paths = list(run)
    if len(paths) != 1 or not run.summary()["complete"]:
        return f"seed {seed}: {len(paths)} paths, incomplete: {run.summary()['incomplete']}"
    (path,) = paths
    if path.ending != expected:
        return f"seed {seed}: expected {expected}, found {path.ending}: {path.message}"
    ours, theirs = path.output.decode().splitlines(), native.stdout.decode().splitlines()
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False), 1):
        if a != b:
            return f"seed {seed}, line {number}: expected {b!r}, found {a!r}"
    return "" if len(ours) == len(theirs) else f"seed {seed}: expected {len(theirs)} lines, found {len(ours)}"
