"""The section with the user's source: lines reached, branch sides taken, and bugs."""

from __future__ import annotations

from html import escape
from pathlib import Path

from partita.reports.folder import Covered
from partita.reports.html.data import RunData
from partita.reports.html.summary import share

Messages = dict[tuple[str, int], list[str]]
"""Messages of bugs by file and line."""


def render(data: RunData) -> str:
    if not data.coverage:
        return "<p>No lines were recorded: the program has no debug information.</p>"
    messages: Messages = {}
    for bug in data.run["bugs"]:
        messages.setdefault((bug["file"], bug["line"]), []).append(f"{bug['message']} [{bug['class']}]")
    with_bugs = {file for file, _ in messages}
    files = [
        _file(data, messages, name, covered, name in with_bugs or len(data.coverage) == 1)
        for name, covered in data.coverage.items()
    ]
    return (
        '<p class="soft">Green: reached. Red: not reached by any path. Yellow: reached, but not every side of the '
        "branch was taken. Numbers beside a branch: sides taken/all sides.</p>\n" + "\n".join(files)
    )


def _file(data: RunData, messages: Messages, name: str, covered: Covered, is_open: bool) -> str:
    lines, sides = covered.line_counts, covered.branch_counts
    head = (
        f"<summary><code>{escape(data.links.name(name))}</code> "
        f"<span class=soft>{share(*lines)} of {lines[1]:,} lines, "
        f"{share(*sides)} of {sides[1]:,} branch sides</span></summary>"
    )
    note = ""
    try:
        text = Path(name).read_text("utf-8", "replace")
        if Path(name).stat().st_mtime > data.written:
            note = "<div class=part>This file was changed after the run: line numbers may be wrong.</div>"
    except OSError as error:
        why = f"The source cannot be read: {error.strerror}. Only line numbers are shown."
        note, text = f"<div class=part>{escape(why)}</div>", ""
    known = [*covered.lines, *covered.branches, *(line for file, line in messages if file == name)]
    code = text.splitlines()
    numbers = range(1, len(code) + 1) if code else sorted(set(known))
    rows = [
        _line(
            data.links.anchor(name, number),
            number,
            code[number - 1] if number <= len(code) else "",
            covered,
            messages.get((name, number), []),
        )
        for number in numbers
    ]
    table = f'<div class="scroll"><table class="source code"><tbody>\n{"".join(rows)}</tbody></table></div>'
    return f"<details{' open' if is_open else ''}>{head}{note}\n{table}</details>"


def _line(anchor: str, number: int, code: str, covered: Covered, errors: list[str]) -> str:
    sides = covered.branches.get(number, [])
    reached = covered.lines.get(number)
    if reached is None:
        classes = []
    elif not reached:
        classes = ["miss"]
    else:
        classes = ["hit" if all(sides) else "half"]
    if errors:
        classes.append("bug")
    names = f' class="{" ".join(classes)}"' if classes else ""
    counts = f"{sum(sides)}/{len(sides)}" if sides else ""
    shown_bugs = "".join(f'<div class="message">error: {escape(message)}</div>' for message in errors)
    return f'<tr id="{anchor}"{names}><td>{number}</td><td>{counts}</td><td>{escape(code)}{shown_bugs}</td></tr>\n'
