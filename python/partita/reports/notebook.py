"""A run as a notebook shows it: a few lines, without anything to load."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from partita.reports.text import stopped
from partita.results import Bug, as_text

MOST_BUGS = 20


def run(data: dict[str, Any], bugs: Sequence[Bug], ended: bool) -> str:
    paths = sum(data["paths"].values())
    state = "explored completely" if data["complete"] else "explored incompletely" if ended else "not ended yet"
    state += stopped(data)
    head = f"{paths:,} paths, {len(bugs)} bugs, {state}, {data['explore_s']:.2f} s"
    rows = [f"<b>{escape(' '.join(data['program']))}</b>: {escape(head)}"]
    for bug in bugs[:MOST_BUGS]:
        inputs = ", ".join(f"{name} = {as_text(value)!r}" for name, value in bug.inputs)
        rows.append(f"<code>{escape(str(bug))}</code>" + (f" with <code>{escape(inputs)}</code>" if inputs else ""))
    if len(bugs) > MOST_BUGS:
        rows.append(f"and {len(bugs) - MOST_BUGS} more bugs")
    return "<div>" + "<br>\n".join(rows) + "</div>"
