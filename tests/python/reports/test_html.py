"""`partita report`: one self-contained page with the results of a run, tested in a browser if one is installed."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from partita import __version__, ktest
from partita.reports import html
from partita.reports.folder import read_coverage, read_stacks
from partita.reports.html import data
from support import Run
from support.browser import evaluate

PROGRAM = """#include "klee/klee.h"
static int third(const char *text, int at) {
  return text[at]; // <script>console.error("not escaped")</script>
}
int main(void) {
  char text[3];
  unsigned at;
  klee_make_symbolic(text, sizeof text, "te<xt");
  klee_make_symbolic(&at, sizeof at, "at");
  klee_assume(text[0] == '<' & text[1] == '&' & text[2] == 'q');
  klee_assume(at == 1 | at == 77);
  if (text[0] == 'x')
    return 5;
  return third(text, (int)at) == '&';
}
"""
VOID = {"meta", "link", "br", "input"}


class Page(HTMLParser):
    """Parses a page; checks nesting and unique ids, and collects what the tests inspect."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.rows: dict[str, tuple[str, str]] = {}
        self.row = ""
        self.text = ""
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self.stack.append(tag)
        if "id" in given:
            assert given["id"] not in self.ids
            self.ids.add(given["id"])
        if tag == "tr" and "id" in given:
            self.row = given["id"]
            self.rows[self.row] = (given.get("class", ""), "")
        assert "src" not in given
        assert not given.get("style", "").count("url")
        if "href" in given:
            self.links.append(given["href"])

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag
        if tag == "tr":
            self.row = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.row:
            classes, text = self.rows[self.row]
            self.rows[self.row] = classes, text + data


@pytest.fixture
def run_folder(tmp_path: Path, partita: Run) -> tuple[Path, Path]:
    program, out = tmp_path / "p<&>.c", tmp_path / "out"
    program.write_text(PROGRAM)
    assert partita("run", str(program), "--out", str(out)).returncode == 1
    return program, out


def report(out: Path, partita: Run) -> Page:
    done = partita("report", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"report in {out / 'report.html'}\n", "")
    return Page((out / "report.html").read_text())


def test_page_shows_the_run(run_folder: tuple[Path, Path], partita: Run) -> None:
    program, out = run_folder
    page = report(out, partita)
    assert "1 bug found" in page.text
    assert "explored completely" in page.text
    assert f"{program}:3: error: read of 1 byte" in page.text
    assert "A read outside of any object" in page.text
    # The input, as text, as a number and in hex.
    assert "te<xt (3)\u201c<&q\u201d3c 26 71" in page.text
    assert "at (4)\u201cM...\u201d = 774d 00 00 00" in page.text
    # Lines: of the bug, not covered, a branch with one side taken, without code.
    classes = {row: kind for row, (kind, _) in page.rows.items()}
    assert {line: classes[f"f0-{line}"] for line in (3, 12, 13, 7)} == {3: "hit bug", 12: "half", 13: "miss", 7: ""}
    assert page.rows["f0-12"][1].startswith("121/2  if (text[0] == 'x')")
    assert "<script>console" in page.rows["f0-3"][1]
    # The stack links to lines of the page, and no link leaves the page.
    assert {"#f0-3", "#f0-14"} <= set(page.links)
    assert {link.removeprefix("#") for link in page.links if link != "data:,"} <= page.ids
    for layer in json.loads((out / "run.json").read_text())["solver"]["layers"]:
        assert layer["name"] in page.text
    assert page.text.rstrip().endswith("})();")
    assert f"Written by partita {__version__}" in page.text


def test_data_of_the_page(run_folder: tuple[Path, Path]) -> None:
    program, out = run_folder
    coverage = read_coverage(out)
    assert list(coverage) == [str(program)]
    assert coverage[str(program)].branches[12] == [False, True]
    assert coverage[str(program)].lines[13] is False
    (stack,) = read_stacks(out).values()
    assert [(frame.function, frame.file, frame.line) for frame in stack] == [
        ("third", str(program), 3),
        ("main", str(program), 14),
    ]


