"""The sections on bugs, with stacks and inputs, and on tests, with inputs as text and hex."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from partita import _core
from partita.ktest import Test
from partita.reports.html.source import Sources
from partita.results import Frame, as_number, as_text, counted, shown

# Number of tests on the page, so that browsers stay fast. Tests of bugs are shown with the bugs.
MAX_TESTS = 2_000
MAX_BYTES = 1_024


def bugs(
    run: dict[str, Any],
    found: Mapping[str, Test],
    stacks: Mapping[int, tuple[Frame, ...]],
    sources: Sources,
    tree: dict[str, Any] | None,
) -> str:
    if not run["bugs"]:
        return '<h2 id="bugs">Bugs</h2>\n<p>None found.</p>'
    descriptions = defaultdict(lambda: "another class of bug", _core.BUG_CLASSES)
    trails = {(row["class"], row["file"], row["line"]): row for row in tree["bugs"]} if tree else {}
    parts = []
    for bug in run["bugs"]:
        place = f"{shown(bug['file'])}:{bug['line']}" if bug["line"] else "unknown place"
        stack = stacks.get(bug["test"], ())
        frames = "".join(
            f"<li><code>{escape(frame.function)}</code> at {sources.link(frame.file, frame.line)}</li>\n"
            for frame in stack
        )
        calls = (
            f"<p>Call stack, innermost first:</p>\n<ol start=0>\n{frames}</ol>\n" if frames else "<p>No stack.</p>\n"
        )
        test = None if bug["test"] is None else found.get(f"test{bug['test']:06}")
        shown_input = _test(test) if test else "<p>No test was written.</p>"
        trail = trails.get((bug["class"], bug["file"], bug["line"]))
        path = _path(trail, tree["places"], sources) if tree and trail else ""
        parts.append(
            f"<details open><summary><code>{escape(place)}</code>: error: <strong>{escape(bug['message'])}</strong> "
            f'<span class="verdict bad">{escape(bug["class"])}</span></summary>\n<div>'
            f"<p>{escape(descriptions[bug['class']].capitalize())}, at {sources.link(bug['file'], bug['line'])}.</p>\n"
            f"{calls}{path}<p>Input that leads there:</p>\n{shown_input}</div></details>"
        )
    return '<h2 id="bugs">Bugs</h2>\n' + "\n".join(parts)


def _path(trail: dict[str, Any], places: Sequence[dict[str, Any]], sources: Sources) -> str:
    """The decisions of the path with more than one feasible side; repeated ones on one line with their number."""
    steps = trail["decisions"]
    if not steps:
        return "<p>No decision depends on the input: every input leads there.</p>\n"
    rows = []
    for (place, side), group in groupby(steps, key=lambda step: (step["place"], step["side"])):
        at, times = places[place], len(list(group))
        inside = f" in <code>{escape(at['inside'])}</code>" if at["inside"] else ""
        target = f" to {escape(side)}" if side else ""
        repeated = f' <span class="soft">{times:,} times</span>' if times > 1 else ""
        rows.append(f"<li>{sources.link(at['file'], at['line'])}{inside}{target}{repeated}</li>\n")
    left_out = trail["left_out"]
    cut = f"; {left_out:,} in the middle were not recorded" if left_out else ""
    count = len(steps) + left_out
    return (
        f"<details><summary>Path: {counted(count, 'decision')}{cut}</summary>"
        f'<div class="path"><ol>\n{"".join(rows)}</ol></div></details>\n'
    )


def tests(first: Sequence[Test], total: int) -> str:
    if not first:
        return '<h2 id="tests">Tests</h2>\n<p>None were written.</p>'
    left = total - len(first)
    note = f"<p>The first {len(first):,} of {total:,}; <code>partita show</code> has all.</p>\n" if left > 0 else ""
    rows = "".join(f"{_test(test, Path(test.name).stem)}\n" for test in first)
    return (
        f'<h2 id="tests">Tests</h2>\n{note}<p><input id="filter" type="search" placeholder="Filter: exit 1, a name, '
        'hex digits" aria-label="Filter tests" hidden> <span id="matching" class="soft" role="status"></span></p>\n'
        f'<div class="tests">\n{rows}</div>'
    )


def _test(test: Test, anchor: str = "") -> str:
    name = Path(test.name).stem
    arguments = " ".join(test.arguments[1:])
    mark = f' id="{anchor}"' if anchor else ""
    more = f' <code class="soft">{escape(arguments)}</code>' if arguments else ""
    objects = "".join(_object(*each) for each in test.objects)
    inputs = f'<dl class="objects code">{objects}</dl>' if objects else ' <span class="soft">no input</span>'
    ending = escape(test.ending or "ending not recorded")
    return f"<div{mark}><code>{name}</code> <strong>{ending}</strong>{more}{inputs}</div>"


def _object(name: str, data: bytes) -> str:
    part = data[:MAX_BYTES]
    number, text = as_number(data), as_text(part)
    readings = [f"&ldquo;{escape(text)}&rdquo;"] if text.strip(".") else []
    readings += [f'<span class="soft">= {number}</span>'] if number else []
    readable = " ".join(readings) + "<br>" if readings else ""
    cut = f" and {counted(len(data) - len(part), 'more byte')}" if len(part) < len(data) else ""
    return f'<dt>{escape(name)} ({len(data):,})</dt><dd>{readable}<span class="hex">{part.hex(" ")}{cut}</span></dd>'
