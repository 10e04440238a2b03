"""Results of `--entry all`: the runs of all functions of a file as one list of findings, as text and as HTML.

A finding is a bug by class and place, from all functions that lead there. It is certain if one of them is `main` or a
fuzz target, or needs no assumption about its caller.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from partita.errors import UsageError
from partita.findings import relative, root_of_run
from partita.reports.text import covered_line, explored
from partita.results import counted, shown

FILE = "functions.json"
SCHEMA = 2
MAX_ENTRIES = 4
"""Functions that are listed for one finding."""


def findings(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Distinct bugs of the functions, certain ones first, then those with the fewest assumptions."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for row in rows:
        for bug in row["bugs"]:
            key = (bug["class"], bug["file"], bug["line"])
            entry = {"function": row["function"], "test": bug["test"], "input": bug["input"]}
            entry["certain"] = row["is_program"] or bool(bug["certain"])
            entry["caller"] = "the program's own entry" if row["is_program"] else bug.get("caller") or "not known"
            entry["assumes"] = bug["assumes"]
            known = found.setdefault(key, {**_plain(bug), "entries": []})
            known["entries"].append(entry)
    for finding in found.values():
        finding["entries"].sort(key=lambda entry: (not entry["certain"], len(entry["assumes"])))
        finding["certain"] = finding["entries"][0]["certain"]
    return sorted(found.values(), key=_order)


def _plain(bug: Mapping[str, Any]) -> dict[str, Any]:
    return {key: bug[key] for key in ("class", "file", "line", "message", "fingerprint", "accepted")}


def _order(finding: Mapping[str, Any]) -> tuple[Any, ...]:
    """Certain findings first, then those about contents, then those about null pointers and arrays without a
    terminator, which many functions do not take."""
    best = finding["entries"][0]
    null_only = bool(best["assumes"]) and all(each.endswith("== NULL") for each in best["assumes"])
    is_bounds = finding["class"].startswith("out-of-bounds")
    is_last = null_only or (is_bounds and any(each.endswith("no terminator") for each in best["assumes"]))
    return not finding["certain"], is_last, len(best["assumes"]), finding["file"], finding["line"]


def lines(finding: Mapping[str, Any]) -> list[str]:
    """A finding as text: the bug, then each function with the condition on its caller."""
    kind = "accepted" if finding["accepted"] else "error"
    head = f"{shown(finding['file'])}:{finding['line']}: {kind}: {finding['message']} [{finding['class']}]"
    entries = finding["entries"]
    found = [f"    from {entry['function']}: {entry['caller']}" for entry in entries[:MAX_ENTRIES]]
    found += [f"        {line}" for line in entries[0]["input"][:6]]
    if len(entries) > MAX_ENTRIES:
        found.append(f"    and from {len(entries) - MAX_ENTRIES} more")
    return [head, *found]


def function_line(row: Mapping[str, Any]) -> str:
    """The run of one function on one line."""
    if row["error"]:
        return f"{row['function']}: not started: {row['error'].splitlines()[0]}"
    paths = sum(row["paths"].values())
    bugs = counted(len(row["bugs"]), "bug")
    words = [counted(paths, "path"), bugs, covered_line(row["coverage"]), f"explored {explored(row)}"]
    return f"{row['function']}: {', '.join(words)}, {row['wall_s']:.1f} s"


def write(
    folder: Path, program: Sequence[str], rows: Sequence[Mapping[str, Any]], not_started: Sequence[str]
) -> dict[str, Any]:
    """Writes the list of functions and findings. Returns it."""
    data = {
        "schema": SCHEMA,
        "program": list(program),
        "functions": list(rows),
        "not_started": list(not_started),
        "findings": findings(rows),
    }
    try:
        (folder / FILE).write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write `{folder / FILE}`: {error.strerror}") from None
    return data


def read(folder: Path) -> dict[str, Any]:
    """Reads the list of functions of a run with `--entry all`."""
    try:
        data: dict[str, Any] = json.loads((folder / FILE).read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{folder / FILE}`: {error}") from None
    if data.get("schema") != SCHEMA:
        raise UsageError(f"expected schema {SCHEMA} in `{folder / FILE}`, found {data.get('schema')}")
    return data


def page(folder: Path) -> str:
    """The body of the report: findings, then functions with links to their own reports."""
    data = read(folder)
    found = data["findings"]
    certain = sum(finding["certain"] for finding in found)
    parts = [
        f"<header>\n<h1>{escape(' '.join(map(shown, data['program'])))}</h1>\n"
        f'<p><span class="verdict {"bad" if found else "part"}">{counted(len(found), "bug")}</span> '
        f"{certain} certain, {len(found) - certain} with assumptions about callers; "
        f"{counted(len(data['functions']), 'function')} started{_left_out(data)}</p>\n</header>",
        '<h2 id="bugs">Bugs</h2>',
        *(_finding(finding, root_of_run(folder)) for finding in found),
        '<h2 id="functions">Functions</h2>',
        '<div class="scroll"><table class="numbers">\n<thead><tr>'
        + "".join(f"<th>{name}</th>" for name in ("function", "paths", "bugs", "covered", "explored"))
        + "</tr></thead>\n<tbody>"
        + "".join(_row(row) for row in data["functions"])
        + "</tbody></table></div>",
    ]
    return "\n".join(parts)


def _left_out(data: Mapping[str, Any]) -> str:
    left = data["not_started"]
    return f", {len(left)} not started: {escape(', '.join(left))}" if left else ""


def _finding(finding: Mapping[str, Any], root: Path) -> str:
    from partita.reports.html.bugs import excerpt  # not needed by a run

    place = f"{relative(finding['file'], root)}:{finding['line']}"
    entries = "".join(f"<li>{item}</li>\n" for item in map(_entry, finding["entries"]))
    return (
        f"<details open><summary><code>{escape(place)}</code>: <strong>{escape(finding['message'])}</strong> "
        f'<span class="verdict bad">{escape(finding["class"])}</span></summary>\n'
        f"<div>{excerpt(finding['file'], finding['line'])}<ul>\n{entries}</ul></div></details>"
    )


def _entry(entry: Mapping[str, Any]) -> str:
    inputs = "".join(f"{escape(line)}\n" for line in entry["input"])
    shown_inputs = f"<pre>{inputs}</pre>" if inputs else ""
    name = escape(entry["function"])
    return f'<a href="{quote(entry["function"])}/report.html">{name}</a>: {escape(entry["caller"])}{shown_inputs}'


def _row(row: Mapping[str, Any]) -> str:
    name = escape(row["function"])
    if row["error"]:
        return f"<tr><td><code>{name}</code></td><td colspan=4>{escape(row['error'].splitlines()[0])}</td></tr>\n"
    cells: Iterator[str] = iter(
        [f"{sum(row['paths'].values()):,}", f"{len(row['bugs'])}", covered_line(row["coverage"]), explored(row)]
    )
    linked = f'<a href="{quote(row["function"])}/report.html"><code>{name}</code></a>'
    return f"<tr><td>{linked}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>\n"
