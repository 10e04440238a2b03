"""Values of variables at bugs: the input of a bug is executed again with all variables in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from partita import explore
from partita.cli import main

PROGRAM = """#include <partita.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
enum color { RED, GREEN = 5 };
struct item { int id; char tag[4]; struct { short x, y; } pos; };
static int total = 40;
static struct item table[3];
static int fault(struct item *it, const char *text, unsigned i, enum color c) {
  int local = i * 2, never;
  double half = local / 4.0;
  char name[8] = "ab";
  uint16_t row[4] = {1, 2, 3};
  struct item *same = it, *none = 0;
  char *end = name + 2;
  uint16_t *second = &row[1];
  int *heap = malloc(3 * sizeof *heap);
  heap[0] = 8; heap[1] = 9; heap[2] = 10;
  if (i == 9) { int inner = 3; if (c == GREEN) never = inner; }
  total += local;
  if (c == GREEN && i == 9) it[i].id = total + (int)half + *same->tag + (none != 0) + *end + *second + text[0];
  return never;
}
int main(void) {
  unsigned i;
  enum color c;
  struct item own = {7, "xy", {1, 2}};
  partita_make_symbolic(&i, sizeof i, "i");
  partita_make_symbolic(&c, sizeof c, "c");
  if (i < 9 || i > 10) return 0;
  return fault(&own, "hello", i, c);
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "values.c"
    path.write_text(PROGRAM)
    return path


def test_variables_of_each_kind(program):
    run = explore("values.c", out="out").finish()
    (bug,) = (bug for bug in run.bugs if bug.class_ == "out-of-bounds-write")
    fault, caller, global_ = bug.values
    assert (fault.function, fault.line) == ("fault", 21)
    assert fault.variables == {
        "it": "&own of main",
        "text": '"hello"',
        "i": "9",
        "c": "5",
        "local": "18",
        "never": "3",
        "half": "4.5",
        "name": '"ab"',
        "row": "{1, 2, 3, 0}",
        "same": "&own of main",
        "none": "NULL",
        "end": '""',
        "second": "&row[1]",
        "heap": "&{8, 9, 10}",
    }
    assert caller.function == "main"
    assert caller.variables == {"i": "9", "c": "5", "own": '{.id = 7, .tag = "xy", .pos = {.x = 1, .y = 2}}'}
    assert global_.function == ""
    assert global_.variables == {"total": "58"}


def test_everything_that_is_read_shows_them(program, capsys):
    assert main(["run", "values.c", "--out", "out", "--sarif", "bugs.sarif"]) == 1
    assert "values.c:21 it = &own of main, text =" in capsys.readouterr().out
    data = json.loads(Path("out/run.json").read_text())
    row = next(bug for bug in data["bugs"] if bug["class"] == "out-of-bounds-write")
    assert row["values"][1]["function"] == "main"
    error = next(Path("out").glob("*.out-of-bounds-write.err")).read_text()
    assert "\nvariables:\n  fault:21:\n    it = &own of main\n" in error
    assert main(["show", "out"]) == 0
    assert "main:31: i = 9, c = 5" in capsys.readouterr().out
    log = json.loads(Path("bugs.sarif").read_text())["runs"][0]
    result = next(each for each in log["results"] if each["ruleId"] == "out-of-bounds-write")
    last = result["codeFlows"][0]["threadFlows"][0]["locations"][-1]
    assert last["state"]["half"] == {"text": "4.5"}
    assert "with i = 9" in result["message"]["text"]
    main(["report", "out"])
    page = Path("out/report.html").read_text()
    assert "<td><code>heap</code></td><td><code>&amp;{8, 9, 10}</code></td>" in page


UNKNOWN = """#include <partita.h>
#include <stdlib.h>
static int depth(int n, int *p) {
  int unwritten[4];
  unwritten[2] = n;
  { int gone = 77; (void)gone; }
  if (n) return depth(n - 1, &n);
  return *p / (n - *p + unwritten[2] + 1);
}
int main(void) {
  int n;
  char *freed = malloc(4);
  free(freed);
  partita_make_symbolic(&n, sizeof n, "n");
  if (n < 1 || n > 3) return 0;
  return depth(n, &n);
}
"""


def test_what_is_not_known_is_left_out(program):
    program.write_text(UNKNOWN)
    run = explore("values.c", out="out").finish()
    bug = run.bugs[0]
    assert bug.class_ == "division-by-zero"
    inner, *outer = bug.values
    # Bytes that were never written, a block that has ended, and memory that was freed.
    assert inner.variables == {"n": "0", "p": "&n of depth", "unwritten": "{?, ?, 0, ?}"}
    assert [frame.function for frame in outer][-1] == "main"
    assert "freed" not in outer[-1].variables


def test_a_changed_program_shows_nothing(program):
    run = explore("values.c", out="out")
    program.write_text(PROGRAM.replace("i == 9", "i == 99"))
    run.finish()
    assert run.bugs
    assert all(bug.values == () for bug in run.bugs)


def test_functions_with_a_driver_and_inputs_from_the_environment(program):
    program.write_text(
        "struct s { int n; char name[8]; };\nint f(struct s *b, int k) {\n  int twice = 2 * k;\n"
        "  if (!b || b->n != 5 || k != 6) return 0;\n  return b->name[twice];\n}\n"
    )
    run = explore("values.c", entry="f", out="out").finish()
    bug = next(bug for bug in run.bugs if bug.line == 5)
    assert bug.values[0].variables["twice"] == "12"
    assert bug.values[0].variables["b"].startswith("&{.n = 5, .name = ")
    program.write_text(
        "#include <stdlib.h>\nint main(int argc, char **argv) {\n  int number = argc > 1 ? argv[1][0] : 0;\n"
        "  if (number == 'q') abort();\n  return 0;\n}\n"
    )
    run = explore("values.c", arguments=["--sym-arg", "1"], out="more").finish()
    assert run.bugs[0].values[0].variables["number"] == "113"
