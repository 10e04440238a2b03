"""A run as lines of text: bugs with the inputs that lead to them, and the summary at the end of a run."""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.results import Bug, as_number, counted, shown

LABEL_WIDTH = 14
# Below this number of columns labels take less room.
NARROW = 60
# Number of reasons, and of objects of one input, that are listed.
MAX_REASONS = 3
MAX_OBJECTS = 6
MAX_BYTES = 24
MAX_LINES = 16
MAX_VALUES = 120
"""Characters of the variables of one bug in the summary."""
# Internal objects of whole programs, which are not shown.
_BOOKKEEPING = re.compile(r"(stdin|stdout|[A-Z][-_]data)[-_]stat|n_args|model_version")
_ENDED = {"bugs": "ended in a bug", "limits": "cut by a limit"}
# Advice by the limit that stopped the run.
_ADVICE = {
    "max-time": "raise --max-time",
    "max-memory": "raise --max-memory",
    "max-instructions": "raise --max-instructions",
    "max-tests": "raise --max-tests",
}


def short_input(name: str, data: bytes, size: int = 0) -> str:
    """An object, or its first bytes, on one line: as text if it is printable, else as a number, else in hex."""
    if size > len(data):
        return f"{name} = hex {data[:MAX_BYTES].hex(' ')}... ({size:,} bytes)"
    body = data.rstrip(b"\0")
    if body and all(32 <= byte < 127 or byte in b"\t\n\r" for byte in body):
        part = body[:MAX_BYTES].decode("ascii")
        quoted = part.replace("\\", "\\\\").replace('"', '\\"')
        for sign, letter in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
            quoted = quoted.replace(sign, letter)
        zeros = f" and {counted(len(data) - len(body), 'zero byte')}" if len(data) > len(body) else ""
        return f'{name} = "{quoted}"' + ("..." if len(part) < len(body) else "") + zeros
    if not body and len(data) > 8:
        return f"{name} = {counted(len(data), 'zero byte')}"
    if number := as_number(data):
        return f"{name} = {number}" + (f" ({data.hex(' ')})" if len(data) > 1 and body else "")
    return f"{name} = hex {data[:MAX_BYTES].hex(' ')}" + ("..." if len(data) > MAX_BYTES else "")


def input_line(
    inputs: Sequence[tuple[str, bytes]], typed: Mapping[str, str] | None = None, sizes: Sequence[int] = ()
) -> str:
    """The inputs that lead into a bug, on one line. `typed` has values by their types, by name."""
    known = typed or {}
    lengths = sizes or [len(data) for _, data in inputs]
    rows = [(name, data, size) for (name, data), size in zip(inputs, lengths, strict=True)]
    objects = [row for row in rows if not _BOOKKEEPING.fullmatch(row[0])]
    if not objects:
        return "on every input"
    named = [
        f"{name} = {known[name]}" if name in known else short_input(name, data, size)
        for name, data, size in objects[:MAX_OBJECTS]
    ]
    more = len(objects) - len(named)
    return "with " + ", ".join([*named, f"and {more} more"] if more else named)


def bug_lines(bug: Bug) -> list[str]:
    """`file:line: error: message`, which editors recognise, and the inputs that lead there."""
    if bug.described:
        named = bug.described[:MAX_LINES]
        more = len(bug.described) - len(named)
        return [str(bug), *(f"    {line}" for line in named), *([f"    and {more} more"] if more else [])]
    return [str(bug), f"    {input_line(bug.inputs, bug.typed, bug.sizes)}"]


