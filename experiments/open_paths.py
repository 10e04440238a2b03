"""Benchmark of open paths as data: what the journal costs, what a path takes, and what parking it takes.

- `journal`: instructions of checkpoints and of decision strings that are added, as shares of those of exploring
  (Valgrind must be installed, and the build must have symbols).
- `bytes`: size of an open path in a checkpoint, and of its model.
- `parking`: processor time of writing a path of 1,000 decisions as bytes, and of taking it up again.
- `memory`: utilities of Coreutils under 500 MB and 8 GB side by side (`--coreutils`).
- `short`: a program of a second with two workers against one process.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from experiments.locations import FAMILIES
from experiments.workers import COREUTILS, UTILITIES, ended, start
from partita import journal
from partita.explore import explore

JOURNAL, PATH_BYTES, PARKING_S, RATE, SIZE, SHORT = 0.01, 32, 0.01, 0.5, 1.1, 1.05
MEMORY_MB = 500
DEPTH = 1_000
SIZES = {"three_ways": 9, "numbers": 4}
SHORT_SIZE = 12
"""Size of `three_ways` that takes about a second."""
DEEP = """
#include <klee/klee.h>
int main(void) {
  unsigned char x[N];
  klee_make_symbolic(x, sizeof x, "x");
  for (unsigned i = 0; i < N; i++)
    if (x[i] == 0)
      return 1;
  for (volatile unsigned i = 0; i < 1u << 30; i++) {}
  return 0;
}
"""
EXPLORING = re.compile(r"exec::Engine>?::advance\b")
STRINGS = re.compile(r"strings::Strings>?::|decide::Decider>?::decided")
CHECKPOINTS = re.compile(r"exec::checkpoint::.*::checkpoint\b|Engine>?::checkpoint\b")


def judge(name: str, value: float, most: float, shown: str) -> bool:
    is_met = value <= most
    print(f"{name}: {shown}: {'met' if is_met else 'MISSED'}", flush=True)
    return is_met


def journal_share(name: str, folder: Path) -> bool:
    """Shares of checkpoints and decision strings in the instructions of exploring."""
    call = (
        f"from partita import explore; explore({str(FAMILIES / name)!r} + '.c', cflags=['-DN={SIZES[name]}'],"
        f" tests='bugs', store=None, out={str(folder / name)!r}).finish()"
    )
    found = folder / f"{name}.callgrind"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={found}", sys.executable, "-c", call]
    subprocess.run(command, check=True, capture_output=True)
    annotate = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(found)]
    text = subprocess.run(annotate, check=True, capture_output=True, text=True).stdout
    total, checkpoints, strings = 0, 0, 0
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(.*)", line)
        if match is None:
            continue
        count, what = int(match[1].replace(",", "")), match[2]
        if EXPLORING.search(what):
            total = max(total, count)
        elif CHECKPOINTS.search(what):
            checkpoints = max(checkpoints, count)
        elif STRINGS.search(what):
            strings += count
    if not total or not checkpoints or not strings:
        print(f"journal {name}: not measured: the build has no symbols for checkpoints and strings")
        return True
    share = (checkpoints + strings) / total
    parts = f"checkpoints {checkpoints / total:.2%}, decision strings {strings / total:.2%} of {total:,} instructions"
    return judge(f"journal {name}", share, JOURNAL, parts)


class Bytes:
    """Open paths as `decide/open_path.rs` writes them."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def number(self) -> int:
        """A number in LEB128."""
        number = shift = 0
        while True:
            byte = self.data[self.at]
            number |= (byte & 0x7F) << shift
            self.at, shift = self.at + 1, shift + 7
            if byte < 0x80:
                return number

    def skip(self, numbers: int = 0, more: int = 0) -> None:
        for _ in range(numbers):
            self.number()
        self.at += more

    def model(self, variables: set[int]) -> int:
        """Skips a model. Returns its size."""
        start = self.at
        for _ in range(self.number()):
            if (variable := self.number()) not in variables:
                variables.add(variable)
                self.skip(more=self.number())
            self.skip(more=self.number())
            for _ in range(self.number()):
                self.skip(1, 1)
            self.skip(more=1)
        return self.at - start

    def models(self) -> int:
        """Skips a part of open paths. Returns the size of their models."""
        variables: set[int] = set()
        size = 0
        for _ in range(self.number()):
            self.number()
            for _ in range(self.number()):
                self.number()
                has_number = self.number() & 7 >= 2
                self.skip(2, 1)
                self.skip(has_number)
            self.skip(1, 2)
            self.number()
            for _ in range(self.number() - 1):
                self.skip(more=self.number())
                self.number()
            size += self.model(variables)
        return size


