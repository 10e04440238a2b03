"""Edges that AFL++, Partita, and both together reach at equal processor time.

    python -m experiments fuzzing --seeds DIR [--seconds N] [--repeats N] [--cflags WORDS] target.c [more.c ...]

`target.c` defines LLVMFuzzerTestOneInput. Needs afl-fuzz, afl-clang-fast and afl-showmap (Debian's package `afl++`).
Each run has the same processor time, its own folder and the same seeds; together each of the two has half of it.
Edges are counted by afl-showmap over all inputs that a run kept. Target: the median of both together is above that of
either alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from partita.errors import UsageError

KINDS = ("AFL++", "Partita", "both")
SECONDS, REPEATS = 60.0, 3
_TICKS = os.sysconf("SC_CLK_TCK")
_QUIET = {
    "AFL_NO_UI": "1",
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_NO_AFFINITY": "1",
    "AFL_QUIET": "1",
    "AFL_SYNC_TIME": "1",
}


def processor_time(pid: int) -> float:
    """Processor time of a process, its children, and those of its children that it has waited for."""
    total = 0.0
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total = sum(map(int, fields[11:15])) / _TICKS
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return total
    return total + sum(processor_time(int(child)) for child in children)


def run_for(commands: Sequence[tuple[list[str], float]], folder: Path) -> None:
    """Runs commands side by side, each until it has used its processor time. Errors: a command that fails before."""
    running = []
    for number, (command, seconds) in enumerate(commands):
        log = folder / f"log{number}"
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | _QUIET, cwd=folder)
        running.append((process, seconds, log))
    while running:
        time.sleep(0.2)
        for row in list(running):
            process, seconds, log = row
            if process.poll() is None and processor_time(process.pid) >= seconds:
                process.terminate()
                process.wait()
                running.remove(row)
            elif process.poll() is not None:
                if process.returncode not in (0, 1, 3):
                    raise UsageError(f"a command failed: {log.read_text(errors='replace')[-500:]}")
                running.remove(row)


def edges(binary: Path, queues: Sequence[Path], folder: Path) -> int:
    """Number of edges that the inputs of some queues reach."""
    inputs = folder / "all"
    inputs.mkdir()
    for i, queue in enumerate(queues):
        for j, file in enumerate(sorted(queue.glob("*"))):
            if file.is_file():
                (inputs / f"{i}-{j}").write_bytes(file.read_bytes())
    counted = folder / "edges"
    command = ["afl-showmap", "-q", "-C", "-t", "2000", "-i", str(inputs), "-o", str(counted), "--", str(binary)]
    subprocess.run(command, env=os.environ | _QUIET, capture_output=True, check=False)
    return len(counted.read_text().splitlines())


def measure(kind: str, binary: Path, partita: list[str], seeds: Path, folder: Path, seconds: float, seed: int) -> int:
    """Edges of one run."""
    (folder / "sync").mkdir(parents=True)
    words = ["afl-fuzz", "-M", "main", "-s", str(seed), "-t", "1000", "-i", str(seeds), "-o", "sync"]
    afl = [*words, "--", str(binary)]
    ours = [*partita, "--seeds", str(seeds), "--sync", "sync", "--seed", str(seed), "--out", "out"]
    share = seconds / (2 if kind == "both" else 1)
    run_for([(afl, share)] * (kind != "Partita") + [(ours, share)] * (kind != "AFL++"), folder)
    return edges(binary, sorted((folder / "sync").glob("*/queue")), folder)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments fuzzing", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"processor time (default {SECONDS:.0f})")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"runs of each kind (default {REPEATS})")
    parser.add_argument("--seeds", type=Path, required=True, metavar="DIR", help="first inputs")
    parser.add_argument("--cflags", default="", help="flags of the compiler")
    parser.add_argument("--options", default="", help="further options of `partita run`")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder for what the runs write")
    parser.add_argument("source", nargs="+", type=Path, help="the fuzz target and what it is linked with")
    given = parser.parse_args()
    sources = [str(path.resolve()) for path in given.source]
    with tempfile.TemporaryDirectory(prefix="fuzzing-") as name:
        top = (given.keep or Path(name)).resolve()
        top.mkdir(parents=True, exist_ok=True)
        binary = top / "target"
        build = ["afl-clang-fast", "-w", "-O1", "-fsanitize=fuzzer", *given.cflags.split(), *sources, "-lm"]
        subprocess.run([*build, "-o", str(binary)], check=True, env=os.environ | _QUIET, capture_output=True)
        partita = [sys.executable, "-m", "partita", "run", *sources, f"--cflags={given.cflags}", *given.options.split()]
        found: dict[str, list[int]] = {kind: [] for kind in KINDS}
        for seed in range(1, given.repeats + 1):
            for kind in KINDS:
                folder = top / f"{kind}-{seed}"
                found[kind].append(measure(kind, binary, partita, given.seeds.resolve(), folder, given.seconds, seed))
            print(f"{given.source[0].name}: seed {seed}:", *(f"{kind} {found[kind][-1]}" for kind in KINDS), flush=True)
    medians = {kind: statistics.median(counts) for kind, counts in found.items()}
    print(f"{given.source[0].name}: median:", *(f"{kind} {count:g}" for kind, count in medians.items()))
    return 0 if medians["both"] > max(medians["AFL++"], medians["Partita"]) else 1
