"""A run as one self-contained HTML page."""

from __future__ import annotations

from html import escape
from itertools import chain, islice
from pathlib import Path

from partita import __version__, ktest
from partita.errors import UsageError
from partita.reports.folder import read_coverage, read_run, read_slowest, read_stacks, read_tree
from partita.reports.html.solver import queries, slowest
from partita.reports.html.source import Sources
from partita.reports.html.summary import header
from partita.reports.html.tests import MAX_TESTS, bugs, tests
from partita.reports.html.tree import exploration

_HERE = Path(__file__).resolve().parent
# The page may use its own styles and scripts, and load nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


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
    run = read_run(folder)
    coverage = read_coverage(folder)
    sources = Sources(coverage, run["bugs"], (folder / "run.json").stat().st_mtime)
    wanted = {f"test{bug['test']:06}" for bug in run["bugs"] if bug["test"] is not None}
    found = ktest.read_folder(folder)
    first = list(islice(found, MAX_TESTS))
    of_bugs = {Path(test.name).stem: test for test in chain(first, found) if Path(test.name).stem in wanted}
    tree = read_tree(folder)
    sections = [
        header(run, coverage),
        bugs(run, of_bugs, read_stacks(folder), sources, tree),
        sources.render(),
        exploration(tree),
        queries(run["solver"]),
        slowest(read_slowest(folder), sources),
        tests(first, run["tests"]),
    ]
    title = f"{' '.join(run['program'])} - Partita"
    style, *scripts = ((_HERE / name).read_text() for name in ("style.css", "page.js", "tree.js"))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + f"\n<footer>Written by partita {escape(__version__)}; explored by {escape(run['version'])}.</footer>\n"
        + "".join(f"<script>\n{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )
