"""`--entry all`: every function of a file, with one list of findings."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from partita.cli import main, run_all
from partita.entry import functions_of
from support.schema import SARIF, check

PROGRAM = """#include "inner.h"
struct node { int value; struct node *next; };
static int get(const int *p, int i) { return p[i]; }
int always(int x) { int *p = 0; return *p + x; }
int first(struct node *list) { return list->value; }
int third(int n) { int a[3] = {1, 2, 3}; return get(a, n & 3); }
int fine(int x) { return inner(x); }
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("inner.h").write_text("static inline int inner(int x) { return x ^ 1; }\n")
    Path("lib.c").write_text(PROGRAM)
    return tmp_path / "lib.c"


def test_functions_of_the_file_are_started_in_order(program):
    assert functions_of(["lib.c"]) == ["get", "always", "first", "third", "fine"]
    program.write_text(PROGRAM + "int main(void) { return fine(1); }\n")
    assert functions_of(["lib.c"])[0] == "main"


def test_a_library_in_one_header(program):
    Path("single.c").write_text('#define IMPLEMENTATION\n#include "inner.h"\n#include <string.h>\n')
    assert functions_of(["single.c"]) == ["inner"]


def test_one_list_of_findings(program, capsys):
    assert main(["run", "lib.c", "--entry", "all", "--sarif", "all.sarif"]) == 1
    out = capsys.readouterr().out
    data = json.loads(Path("partita-last/functions.json").read_text())
    assert [row["function"] for row in data["functions"]] == ["get", "always", "first", "third", "fine"]
    found = {(each["class"], each["line"]): each for each in data["findings"]}
    assert found.keys() == {
        ("null", 4),
        ("null", 3),
        ("null", 5),
        ("out-of-bounds-read", 3),
    }
    assert [each["certain"] for each in data["findings"]] == [True, False, False, False]
    # One place, from two functions.
    entries = found["out-of-bounds-read", 3]["entries"]
    assert {entry["function"] for entry in entries} == {"get", "third"}
    assert "    from third: on every path found: n <= -1\n" not in out
    head = "lib.c:5: error: read of 4 bytes through a null pointer (address 0x0) [null]"
    assert f"{head}\n    from first: whenever list == NULL" in out
    assert "fine: 1 path, 0 bugs, 100 % of" in out
    assert "bugs          4: 1 certain, 3 with assumptions about callers" in out
    log = json.loads(Path("all.sarif").read_text())
    check(log, SARIF)
    assert len(log["runs"][0]["results"]) == 4


def test_a_bug_that_the_program_itself_reaches_is_certain(program):
    program.write_text(PROGRAM + "int main(void) { return third(3); }\n")
    main(["run", "lib.c", "--entry", "all", "--quiet"])
    data = json.loads(Path("partita-last/functions.json").read_text())
    (finding,) = (each for each in data["findings"] if (each["class"], each["line"]) == ("out-of-bounds-read", 3))
    assert finding["certain"]
    assert finding["entries"][0]["function"] == "main"


def test_tests_of_each_function_replay(program, capsys):
    main(["run", "lib.c", "--entry", "all", "--quiet"])
    for name in ("always", "first"):
        capsys.readouterr()
        assert main(shlex.split(f"replay lib.c partita-last/{name} --quiet")) == 0
        assert "as predicted" in capsys.readouterr().out


def test_the_baseline_of_all_functions(program, capsys):
    words = ["run", "lib.c", "--entry", "all", "--quiet", "--baseline", "known.json"]
    assert main([*words, "--update-baseline"]) == 1
    assert "4 bugs added to known.json" in capsys.readouterr().err
    assert main(words) == 3
    assert capsys.readouterr().out == ""


def test_the_report_links_to_the_functions(program, capsys):
    main(["run", "lib.c", "--entry", "all", "--quiet", "--out", "all"])
    assert main(["report", "all"]) == 0
    page = Path("all/report.html").read_text()
    assert '<a href="first/report.html">first</a>: whenever list == NULL' in page
    assert "1 certain, 3 with assumptions about callers; 5 functions started" in page
    assert page.count('<pre class="scroll">') == page.count("<details open>") == 4, "each bug has its source"
    # All objects that were made are in the test, and few of them can be got at.
    assert "<details><summary>Bytes of all objects</summary>" in Path("all/first/report.html").read_text()


def test_time_is_shared(program, monkeypatch, capsys):
    """By a clock that only exploring moves, so that a busy machine makes no difference."""
    program.write_text(
        "int slow(unsigned *p, unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) "
        "if (p && p[i & 3] * i == 7) s++; return s; }\nint quick(int x) { return x > 3; }\n"
        "int after(int x) { return x > 5; }\n"
    )
    now, given = [0.0], []

    def explore(*words, **options):
        given.append(options["max_time"])
        now[0] += options["max_time"] if options["entry"] == "slow" else 0
        return explore_really(*words, **{**options, "max_time": 1 if options["entry"] == "slow" else None})

    explore_really = run_all.explore
    monkeypatch.setattr(run_all, "explore", explore)
    monkeypatch.setattr(run_all, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(run_all, "cache", SimpleNamespace(filling_s=0))
    assert main(["run", "lib.c", "--entry", "all", "--max-time", "300s", "--json"]) == 3
    data = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [row["stopped"] for row in data["functions"]] == ["max-time", None, None]
    # A third for the first; the next one did not need its half of the rest.
    assert given == [100, 100, 200]
    assert data["not_started"] == []


def test_functions_after_the_time_limit_are_not_started(program, capsys):
    assert main(["run", "lib.c", "--entry", "all", "--max-time", "0.001s"]) in (1, 3)
    assert "functions     1 started, " in capsys.readouterr().out
    data = json.loads(Path("partita-last/functions.json").read_text())
    assert [row["function"] for row in data["functions"]] == ["get"]
    assert data["not_started"] == ["always", "first", "third", "fine"]
    main(["report", "partita-last"])
    assert "1 function started, 4 not started: always, first, third, fine" in Path(
        "partita-last/report.html"
    ).read_text().replace("\n", " ")


def test_events(program, capsys):
    assert main(["run", "lib.c", "--entry", "all", "--json"]) == 1
    start, *functions, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert start["event"] == "start"
    assert start["functions"] == ["get", "always", "first", "third", "fine"]
    assert [each["event"] for each in functions] == ["function"] * 5
    assert [each["function"] for each in functions] == start["functions"]
    assert last == json.loads(Path("partita-last/functions.json").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--assume", "x < 3"], "--assume is about one function"),
        (["--certificate", "c"], "--certificate is about one function"),
    ],
)
def test_mistakes(program, words, message, capsys):
    assert main(["run", "lib.c", "--entry", "all", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_function_that_is_started_is_explored_for_as_long_as_compiling_took(program, monkeypatch):
    given: list[float] = []

    def explore(*words, **options):
        given.append(options["max_time"])
        return run_all_explore(*words, **options)

    run_all_explore = run_all.explore
    monkeypatch.setattr(run_all, "explore", explore)
    main(["run", "lib.c", "--entry", "all", "--quiet", "--max-time", "2s"])
    rows = json.loads(Path("partita-last/functions.json").read_text())["functions"]
    assert len(rows) == len(given)
    assert given[0] > run_all.MIN_SHARE_S
    for before, share in zip(rows, given[1:], strict=False):
        assert share >= run_all.MIN_SHARE_S + 2 * before["compile_s"]
