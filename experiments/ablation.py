"""`python -m experiments.ablation`: what each layer and each mechanism inside layers is worth, in counts.

Replays the query logs of benchmarks/queries, explores benchmarks/programs depth first and, if they are built
(`python -m experiments.sources coreutils --into build`), ten utilities of Coreutils, up to a number of instructions.
For each change of the default chain the table has SAT solves and effort of all layers, both as multiples of the
default's; the first row has the default's own. Counts do not depend on the machine. `docs/layers.md` has the result.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.solver import DEFAULT_LAYERS

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAMS = REPOSITORY / "benchmarks" / "programs"
QUERIES = REPOSITORY / "benchmarks" / "queries"
UTILITIES = "echo cut head tr paste basename factor sort tac dirname".split()
SYMBOLIC = "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8 --sym-stdout".split()
PARTITA = Path(sys.executable).with_name("partita")

CHAIN = [layer for layer in DEFAULT_LAYERS.split() if layer != "store"]


def _with(layer: str, options: str) -> str:
    return " ".join(f"{name}({options})" if name == layer else name for name in CHAIN)


# The chain without something, by what is left out.
CHANGES = {
    "nothing": " ".join(CHAIN),
    **{f"`{one}`": " ".join(name for name in CHAIN if name != one) for one in CHAIN if one != "sat"},
    "near misses": _with("sat", "harvest=off"),
    "variants": _with("solutions", "variants=0"),
    "repair": _with("intervals", "repair=off"),
    "small inputs": _with("sat", "small=off"),
    "CaDiCaL": _with("sat", "engine=batsat"),
    "throttle": " ".join(
        f"{name}(throttle=off)" if name in ("intervals", "enumerate", "differences") else name for name in CHAIN
    ),
    "brief budget of skipped queries": " ".join([*CHAIN, "throttle(brief=0)"]),
}


@dataclass(frozen=True)
class Job:
    suite: str
    name: str
    command: tuple[str, ...]


@dataclass
class Counts:
    queries: int
    solves: int
    effort: float
    found: str
    counters: dict[str, float]


def jobs(utilities: Path, instructions: int) -> Iterator[Job]:
    for log in sorted(QUERIES.glob("*.kquery.gz")):
        yield Job("logs", log.name.split(".")[0], ("smt", str(log), "--stats"))
    limits = ["--search", "dfs", "--store", "none", "--tests", "bugs", "--max-time", "120"]
    limits += ["--max-instructions", str(instructions)]
    for program in sorted(PROGRAMS.glob("*.c")):
        yield Job("programs", program.stem, ("run", str(program), *limits))
    for name in UTILITIES:
        if (utilities / name).exists():
            yield Job("coreutils", name, ("run", str(utilities / name), *limits, "--", *SYMBOLIC))


def run(job: Job, chain: str) -> Counts | None:
    """None if the run was stopped by time: its counts would depend on the machine."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(PARTITA), *job.command[:2], "--layers", chain]
        out = Path(folder) / "out"
        command += ["--out", str(out)] if job.command[0] == "run" else []
        done = subprocess.run([*command, *job.command[2:]], capture_output=True, text=True)
        if job.command[0] == "smt":
            data: dict[str, Any] = json.loads(done.stderr[done.stderr.index("{") :])
            found = done.stdout if "model" not in done.stdout else ""
        else:
            if not (out / "run.json").exists():
                sys.exit(f"{job.name}: {done.stdout}{done.stderr}")
            summary = json.loads((out / "run.json").read_text())
            if summary["stopped"] == "max-time":
                return None
            data, found = summary["solver"], json.dumps([summary["paths"], summary["bugs"]])
    layers = data["layers"]
    counters: dict[str, float] = {}
    for layer in layers:
        for key, value in layer.items():
            if key.startswith("by_") or key in ("repaired", "small_inputs", "handed_over", "skipped"):
                counters[key] = counters.get(key, 0) + value
    effort = sum(layer["effort_s"] for layer in layers)
    return Counts(data["queries"], layers[-1]["asked"], effort, found, counters)


def ratio(value: float, base: float) -> str:
    return "-" if base == 0 and value == 0 else "new" if base == 0 else f"{value / base:.2f}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--utilities", type=Path, default=REPOSITORY / "build/coreutils/coreutils-9.1/src")
    parser.add_argument("--instructions", type=int, default=500_000)
    parser.add_argument("--only", default="", help="changes whose name contains this text")
    parser.add_argument("--suites", default="logs programs coreutils", help="suites to run (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args(words)
    suites = arguments.suites.split()
    work = [job for job in jobs(arguments.utilities, arguments.instructions) if job.suite in suites]
    suites = list(dict.fromkeys(job.suite for job in work))
    base: dict[str, Counts] = {}
    differing: list[str] = []
    print(f"| without | {' | '.join(suites)} | greatest change |\n|---|{'---|' * (len(suites) + 1)}")
    with ThreadPoolExecutor(arguments.workers) as pool:
        for change, chain in CHANGES.items():
            if base and arguments.only not in change:
                continue
            results = dict(
                zip(
                    (job.name + "/" + job.suite for job in work),
                    pool.map(lambda job, chain=chain: run(job, chain), work),
                    strict=True,
                )
            )
            base = base or {name: counts for name, counts in results.items() if counts is not None}
            cells, largest = [], (0.0, "")
            for suite in suites:
                both = [(results[n], base[n]) for n in base if n.endswith("/" + suite) and results[n] is not None]
                stopped = sum(results[n] is None for n in base if n.endswith("/" + suite))
                now = [a for a, _ in both if a is not None]
                solves, effort = sum(a.solves for a in now), sum(a.effort for a in now)
                late = f", {stopped} stopped by time" if stopped else ""
                if change == "nothing":
                    cells.append(f"{solves:,} solves of {sum(a.queries for a in now):,} queries, {effort:.2f} s{late}")
                else:
                    before = sum(b.solves for _, b in both), sum(b.effort for _, b in both)
                    cells.append(f"{ratio(solves, before[0])} {ratio(effort, before[1])}{late}")
            for name, counts in results.items():
                if counts is None or name not in base:
                    continue
                if counts.found != base[name].found:
                    differing.append(f"{change}: {name}")
                by = counts.effort - base[name].effort
                if abs(by) > abs(largest[0]):
                    largest = (by, name.split("/")[0])
            note = f"{largest[1]} {largest[0] * 1e3:+.1f} ms" if largest[1] else ""
            print(f"| {change} | {' | '.join(cells)} | {note} |", flush=True)
            if change == "nothing":
                for suite in suites:
                    total: dict[str, float] = {}
                    for name, counts in base.items():
                        if name.endswith("/" + suite):
                            for key, value in counts.counters.items():
                                total[key] = total.get(key, 0) + value
                    print(
                        f"answers in {suite}: " + ", ".join(f"{k} {v:.0f}" for k, v in sorted(total.items())),
                        file=sys.stderr,
                        flush=True,
                    )
    print(
        "\n".join(["", "other results:", *differing]) if differing else "the same paths, bugs and verdicts everywhere",
        file=sys.stderr,
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
