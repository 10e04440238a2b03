"""A run as one self-contained HTML page: the head, and one section per row of `SECTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from partita import __version__
from partita.errors import UsageError
from partita.reports import functions
from partita.reports.html import bugs, coverage, data, solver, source, summary, tests, tree

_HERE = Path(__file__).resolve().parent
# The page may use its own styles and scripts, and load nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


class Section(NamedTuple):
    anchor: str
    title: str
    render: Callable[[data.RunData], str]
    """Makes the HTML below the heading."""


SECTIONS = (
    Section("bugs", "Bugs", bugs.render),
    Section("functions", "Functions", coverage.render),
    Section("source", "Source", source.render),
    Section("exploration", "Exploration", tree.render),
    Section("queries", "Queries", solver.render),
    Section("tests", "Tests", tests.render),
)


def write(folder: Path, out: Path) -> None:
    """Writes the page into a file, atomically."""
    text = render(folder)
    part = out.with_name(out.name + ".part")
    try:
        if out.is_dir():
            raise UsageError(f"expected a file to write, found the folder `{out}`")
        part.write_bytes(text.encode("utf-8", "replace"))
        part.replace(out)
    except OSError as error:
        raise UsageError(f"cannot write `{out}`: {error.strerror}") from None


def render(folder: Path) -> str:
    if (folder / functions.FILE).is_file():
        # A run of all functions: its page links to theirs.
        for row in functions.read(folder)["functions"]:
            if not row["error"]:
                write(folder / row["function"], folder / row["function"] / "report.html")
        program = " ".join(functions.read(folder)["program"])
        return _page(f"{program} - Partita", functions.page(folder), f"Written by partita {__version__}.", ("page.js",))
    found = data.read(folder)
    nav = "".join(f'<a href="#{section.anchor}">{section.title}</a>' for section in SECTIONS)
    parts = [summary.render(found, nav)]
    parts += [f'<h2 id="{row.anchor}">{row.title}</h2>\n{row.render(found)}' for row in SECTIONS]
    # Bugs come first.
    parts.insert(2, summary.incomplete(found.run["incomplete"], found.links))
    title = f"{' '.join(found.run['program'])} - Partita"
    footer = f"Written by partita {__version__}; explored by {found.run['version']}."
    return _page(title, "\n".join(parts), footer, ("page.js", "tree.js"))


def _page(title: str, body: str, footer: str, names: Sequence[str]) -> str:
    style, *scripts = ((_HERE / name).read_text() for name in ("style.css", *names))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + body
        + f"\n<footer>{escape(footer)}</footer>\n"
        + "".join(f"<script>\n{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )
