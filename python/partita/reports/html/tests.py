"""Bugs with their stacks and inputs, and the tests of a run with their inputs as text and hex."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from partita import _core
from partita.ktest import Test
from partita.reports.html.source import Sources
from partita.results import Frame, as_number, as_text, shown

# What a browser holds easily. Bugs always have theirs.
MAX_TESTS = 2_000
MAX_BYTES = 1_024


def bugs(
    run: dict[str, Any], found: Mapping[str, Test], stacks: Mapping[int, tuple[Frame, ...]], sources: Sources
) -> str:
    if not run["bugs"]:
        return '<h2 id="bugs">Bugs</h2>\n<p>None found.</p>'
    explained = defaultdict(lambda: "another class of bug", _core.BUG_CLASSES)
    parts = []
    for bug in run["bugs"]:
        place = f"{shown(bug['file'])}:{bug['line']}" if bug["line"] else "unknown place"
        stack = stacks.get(bug["test"], ())
        frames = "".join(
            f"<li><code>{escape(frame.function)}</code> at {sources.link(frame.file, frame.line)}</li>\n"
            for frame in stack
        )
        called = f"<p>Stack, innermost first:</p>\n<ol start=0>\n{frames}</ol>\n" if frames else "<p>No stack.</p>\n"
        test = None if bug["test"] is None else found.get(f"test{bug['test']:06}")
        shown_input = _test(test) if test else "<p>No test was written for it.</p>"
        parts.append(
            f"<details open><summary><code>{escape(place)}</code>: error: <strong>{escape(bug['message'])}</strong> "
            f'<span class="verdict bad">{escape(bug["class"])}</span></summary>\n<div>'
            f"<p>{escape(explained[bug['class']].capitalize())}, at {sources.link(bug['file'], bug['line'])}.</p>\n"
            f"{called}<p>An input that leads there:</p>\n{shown_input}</div></details>"
        )
    return '<h2 id="bugs">Bugs</h2>\n' + "\n".join(parts)


def tests(first: Sequence[Test], total: int) -> str:
    if not first:
        return '<h2 id="tests">Tests</h2>\n<p>None were written.</p>'
    left = total - len(first)
    note = f"<p>The first {len(first):,} of {total:,}; <code>partita show</code> has all.</p>\n" if left > 0 else ""
    rows = "".join(f"{_test(test)}\n" for test in first)
    return (
        f'<h2 id="tests">Tests</h2>\n{note}<p><input id="filter" type="search" placeholder="Filter: exit 1, a name, '
        'hex digits" aria-label="Filter tests" hidden> <span id="matching" class="soft" role="status"></span></p>\n'
        f'<div class="tests">\n{rows}</div>'
    )


def _test(test: Test) -> str:
    name = Path(test.name).stem
    arguments = " ".join(test.arguments[1:])
    more = f' <code class="soft">{escape(arguments)}</code>' if arguments else ""
    objects = "".join(_object(*each) for each in test.objects)
    inputs = f'<dl class="objects code">{objects}</dl>' if objects else ' <span class="soft">no input</span>'
    return (
        f"<div><code>{name}</code> <strong>{escape(test.ending or 'ending not recorded')}</strong>{more}{inputs}</div>"
    )


def _object(name: str, data: bytes) -> str:
    part = data[:MAX_BYTES]
    number, text = as_number(data), as_text(part)
    ways = [f"&ldquo;{escape(text)}&rdquo;"] if text.strip(".") else []
    ways += [f'<span class="soft">= {number}</span>'] if number else []
    readable = " ".join(ways) + "<br>" if ways else ""
    cut = f" and {len(data) - len(part):,} bytes more" if len(part) < len(data) else ""
    return f'<dt>{escape(name)} ({len(data):,})</dt><dd>{readable}<span class="hex">{part.hex(" ")}{cut}</span></dd>'
