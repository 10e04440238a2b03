"""The section on tests, with inputs as text, numbers and hex."""

from __future__ import annotations

from html import escape
from pathlib import Path

from partita.ktest import Test
from partita.reports.html.data import RunData
from partita.results import as_number, as_text, counted

MAX_BYTES = 1_024


def render(data: RunData) -> str:
    first, total = data.tests, data.run["tests"]
    if not first:
        return "<p>None were written.</p>"
    left = total - len(first)
    note = f"<p>The first {len(first):,} of {total:,}; <code>partita show</code> has all.</p>\n" if left > 0 else ""
    rows = "".join(f"{show_test(test, Path(test.name).stem)}\n" for test in first)
    return (
        f'{note}<p><input id="filter" type="search" placeholder="Filter: exit 1, a name, '
        'hex digits" aria-label="Filter tests" hidden> <span id="matching" class="soft" role="status"></span></p>\n'
        f'<div class="tests">\n{rows}</div>'
    )


def show_test(test: Test, anchor: str = "") -> str:
    """A test with its inputs."""
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
