"""Ends runs of hostile programs at random moments, by SIGINT, SIGTERM or `--max-time`, and measures the delay.

The delay is the processor time of the run from the signal or the limit to the end of the process, so that other
processes do not count. A second of it may write 50,000 tests of open states; the rest is shown as a histogram.

Usage: python tests/soak/stop.py [ROUNDS] [SEED] [NAME...]. Fails if the rest of a round is above 0.5 s, or a run leaves
files that are not whole, or if tests of open states are written at less than 50,000 per second.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from partita.frontends.musl import musl
from partita.whole import library
from support import PARTITA, hostile

WITHIN_S, TESTS_PER_S = 0.5, 50_000
LATEST_S, LONGEST_S = 4.0, 60
"""Latest moment after exploring began, and the time after which a run is given up."""
POLL_S = 0.004
OPEN = {
    "forks_endless": 1_000_000,
    "inputs_branching": 1_000_000,
    "tree_of_pointers": 300_000,
}
"""Programs with many open states, and the instructions after which they are stopped."""
STEPS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.0, 5.0]


@dataclass
class Stopped:
    delay_s: float
    """Processor time from the signal or the limit to the end of the process."""
    open_tests: int
    faults: list[str]

    @property
    def rest_s(self) -> float:
        return self.delay_s - self.open_tests / TESTS_PER_S


def processor_s(process: int) -> float:
    """User and system time of a process, without its children: compilers have ended before exploring begins."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (OSError, IndexError):
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def has_ended(process: int) -> bool:
    """Has the process ended? It is not waited for, so that its times can still be read."""
    return os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def stop(program: Path, how: str, after_s: float, out: Path) -> Stopped | None:
    """Runs a program until it is stopped. `None` if it ends by itself before."""
    words = [str(PARTITA), "run", str(program), "--out", str(out), "--json", "--max-memory", "1GB"]
    words += shlex.split(hostile.header(program, "args"))
    words += ["--max-time", f"{after_s + 1:.2f}s" if how == "max-time" else "1h"]
    began = time.monotonic()
    with (
        (out.parent / "stdout").open("w+") as stdout,
        (out.parent / "stderr").open("w+") as stderr,
        subprocess.Popen(words, stdout=stdout, stderr=stderr) as process,
    ):
        while how != "max-time" and not has_ended(process.pid) and not out.exists():
            time.sleep(POLL_S)  # compiling
        until = began + after_s + 1 if how == "max-time" else time.monotonic() + after_s
        while not has_ended(process.pid) and time.monotonic() < until:
            time.sleep(POLL_S)
        if how != "max-time":
            os.kill(process.pid, signal.SIGSTOP)  # on a busy machine it would run on between the next two lines
        before = processor_s(process.pid)
        if how != "max-time":
            os.kill(process.pid, signal.SIGINT if how == "SIGINT" else signal.SIGTERM)
            os.kill(process.pid, signal.SIGCONT)
        while not has_ended(process.pid):
            time.sleep(POLL_S)
            if time.monotonic() > until + LONGEST_S:
                os.kill(process.pid, signal.SIGKILL)
        last = processor_s(process.pid)
        process.wait()
        stdout.seek(0)
        stderr.seek(0)
        measured = hostile.Measured(program.stem, status=process.returncode)
        hostile.inspect(measured, program, out, stdout.read(), stderr.read())
    faults = [fault for fault in measured.faults if not fault.startswith("expected status")]
    if not faults:
        data = json.loads((out / "run.json").read_text())
        if data["stopped"] != (how if how == "max-time" else "interrupted"):
            return None
        if process.returncode not in (1, 3):
            faults.append(f"status {process.returncode}")
    return Stopped(last - before, 0 if faults else data["paths"]["limits"], faults)


def open_test_rate(program: Path, instructions: int, folder: Path) -> tuple[int, float]:
    """Number of open states, and tests of them per second of processor time: a run with them against one without."""
    taken, states = [], 0
    for tests in ("all", "bugs"):
        out = folder / f"{program.stem}-{tests}"
        words = [str(PARTITA), "run", str(program), "--out", str(out), "--quiet", "--store", "none", "--search", "bfs"]
        words += ["--tests", tests, "--max-instructions", str(instructions)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        states = json.loads((out / "run.json").read_text())["paths"]["limits"]
    return states, states / max(taken[0] - taken[1], 1e-3)


def histogram(delays: list[float]) -> list[str]:
    rows, lowest = [], 0.0
    for most in [*STEPS, float("inf")]:
        count = sum(lowest <= delay < most for delay in delays)
        if count:
            rows.append(f"{lowest:5.2f} to {most:5.2f} s {count:5}  {'#' * min(count, 60)}")
        lowest = most
    return rows


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    names = sys.argv[3:]
    programs = [path for path in hostile.programs() if not names or path.stem in names]
    library()
    musl()
    delays, early, wrong = [], 0, 0
    for number in range(rounds):
        program, how = chance.choice(programs), chance.choice(["SIGINT", "SIGTERM", "max-time"])
        after_s = chance.uniform(0, LATEST_S)
        with tempfile.TemporaryDirectory(prefix="partita-stop-") as folder:
            stopped = stop(program, how, after_s, Path(folder) / "out")
        if stopped is None:
            early += 1
            continue
        delays.append(max(stopped.rest_s, 0.0))
        late = stopped.rest_s > WITHIN_S
        if late or stopped.faults:
            wrong += 1
            row = f"{program.stem:32} {how:8} at {after_s:4.2f} s: {stopped.delay_s:5.2f} s, {stopped.open_tests} open"
            print(f"round {number}: {row}; {'; '.join(stopped.faults)}", flush=True)
    print("\n".join(histogram(delays)))
    print(f"{len(delays)} runs stopped, {early} ended before, {wrong} late or not whole")
    for name, instructions in OPEN.items():
        with tempfile.TemporaryDirectory(prefix="partita-stop-") as folder:
            states, rate = open_test_rate(hostile.PROGRAMS / f"{name}.c", instructions, Path(folder))
        wrong += rate < TESTS_PER_S
        print(f"{name:32} {states} open states, {rate:,.0f} tests per second of processor time", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
