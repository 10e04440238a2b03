"""The head of the page: the program, whether it was explored completely, and the main figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from html import escape
from typing import Any

from partita.reports.folder import Covered
from partita.reports.html.data import RunData
from partita.reports.html.links import Links
from partita.reports.text import explored, outcome_count
from partita.results import counted


def render(data: RunData, nav: str) -> str:
    """The head of the page with links to its sections."""
    run, coverage = data.run, data.coverage
    if run["bugs"]:
        kind, verdict = "bad", f"{counted(len(run['bugs']), 'bug')} found"
    elif run["complete"]:
        kind, verdict = "good", "no bug on any path"
    else:
        kind, verdict = "part", "no bug found"
    command = f"<p><code>{escape(shlex.join(run['command']))}</code></p>\n" if run["command"] else ""
    return (
        f'<header>\n<h1>{escape(" ".join(run["program"]))}</h1>\n<p><span class="verdict {kind}">{verdict}</span> '
        f"explored {escape(explored(run))}</p>\n{command}"
        f"<nav>{nav}</nav>\n</header>\n"
        f'<dl class="tiles">\n{_tiles(run, coverage)}</dl>\n'
    )


def _tiles(run: dict[str, Any], coverage: Mapping[str, Covered]) -> str:
    paths, reached = run["paths"], run["coverage"]
    ended = ", ".join(outcome_count(name, number) for name, number in paths.items() if number)
    lines = [sum(counts) for counts in zip(*(file.line_counts for file in coverage.values()), strict=True)] or [0, 0]
    sides = [sum(counts) for counts in zip(*(file.branch_counts for file in coverage.values()), strict=True)] or [0, 0]
    rows = [
        ("Paths", f"{sum(paths.values()):,}", ended or "none finished"),
        ("Distinct bugs", f"{len(run['bugs']):,}", f"{counted(run['tests'], 'test')} written"),
        ("Lines covered", share(*lines), f"{lines[0]:,} of {lines[1]:,}"),
        ("Branches covered", share(*sides), f"{sides[0]:,} of {sides[1]:,} sides"),
        (
            "Instructions covered",
            share(reached["covered"], reached["instructions"]),
            f"{run['instructions']:,} executed",
        ),
        ("Time", f"{run['wall_s']:.2f} s", f"compiling {run['compile_s']:.2f}, exploring {run['explore_s']:.2f}"),
        ("Queries", f"{run['solver']['queries']:,}", f"{run['solver']['time_s']:.2f} s in the solver"),
        ("Memory", f"{run['memory_peak_mb']:,.0f} MB", "peak"),
    ]
    return "".join(
        f"<div><dt>{name}</dt><dd>{value} <small>{escape(more)}</small></dd></div>\n" for name, value, more in rows
    )


def share(part: int, total: int) -> str:
    """A percentage, rounded down so that 100 % means all."""
    return f"{100 * part // total} %" if total else "-"


def incomplete(rows: list[dict[str, Any]], links: Links) -> str:
    """Reasons of an incomplete exploration, grouped by cause; empty without any."""
    if not rows:
        return ""
    causes: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        causes.setdefault(row["why"], []).append(row)
    ordered = sorted(causes.items(), key=lambda cause: -sum(row["count"] for row in cause[1]))
    items = "".join(f"<li>{_cause(why, places, links)}</li>\n" for why, places in ordered)
    return f"<h2>Why the exploration is incomplete</h2>\n<ul>\n{items}</ul>\n"


def _cause(why: str, places: list[dict[str, Any]], links: Links) -> str:
    """A reason with its places, the most frequent first."""
    total = sum(row["count"] for row in places)
    found = []
    for row in sorted(places, key=lambda row: -row["count"]):
        file, colon, line = row["where"].rpartition(":")
        times = f" ({row['count']:,} times)" if row["count"] > 1 else ""
        found.append(f"<code>{escape(links.name(file))}{colon}{escape(line)}</code>{times}")
    if len(found) == 1:
        return f"{found[0]}: {escape(why)}"
    head = f"{escape(why)} <span class=soft>({total:,} times, {counted(len(found), 'place')})</span>"
    return f"<details><summary>{head}</summary><ul><li>{'</li><li>'.join(found)}</li></ul></details>"
