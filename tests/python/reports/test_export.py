"""`partita export`: each format is read by its tool, if installed (testcomp: test_testcomp.py)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from partita import ktest
from partita.replay import ReplayResult, Verdict, judge
from partita.replay.native import regression
from partita.reports.ctest import quoted
from partita.reports.seeds import seed
from partita.results import counted
from support import PATIENCE_S, Run
from support.sanitizers import missing

# The fixed program differs only in DIVISOR.
PROGRAM = """#include "klee/klee.h"
#include <stdlib.h>
#ifndef DIVISOR
#define DIVISOR x
#endif
int main(int count, char **words) {
  unsigned char x, text[4];
  klee_make_symbolic(&x, sizeof x, "x<&\\x01>");
  klee_make_symbolic(text, sizeof text, "text");
  if (count != 2)
    return 9;
  if (text[0] == 'a' && x < 10)
    return 100 / DIVISOR == 20 ? 7 : 3;
  if (text[0] == 'b')
    *(volatile char *)(text + 4 + x) = 1;
  return 0;
}
"""


@pytest.fixture
def run_folder(tmp_path: Path, partita: Run) -> tuple[Path, Path]:
    program, out = tmp_path / "a prog.c", tmp_path / "out"
    program.write_text(PROGRAM)
    assert partita("run", str(program), "--out", str(out), "--", "one word").returncode == 1
    bugs = json.loads((out / "run.json").read_text())["bugs"]
    assert sorted(bug["class"] for bug in bugs) == ["division-by-zero", "out-of-bounds-write"]
    return program, out


def endings(out: Path) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in (out / "endings").read_text().splitlines())


def export(partita: Run, out: Path, kind: str, name: str, *more: str) -> Path:
    done = partita("export", str(out), "--format", kind, *more)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{counted(len(endings(out)), 'test')} in {out / name}\n"
    return out / name


def test_junit_counts_bugs_as_failures(run_folder: tuple[Path, Path], partita: Run) -> None:
    program, out = run_folder
    suite = ElementTree.parse(export(partita, out, "junit", "junit.xml")).getroot()[0]
    known = endings(out)
    counts = [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")]
    assert counts == [str(program), str(len(known)), "2", "0", "0"]
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}["complete"] == "true"
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert set(cases) == {f"test{number} {ending}" for number, ending in known.items()}
    (division,) = (case for name, case in cases.items() if name and name.endswith("division-by-zero"))
    failure = division.find("failure")
    assert failure is not None
    assert failure.get("type") == "division-by-zero"
    assert (failure.get("message") or "").startswith(f"{program}:13: error: ")
    assert "#0 main at" in (failure.text or "")
    # A control character in a name must not break the file.
    assert (division.findtext("system-out") or "").startswith("x<&\ufffd>: 00 (.)\ntext: 61")


def test_junit_marks_limited_paths_as_skipped(tmp_path: Path, partita: Run) -> None:
    program, out = tmp_path / "p.c", tmp_path / "out"
    program.write_text('#include "klee/klee.h"\nint main(void) { return klee_int("a") > klee_int("b"); }\n')
    assert partita("run", str(program), "--out", str(out), "--max-instructions", "1").returncode == 3
    suite = ElementTree.parse(export(partita, out, "junit", "junit.xml")).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "1")
    assert [each.get("message") for each in suite.iter("skipped")] == ["limit max-instructions"]


def test_seeds_are_raw_bytes_and_crashes_have_a_folder(run_folder: tuple[Path, Path], partita: Run) -> None:
    _, out = run_folder
    folder = export(partita, out, "seeds", "seeds")
    crashes = {f"test{number}" for number, ending in endings(out).items() if not ending.startswith("exit")}
    assert {file.name for file in (folder / "crashes").iterdir()} == crashes
    seeds = [file.read_bytes() for file in (folder / "seeds").iterdir()]
    assert {len(data) for data in seeds} == {5}
    assert len(set(seeds)) == len(seeds) == len(endings(out)) - 2
    assert b"\x00a" in {file.read_bytes()[:2] for file in (folder / "crashes").iterdir()}


def test_contents_of_a_seed() -> None:
    own, stdin, a = ("x", b"xy"), ("stdin", b"in"), ("A_data", b"file")
    words, n_args, arg = "p --sym-args 1 1 2 --sym-files 1 4 --sym-stdin 2".split(), ("n_args", b"\1\0\0\0"), b"-v\0"

    def of(count: int, *objects: tuple[str, bytes]) -> bytes:
        return seed(ktest.Test("t", tuple(words[:count]), (n_args, ("arg00", arg), *objects)))

    assert of(10, a, stdin, own) == b"in"
    assert of(8, a, own) == b"file"
    assert of(5, own) == b"xy"
    assert of(5) == b"-v\0"


def test_the_pytest_file_fails_until_the_bug_is_fixed(run_folder: tuple[Path, Path], partita: Run) -> None:
    program, out = run_folder
    folder = export(partita, out, "pytest", "pytest", "--cflags", "-DUNUSED -O1")
    assert [file.name for file in folder.iterdir()] == ["test_a_prog.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(folder)]

    def run() -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=folder, check=False)
        return done.stdout

    total = len(endings(out))
    before = run()
    assert "expected no division-by-zero, found signal 8" in before
    # A native run need not fail when it reads past a local variable.
    assert f"1 failed, {total - 2} passed, 1 skipped" in before
    program.write_text("#define DIVISOR (x + !x)\n" + PROGRAM)
    assert f"{total - 1} passed, 1 skipped" in run()


def test_the_ctest_project_fails_until_the_bug_is_fixed(run_folder: tuple[Path, Path], partita: Run) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    if why := missing():
        pytest.skip(why)
    program, out = run_folder
    folder = export(partita, out, "ctest", "ctest", "--cflags", "-DUNUSED=1 -O0")

    def run(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=folder, check=False)
        return done.stdout

    def suite() -> str:
        run("cmake", "--build", "build")
        return run("ctest", "--test-dir", "build", "--output-on-failure")

    run("cmake", "-S", ".", "-B", "build", "-DCMAKE_C_COMPILER=gcc")
    total = len(endings(out))
    before = suite()
    assert f"2 tests failed out of {total}" in before
    assert "expected no division-by-zero, found" in before
    assert "expected no out-of-bounds-write, found" in before
    program.write_text("#define DIVISOR (x + !x)\n" + PROGRAM.replace("text + 4 + x", "text"))
    after = suite()
    assert "100% tests passed" in after
    assert f"out of {total}\n" in after
    program.write_text(PROGRAM.replace('"text"', '"other"'))
    assert "the program reads other inputs than the test has" in suite()


@pytest.mark.parametrize(
    ("predicted", "ending", "accepted"),
    [
        ("exit 3", "exit 3", True),
        ("exit 3", "exit 4", False),
        ("exit 3", "signal 11", False),
        ("assert", "signal 6", False),
        ("assert", "exit 0", True),
        ("assert", "diverged the test ends early", False),
        ("use-after-free", "exit 0", None),
        ("use-after-free", "signal 11", False),
        ("null", "timeout", False),
    ],
)
def test_endings_that_a_suite_accepts(predicted: str, ending: str, accepted: bool | None) -> None:
    verdict = Verdict.DIFFERENT if ending == "timeout" else judge(predicted, ending)
    assert regression(ReplayResult(ktest.Test("t", (), (), predicted), ending, verdict))[0] is accepted


def test_usage_errors(run_folder: tuple[Path, Path], tmp_path: Path, partita: Run) -> None:
    program, out = run_folder

    def refused(*words: str) -> str:
        done = partita("export", *words)
        assert (done.returncode, done.stdout) == (2, "")
        return done.stderr

    for kind in ("junit", "seeds", "ctest", "pytest"):
        assert "expected the folder of a finished run" in refused(str(tmp_path), "--format", kind)
        message = refused(str(out), "--format", kind, "-o", str(out))
        assert f"expected a new file or folder to write, found `{out}`" in message
    assert "--specification does not apply to --format junit" in refused(
        str(out), "--format", "junit", "--specification", "branches"
    )
    assert "--cflags does not apply to --format seeds" in refused(str(out), "--format", "seeds", "--cflags=-O1")
    program.unlink()
    for kind in ("ctest", "pytest"):
        assert f"cannot read `{program}`, which the tests run" in refused(str(out), "--format", kind)


def test_cmake_arguments_are_quoted() -> None:
    assert [quoted(text) for text in ("a b", "]=]", "a]=")] == ["[=[a b]=]", "[==[]=]]==]", "[==[a]=]==]"]


def test_ctest_refuses_programs_it_cannot_run(tmp_path: Path, partita: Run) -> None:
    program, out = tmp_path / "p.c", tmp_path / "out"
    program.write_text("int main(int count, char **words) { return count; }\n")

    def refused(kind: str) -> str:
        done = partita("export", str(out), "--format", kind)
        assert (done.returncode, (out / kind).exists()) == (2, False)
        return done.stderr

    assert partita("run", str(program), "--out", str(out), "--", "a;b").returncode == 0
    assert "expected arguments that CMake does not change" in refused("ctest")
    test = out / "test000001.ktest"
    test.write_bytes(test.read_bytes().replace(b"\0\0\0\x03a;b", b"\0\0\0\x0c--sym-stdout"))
    assert "found symbolic arguments, files or standard input: use --format pytest" in refused("ctest")
    data = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({**data, "program": [str(test)]}))
    assert f"expected C sources for ctest, found `{test}`: use --format pytest" in refused("ctest")
