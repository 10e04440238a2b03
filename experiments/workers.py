"""Benchmark of several processes: two workers of one run against two independent runs side by side.

The programs have the least size at which one process needs ten seconds; `--coreutils` adds utilities that are explored
for a time. Both kinds of run take turns, so that whatever else the machine does falls on both. `rate` is the ratio of
instructions per second, `cpu` that of instructions per second of processor time, coordinator and start of workers
included; `busy` the share of the time in which workers explored. With `--cluster` the workers are Ray's, whose start is
left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from experiments.locations import FAMILIES

RATE, RATE_OF_CLUSTER = 0.9, 0.85
SIZES = {"three_ways": 14, "numbers": 11}
UTILITIES = ("cat", "ls", "sort")
# Workers do not vary files, so that their paths are those of one process.
COREUTILS = {
    "vary_files": "off",
    "arguments": "--sym-args 0 1 10 --sym-args 0 2 2".split(),
    "sym_files": (1, 8),
    "sym_stdin": 8,
    "sym_stdout": True,
}
EXPLORE = """
import json, resource, sys, time
from partita import explore
program, options = json.loads(sys.argv[1])
run = explore(program, tests="bugs", **options)
if options.get("cluster"):
    run.step(0.01)
    while not run.counts()["instructions"]:
        run.step(0.01)
begun, started = run.counts()["instructions"], time.monotonic()
run.finish()
wall_s = time.monotonic() - started
def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime
counts = run.counts()
print(json.dumps({"wall_s": wall_s, "cpu_s": cpu(resource.RUSAGE_SELF) + cpu(resource.RUSAGE_CHILDREN),
                  "explore_s": counts["explore_s"], "own_s": cpu(resource.RUSAGE_SELF),
                  "instructions": counts["instructions"] - begun, "paths": counts["paths"],
                  "peak_mb": counts["peak_memory"] / 2**20,
                  "lost": sum(row["count"] for row in counts["incomplete"] if row["why"] == "max-memory")}))
"""


def start(program: Path, options: dict[str, Any]) -> subprocess.Popen[str]:
    request = json.dumps([str(program), options])
    return subprocess.Popen([sys.executable, "-c", EXPLORE, request], stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    text, _ = process.communicate()
    if process.returncode != 0:
        sys.exit(f"expected a run to end, found status {process.returncode}")
    return dict(json.loads(text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--coreutils", type=Path, help="folder of utilities that `python -m experiments.sources` built")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each utility")
    parser.add_argument("--cluster", default=None, help="workers of Ray, for example `local`")
    arguments = parser.parse_args()
    least = RATE if arguments.cluster is None else RATE_OF_CLUSTER
    shared = {"jobs": 2} if arguments.cluster is None else {"jobs": 2, "cluster": arguments.cluster}
    is_met = True
    programs = [(name, FAMILIES / f"{name}.c", {"cflags": [f"-DN={size}"]}) for name, size in SIZES.items()]
    if arguments.coreutils:
        options = {**COREUTILS, "max_time": arguments.seconds}
        programs += [(name, arguments.coreutils / name, options) for name in UTILITIES]
    print(f"{'program':12}{'copies s':>10}{'workers s':>10}{'rate':>7}{'cpu':>7}{'busy':>7}{'own cpu':>9}")
    for name, program, options in programs:
        rates = []
        for _ in range(arguments.repeats):
            copies = [ended(process) for process in [start(program, options) for _ in range(2)]]
            run = ended(start(program, {**options, **shared}))
            if "max_time" not in options and any(copy["paths"] != run["paths"] for copy in copies):
                sys.exit(f"expected the same paths of {name}")
            alone = sum(copy["instructions"] / copy["wall_s"] for copy in copies)
            alone_cpu = sum(copy["instructions"] for copy in copies) / sum(copy["cpu_s"] for copy in copies)
            rate = run["instructions"] / run["wall_s"] / alone
            busy = run["explore_s"] / (2 * run["wall_s"])
            rates.append(rate)
            copies_s = statistics.mean(copy["wall_s"] for copy in copies)
            cpu = run["instructions"] / run["cpu_s"] / alone_cpu
            own = run["own_s"] / run["cpu_s"]
            print(
                f"{name:12}{copies_s:10.2f}{run['wall_s']:10.2f}{rate:7.2f}{cpu:7.2f}{busy:7.2f}{own:9.2f}",
                flush=True,
            )
        median = statistics.median(rates)
        is_met = is_met and median >= least
        print(f"{name}: median {median:.2f} (target {least}): {'met' if median >= least else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
