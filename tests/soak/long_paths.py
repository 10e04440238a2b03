"""Explores the programs of `benchmarks/families/paths` with growing numbers of rounds, and prints what each took.

Usage: python tests/soak/long_paths.py [--instructions] [NAME...]. Effort counts work and no clock. With
`--instructions` retired instructions are counted by `perf stat`. Fails if the effort of a linear shape grows faster
than the rounds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from support import PARTITA, REPOSITORY

PROGRAMS = REPOSITORY / "benchmarks" / "families" / "paths"
LINEAR = ("bytes", "pairs", "window", "counter", "calls")
OTHERS = {"machine": (250, 500, 1000), "checksum": (250, 500)}
"""Every condition, or the last, depends on all bytes, so that evaluating it takes all rounds before it."""
ROUNDS = (1000, 2000, 4000)


def instructions(command: list[str], folder: Path) -> str:
    report = folder / "perf"
    counted = ["perf", "stat", "-e", "instructions:u", "-x", ",", "-o", str(report), *command]
    subprocess.run(counted, check=False, stdout=subprocess.DEVNULL)
    rows = [line.split(",") for line in report.read_text().splitlines() if "instructions" in line]
    return f"{int(rows[0][0]) / 1e6:10.0f} M instructions"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    wrong = 0
    for name in [*LINEAR, *OTHERS]:
        if arguments.names and name not in arguments.names:
            continue
        efforts = []
        for rounds in OTHERS.get(name, ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "out"
                command = [
                    str(PARTITA),
                    "run",
                    str(PROGRAMS / f"{name}.c"),
                    f"--cflags=-DN={rounds}",
                    "--out",
                    str(out),
                ]
                command += ["--quiet", "--store", "none"]
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                counted = ""
                if arguments.instructions:
                    counted = instructions(command, Path(folder))
                else:
                    subprocess.run(command, check=False)
                user_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
                data = json.loads((out / "run.json").read_text())
            efforts.append(sum(layer["effort_s"] for layer in data["solver"]["layers"]) / rounds)
            row = f"{name:12} {rounds:6} rounds {data['paths']['completed']:6} paths {user_s:7.2f} s of processor"
            row += f" {data['solver']['time_s']:7.2f} s solver {1e6 * efforts[-1]:9.2f} us effort per round {counted}"
            print(row, flush=True)
        if name in LINEAR and efforts[-1] > 1.5 * efforts[0]:
            print(f"{name}: the effort per round grows")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
