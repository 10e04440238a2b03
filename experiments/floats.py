"""Benchmark of floating-point queries: the default chain and Bitwuzla on the same files, in one run.

    python -m experiments floats [NAME...] [--every N] [--seconds S] [--no-bitwuzla]

Each file of ../shared/corpus/fp ($PARTITA_SHARED/corpus/fp) is read and solved by each solver in a process of its own,
forked from this one after all imports, so start-up does not count; the faster of up to three runs counts. The file
`index.json` has the verdicts and recorded times of Bitwuzla. Targets: no wrong verdict; every file with a recorded
time solved
in 20 s; in total at most the time of Bitwuzla and half of it in geometric mean, over the files that both solve; at
least 80 % of the satisfiable queries of an executor answered before the layer `sat`. Otherwise the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import math
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from experiments.locations import corpora
from partita import _core, backends
from partita.solver import DEFAULT_LAYERS

MAX_SECONDS = 20.0
MAX_TOTAL, MAX_MEAN, MIN_BEFORE_SAT = 1.0, 0.5, 0.8
REPEAT_BELOW_S = 0.5
REPEATS = 3
MEMORY_MB = 3000
VERDICTS = ("sat", "unsat", "unknown")


@dataclass(frozen=True)
class Result:
    verdict: str
    """Last verdict of the script, or why there is none."""
    seconds: float
    before_sat: bool = False
    """Whether the layer `sat` answered nothing."""


def ours(path: Path, seconds: float) -> Result:
    text = gzip.decompress(path.read_bytes())
    lines: list[str] = []
    start = time.monotonic()
    script = _core.Script("smtlib", DEFAULT_LAYERS, DEFAULT_LAYERS, backends.make, seconds, MEMORY_MB)
    script.run(text, True, lines.append)
    taken = time.monotonic() - start
    layers = {layer["name"]: layer for layer in script.statistics()["layers"]}
    sat = layers["sat"]
    return Result(last_verdict("".join(lines)), taken, sat["sat"] + sat["unsat"] == 0)


def bitwuzla(path: Path, seconds: float) -> Result:
    from bitwuzla import Option, Options, Parser, TermManager

    text = gzip.decompress(path.read_bytes()).decode()
    options = Options()
    options.set(Option.PRODUCE_MODELS, True)
    options.set(Option.TIME_LIMIT_PER, int(1000 * seconds))
    with captured_output() as output:
        start = time.monotonic()
        Parser(TermManager(), options).parse(text, False, False)
        taken = time.monotonic() - start
        return Result(last_verdict(output()), taken)


@contextlib.contextmanager
def captured_output() -> Iterator[Callable[[], str]]:
    """Sends the file descriptor of the standard output to a file: the parser of Bitwuzla prints answers there."""
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        yield lambda: os.pread(file.fileno(), 1 << 20, 0).decode()


def last_verdict(output: str) -> str:
    found = [line for line in output.split() if line in VERDICTS]
    return found[-1] if found else output.strip().splitlines()[0][:100] if output.strip() else "no output"


SOLVERS: dict[str, Callable[[Path, float], Result]] = {"partita": ours, "bitwuzla": bitwuzla}


def child(solver: str, path: Path, seconds: float, pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY_MB << 20, 2 * MEMORY_MB << 20))
    try:
        result = SOLVERS[solver](path, seconds)
    except Exception as error:  # A solver may reject the file: that is its result.
        result = Result(f"{type(error).__name__}: {str(error).splitlines()[0][:80]}", 0.0)
    pipe.send(result)


def run_once(solver: str, path: Path, seconds: float) -> Result:
    processes = multiprocessing.get_context("fork")
    receive, send = processes.Pipe(duplex=False)
    process = processes.Process(target=child, args=(solver, path, seconds, send))
    process.start()
    send.close()
    try:
        if receive.poll(seconds + 5):
            result: Result = receive.recv()
            return result
        return Result("timeout", seconds)
    except EOFError:
        return Result("crash", seconds)
    finally:
        process.kill()
        process.join()


def measure(solver: str, path: Path, seconds: float) -> Result:
    best = run_once(solver, path, seconds)
    for _ in range(REPEATS - 1):
        if best.seconds > REPEAT_BELOW_S or best.verdict not in ("sat", "unsat"):
            break
        best = min(best, run_once(solver, path, seconds), key=lambda result: result.seconds)
    return best


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def target(name: str, value: float, limit: float, at_most: bool) -> bool:
    met = value <= limit if at_most else value >= limit
    print(f"{name}: {value:.2f} (at {'most' if at_most else 'least'} {limit}): {'met' if met else 'MISSED'}")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments floats")
    parser.add_argument("name", nargs="*", help="files, without .smt2.gz (default: all)")
    parser.add_argument("--every", type=int, default=1, help="only every N-th file")
    parser.add_argument("--seconds", type=float, default=MAX_SECONDS, help="limit of each solver (default: 20)")
    parser.add_argument("--no-bitwuzla", action="store_true", help="compare with nothing")
    arguments = parser.parse_args()
    folders = [folder / "fp" for folder in corpora() if (folder / "fp" / "index.json").exists()]
    if not folders:
        print("floats: no corpus/fp: set PARTITA_SHARED")
        return 2
    index: dict[str, Any] = json.loads((folders[-1] / "index.json").read_text())
    names = arguments.name or sorted(index)[:: arguments.every]
    solvers = ["partita"] if arguments.no_bitwuzla or "bitwuzla" not in backends.installed() else list(SOLVERS)

    wrong, late, before = [], [], []
    ratios: list[float] = []
    totals = dict.fromkeys(solvers, 0.0)
    print(f"{'file':8} {'kind':9} {'verdict':8}" + "".join(f" {name:>10} s" for name in solvers) + "   before sat")
    for name in names:
        row, path = index[name], folders[-1] / f"{name}.smt2.gz"
        results = {solver: measure(solver, path, arguments.seconds) for solver in solvers}
        found = results["partita"]
        solved = found.verdict == row["verdict"]
        if found.verdict in ("sat", "unsat") and not solved:
            wrong.append(name)
        if not solved and row["bitwuzla_s"] is not None:
            late.append(name)
        if row["kind"] == "executor" and row["verdict"] == "sat":
            before.append(solved and found.before_sat)
        if len(solvers) == 2 and all(result.verdict == row["verdict"] for result in results.values()):
            ratios.append(found.seconds / results["bitwuzla"].seconds)
            for solver in solvers:
                totals[solver] += results[solver].seconds
        print(
            f"{name:8} {row['kind']:9} {row['verdict']:8}"
            + "".join(f" {result.seconds:12.4f}" for result in results.values())
            + f"   {'yes' if found.before_sat else 'no':3}"
            + ("" if solved else f"  partita: {found.verdict}"),
            flush=True,
        )
    met = target("wrong verdicts", len(wrong), 0, True)
    met &= target("files with a recorded time that are not solved", len(late), 0, True)
    if ratios:
        print(f"files that both solve: {len(ratios)}; seconds: {totals}")
        met &= target("time in total, of Bitwuzla's", totals["partita"] / totals["bitwuzla"], MAX_TOTAL, True)
        met &= target("time in geometric mean, of Bitwuzla's", geometric_mean(ratios), MAX_MEAN, True)
    if before:
        share = sum(before) / len(before)
        met &= target("satisfiable executor queries answered before sat", share, MIN_BEFORE_SAT, False)
    if wrong or late:
        print(f"wrong: {wrong}; not solved: {late}")
    return 0 if met else 1
