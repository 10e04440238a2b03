"""The section on the solver: queries answered and passed on by each layer, and the slowest queries."""

from __future__ import annotations

from html import escape
from typing import Any

from partita.reports.html.data import RunData
from partita.reports.html.links import Links
from partita.results import counted

# Number of characters of a query that are shown. slowest.json has the rest.
MAX_TEXT = 16_384
OUTCOMES = ("sat", "unsat", "unknown", "passed")


def render(data: RunData) -> str:
    return f"{_queries(data.run['solver'])}\n{_slowest(data.slowest, data.links)}"


def _queries(solver: dict[str, Any]) -> str:
    layers = solver["layers"]
    largest = max((layer["asked"] for layer in layers), default=0)
    time = sum(layer["time_s"] for layer in layers)
    if not largest:
        return "<p>No branch depended on an input, so there was no query.</p>"
    key = "".join(f'<span><i class="{name}"></i>{name}</span>' for name in OUTCOMES)
    rows = "".join(_layer(layer, largest, time) for layer in layers)
    verify = solver["verify"]
    checked = (
        f"<p>A second solver checked {counted(verify['checked'], 'answer')}: {verify['mismatches']:,} "
        f"{'mismatch' if verify['mismatches'] == 1 else 'mismatches'}.</p>\n"
        if verify["checked"]
        else ""
    )
    return (
        f'<p class="soft">The exploration asked {solver["queries"]:,} '
        f"{'query' if solver['queries'] == 1 else 'queries'}. Each layer answers a query or passes it on.</p>\n"
        f'<p class="key">{key}</p>\n{checked}'
        '<div class="scroll"><table class="numbers"><thead><tr><th>layer</th><th class="flow"></th><th class="n">asked'
        '</th><th class="n wide">sat</th><th class="n wide">unsat</th><th class="n wide">unknown</th>'
        '<th class="n wide">passed</th><th class="n">time</th></tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>"
    )


def _layer(layer: dict[str, Any], largest: int, time: float) -> str:
    # The parts of a bar need not add up to `asked`: a layer may split a query or drop parts of it.
    parts = "".join(
        f'<i class="{name}" style="width:{100 * layer[name] / largest:.2f}%" title="{layer[name]:,} {name}"></i>'
        for name in OUTCOMES
        if layer[name]
    )
    counts = "".join(f'<td class="n wide">{layer[name]:,}</td>' for name in OUTCOMES)
    part = f"{100 * layer['time_s'] / time:.0f} %" if time else "-"
    return (
        f'<tr><td><code>{escape(layer["name"])}</code></td><td><div class="bar">{parts}</div></td>'
        f'<td class="n">{layer["asked"]:,}</td>{counts}<td class="n">{layer["time_s"]:.3f} s, {part}</td></tr>\n'
    )


def _slowest(rows: list[dict[str, Any]] | None, links: Links) -> str:
    """The queries that took longest, with their text."""
    head = '<h3 id="slowest">Slowest queries</h3>\n'
    if rows is None:
        return head + "<p>This run did not record them.</p>"
    if not rows:
        return head + "<p>None took longer than a tenth of a millisecond.</p>"
    return head + "\n".join(_slow(row, links) for row in rows)


def _slow(row: dict[str, Any], links: Links) -> str:
    file, _, line = row["place"].rpartition(":")
    place = links.link(file, int(line)) if line.isdecimal() else f"<code>{escape(row['place'])}</code>"
    asked = f"{links.name(file)}:{line}" if line.isdecimal() else row["place"]
    text, constraints = row["text"], row["constraints"]
    if text is None:
        size = "" if row["bytes"] is None else f" of {row['bytes']:,} bytes"
        shown = f"<p>The text{size} was too long to be recorded.</p>"
    else:
        cut = f"\n; and {len(text) - MAX_TEXT:,} more characters, in slowest.json" if len(text) > MAX_TEXT else ""
        shown = f'<pre class="query">{escape(text[:MAX_TEXT] + cut)}</pre>'
    size = counted(constraints, "constraint")
    took = f"{duration(row['layer_s'])} of it in <code>{escape(row['layer'])}</code>"
    return (
        f"<details><summary><strong>{duration(row['time_s'])}</strong> {escape(row['answer'])}, {took}, {size} "
        f"<span class=soft>{escape(asked)}</span></summary>\n<div><p>Asked at {place}.</p>{shown}</div>"
        "</details>"
    )


def duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.2f} ms"