def test_missing_and_changed_sources_are_named(run_folder: tuple[Path, Path], partita: Run) -> None:
    program, out = run_folder
    later = (out / "run.json").stat().st_mtime + 10
    os.utime(program, (later, later))
    assert "This file was changed after the run" in report(out, partita).text
    program.unlink()
    page = report(out, partita)
    assert "The source cannot be read: No such file or directory" in page.text
    assert page.rows["f0-13"] == ("miss", "13")


def test_an_interrupted_run_and_one_without_input(tmp_path: Path, partita: Run) -> None:
    program = tmp_path / "p.c"
    program.write_text(PROGRAM)
    cut = tmp_path / "cut"
    assert partita("run", str(program), "--out", str(cut), "--max-instructions", "5").returncode == 3
    page = report(cut, partita)
    assert "no bug found explored incompletely, stopped by max-instructions" in page.text
    assert "Why the exploration is incomplete" in page.text
    program.write_text("int main(void) { return 0; }\n")
    plain = tmp_path / "plain"
    assert partita("run", str(program), "--out", str(plain)).returncode == 0
    page = report(plain, partita)
    assert "no bug on any path explored completely" in page.text
    assert "so there was no query" in page.text
    (plain / "coverage.lcov").unlink()
    assert "No lines were recorded" in report(plain, partita).text


def test_usage_errors(run_folder: tuple[Path, Path], tmp_path: Path, partita: Run) -> None:
    _, out = run_folder

    def refused(*words: str) -> str:
        done = partita("report", *words)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    assert "without a run.json" in refused(str(tmp_path))
    assert f"expected the folder of a run, found the file `{out / 'run.json'}`" in refused(str(out / "run.json"))
    assert f"expected the folder of a run, found nothing at `{out / 'none'}`" in refused(str(out / "none"))
    assert f"found the folder `{tmp_path}`" in refused(str(out), "-o", str(tmp_path))
    assert "cannot write" in refused(str(out), "-o", str(tmp_path / "none" / "x.html"))
    (out / "coverage.lcov").write_text("DA:1,1\n")
    assert "is damaged: line 1 is `DA:1,1`" in refused(str(out))
    run = out / "run.json"
    run.write_text(json.dumps({**json.loads(run.read_text()), "schema": 99}))
    assert "expected schema 1" in refused(str(out))
    assert "found 99: another version of Partita wrote it" in refused(str(out))
    run.write_text('{"schema": 1, "program": []}')
    assert f"expected `command` in `{run}`, found none" in refused(str(out))
    run.write_text("{")
    assert f"cannot read `{run}`" in refused(str(out))
    assert not (out / "report.html").exists()


