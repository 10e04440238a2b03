"""SARIF logs, fingerprints, the baseline and annotations: what build servers read."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from partita.cli import main
from partita.findings import fingerprint
from support.schema import SARIF, check

PROGRAM = """#include <partita.h>
static int pick(const char *s, int n) {
  char msg[4];
  msg[0] = 0;
  if (s[1] == 'x') msg[n] = 1;
  return msg[0];
}
int main(void) {
  char s[2];
  int n;
  partita_make_symbolic(s, 2, "s");
  partita_make_symbolic(&n, sizeof n, "n");
  if (n < 0 || n > 4) return 0;
  return pick(s, n) + 10 / (n - 3);
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src dir").mkdir()
    path = tmp_path / "src dir" / "prog.c"
    path.write_text(PROGRAM)
    return path


def log(*words):
    assert main(["run", "src dir/prog.c", "--quiet", "--sarif", "bugs.sarif", *words]) == 1
    data = json.loads(Path("bugs.sarif").read_text())
    check(data, SARIF)
    return data["runs"][0]


def marks(run):
    return {result["ruleId"]: result["partialFingerprints"]["partitaBug/v1"] for result in run["results"]}


def test_a_log_has_the_path_to_each_bug(program):
    run = log()
    results = {result["ruleId"]: result for result in run["results"]}
    assert set(results) == {"out-of-bounds-write", "division-by-zero"}
    write = results["out-of-bounds-write"]
    place = write["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "src%20dir/prog.c", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 5},
    }
    steps = write["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
    assert lines == sorted(lines, key=lambda line: line not in (13,))
    assert lines[0] == 13
    assert lines[-2:] == [5, 5]
    assert "`if (s[1] == 'x') msg[n] = 1;`" in steps[-2]["location"]["message"]["text"]
    said, *more = write["message"]["text"].split("\n    ")
    assert steps[-1]["location"]["message"]["text"] == said
    assert more[0].startswith("with s = ")
    assert more[1].startswith("pick:5: s = ")
    frames = [frame["location"]["message"]["text"] for frame in write["stacks"][0]["frames"]]
    assert frames == ["in pick", "in main"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [r["ruleId"] for r in run["results"]]


def test_the_checker_finds_what_the_standard_does_not_allow(program):
    data = {"version": "2.1.0", "runs": [log()]}
    check(data, SARIF)
    for change in (
        lambda run: run["results"][0].pop("message"),
        lambda run: run["results"][0].update(level="fatal"),
        lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda run: run.update(tools=[]),
    ):
        wrong = copy.deepcopy(data)
        change(wrong["runs"][0])
        with pytest.raises(AssertionError):
            check(wrong, SARIF)


def test_fingerprints_stay_while_other_lines_change(program):
    before = marks(log())
    assert marks(log("--search", "bfs", "--seed", "7")) == before
    program.write_text("\n\n/* moved */\n" + PROGRAM.replace("msg[0] = 0;", "msg[0] = 0; /* changed */"))
    assert marks(log()) == before
    program.write_text(PROGRAM.replace("msg[n] = 1", "msg[n] = 2"))
    after = marks(log())
    assert after["division-by-zero"] == before["division-by-zero"]
    assert after["out-of-bounds-write"] != before["out-of-bounds-write"]


def test_equal_lines_have_different_fingerprints(tmp_path):
    path = tmp_path / "twice.c"
    path.write_text("f(x);\ng();\n  f(x);\n")
    first, second = (fingerprint("null", str(path), line, tmp_path) for line in (1, 3))
    assert first != second
    assert fingerprint("assert", str(path), 1, tmp_path) != first


def test_a_baseline_accepts_known_bugs_only(program, capsys):
    assert main(["run", str(program), "--baseline", "known.json"]) == 2
    assert "--update-baseline writes it" in capsys.readouterr().err
    assert main(["run", str(program), "--baseline", "known.json", "--update-baseline", "--quiet"]) == 1
    assert "2 bugs added to known.json" in capsys.readouterr().err
    rows = json.loads(Path("known.json").read_text())["accepted"]
    assert {row["file"] for row in rows} == {"src dir/prog.c"}
    assert main(["run", str(program), "--baseline", "known.json", "--sarif", "bugs.sarif"]) == 0
    out = capsys.readouterr().out
    assert "prog.c:5: accepted: write of 1 byte" in out
    assert "2, 2 of them accepted" in out
    results = json.loads(Path("bugs.sarif").read_text())["runs"][0]["results"]
    assert all(result["suppressions"][0]["kind"] == "external" for result in results)
    program.write_text(PROGRAM.replace("return msg[0];", "return msg[0] + 1 / (s[0] - 7);"))
    assert main(["run", str(program), "--baseline", "known.json", "--quiet"]) == 1
    assert [line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()] == ["src dir/prog.c:6"]


def test_a_damaged_baseline_is_an_error(program, capsys):
    for text in ("{", "[]", '{"schema": 9, "accepted": []}', '{"schema": 1, "accepted": [{}]}'):
        Path("known.json").write_text(text)
        assert main(["run", str(program), "--baseline", "known.json"]) == 2
        assert "known.json" in capsys.readouterr().err
    assert main(["run", str(program), "--update-baseline"]) == 2
    assert "expected --baseline FILE with --update-baseline" in capsys.readouterr().err


def test_annotations_of_github(program, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd()))
    assert main(["run", str(program)]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert len(lines) == 2
    write = next(line for line in lines if "out-of-bounds-write" in line)
    start = "::error file=src dir/prog.c,line=5,title=partita%3A out-of-bounds-write::write of 1 byte "
    assert write.startswith(start)
    assert "%0A    with s = " in write
    assert main(["run", str(program), "--annotations", "none"]) == 1
    assert "::error" not in capsys.readouterr().out


def test_export(program, capsys):
    main(["run", str(program), "--quiet", "--out", "out"])
    assert main(["export", "out", "--format", "sarif"]) == 0
    assert "2 bugs in out/bugs.sarif" in capsys.readouterr().out
    check(json.loads(Path("out/bugs.sarif").read_text()), SARIF)


HEADERS = """#include <ctype.h>
#include <partita.h>
int main(void) {
  char s[2];
  partita_make_symbolic(s, 2, "s");
  int a[2] = {1, 2};
  if (isspace(s[0]) && s[1] > 3) return a[s[1] & 3];
  return 0;
}
"""


def test_headers_of_the_system_are_left_out(program, tmp_path, monkeypatch):
    """`isspace` is an inline function of the C library's header, and decides something."""
    program.write_text(HEADERS)
    run = log("--out", "out")
    (result,) = run["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    places = [step["location"]["physicalLocation"]["artifactLocation"] for step in steps]
    assert len(places) > 2
    assert {(place["uri"], place["uriBaseId"]) for place in places} == {("src%20dir/prog.c", "SRCROOT")}
    tracefile = Path("out/coverage.lcov").read_text()
    assert [line for line in tracefile.splitlines() if line.startswith("SF:")] == [f"SF:{program}"]
    monkeypatch.chdir("src dir")
    assert main(["report", "../out"]) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    body = page[page.index("<body>") : page.index(">Exploration</h2>")]
    assert "generic-musl" not in page
    assert "isspace</code>" not in body
    assert ">src dir/prog.c:7<" in body, "relative to the project, from any folder in it"
    assert str(tmp_path) not in body
