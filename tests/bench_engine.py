"""Part of `make bench`: how long exploring takes, beside KLEE's recorded times and our own targets.

Every figure is taken from whole `partita run --tests bugs` processes: the median of three after one that warms up, or
one where a run takes over five seconds. KLEE's seconds were measured elsewhere: they are divided by the factor of
calibrate.py. A target is missed, and the exit status 1, only beyond 20 % of it. PARTITA_SHARED says where the
programs are; `--quick` runs each once after the warm-up, or only that where it takes a second, and for at most five.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHARED = Path(os.environ.get("PARTITA_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))
TOLERANCE = 1.2
KLEE_MODE, KLEE_START_S = "z3-cache", 0.06
LONG_S = 5.0  # one such run is enough
CONCRETE_RATIO, FORK_US, SMALL_S, SMALL_MB = 20.0, 3.0, 1.0, 150.0

# Every branch looks at an input byte of its own, so that all 2^16 paths are feasible and no query is hard.
FORKS = """
#include "klee/klee.h"
int main(void) {
    unsigned char in[16];
    klee_make_symbolic(in, sizeof in, "in");
    int n = 0;
    for (int i = 0; i < 16; i++)
        if (in[i] > 100) n++;
    return n;
}
"""

SMALL = """
#include "klee/klee.h"
int main(void) {
    int x;
    klee_make_symbolic(&x, sizeof x, "x");
    if (x > 10)
        return x == 42;
    if (x < -10)
        return 2;
    return 3;
}
"""


@dataclass
class Sample:
    """One process: its `run.json`, seconds from start to end, and peak memory."""

    report: dict[str, Any]
    wall_s: float
    peak_mb: float

    @property
    def explore_s(self) -> float:
        return float(self.report["explore_s"])

    @property
    def paths(self) -> int:
        return sum(self.report["paths"].values())

    @property
    def shares(self) -> str:
        """Which layer answered how many of the queries, in percent."""
        queries = self.report["solver"]["queries"]
        answered = {row["name"]: row["asked"] - row["passed"] for row in self.report["solver"]["layers"]}
        return " ".join(f"{name} {100 * n / queries:.0f}%" for name, n in answered.items() if n) if queries else "-"


class Runner:
    def __init__(self, scratch: Path, quick: bool) -> None:
        self.scratch, self.quick, self.count = scratch, quick, 0

    def once(self, program: Path) -> Sample:
        self.count += 1
        limit = "5s" if self.quick else "20s"
        command = [sys.executable, "-c", "import sys; from partita.cli import main; sys.exit(main())"]
        command += ["run", str(program), "--tests", "bugs", "--store", "none", "--json", "--max-time", limit]
        command += ["--out", str(self.scratch / f"out-{self.count}")]
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            start = time.monotonic()
            process = subprocess.Popen(command, stdout=stdout, stderr=stderr)
            _, status, usage = os.wait4(process.pid, 0)
            wall_s = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            stdout.seek(0)
            stderr.seek(0)
            # 0: explored; 1: a bug was found; 3: the time limit ended it, or something is not modelled.
            if process.returncode not in (0, 1, 3):
                found = f"found exit status {process.returncode}:\n{stderr.read().decode()}"
                sys.exit(f"expected {program.name} to be explored, {found}")
            report = json.loads(stdout.read().splitlines()[-1])
        return Sample(report, wall_s, usage.ru_maxrss / 1024)

    def median(self, program: Path) -> Sample:
        """The sample with the median exploration; the first one only warms up."""
        first = self.once(program)
        if first.explore_s > LONG_S or (self.quick and first.explore_s > 1):
            return first
        samples = [self.once(program) for _ in range(1 if self.quick else 3)]
        return sorted(samples, key=lambda sample: sample.explore_s)[len(samples) // 2]


def klee_seconds(factor: float) -> dict[str, float]:
    """KLEE's wall time by program, without its start, as this machine would take."""
    recorded = json.loads((SHARED / "programs" / "klee.json").read_text())
    modes = {name: modes[KLEE_MODE] for name, modes in recorded.items() if KLEE_MODE in modes}
    return {name: (float(run["wall_s"]) - KLEE_START_S) / factor for name, run in modes.items()}


def programs(runner: Runner) -> list[str]:
    """The table of all programs. Returns the targets missed."""
    folder = SHARED / "programs"
    if not folder.is_dir():
        print(f"skipped: no programs at {folder}: set PARTITA_SHARED to the directory that has programs/")
        return []
    calibrate = runpy.run_path(str(SHARED / "calibrate.py"))
    factor = calibrate["REFERENCE_S"] / calibrate["best"]()
    klee = klee_seconds(factor)
    print(f"this machine is {factor:.2f} times as fast as the one KLEE ran on")
    print(f"{'program':20} {'paths':>8} {'explore_s':>9} {'wall_s':>7} {'KLEE_s':>8} {'ratio':>7}  answered by")
    ratios, missed, stopped = [], [], 0
    for program in sorted(folder.glob("*.c")):
        sample = runner.median(program)
        theirs = klee.get(program.stem)
        ratio = theirs / max(sample.explore_s, 1e-6) if theirs is not None else None
        cut = "+" if sample.report["stopped"] else " "
        row = f"{program.stem:20} {sample.paths:8}{cut}{sample.explore_s:9.4f} {sample.wall_s:7.2f}"
        row += f" {theirs:8.2f} {ratio:7.1f}" if theirs is not None and ratio is not None else f" {'-':>8} {'-':>7}"
        print(f"{row}  {sample.shares}", flush=True)
        if theirs is None or ratio is None:
            continue
        if program.stem.startswith("concrete_"):
            missed += judged(f"{program.stem}, times as fast as KLEE", CONCRETE_RATIO / ratio, f"{ratio:.1f}", "20")
        if theirs * factor > 1:  # as recorded: the same programs on every machine
            ratios.append(ratio)
            stopped += bool(sample.report["stopped"])
    mean = math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan
    at_most = f"at most, since {stopped} were stopped, " if stopped else ""
    print(f"geometric mean of {len(ratios)} ratios, where KLEE needs more than a second: {at_most}{mean:.1f}")
    print("(+: stopped by the time limit: the true ratio is less)")
    return missed


def judged(what: str, excess: float, found: str, target: str) -> list[str]:
    """One line for a target; `excess` is how many times the target it took."""
    verdict = "met" if excess <= 1 else "within 20 %" if excess <= TOLERANCE else "MISSED"
    line = f"{what}: {found} (target {target}): {verdict}"
    print(line)
    return [line] if excess > TOLERANCE else []


def own_programs(runner: Runner) -> list[str]:
    """What a fork costs, and the smallest useful run."""
    forks, small = runner.scratch / "forks.c", runner.scratch / "small.c"
    forks.write_text(FORKS)
    small.write_text(SMALL)
    sample = runner.median(forks)
    report = sample.report
    whole = 1e6 * sample.explore_s / report["forks"]
    solver = 1e6 * report["solver"]["time_s"] / report["forks"]
    own = whole - solver
    missed = judged("a fork, us", own / FORK_US, f"{own:.2f}, and {solver:.2f} for the answer of the solver", "3")
    sample = runner.median(small)
    missed += judged("ten lines, whole run, s", sample.wall_s / SMALL_S, f"{sample.wall_s:.2f}", "1")
    return missed + judged("ten lines, peak memory, MB", sample.peak_mb / SMALL_MB, f"{sample.peak_mb:.0f}", "150")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(Path(scratch), quick)
        missed = own_programs(runner) + programs(runner)
    for line in missed:
        print(f"beyond 20 % of its target: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