def layer_shares(data: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Shares of the exploration time, the largest first: one for each layer, and the engine for the rest."""
    total = max(data["explore_s"], 1e-9)
    shares = [(layer["name"], layer["time_s"] / total) for layer in data["solver"]["layers"]]
    rest = 1 - sum(share for _, share in shares)
    return sorted([*shares, ("engine", max(0.0, rest))], key=lambda row: -row[1])


def shares_line(data: Mapping[str, Any], least: float = 0.01) -> str:
    rows = [f"{name} {100 * share:.0f} %" for name, share in layer_shares(data) if share >= least]
    return ", ".join(rows) or "-"


def _workers(data: Mapping[str, Any]) -> str:
    jobs = data.get("jobs", 1)
    return f"in {jobs} processes " if jobs > 1 else ""


def covered_line(coverage: Mapping[str, int]) -> str:
    total = coverage["instructions"]
    share = f"{100 * coverage['covered'] // total} %" if total else "-"
    return f"{share} of {total:,} instructions"


def explored(data: Mapping[str, Any]) -> str:
    """`completely`, or `incompletely` and what ended the run."""
    if data["stopped"] is None:
        return "completely" if data["complete"] else "incompletely"
    ended = "interrupted" if data["stopped"] == "interrupted" else f"stopped by {data['stopped']}"
    return f"incompletely, {ended}"


def outcome_count(name: str, number: int) -> str:
    """An entry of `paths` in `run.json`: `3 completed`, `5 ended in a bug`, `2 cut by a limit`."""
    return f"{number:,} {_ENDED.get(name, name)}"


def target_line(row: Mapping[str, Any]) -> str:
    """A target of the search and what became of it."""
    if row["status"] == "reached":
        by = "" if row["test"] is None else f" by test{row['test']:06}"
        return f"{row['target']} reached{by}"
    if row["status"] == "unreachable":
        return f"{row['target']} unreachable: no input leads there"
    return f"{row['target']} not reached: the exploration is incomplete"


def bug_count(bugs: Sequence[Mapping[str, Any]]) -> str:
    """Number of distinct bugs, and of those that the baseline accepts."""
    accepted = sum(bool(bug.get("accepted")) for bug in bugs)
    return f"{len(bugs)}" + (f", {accepted} of them accepted" if accepted else "")


def _reasons(rows: Sequence[Mapping[str, Any]], kind: str) -> Iterable[str]:
    for row in sorted(rows, key=lambda row: -row["count"])[:MAX_REASONS]:
        times = "" if row["count"] == 1 else f" ({row['count']:,} times)"
        file, colon, line = row["where"].rpartition(":")
        yield f"{shown(file)}{colon}{line}: {kind}: {row['why']}{times}"
    if len(rows) > MAX_REASONS:
        yield f"and {counted(len(rows) - MAX_REASONS, 'more reason')}, in run.json"


def _callers(bugs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Conditions on callers for each bug of a run with --entry."""
    for bug in bugs:
        if bug.get("certain") is not None:
            yield f"{shown(bug['file'])}:{bug['line']} [{bug['class']}] {bug['caller']}"


def value_lines(bug: Mapping[str, Any]) -> Iterator[str]:
    """Variables at a bug of `run.json`, a line per function."""
    for frame in bug.get("values", ()):
        where = f"{frame['function']}:{frame['line']}" if frame["function"] else "globals"
        yield f"{where}: {', '.join(f'{name} = {value}' for name, value in frame['variables'].items())}"


def _values(bugs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Variables of the innermost function of each bug."""
    known = [bug for bug in bugs if bug.get("values")]
    for bug in known[:MAX_REASONS]:
        _, _, text = next(value_lines(bug)).partition(": ")
        cut = text if len(text) <= MAX_VALUES else f"{text[: MAX_VALUES - 4]} ..."
        yield f"{shown(bug['file'])}:{bug['line']} {cut}"
    if len(known) > MAX_REASONS:
        yield f"and at {counted(len(known) - MAX_REASONS, 'more bug')}, in run.json"


def _flags(data: Mapping[str, Any]) -> Iterator[str]:
    """Options of the run that compile the same program."""
    if data.get("project"):
        yield f"--project {shlex.quote(data['project'])}"
    if data.get("cflags"):
        # `=`: the value begins with a dash.
        yield f"--cflags={shlex.quote(' '.join(data['cflags']))}"


def _is_fixed(out: str) -> bool:
    """Does the only test of a run have no symbolic input?"""
    from partita.ktest import read

    path = Path(out, "test000001.ktest")
    if not path.is_file():
        return False
    objects = read(path).objects
    return all(_BOOKKEEPING.fullmatch(name) for name, _ in objects)


def _next(data: Mapping[str, Any], out: str) -> Iterable[str]:
    first = next((bug["test"] for bug in data["bugs"] if bug["test"] is not None), None)
    if first is not None:
        programs = shlex.join(map(shown, data["program"]))
        where = f"test{first:06}.ktest"
        test = shlex.quote(os.path.join(out, where)) if Path(out, where).is_file() else shlex.quote(out)
        yield " ".join([f"partita replay {programs} {test}", *_flags(data)])
    if data["stopped"] in _ADVICE:
        yield f"{_ADVICE[data['stopped']]} to explore more"
    coverage = data["coverage"]
    if data["complete"] and not data["forks"] and coverage["covered"] < coverage["instructions"] and _is_fixed(out):
        yield "no input is symbolic: make some so with --sym-arg 8, --sym-stdin 8 or --entry FUNC to explore more"
    if any(row["why"].endswith("max-solver-time") for row in data["incomplete"]):
        yield "raise --max-solver-time to explore more"
    yield f"partita report {shlex.quote(out)}"


def end_rows(data: Mapping[str, Any], out: str, width: int | None = None) -> Iterator[tuple[str, str]]:
    """The summary at the end of a run as pairs of label and text, without the bugs, which were printed when they were
    found. Lines are wrapped to `width`."""
    paths = data["paths"]
    ended = ", ".join(outcome_count(name, number) for name, number in paths.items() if number or name == "completed")
    solver = data["solver"]
    rows: list[tuple[str, Iterable[str]]] = [
        ("paths", [ended]),
        ("bugs", [bug_count(data["bugs"])]),
        ("callers", _callers(data["bugs"])),
        ("tests", [f"{data['tests']:,} in {out}"]),
        ("targets", [target_line(row) for row in data.get("targets", ())]),
        ("explored", [explored(data), *_reasons(data["incomplete"], "incomplete")]),
        ("noted", _reasons(data.get("notes", ()), "note")),
        ("covered", [covered_line(data["coverage"])]),
        ("values", _values(data["bugs"])),
        ("C library", [f"{data['libc']}: {data['libc_why']}"] if data.get("libc") == "musl" else []),
        (
            "time",
            [
                f"{data['wall_s']:.2f} s: compiling {data['compile_s']:.2f}, exploring {data['explore_s']:.2f} "
                f"{_workers(data)}"
                f"({counted(data['instructions'], 'instruction')}, {solver['queries']:,} "
                f"{'query' if solver['queries'] == 1 else 'queries'})"
            ],
        ),
        ("spent in", [shares_line(data)]),
        ("next", _next(data, out)),
    ]
    margin = LABEL_WIDTH if width is None or width >= NARROW else LABEL_WIDTH - 4
    yield "", ""
    for label, values in rows:
        room = None if width is None else max(20, width - margin)
        for line in (line for value in values for line in wrap(value, room)):
            yield f"{label:<{margin}}", line
            label = ""


def wrap(value: str, room: int | None) -> list[str]:
    """Wraps a text to `room` characters. A number stays with its percent sign, and a command is one line."""
    if room is None or value.startswith("partita "):
        return [value]
    lines = textwrap.wrap(value.replace(" %", "\xa0%"), room, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]
