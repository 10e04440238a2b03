"""Benchmark of whole explorations, compared with KLEE's recorded times and our own targets.

Figures are of whole `partita run` processes (with `--tests bugs` unless writing is measured): the median of three after
a warm-up, or a single run if it takes over five seconds. KLEE's seconds were measured on another machine and are
divided by the factor of calibrate.py. A target is missed, and the exit status 1, only beyond 20 % of it. `--quick` runs
each program once after the warm-up (or not again if that took a second) and for at most five seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import calibrate
from experiments.locations import PROGRAMS, REPOSITORY

TOLERANCE = 1.2
KLEE_START_S = 0.06
NOISE_S = 0.05  # shorter times of KLEE cannot be distinguished from its start
# Target for each mode of KLEE: times as fast in geometric mean.
KLEE_MODES = {"z3-cache": 50.0, "stp-cache": 10.0}
LONG_S = 5.0  # longer runs are not repeated
CONCRETE_RATIO, FORK_US, SMALL_S, SMALL_MB = 20.0, 3.0, 1.0, 150.0
TESTS_PER_S, STATE_KB, ROUNDS_S, MEMORY_MB, MEMORY_EXCESS = 50_000, 4.0, 1.0, 400, 1.1

# Every branch tests another input byte, so that all 2^DEPTH paths are feasible and no query is hard.
FORKS = """
#include "klee/klee.h"
int main(void) {
    unsigned char in[DEPTH];
    klee_make_symbolic(in, sizeof in, "in");
    int n = 0;
    for (int i = 0; i < DEPTH; i++)
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
        """Share of the queries answered by each layer."""
        queries = self.report["solver"]["queries"]
        answered = {row["name"]: row["asked"] - row["passed"] for row in self.report["solver"]["layers"]}
        return " ".join(f"{name} {100 * n / queries:.0f}%" for name, n in answered.items() if n) if queries else "-"


class Runner:
    def __init__(self, scratch: Path, quick: bool) -> None:
        self.scratch, self.quick, self.count = scratch, quick, 0

    def own(self, name: str, text: str) -> Path:
        """Writes one of the programs above into a file."""
        path = self.scratch / f"{name}.c"
        path.write_text(text)
        return path

    def once(self, program: Path, *options: str) -> Sample:
        self.count += 1
        limit = "5s" if self.quick else "20s"
        command = [sys.executable, "-c", "import sys; from partita.cli import main; sys.exit(main())"]
        command += ["run", str(program), "--tests", "bugs", "--store", "none", "--json", "--max-time", limit]
        command += ["--out", str(self.scratch / f"out-{self.count}"), *options]
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

    def median(self, program: Path, *options: str) -> Sample:
        """The sample with the median time of exploring; the first run is a warm-up."""
        first = self.once(program, *options)
        if first.explore_s > LONG_S or (self.quick and first.explore_s > 1):
            return first
        samples = [self.once(program, *options) for _ in range(1 if self.quick else 3)]
        return sorted(samples, key=lambda sample: sample.explore_s)[len(samples) // 2]


def klee_seconds(mode: str) -> dict[str, float]:
    """KLEE's wall time by program, without its start, as far as recorded."""
    recorded = json.loads((PROGRAMS / "klee.json").read_text())
    modes = {name: modes[mode] for name, modes in recorded.items() if mode in modes}
    return {name: float(run["wall_s"]) - KLEE_START_S for name, run in modes.items()}


def programs(runner: Runner) -> list[str]:
    """Prints the table of all programs. Returns the targets missed."""
    factor = calibrate.REFERENCE_S / calibrate.best()
    klee = {mode: klee_seconds(mode) for mode in KLEE_MODES}
    ratios: dict[str, list[float]] = {mode: [] for mode in KLEE_MODES}
    missed, stopped = [], 0
    print(f"this machine is {factor:.2f} times as fast as the one KLEE ran on; KLEE's seconds are divided by that")
    heads = "".join(f" {'KLEE ' + mode.split('-')[0]:>9} {'ratio':>7}" for mode in KLEE_MODES)
    print(f"{'program':20} {'paths':>8} {'explore_s':>9} {'wall_s':>7}{heads}  answered by")
    for program in sorted(PROGRAMS.glob("*.c")):
        sample = runner.median(program)
        stopped += bool(sample.report["stopped"])
        row = f"{program.stem:20} {sample.paths:8}{'+' if sample.report['stopped'] else ' '}"
        row += f"{sample.explore_s:9.4f} {sample.wall_s:7.2f}"
        for mode in KLEE_MODES:
            theirs = klee[mode].get(program.stem)
            if theirs is None:
                row += f" {'-':>9} {'-':>7}"
                continue
            ratio = max(theirs, 0.001) / factor / max(sample.explore_s, 1e-6)
            row += f" {theirs / factor:9.2f} {ratio:7.1f}"
            if program.stem.startswith("concrete_"):
                missed += judged(f"{program.stem}, times KLEE", CONCRETE_RATIO / ratio, f"{ratio:.1f}", "20")
            elif ratio < 1 and theirs > NOISE_S:
                missed += judged(f"{program.stem}, times KLEE with {mode}", 1 / ratio, f"{ratio:.2f}", "1")
            if theirs > 1:  # the recorded time: the same programs on every machine
                ratios[mode].append(ratio)
        print(f"{row}  {sample.shares}", flush=True)
    for mode, target in KLEE_MODES.items():
        mean = math.exp(statistics.fmean(map(math.log, ratios[mode]))) if ratios[mode] else math.nan
        what = f"geometric mean over the {len(ratios[mode])} programs where KLEE with {mode} needs more than a second"
        missed += judged(what, target / mean, f"{mean:.1f}", f"{target:.0f}")
    if stopped:
        print(f"(+: {stopped} were stopped by the time limit: their true ratio is less)")
    return missed


def judged(what: str, excess: float, found: str, target: str) -> list[str]:
    """Prints one line for a target; `excess` is the ratio to the target."""
    verdict = "met" if excess <= 1 else "within 20 %" if excess <= TOLERANCE else "MISSED"
    line = f"{what}: {found} (target {target}): {verdict}"
    print(line)
    return [line] if excess > TOLERANCE else []


def own_programs(runner: Runner) -> list[str]:
    """Measures the cost of a fork and the smallest useful run."""
    forks, small = runner.own("forks", FORKS.replace("DEPTH", "16")), runner.own("small", SMALL)
    sample = runner.median(forks)
    report = sample.report
    whole = 1e6 * sample.explore_s / report["forks"]
    solver = 1e6 * report["solver"]["time_s"] / report["forks"]
    own = whole - solver
    missed = judged("a fork, us", own / FORK_US, f"{own:.2f}, and {solver:.2f} for the answer of the solver", "3")
    ordered = runner.median(forks, "--search", "dfs").explore_s
    missed += judged("mix, times dfs", sample.explore_s / ordered, f"{sample.explore_s / ordered:.2f}", "1")
    sample = runner.median(small)
    missed += judged("ten lines, whole run, s", sample.wall_s / SMALL_S, f"{sample.wall_s:.2f}", "1")
    missed += judged("ten lines, peak memory, MB", sample.peak_mb / SMALL_MB, f"{sample.peak_mb:.0f}", "150")
    sample = runner.median(REPOSITORY / "tests" / "programs" / "scale" / "rounds.c")
    return missed + judged("3,200 rounds, s", sample.explore_s / ROUNDS_S, f"{sample.explore_s:.3f}", "1")


def load(runner: Runner) -> list[str]:
    """Measures writing tests, and the memory of open states."""
    many = runner.own("forks18", FORKS.replace("DEPTH", "18"))
    more = runner.once(many, "--tests", "all").report
    # The first 10,000 are separate files and take longer; the rate into the pack is higher.
    rate = more["tests"] / more["write_s"]
    missed = judged("tests written per second", TESTS_PER_S / rate, f"{rate:,.0f}", f"{TESTS_PER_S:,}")
    silent = runner.once(many).explore_s
    print(
        f"exploring takes {more['explore_s'] / silent:.2f} times as long when all {more['tests']:,} tests are written"
    )
    deep = runner.own("deep", FORKS.replace("DEPTH", "40"))
    cut = runner.once(deep, "--search", "bfs", "--max-instructions", "1300000", "--max-memory", "8GB").report
    base = runner.once(runner.own("small", SMALL)).report["memory_peak_mb"]
    each = 1024 * (cut["memory_peak_mb"] - base) / cut["paths"]["limits"]
    found = f"{each:.2f}, including what layers attach to its path ({cut['paths']['limits']:,} states)"
    missed += judged("an open state, KB", each / STATE_KB, found, f"{STATE_KB:.0f}")
    held = runner.once(deep, "--search", "bfs", "--max-instructions", "4000000", "--max-memory", f"{MEMORY_MB}MB")
    peak = held.peak_mb / MEMORY_MB
    return missed + judged("peak memory, times --max-memory", peak / MEMORY_EXCESS, f"{peak:.2f}", f"{MEMORY_EXCESS}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(Path(scratch), quick)
        missed = own_programs(runner) + load(runner) + programs(runner)
    for line in missed:
        print(f"beyond 20 % of its target: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
