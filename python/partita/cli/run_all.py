"""`partita run lib.c --entry all`: every function of the files in turn, with the time shared, and one report."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partita import options
from partita.cli.follow import OutputClosedError, write_line
from partita.entry import FUZZ_TARGET, functions_of
from partita.errors import UsageError
from partita.explore import Run, explore, next_folder, prepare_folder
from partita.findings import Baseline
from partita.frontends import cache, sharing_sources
from partita.reports import functions, github
from partita.results import Bug, counted

SECONDS_PER_FUNCTION = 5.0
"""Share of a function without --max-time."""
MIN_SHARE_S = 0.1
_KEPT = ("paths", "bugs", "tests", "coverage", "incomplete", "complete", "stopped", "wall_s")


def run(arguments: argparse.Namespace, words: Sequence[str], baseline: Baseline | None) -> int:
    """Runs all functions. Returns the exit status."""
    for name in ("assume", "certificate"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name} is about one function, and --entry all starts all of them")
    given = {**options.keywords(arguments), "out": None}
    begin, filled_s = time.monotonic(), cache.filling_s
    names = functions_of(arguments.program, cflags=given["cflags"], clang=given["clang"])
    # Time to compile the sources for a function, about the same for each.
    compile_s = time.monotonic() - begin - (cache.filling_s - filled_s)
    if not names:
        raise UsageError(f"expected functions in {' '.join(arguments.program)}, found none")
    if arguments.out:
        folder = Path(arguments.out)
        prepare_folder(folder)
    else:
        folder = next_folder(Path.cwd())
    total = given["max_time"] if given["max_time"] is not None else SECONDS_PER_FUNCTION * len(names)
    # Compiling libraries, which is done once, does not count.
    end, filling_s = time.monotonic() + total, cache.filling_s
    rows: list[dict[str, Any]] = []
    if arguments.json:
        _write(json.dumps({"event": "start", "program": arguments.program, "out": str(folder), "functions": names}))
    with sharing_sources():
        for i, name in enumerate(names):
            # Time that a function does not need is for those after it.
            left = end + cache.filling_s - filling_s - time.monotonic()
            if left <= 0:
                break
            # A function that is started is explored for at least as long as compiling took.
            share = max(MIN_SHARE_S + 2 * compile_s, left / (len(names) - i))
            row = _explored(arguments.program, name, words, {**given, "max_time": share}, folder / name, baseline)
            compile_s = row.get("compile_s", compile_s)
            rows.append(row)
            if arguments.json:
                _write(json.dumps({"event": "function", **row}))
            elif not arguments.quiet:
                _write(functions.function_line(row))
            if row["stopped"] == "interrupted":
                break
    data = functions.write(folder, arguments.program, rows, names[len(rows) :])
    _report(arguments, data, folder)
    return _status(data)


def _explored(
    program: Sequence[str],
    name: str,
    words: Sequence[str],
    given: dict[str, Any],
    folder: Path,
    baseline: Baseline | None,
) -> dict[str, Any]:
    """The run of one function as a row. A function that cannot be started is a row with the reason."""
    from partita.cli.run import ending_cleanly

    row: dict[str, Any] = {"function": name, "is_program": name in ("main", FUZZ_TARGET), "error": ""}
    filled_s = cache.filling_s
    try:
        found: Run = explore(program, arguments=words, **{**given, "entry": name})
    except UsageError as error:
        empty: dict[str, Any] = {key: [] for key in ("bugs", "incomplete")}
        counts = {"paths": {}, "tests": 0, "coverage": {"instructions": 0, "covered": 0}}
        return {**row, "error": str(error), **empty, **counts, "complete": False, "stopped": None, "wall_s": 0.0}
    compile_s = found.compile_s - (cache.filling_s - filled_s)
    found.baseline = baseline
    found.warn = lambda line: print(f"partita: warning: {name}: {line}", file=sys.stderr)
    found.write_to(folder)
    found.describe_command(sys.argv)
    with ending_cleanly(found):
        found.finish()
    summary = found.summary()
    found.abandon()
    return {**row, **{key: summary[key] for key in _KEPT}, "compile_s": round(compile_s, 6)}


def _report(arguments: argparse.Namespace, data: dict[str, Any], folder: Path) -> None:
    """Prints the findings, and writes files for build servers."""
    annotated = github.wanted(arguments.annotations)
    if arguments.json:
        _write(json.dumps(data))
    else:
        _print(data, folder, arguments.quiet, annotated)
    if arguments.sarif is not None:
        from partita.reports import sarif

        sarif.write_several(
            [folder / row["function"] for row in data["functions"] if not row["error"]], Path(arguments.sarif)
        )
    if arguments.baseline is not None and arguments.update_baseline:
        from partita.findings import project_root

        baseline = Baseline.read(Path(arguments.baseline), may_be_new=True)
        count = baseline.update(data["findings"], project_root(Path.cwd()))
        print(f"partita: {counted(count, 'bug')} added to {baseline.path}", file=sys.stderr)


def _print(data: dict[str, Any], folder: Path, quiet: bool, annotated: bool) -> None:
    found = data["findings"]
    if not quiet:
        _write("")
    for finding in found:
        if quiet and finding["accepted"]:
            continue
        lines = functions.lines(finding)
        for line in lines[: 1 if quiet else None]:
            _write(line)
        if annotated and not finding["accepted"]:
            row = {key: finding[key] for key in ("file", "line", "message")}
            _write(github.line(Bug(class_=finding["class"], test=None, paths=0, **row), lines[1:]))
    if quiet:
        return
    certain = sum(finding["certain"] for finding in found)
    rows = data["functions"]
    complete = sum(row["complete"] for row in rows)
    _write("")
    _write(f"bugs          {len(found)}: {certain} certain, {len(found) - certain} with assumptions about callers")
    left = data["not_started"]
    _write(
        f"functions     {len(rows)} started, {complete} explored completely"
        + (f", {len(left)} not started ({left[0]}{', ...' if len(left) > 1 else ''})" if left else "")
    )
    _write(f"next          partita report {folder}")


def _status(data: dict[str, Any]) -> int:
    from partita.cli.run import BUG, COMPLETE, INCOMPLETE

    if any(not finding["accepted"] for finding in data["findings"]):
        return BUG
    return COMPLETE if not data["not_started"] and all(row["complete"] for row in data["functions"]) else INCOMPLETE


def _write(line: str) -> None:
    try:
        write_line(line)
    except OutputClosedError:
        raise BrokenPipeError from None
