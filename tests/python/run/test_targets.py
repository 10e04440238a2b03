"""`--target` and `--since`: places that the search reaches first, and what becomes of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from partita import UsageError, explore
from partita.cli import main

PROGRAM = """#include <partita.h>
static int depth(int x) {
  if (x > 100)
    return 3;
  return 4;
}
int unused(int y) {
  return y;
}
int main(void) {
  unsigned char s[12];
  partita_make_symbolic(s, sizeof s, "s");
  int n = 0;
  for (int i = 0; i < 12; i++)
    if (s[i] > 128) n++;
  if (n == 12)
    return depth(n + 200);
  if (n > 12)
    return 7;
  return depth(n);
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.c").write_text(PROGRAM)
    return tmp_path / "t.c"


def rows(run):
    return {row["target"]: (row["status"], row["test"]) for row in run.summary()["targets"]}


def test_what_becomes_of_targets(program, tmp_path):
    run = explore(program, target=["t.c:4", "depth", "t.c:19", "unused", "t.c:8"], out=tmp_path / "out").finish()
    assert run.complete
    found = rows(run)
    assert found["t.c:19"] == found["unused"] == found["t.c:8"] == ("unreachable", None)
    tests = {test.name: test for test in run.tests()}
    for name, status in (("t.c:4", "exit 3"), ("depth", None)):
        assert found[name][0] == "reached"
        test = tests[f"test{found[name][1]:06}.ktest"]
        assert status is None or test.ending == status
    (inputs,) = (test.objects for name, test in tests.items() if name == f"test{found['t.c:4'][1]:06}.ktest")
    assert all(byte > 128 for byte in inputs[0][1])


def test_an_incomplete_run_does_not_say_unreachable(program):
    run = explore(program, target=["t.c:19"], max_tests=2).finish()
    assert rows(run) == {"t.c:19": ("not reached", None)}


def test_the_paths_are_those_without_a_target(program):
    counts = [explore(program, target=target).finish().summary()["paths"] for target in ((), ("t.c:4",))]
    assert counts[0] == counts[1]


MAZE = """#include <partita.h>
static int steps;
static void spin(unsigned char c) { for (int i = 0; i < 6; i++) if (c >> i & 1) steps++; }
int goal(void) { return 42; }
int main(void) {
  unsigned char s[10];
  partita_make_symbolic(s, sizeof s, "s");
  if (s[0] != 'k') { for (int i = 1; i < 10; i++) spin(s[i]); return 0; }
  if (s[1] != 'e') { for (int i = 2; i < 10; i++) spin(s[i]); return 0; }
  if (s[2] != 'y') { for (int i = 3; i < 10; i++) spin(s[i]); return 0; }
  for (int i = 3; i < 9; i++) spin(s[i]);
  return goal();
}
"""


def test_the_search_goes_to_the_target_first(tmp_path):
    program = tmp_path / "maze.c"
    program.write_text(MAZE)
    needed = {}
    for name, options in (("target", {"target": ["goal"]}), ("plain", {})):
        run = explore(program, max_instructions=200_000, tests="bugs", **options)
        instructions = None
        while run.step(0.01):
            entered = any(row[0] == "goal" and row[3] for row in run._engine.coverage())
            if entered and instructions is None:
                instructions = run.counts()["instructions"]
        needed[name] = instructions
    run = explore(program, max_instructions=8000, target=["goal"], tests="bugs").finish()
    # The test of a target is written whatever --tests says.
    assert rows(run)["goal"][0] == "reached"
    assert run.summary()["tests"] == 1
    assert needed["target"] is not None


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("t.c:11", "expected --target to be a line with code, found `t.c:11`: lines with code nearby are"),
        ("nothing", "expected --target to be a function of the program, found `nothing`"),
        ("other.c:3", "no code is from this file"),
        ("a b", "expected --target to be FILE:LINE or a function, found `a b`"),
    ],
)
def test_mistakes(program, target, message):
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        explore(program, target=[target])


def git(*words):
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def test_functions_that_changed_are_targets(program, capsys):
    git("init", "-q")
    git("add", "t.c")
    git("commit", "-q", "-m", "first")
    assert main(["run", "t.c", "--since", "HEAD"]) == 0
    assert "no function of t.c changed since HEAD" in capsys.readouterr().err
    program.write_text(PROGRAM.replace("return 4;", "return 5;"))
    assert main(["run", "t.c", "--since", "HEAD", "--out", "out"]) == 0
    assert "targets       depth reached by test" in capsys.readouterr().out
    assert [row["target"] for row in json.loads(Path("out/run.json").read_text())["targets"]] == ["depth"]
    assert main(["run", "t.c", "--since", "nowhere"]) == 2
    assert "cannot compare `t.c` with `nowhere`" in capsys.readouterr().err


def test_a_certificate_of_a_run_with_an_unreachable_target(program, tmp_path, capsys):
    pytest.importorskip("z3")
    small = tmp_path / "small.c"
    small.write_text(
        '#include <partita.h>\nint main(void) {\n  unsigned char x;\n  partita_make_symbolic(&x, 1, "x");\n'
        "  if (x > 3) return 1;\n  if (x == 9)\n    return 2;\n  return 0;\n}\n"
    )
    assert main(["run", str(small), "--target", "small.c:7", "--certificate", "proof", "--out", "out"]) == 0
    assert "small.c:7 unreachable: no input leads there" in capsys.readouterr().out
    assert main(["check", "proof"]) == 0
