"""A run as HTML for notebooks: a few lines that load nothing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from partita.reports.text import explored
from partita.results import Bug, as_text, counted

MAX_BUGS = 20


def run(data: dict[str, Any], bugs: Sequence[Bug], ended: bool) -> str:
    paths = counted(sum(data["paths"].values()), "path")
    state = f"explored {explored(data)}" if ended else "not finished"
    head = f"{paths}, {counted(len(bugs), 'bug')}, {state}, {data['explore_s']:.2f} s"
    rows = [f"<b>{escape(' '.join(data['program']))}</b>: {escape(head)}"]
    for bug in bugs[:MAX_BUGS]:
        inputs = ", ".join(f"{name} = {as_text(value)!r}" for name, value in bug.inputs)
        rows.append(f"<code>{escape(str(bug))}</code>" + (f" with <code>{escape(inputs)}</code>" if inputs else ""))
    if len(bugs) > MAX_BUGS:
        rows.append(f"and {counted(len(bugs) - MAX_BUGS, 'more bug')}")
    return "<div>" + "<br>\n".join(rows) + "</div>"
