"""The head of the page: what was explored, how far, and the main figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from html import escape
from typing import Any

from partita.reports.folder import Covered
from partita.reports.text import stopped


def header(run: dict[str, Any], coverage: Mapping[str, Covered]) -> str:
    if run["bugs"]:
        kind, verdict = "bad", f"{len(run['bugs']):,} bug{'s' if len(run['bugs']) > 1 else ''} found"
    elif run["complete"]:
        kind, verdict = "good", "no bug on any path"
    else:
        kind, verdict = "part", "no bug found"
    how = "explored completely" if run["complete"] else "explored incompletely"
    how += stopped(run)
    command = f"<p><code>{escape(shlex.join(run['command']))}</code></p>\n" if run["command"] else ""
    return (
        f'<header>\n<h1>{escape(" ".join(run["program"]))}</h1>\n<p><span class="verdict {kind}">{verdict}</span> '
        f"{escape(how)}</p>\n{command}"
        '<nav><a href="#bugs">Bugs</a><a href="#source">Source</a><a href="#exploration">Exploration</a>'
        '<a href="#queries">Queries</a><a href="#tests">Tests</a></nav>\n</header>\n'
        f'<dl class="tiles">\n{_tiles(run, coverage)}</dl>\n' + _incomplete(run["incomplete"])
    )


def _tiles(run: dict[str, Any], coverage: Mapping[str, Covered]) -> str:
    paths, reached = run["paths"], run["coverage"]
    ended = ", ".join(f"{number:,} {name}" for name, number in paths.items() if number)
    lines = [sum(counts) for counts in zip(*(file.line_counts for file in coverage.values()), strict=True)] or [0, 0]
    sides = [sum(counts) for counts in zip(*(file.branch_counts for file in coverage.values()), strict=True)] or [0, 0]
    rows = [
        ("Paths", f"{sum(paths.values()):,}", ended or "none finished"),
        ("Distinct bugs", f"{len(run['bugs']):,}", f"{run['tests']:,} tests written"),
        ("Lines reached", share(*lines), f"{lines[0]:,} of {lines[1]:,}"),
        ("Branch sides taken", share(*sides), f"{sides[0]:,} of {sides[1]:,}"),
        (
            "Instructions reached",
            share(reached["covered"], reached["instructions"]),
            f"{run['instructions']:,} executed",
        ),
        ("Time", f"{run['wall_s']:.2f} s", f"compiling {run['compile_s']:.2f}, exploring {run['explore_s']:.2f}"),
        ("Queries", f"{run['solver']['queries']:,}", f"{run['solver']['time_s']:.2f} s in the solver"),
        ("Memory", f"{run['memory_peak_mb']:,.0f} MB", "at its peak"),
    ]
    return "".join(
        f"<div><dt>{name}</dt><dd>{value} <small>{escape(more)}</small></dd></div>\n" for name, value, more in rows
    )


def share(part: int, whole: int) -> str:
    """Rounded down, so that only all is 100 %."""
    return f"{100 * part // whole} %" if whole else "-"


def _incomplete(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    items = "".join(
        f"<li><code>{escape(row['where'])}</code>: {escape(row['why'])}"
        + (f" ({row['count']:,} times)" if row["count"] > 1 else "")
        + "</li>\n"
        for row in rows
    )
    return f"<h2>Why it is incomplete</h2>\n<ul>\n{items}</ul>\n"
