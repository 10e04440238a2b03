"""Writes DIR/index.html: every experiment with its plot, the paper's figures and all rows. No scripts, no network."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment

_STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
img { max-width: 100%; height: auto }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: .15rem .7rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child, th:nth-child(3), td:nth-child(3), td:last-child, th:last-child { text-align: left }
.remark { color: #a40000 }
nav { columns: 3; margin: 1rem 0 }
nav div { break-inside: avoid }
"""
_MAX_NAMED = 4
"""Number of rows named per reason for which they were not measured."""
_COLUMNS = {
    "time_s": "seconds",
    "speedup": "times as fast",
    "difference": "time, %",
    "paths": "paths",
    "lines": "lines",
    "states": "states",
    "increase": "states, %",
    "queries": "queries",
    "solves": "solves",
    "hit_rate": "hit rate",
    "success": "answered",
    "overhead": "overhead, %",
    "solver_percent": "in the solver, %",
    "solver_difference": "time in it, %",
    "inequalities": "inequalities",
    "handled": "handled",
    "mismatches": "wrong",
    "peak_mb": "MB",
}


def render(experiments: Mapping[str, Experiment], not_yet: Mapping[str, str], folder: Path) -> str:
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Partita: experiments</title>',
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Experiments</h1>",
        "<p>Means with 99 % confidence intervals. Time is the time of exploring without the translation of queries for"
        " Z3. “Both sides” means that the executor asks about both sides of every branch, as the papers' executors do;"
        " ours has a model of each path and asks only about the side that the model does not take. “Times as fast” and"
        " percentages refer to the configuration named there. A triangle in a plot is a run that was stopped at that"
        " time.</p>",
        "<nav>",
        *(f'<div><a href="#{name}">{name}</a>: {html.escape(one.title)}</div>' for name, one in experiments.items()),
        "</nav>",
    ]
    for experiment in experiments.values():
        parts += _section(experiment, folder)
    parts.append("<h2>Not available</h2><ul>")
    parts += [f"<li><b>{html.escape(name)}</b>: {html.escape(why)}</li>" for name, why in not_yet.items()]
    return "\n".join([*parts, "</ul></body></html>"]) + "\n"


def _section(experiment: Experiment, folder: Path) -> list[str]:
    name = experiment.name
    parts = [f'<h2 id="{name}">{name}: {html.escape(experiment.title)}</h2>']
    file = folder / f"{name}.json"
    if not file.exists():
        return [*parts, f"<p>Not run here: <code>python -m experiments {name}</code>.</p>"]
    data = json.loads(file.read_text())
    if not data["complete"]:
        parts.append('<p class="remark">Interrupted: the same command resumes it.</p>')
    parts += _not_measured(data["rows"])
    parts += [
        f'<p><img src="{name}.svg" alt="{html.escape(experiment.title)}"></p>' if data["complete"] else "",
        f"<p><b>Reported</b> ({html.escape(experiment.source)}): {_text(experiment.reported)}</p>",
        f"<p>{_text(experiment.note)}</p>",
        "<ul>",
        *(f"<li>{_configuration(name, data['configurations'])}</li>" for name in data["configurations"]),
        "</ul>",
        f"<pre>{html.escape(chr(10).join(experiment.table(data['samples'])))}</pre>" if experiment.table else "",
        _table(data),
        f"<p>{_origin(data)} Raw data: <a href=\"{name}.json\">{name}.json</a>.</p>",
    ]  # fmt: skip
    return parts


def _not_measured(rows: list[dict[str, Any]]) -> list[str]:
    """Rows that are missing in the plot, grouped by reason."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row["remark"]:
            words = dict.fromkeys((row["series"], str(row["x"])))
            groups.setdefault(row["remark"], []).append(f"{' '.join(words)}: {row['configuration']}")
    return [
        f'<p class="remark">{_text(why)} ({len(names)} of {len(rows)} rows; {html.escape(_few(names))}).</p>'
        for why, names in groups.items()
    ]


def _few(names: list[str]) -> str:
    return "; ".join(names[:_MAX_NAMED]) + ("; ..." if len(names) > _MAX_NAMED else "")


def _text(words: str) -> str:
    """HTML of a text, with the parts between backquotes as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(words))


def _configuration(name: str, setups: dict[str, dict[str, Any]]) -> str:
    setup = setups[name]
    other = setup["compared_with"]
    words = f"<b>{html.escape(name)}</b>: "
    words += f"<code>{html.escape(setup['layers'])}</code>" if setup["tool"] == "partita" else setup["tool"]
    more = ["" if setup["path_model"] else "both sides",
            f"compared with {other}" if other in setups and other != name else ""]  # fmt: skip
    return words + "".join(f", {html.escape(one)}" for one in more if one)


def _origin(data: dict[str, Any]) -> str:
    machine, versions, effort = data["machine"], data["versions"], data["effort"]
    said = (
        f"Scale: {data['scale']}, {effort['repeats']} runs each or more, stopped after {effort['seconds']:g} s."
        f" {machine['processor']}, {machine['processors']} processors; Partita {versions['partita']}, Z3"
        f" {versions['z3-solver']}. Command: {shlex.join(data['command'])}."
    )
    return html.escape(said)


def _table(data: dict[str, Any]) -> str:
    shown = [name for name in _COLUMNS if any(name in row["estimates"] for row in data["rows"])]
    head = "".join(f"<th>{_COLUMNS[name]}</th>" for name in shown)
    lines = [f"<details><summary>All rows</summary><table><tr><th>series</th><th>size</th><th>configuration</th>{head}"
             "<th></th></tr>"]  # fmt: skip
    for row in data["rows"]:
        cells = "".join(f"<td>{_cell(row['estimates'].get(name))}</td>" for name in shown)
        names = "".join(f"<td>{html.escape(str(row[key]))}</td>" for key in ("series", "x", "configuration"))
        lines.append(f'<tr>{names}{cells}<td class="remark">{html.escape(row["remark"])}</td></tr>')
    return "\n".join([*lines, "</table></details>"])


def _cell(value: dict[str, Any] | None) -> str:
    if value is None:
        return "-"
    within = "" if value["within"] is None else f" ± {value['within']:.2g}"
    return f"{value['mean']:.4g}{within}"
