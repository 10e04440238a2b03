"""The section with the user's source: lines reached, branch sides taken, and bugs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from partita.reports.folder import Covered
from partita.reports.html.summary import share
from partita.results import shown


class Sources:
    """The source files of a run, sorted by name, and links to their lines."""

    def __init__(self, coverage: Mapping[str, Covered], bugs: Sequence[dict[str, Any]], written: float) -> None:
        self._coverage = dict(sorted(coverage.items()))
        self._written = written
        self._bugs: dict[tuple[str, int], list[str]] = {}
        for bug in bugs:
            self._bugs.setdefault((bug["file"], bug["line"]), []).append(f"{bug['message']} [{bug['class']}]")
            if bug["line"]:
                self._coverage.setdefault(bug["file"], Covered())
        self._numbers = {name: number for number, name in enumerate(self._coverage)}

    def link(self, file: str, line: int) -> str:
        """A place; a link if its line is on the page."""
        if not line:
            return "unknown place"
        text = f"<code>{escape(shown(file))}:{line}</code>"
        return f'<a href="#{self._anchor(file, line)}">{text}</a>' if file in self._numbers else text

    def _anchor(self, file: str, line: int) -> str:
        return f"f{self._numbers[file]}-{line}"

    def render(self) -> str:
        if not self._coverage:
            return '<h2 id="source">Source</h2>\n<p>No lines were recorded: the program has no debug information.</p>'
        with_bugs = {file for file, _ in self._bugs}
        files = [
            self._file(name, covered, name in with_bugs or len(self._coverage) == 1)
            for name, covered in self._coverage.items()
        ]
        return (
            '<h2 id="source">Source</h2>\n<p class="soft">Green: reached. Red: not reached by any path. Yellow: '
            "reached, but not every side of the branch was taken. Numbers beside a branch: sides taken/all sides.</p>\n"
            + "\n".join(files)
        )

    def _file(self, name: str, covered: Covered, is_open: bool) -> str:
        lines, sides = covered.line_counts, covered.branch_counts
        head = (
            f"<summary><code>{escape(shown(name))}</code> <span class=soft>{share(*lines)} of {lines[1]:,} lines, "
            f"{share(*sides)} of {sides[1]:,} branch sides</span></summary>"
        )
        note = ""
        try:
            text = Path(name).read_text("utf-8", "replace")
            if Path(name).stat().st_mtime > self._written:
                note = "<div class=part>This file was changed after the run: line numbers may be wrong.</div>"
        except OSError as error:
            why = f"The source cannot be read: {error.strerror}. Only line numbers are shown."
            note, text = f"<div class=part>{escape(why)}</div>", ""
        known = [*covered.lines, *covered.branches, *(line for file, line in self._bugs if file == name)]
        code = text.splitlines()
        numbers = range(1, len(code) + 1) if code else sorted(set(known))
        rows = [
            self._line(name, number, code[number - 1] if number <= len(code) else "", covered) for number in numbers
        ]
        table = f'<div class="scroll"><table class="source code"><tbody>\n{"".join(rows)}</tbody></table></div>'
        return f"<details{' open' if is_open else ''}>{head}{note}\n{table}</details>"

    def _line(self, file: str, number: int, code: str, covered: Covered) -> str:
        sides = covered.branches.get(number, [])
        reached = covered.lines.get(number)
        if reached is None:
            classes = []
        elif not reached:
            classes = ["miss"]
        else:
            classes = ["hit" if all(sides) else "half"]
        messages = self._bugs.get((file, number), [])
        if messages:
            classes.append("bug")
        names = f' class="{" ".join(classes)}"' if classes else ""
        counts = f"{sum(sides)}/{len(sides)}" if sides else ""
        shown_bugs = "".join(f'<div class="message">error: {escape(message)}</div>' for message in messages)
        return (
            f'<tr id="{self._anchor(file, number)}"{names}><td>{number}</td><td>{counts}</td>'
            f"<td>{escape(code)}{shown_bugs}</td></tr>\n"
        )