def path_bytes(name: str, program: Path, options: dict[str, Any], folder: Path) -> bool:
    """Bytes per open path in the last checkpoint of a run that a limit ended."""
    explore(program, tests="bugs", store=None, out=folder / f"bytes-{name}", **options).finish()
    contents = journal.read(folder / f"bytes-{name}")
    assert contents.checkpoint is not None
    # The head, the counts, and the results come first.
    parts = Bytes(contents.checkpoint, 4 + 6 * 8)
    parts.skip(more=parts.number())
    size, models, end = 0, 0, len(contents.checkpoint)
    while parts.at < end:
        size += parts.number()
        models += parts.models()
    each, model = (total / contents.counts.open for total in (size - models, models))
    shown = f"{each:.1f}, and {model:.1f} of its model, for each of {contents.counts.open:,} open paths"
    return judge(f"bytes {name}", each, PATH_BYTES, shown)


def parking(folder: Path) -> bool:
    """Processor time of writing a deep path and of taking it up."""
    program = folder / "deep.c"
    program.write_text(DEEP)
    options: dict[str, Any] = {"cflags": [f"-DN={DEPTH}"], "tests": "bugs", "store": None}
    run = explore(program, **options, search="bfs", max_instructions=200_000, out=folder / "deep").finish()
    assert run.counts()["forks"] == DEPTH
    checkpoint = journal.read(folder / "deep").checkpoint
    assert checkpoint is not None
    again: Any = explore(program, **options)._engine
    started = time.process_time()
    again.restore(checkpoint)
    while not again.summary()["replayed"]:
        again.advance(1e-3)
    taken_up_s = time.process_time() - started
    assert again.summary()["replayed"] > DEPTH
    started = time.process_time()
    again.checkpoint()
    parked_s = time.process_time() - started
    shown = f"{parked_s * 1e3:.1f} ms, taking up {taken_up_s * 1e3:.1f} ms at depth {DEPTH:,}"
    return judge("parking", max(parked_s, taken_up_s), PARKING_S, shown)


def memory(utility: Path, seconds: float) -> bool:
    """A run under little memory beside one with much."""
    limits = (MEMORY_MB << 20, 8 << 30)
    options = {**COREUTILS, "max_time": seconds}
    little, much = (ended(each) for each in [start(utility, {**options, "max_memory": limit}) for limit in limits])
    rates = [run["instructions"] / run["cpu_s"] for run in (little, much)]
    ratio = rates[0] / rates[1]
    size_mb = little["peak_mb"]
    print(f"memory {utility.name}: {size_mb:.0f} MB, {ratio:.2f} of the instructions per second of processor time")
    given_up = little["lost"]
    is_met = size_mb <= SIZE * MEMORY_MB and ratio >= RATE and not given_up
    print(f"memory {utility.name}: {given_up} paths given up: {'met' if is_met else 'MISSED'}", flush=True)
    return is_met


def short(repeats: int) -> bool:
    """Wall time of a short program with two workers over that with one process."""
    program, flags = FAMILIES / "three_ways.c", {"cflags": [f"-DN={SHORT_SIZE}"]}
    ratios = []
    for _ in range(repeats):
        single, double = (ended(start(program, {**flags, "jobs": jobs})) for jobs in (1, 2))
        ratios.append(double["wall_s"] / single["wall_s"])
        print(f"short: {single['wall_s']:.2f} s, with two workers {double['wall_s']:.2f} s")
    ratio = statistics.median(ratios)
    return judge("short", ratio, SHORT, f"{ratio:.2f} times as long")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--coreutils", type=Path, help="folder of utilities that `python -m experiments.sources` built")
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each utility")
    arguments = parser.parse_args()
    met = []
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for name, size in SIZES.items():
            options = {"cflags": [f"-DN={size + 4}"], "max_instructions": 1_000_000}
            met.append(path_bytes(name, FAMILIES / f"{name}.c", options, folder))
        met.append(parking(folder))
        met.append(short(arguments.repeats))
        if shutil.which("valgrind") is None:
            print("journal: skipped: valgrind is not installed")
        else:
            met += [journal_share(name, folder) for name in SIZES]
        if arguments.coreutils:
            options = {**COREUTILS, "max_time": arguments.seconds}
            for name in UTILITIES:
                met.append(path_bytes(name, arguments.coreutils / name, options, folder))
                met.append(memory(arguments.coreutils / name, arguments.seconds))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