def test_long_lists_of_tests_keep_those_of_bugs(run_folder: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, out = run_folder
    monkeypatch.setattr(html.data, "MAX_TESTS", 1)
    listed = Page(html.render(out)).text
    assert "The first 1 of 2; partita show has all." in listed
    (of_bug,) = (line.split()[0] for line in (out / "endings").read_text().splitlines() if "out-of" in line)
    (other,) = (line.split()[0] for line in (out / "endings").read_text().splitlines() if "out-of" not in line)
    assert f"test{of_bug} out-of-bounds-read" in listed
    monkeypatch.setattr(html.data, "MAX_TESTS", 0)
    nothing = Page(html.render(out)).text
    assert f"test{of_bug} out-of-bounds-read" in nothing
    assert f"test{other} " not in nothing


@pytest.mark.parametrize("width", [390, 1200])
def test_page_in_a_browser(width: int, run_folder: tuple[Path, Path], tmp_path: Path, partita: Run) -> None:
    """Nothing is wider than the screen, filter and links work, and the tree reacts to keys and touches."""
    _, out = run_folder
    report(out, partita)
    found = evaluate(
        out / "report.html",
        """
filter.value = "OUT-OF 4d"; filter.dispatchEvent(new Event("input"));
document.querySelector("details:has(.source)").open = false;
location.hash = "#f0-3";
const canvas = document.querySelector("#tree canvas"), node = document.getElementById("tree-node");
const texts = [node.textContent];
const press = (key) => { canvas.dispatchEvent(new KeyboardEvent("keydown", { key })); texts.push(node.textContent); };
press("ArrowDown"); press("ArrowRight"); press("b"); press("+"); press("ArrowUp");
canvas.setPointerCapture = () => {};
document.querySelector("[data-do=all]").click();
const area = canvas.getBoundingClientRect(), at = { pointerId: 1, clientX: area.left + 9, clientY: area.top + 30 };
for (const kind of ["pointerdown", "pointerup"]) canvas.dispatchEvent(new PointerEvent(kind, at));
texts.push(node.textContent);
const answers = () => [document.documentElement.scrollWidth, innerWidth,
  document.querySelectorAll(".tests > div:not([hidden])").length, document.getElementById("matching").textContent,
  document.getElementById("f0-3").closest("details").open, texts];
answers()
""",
        width,
    )
    content_width, screen_width, tests, matching, is_open, texts = found
    assert (screen_width, tests, matching, is_open) == (width, 1, "1 of 2 match", True)
    assert content_width <= screen_width
    name = "p<&>.c"
    fork = f"fork at {tmp_path / name}:3; 2 paths below, 1 bug. "
    bug, other = (f"at {tmp_path / name}:3; ending: {ending}. " for ending in ("out-of-bounds-read", "exit 1"))
    assert texts[0] == texts[5] == fork
    assert {texts[1][:-10], texts[2][:-10]} == {bug, other}
    assert texts[3][:-10] == texts[4][:-10] == bug
    assert texts[6] == texts[1]


def test_thousands_of_nodes_are_drawn_quickly(run_folder: tuple[Path, Path], partita: Run) -> None:
    """A frame draws only the visible part of a large tree. Counts rectangles, because clocks stand still in a browser
    that is driven this way."""
    _, out = run_folder
    data = json.loads((out / "tree.json").read_text())
    count = 30_001
    parent = [None, *((i - 1) // 2 if i < 20_000 else i - 2 + i % 2 for i in range(1, count))]
    inner = set(parent)
    leaves = [i not in inner for i in range(count)]
    data["nodes"] = {
        "parent": parent,
        "place": [None if leaf else 0 for leaf in leaves],
        "side": [None] * count,
        "ending": [i % 2 if leaf else None for i, leaf in enumerate(leaves)],
        "test": [i if leaf else None for i, leaf in enumerate(leaves)],
        "left_out": [0] * count,
    }
    (out / "tree.json").write_text(json.dumps(data))
    report(out, partita)
    frames, texts = evaluate(
        out / "report.html",
        """
const canvas = document.querySelector("#tree canvas"), node = document.getElementById("tree-node");
for (const key of ["b", "Enter", "0", "+", "+", "PageDown", "PageDown", "ArrowUp", "ArrowLeft", "-", "0"])
  canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
[frames, node.textContent]
""",
        before="""
const context = CanvasRenderingContext2D.prototype, fill = context.fillRect, frames = [];
let rectangles = 0;
context.fillRect = function (...area) { rectangles++; fill.apply(this, area); };
requestAnimationFrame = (draw) => { rectangles = 0; draw(); frames.push(rectangles); };
""",
    )
    assert "below" in texts
    assert len(frames) >= 11
    assert 100 < max(frames) < 20_000


def test_a_run_that_recorded_no_tree(run_folder: tuple[Path, Path], partita: Run) -> None:
    _, out = run_folder
    (out / "tree.json").unlink()
    (out / "slowest.json").write_text('{"schema": 1, "queries": []}')
    page = report(out, partita)
    assert "This run did not record the tree of forks." in page.text
    assert "None took longer than a tenth of a millisecond." in page.text
    (out / "tree.json").write_text('{"schema": 2}')
    done = partita("report", str(out))
    assert (done.returncode, done.stdout) == (2, "")
    assert "found 2: another version of Partita wrote it" in done.stderr
    (out / "tree.json").write_text(
        json.dumps({"schema": 1, "places": 1, "sides": 1, "endings": 1, "bugs": 1, "nodes": {}})
    )
    assert "is damaged: its columns differ in length" in partita("report", str(out)).stderr


def test_page_shows_paths_and_slow_queries(run_folder: tuple[Path, Path], partita: Run) -> None:
    program, out = run_folder
    text = "(assert (< 1 2))" + " " * html.solver.MAX_TEXT
    row = {"time_s": 1.5, "answer": "sat", "layer": "sat", "layer_s": 0.002, "place": f"{program}:3", "constraints": 1}
    rows = [{**row, "bytes": len(text), "text": text}, {**row, "bytes": 10**6, "text": None}]
    (out / "slowest.json").write_text(json.dumps({"schema": 1, "queries": rows}))
    page = report(out, partita)
    assert "Path: 1 decision" in page.text
    assert f"1.50 s sat, 2.00 ms of it in sat, 1 constraint {program}:3" in page.text
    assert "(assert (< 1 2))" in page.text
    assert "; and 16 more characters, in slowest.json" in page.text
    assert "The text of 1,000,000 bytes was too long to be recorded." in page.text


def test_messages_for_killed_runs_and_empty_folders(
    run_folder: tuple[Path, Path], tmp_path: Path, partita: Run
) -> None:
    program, out = run_folder
    (out / "run.json").unlink()
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    for words in (["report", str(out)], ["show", str(out)], ["export", str(out), "--format", "junit"]):
        done = partita(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "without a run.json (the run was killed, or is still running)" in done.stderr
        empty = partita(words[0], str(nothing), *words[2:])
        assert empty.returncode == 2
        assert empty.stderr.endswith("without a run.json\n")
    done = partita("replay", str(program), str(nothing))
    assert (done.returncode, done.stderr) == (2, f"partita: error: expected tests, found none in `{nothing}`\n")


def test_bugs_have_their_source_and_decisions(run_folder: tuple[Path, Path], partita: Run) -> None:
    _, out = run_folder
    text = html.render(out)
    page = Page(text)
    assert "<strong>    3    return text[at]; // &lt;script&gt;console.error" in text
    assert text.index('<h2 id="bugs">') < text.index('<h2 id="functions">') < text.index('<h2 id="source">')
    assert "third" in page.text[page.text.index("lines reached") :]


def test_reasons_are_grouped_by_cause(run_folder: tuple[Path, Path], tmp_path: Path) -> None:
    folder = copied(run_folder[1], tmp_path)
    run = json.loads((folder / "run.json").read_text())
    rows = [("a call", "/x/a.c:1", 5), ("a call", "/x/a.c:9", 1), ("other <b>", "/x/b.c:2", 1)]
    run["incomplete"] = [{"why": why, "where": where, "count": count} for why, where, count in rows]
    (folder / "run.json").write_text(json.dumps(run))
    text = html.render(folder)
    assert "a call <span class=soft>(6 times, 2 places)</span>" in text
    assert text.count("a call") == 1
    assert "other &lt;b&gt;" in text


def test_the_pack_is_not_read_for_bugs(
    run_folder: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(run_folder[1], tmp_path)
    (folder / "tests.pack").write_bytes(ktest.PACK_MAGIC)
    monkeypatch.setattr(data, "MAX_TESTS", 1)
    monkeypatch.setattr(ktest, "read_pack", lambda _path: pytest.fail("all tests were read"))
    assert data.read(folder).tests_of_bugs


def test_endings_are_counted_without_reading_inputs(run_folder: tuple[Path, Path], tmp_path: Path) -> None:
    folder = copied(run_folder[1], tmp_path)
    whole = Counter(test.ending or "ending not recorded" for test in ktest.read_folder(folder))
    assert ktest.count_endings(folder) == whole
    body = (20_000).to_bytes(8, "big") + (6).to_bytes(2, "big") + b"exit 9" + b"KTEST"
    record = body + zlib.crc32(body).to_bytes(4, "big")
    pack = ktest.PACK_MAGIC + 2 * (len(record).to_bytes(4, "big") + record)
    (folder / "tests.pack").write_bytes(pack + b"\0\0\0\x40cut")
    assert ktest.count_endings(folder) == whole + Counter({"exit 9": 2})


def copied(folder: Path, target: Path) -> Path:
    return Path(shutil.copytree(folder, target / "copy"))
