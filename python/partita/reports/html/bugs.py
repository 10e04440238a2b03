"""The section on bugs: messages, call stacks, decisions and inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import Any

from partita import _core
from partita.findings import is_system_header, source_lines
from partita.reports.html.data import RunData
from partita.reports.html.links import Links
from partita.reports.html.tests import show_test
from partita.results import counted

AROUND = 3
"""Lines before and after a bug that are shown with it."""


def render(data: RunData) -> str:
    if not data.run["bugs"]:
        return "<p>None found.</p>"
    descriptions = defaultdict(lambda: "another class of bug", _core.BUG_CLASSES)
    trails = {(row["class"], row["file"], row["line"]): row for row in data.tree["bugs"]} if data.tree else {}
    parts = []
    for bug in data.run["bugs"]:
        place = f"{data.links.name(bug['file'])}:{bug['line']}" if bug["line"] else "unknown place"
        frames = "".join(
            f"<li><code>{escape(frame.function)}</code> at {data.links.link(frame.file, frame.line)}</li>\n"
            for frame in data.stacks.get(bug["test"], ())
        )
        calls = (
            f"<p>Call stack, innermost first:</p>\n<ol start=0>\n{frames}</ol>\n" if frames else "<p>No stack.</p>\n"
        )
        test = None if bug["test"] is None else data.tests_of_bugs.get(f"test{bug['test']:06}")
        shown_input = show_test(test) if test else "<p>No test was written.</p>"
        if test and bug.get("input"):
            # Objects that the function can get at are shown as C; the test has all that were made.
            shown_input = f"<details><summary>Bytes of all objects</summary><div>{shown_input}</div></details>\n"
        trail = trails.get((bug["class"], bug["file"], bug["line"]))
        path = _path(trail, data.tree["places"], data.links) if data.tree and trail else ""
        link = data.links.link(bug["file"], bug["line"])
        parts.append(
            f"<details open><summary><code>{escape(place)}</code>: error: <strong>{escape(bug['message'])}</strong> "
            f'<span class="verdict bad">{escape(bug["class"])}</span></summary>\n<div>'
            f"<p>{escape(descriptions[bug['class']].capitalize())}, at {link}.</p>\n"
            f"<div class=beside>{excerpt(bug['file'], bug['line'])}{_values(bug)}</div>{_caller(bug)}"
            f"<p>Input that leads there:</p>\n{_written(bug)}{shown_input}{calls}{path}</div></details>"
        )
    return "\n".join(parts)


def excerpt(file: str, line: int) -> str:
    """The source around a bug, with its line marked."""
    lines = source_lines(file)
    if not 0 < line <= len(lines):
        return ""
    first = max(1, line - AROUND)
    rows = []
    for number, text in enumerate(lines[first - 1 : line + AROUND], first):
        row = escape(f"{number:>5}  {text}")
        rows.append(f"<strong>{row}</strong>" if number == line else row)
    return f'<pre class="scroll">{chr(10).join(rows)}</pre>\n'


def _caller(bug: dict[str, Any]) -> str:
    """The condition on callers, of a run with --entry."""
    return f"<p>Callers: {escape(bug['caller'])}.</p>\n" if bug.get("caller") else ""


def _values(bug: dict[str, Any]) -> str:
    """The variables at the bug: those of the innermost functions, then global ones."""
    rows = []
    for frame in bug.get("values") or ():
        where = f"<code>{escape(frame['function'])}</code>:{frame['line']}" if frame["function"] else "globals"
        for i, (name, value) in enumerate(frame["variables"].items()):
            head = f"<td rowspan={len(frame['variables'])}>{where}</td>" if i == 0 else ""
            rows.append(f"<tr>{head}<td><code>{escape(name)}</code></td><td><code>{escape(value)}</code></td></tr>\n")
    if not rows:
        return ""
    head = "<thead><tr><th>in</th><th>variable</th><th>value there</th></tr></thead>"
    return f'<div class="scroll"><table class=values>\n{head}\n<tbody>{"".join(rows)}</tbody></table></div>\n'


def _written(bug: dict[str, Any]) -> str:
    """The input as C writes it, if its types are known."""
    lines = bug.get("input") or []
    return f'<pre class="scroll">{escape(chr(10).join(lines))}</pre>\n' if lines else ""


def _path(trail: dict[str, Any], places: Sequence[dict[str, Any]], links: Links) -> str:
    """The decisions of the path with more than one feasible side; repeated ones on one line with their number."""
    steps = [step for step in trail["decisions"] if not is_system_header(places[step["place"]]["file"])]
    if not steps:
        return "<p>No decision depends on the input: every input leads there.</p>\n"
    rows = []
    for (place, side), group in groupby(steps, key=lambda step: (step["place"], step["side"])):
        at, times = places[place], len(list(group))
        inside = f" in <code>{escape(at['inside'])}</code>" if at["inside"] else ""
        target = f" to {escape(side)}" if side else ""
        repeated = f' <span class="soft">{times:,} times</span>' if times > 1 else ""
        lines = source_lines(at["file"])
        code = f" <code>{escape(lines[at['line'] - 1].strip())}</code>" if 0 < at["line"] <= len(lines) else ""
        rows.append(f"<li>{links.link(at['file'], at['line'])}{inside}{code}{target}{repeated}</li>\n")
    left_out = trail["left_out"]
    cut = f"; {left_out:,} in the middle were not recorded" if left_out else ""
    count = len(steps) + left_out
    return (
        f"<details><summary>Path: {counted(count, 'decision')}{cut}</summary>"
        f'<div class="path"><ol>\n{"".join(rows)}</ol></div></details>\n'
    )
