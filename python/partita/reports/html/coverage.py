"""The section on functions: how many lines of each were reached."""

from __future__ import annotations

from html import escape

from partita.reports.html.data import RunData
from partita.reports.html.summary import share


def render(data: RunData) -> str:
    rows = []
    for file, covered in data.coverage.items():
        starts = sorted(covered.functions.items(), key=lambda row: row[1])
        for i, (name, first) in enumerate(starts):
            end = starts[i + 1][1] if i + 1 < len(starts) else None
            inside = [hit for line, hit in covered.lines.items() if line >= first and (end is None or line < end)]
            rows.append((sum(inside), len(inside), name, file, first))
    if not rows:
        return "<p>No functions were recorded.</p>"
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{data.links.link(file, line)}</td>"
        f"<td>{share(hit, total)}</td><td>{hit:,} of {total:,}</td></tr>\n"
        for hit, total, name, file, line in sorted(rows, key=lambda row: (row[0] / max(1, row[1]), row[3], row[4]))
    )
    return (
        '<div class="scroll"><table class="numbers">\n<thead><tr><th>function</th><th>first line</th>'
        "<th>lines reached</th><th></th></tr></thead>\n"
        f"<tbody>{cells}</tbody></table></div>"
    )
