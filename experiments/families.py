"""Benchmark of scalable families of SMT-LIB scripts, compared with Bitwuzla in the same run.

    python -m experiments families [--quick] [--only NAME,...] [--limit SECONDS] [--write DIR]

Every script runs in a process of its own, forked after both solvers are loaded; the time is the processor time from the
text to the answer, the least of three runs (of one if it takes more than half a second). A family's ratio is the
geometric mean of its sizes, with a millisecond added to both times; a size that only one solver finishes counts with
the limit. Targets: no family above 2, geometric mean of all below 1; contradicting answers always fail.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments.family_scripts import FAMILIES, Family
from partita import _core
from partita.solver import DEFAULT_LAYERS, resolve

FAMILY_TARGET, MEAN_TARGET, TOLERANCE = 2.0, 1.0, 1.2
LIMIT_S, QUICK_LIMIT_S, REPEAT_BELOW_S, REPEATS = 20.0, 5.0, 0.5, 3
FLOOR_S = 0.001
MEMORY_BYTES = 4 << 30


@dataclass
class Result:
    answer: str
    """`sat`, `unsat`, `unknown`, or `limit`."""
    seconds: float


def run_partita(text: str) -> str:
    spec, make = resolve(None)
    script = _core.Script("smtlib", spec, DEFAULT_LAYERS, make, None, None, None)
    answers: list[str] = []
    script.run(text.encode(), True, answers.append)
    return "".join(answers).strip()


def run_bitwuzla(text: str) -> str:
    import bitwuzla

    # The parser reads files and prints answers to standard output.
    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as source, tempfile.TemporaryFile() as output:
        source.write(text)
        source.flush()
        os.dup2(output.fileno(), 1)
        bitwuzla.Parser(bitwuzla.TermManager(), bitwuzla.Options()).parse(source.name, False)
        output.seek(0)
        return output.read().decode().strip()


def measure_once(solve: Callable[[str], str], text: str, limit: float) -> Result:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        seconds = math.ceil(limit)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        gc.disable()
        try:
            start = time.process_time()
            answer = solve(text)
            os.write(writer, pickle.dumps(Result(answer, time.process_time() - start)))
        except BaseException as error:  # the process ends in any case
            os.write(writer, pickle.dumps(Result(f"error: {error}"[:200], limit)))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else Result("limit", limit)


def measure(solve: Callable[[str], str], text: str, limit: float) -> Result:
    best = measure_once(solve, text, limit)
    for _ in range(REPEATS - 1):
        if best.seconds > REPEAT_BELOW_S or best.answer not in ("sat", "unsat"):
            break
        best.seconds = min(best.seconds, measure_once(solve, text, limit).seconds)
    return best


@dataclass
class Row:
    family: Family
    ratio: float | None
    wrong: bool
    cells: list[str]


def compare(family: Family, sizes: tuple[int, ...], limit: float) -> Row:
    cells, logs, wrong = [], [], False
    for size in sizes:
        text = family.write(size)
        theirs, ours = measure(run_bitwuzla, text, limit), measure(run_partita, text, limit)
        wrong |= {ours.answer, theirs.answer} == {"sat", "unsat"}
        known = [result.answer in ("sat", "unsat") for result in (ours, theirs)]
        if any(known) and all(result.answer in ("sat", "unsat", "limit") for result in (ours, theirs)):
            logs.append(math.log((ours.seconds + FLOOR_S) / (theirs.seconds + FLOOR_S)))
        shown = "/".join(f"{r.seconds:.3f}" if ok else r.answer for r, ok in zip((ours, theirs), known, strict=True))
        cells.append(f"{size}: {shown}")
    return Row(family, math.exp(sum(logs) / len(logs)) if logs else None, wrong, cells)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments families", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="the two smaller sizes, with a limit of 5 s")
    parser.add_argument("--only", metavar="NAME,...", help="these families")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help=f"limit of each run (default: {LIMIT_S:g})")
    parser.add_argument("--write", metavar="DIR", type=Path, help="write the scripts instead of running them")
    arguments = parser.parse_args(words)
    chosen = [f for f in FAMILIES if not arguments.only or f.name in arguments.only.split(",")]
    if arguments.write:
        arguments.write.mkdir(parents=True, exist_ok=True)
        for f in chosen:
            for size in f.sizes:
                (arguments.write / f"{f.name}-{size}.smt2").write_text(f.write(size))
        return 0
    try:
        import bitwuzla  # noqa: F401
    except ImportError:
        print("families: expected the package bitwuzla: pip install -r requirements/experiments.txt", file=sys.stderr)
        return 2
    limit = arguments.limit or (QUICK_LIMIT_S if arguments.quick else LIMIT_S)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    print(f"{'family':24} {'ratio':>7}  size: seconds of partita/bitwuzla")
    rows = []
    for f in chosen:
        row = compare(f, f.sizes[:2] if arguments.quick else f.sizes, limit)
        rows.append(row)
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        mark = " WRONG" if row.wrong else "" if row.ratio is None or row.ratio <= FAMILY_TARGET else " slow"
        print(f"{f.name:24} {ratio:>7}  {', '.join(row.cells)}{mark}", flush=True)
    ratios = [row.ratio for row in rows if row.ratio is not None]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
    slow = [row.family.name for row in rows if row.ratio is not None and row.ratio > FAMILY_TARGET * TOLERANCE]
    print(f"{len(rows)} families, geometric mean {mean:.2f} (target {MEAN_TARGET:g}), above {FAMILY_TARGET:g}: {slow}")
    return int(any(row.wrong for row in rows) or bool(slow) or mean > MEAN_TARGET * TOLERANCE)
