"""An explorer that runs for a number of seconds of processor time, so that other work on the machine changes little.

The time is that of the process itself: compilers that it starts are not counted.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

Clock = list[tuple[float, float]]
"""Times of day with the seconds of processor time that a process had used then."""

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


def _end_with_parent() -> None:
    """Lets the kernel end this new process with the thread that started it: a killed experiment leaves nothing."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run_for(seconds: float, words: Sequence[str], out: Path) -> Clock:
    """Runs `partita run` with these words, quietly, until it ends or has used this processor time."""
    limit = ["--max-solver-time", f"{max(1.0, seconds / 40)}s", "--out", str(out)]
    command = [sys.executable, "-m", "partita", "run", *words, "--quiet", "--tests", "coverage", *limit]
    # Names in arguments refer to no file of this machine.
    with tempfile.TemporaryDirectory() as elsewhere, tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            command, cwd=elsewhere, stdout=messages, stderr=messages, preexec_fn=_end_with_parent
        )
        clock = _follow(process, seconds)
        messages.seek(0)
        said = messages.read()
    if process.returncode not in (0, 1, 3):
        raise RuntimeError(f"exit status {process.returncode}: {said[-500:]}")
    return clock


def _follow(process: subprocess.Popen[bytes], seconds: float) -> Clock:
    """Asks the process to stop once it has used this processor time, and waits for its end."""
    clock, is_stopped = [(time.time(), 0.0)], False
    while process.poll() is None:
        used = _processor_time(process.pid)
        clock.append((time.time(), used))
        if used >= seconds and not is_stopped:
            process.terminate()
            is_stopped = True
        time.sleep(0.05)
    return clock


def _processor_time(pid: int) -> float:
    """Processor time that a process itself has used, without the compilers that it started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def used_at(clock: Clock, moment: float) -> float:
    """Processor time that had been used at a time of day."""
    return next((used for at, used in clock if at >= moment), clock[-1][1])
