"""Results of a run: paths, files, run.json, limits, and the commands that read them."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.errors import UsageError
from support import Run

BRANCHES = """#include "klee/klee.h"
#include <assert.h>
#include <stdio.h>
int main(void) {
  unsigned char x;
  klee_make_symbolic(&x, sizeof x, "x");
  printf("hello %d\\n", 7);
  if (x == 3)
    assert(0);
  return x > 10 ? 2 : 1;
}
"""
PATHS_16384 = """#include "klee/klee.h"
int main(void) {
  unsigned short x;
  klee_make_symbolic(&x, sizeof x, "x");
  int n = 0;
  for (int i = 0; i < 14; i++)
    if (x >> i & 1)
      n++;
  return n;
}
"""


@pytest.fixture
def branches(tmp_path: Path) -> str:
    path = tmp_path / "branches.c"
    path.write_text(BRANCHES)
    return str(path)


def test_paths_are_yielded_during_the_run(branches: str) -> None:
    paths = list(explore(branches))
    # The conditional expression is a `select`, which does not fork.
    assert sorted(path.ending for path in paths) in (["assert", "exit 1"], ["assert", "exit 2"])
    bug = next(path for path in paths if path.kind == "bug")
    assert (bug.class_, bug.line, bug.inputs) == ("assert", 9, (("x", b"\x03"),))
    assert bug.stack[0].function == "main"
    assert all(path.output == b"hello 7\n" for path in paths)


def test_fields_of_run_json(branches: str, tmp_path: Path, partita: Run) -> None:
    out = tmp_path / "out"
    done = partita("run", branches, "--out", str(out), "--json")
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("event") for line in lines] == ["start", "bug", None]
    data = json.loads((out / "run.json").read_text())
    assert lines[-1] == data
    assert list(data) == [
        *(
            "schema",
            "program",
            "entry",
            "command",
            "version",
            "libc",
            "libc_why",
            "environment",
            "cflags",
            "project",
            "jobs",
            "stopped",
            "complete",
            "wall_s",
            "compile_s",
            "explore_s",
            "write_s",
        ),
        *(
            "instructions",
            "replayed",
            "parked",
            "varied",
            "forks",
            "paths",
            "bugs",
            "tests",
            "targets",
            "coverage",
            "incomplete",
            "notes",
            "solver",
            "memory_peak_mb",
        ),
    ]
    assert data["bugs"] == [
        {
            "class": "assert",
            "file": branches,
            "line": 9,
            "message": "assertion failed: 0",
            "test": data["bugs"][0]["test"],
            "paths": 1,
            "fingerprint": data["bugs"][0]["fingerprint"],
            "accepted": False,
            "input": [],
            "certain": None,
            "assumes": [],
            "values": [{"function": "main", "line": 9, "variables": {"x": "3"}}],
            "inputs": "with x = 3",
        }
    ]
    assert data["paths"] == {"completed": 1, "bugs": 1, "limits": 0, "unsupported": 0}
    assert data["complete"] is True
    assert data["solver"]["verify"] == {"checked": 0, "mismatches": 0}
    for layer in data["solver"]["layers"]:
        assert layer["asked"] == layer["sat"] + layer["unsat"] + layer["unknown"] + layer["passed"]


def test_show_and_replay(branches: str, tmp_path: Path, partita: Run) -> None:
    out = tmp_path / "out"
    partita("run", branches, "--out", str(out))
    shown = partita("show", str(out))
    assert shown.returncode == 0
    assert f"{branches}:9: error: assertion failed: 0 [assert]" in shown.stdout
    test = next(out.glob("*.assert.err")).name.split(".")[0]
    assert "int:  3" in partita("show", str(out / f"{test}.ktest")).stdout
    replayed = partita("replay", branches, str(out))
    assert replayed.returncode == 0
    assert replayed.stdout.endswith("2 as predicted\n")
    # A program that ends differently is reported.
    Path(branches).write_text(BRANCHES.replace("x == 3", "x == 4"))
    replayed = partita("replay", branches, str(out), "--quiet")
    assert replayed.returncode == 1
    assert f"{test}.ktest: different: exit 1 (predicted: assert)" in replayed.stdout


LATE_BUGS = """#include <partita.h>
#include <assert.h>
int main(void) {
  unsigned x;
  int count = 0;
  partita_make_symbolic(&x, sizeof x, "x");
  for (int i = 0; i < 14; i++) if (x >> i & 1) count++;
  assert(count != 7 || (x & 0x3FFF) != 0x1FC0);
  assert(count != 8 || (x & 0x3FFF) != 0x3FC0);
  return count;
}
"""


def test_the_test_of_every_bug_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "late.c"
    path.write_text(LATE_BUGS)
    out = tmp_path / "out"
    run = explore(path, out=out, search="dfs").finish()
    assert run.summary()["tests"] == 2**14
    assert (out / "tests.pack").is_file()
    assert len(run.bugs) == 2
    assert all(bug.test is not None and bug.test > 10_000 for bug in run.bugs)
    for bug in run.bugs:
        test = ktest.read(out / f"test{bug.test:06}.ktest")
        assert test.ending == "assert"
        assert int.from_bytes(test.objects[0][1], "little") & 0x3FFF in (0x1FC0, 0x3FC0)
        assert (out / f"test{bug.test:06}.assert.err").is_file()


def test_tests_beyond_ten_thousand_go_into_a_pack(tmp_path: Path) -> None:
    path = tmp_path / "many.c"
    path.write_text(PATHS_16384)
    out = tmp_path / "out"
    run = explore(path, out=out).finish()
    assert run.summary()["tests"] == 2**14
    assert len(list(out.glob("*.ktest"))) == 10_000
    tests = list(ktest.read_folder(out))
    assert len(tests) == 2**14
    for test in tests:
        value = int.from_bytes(test.objects[0][1], "little")
        assert test.ending == f"exit {(value & 0x3FFF).bit_count()}"
    assert len({int.from_bytes(t.objects[0][1], "little") & 0x3FFF for t in tests}) == 2**14
    # The pack of a killed run is read up to the last complete test; damage is an error.
    pack = out / "tests.pack"
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-3])
    assert len(list(ktest.read_pack(pack))) == 2**14 - 10_000 - 1
    assert zlib.crc32(whole[12:-4]) != 0
    pack.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    with pytest.raises(UsageError, match="is damaged: the checksum of a record is wrong"):
        list(ktest.read_pack(pack))


def test_limits_stop_cleanly(tmp_path: Path) -> None:
    path = tmp_path / "many.c"
    path.write_text(PATHS_16384)
    run = explore(path, max_tests=100, out=tmp_path / "tests").finish()
    data = run.summary()
    assert (data["stopped"], data["tests"], data["complete"]) == ("max-tests", 100, False)
    run = explore(path, max_depth=3).finish()
    data = run.summary()
    assert (data["stopped"], data["paths"]["completed"]) == (None, 8)
    assert data["incomplete"][0]["why"] == "max-depth"
    assert data["paths"]["limits"] > 0


def test_runs_are_deterministic(tmp_path: Path) -> None:
    path = tmp_path / "many.c"
    path.write_text(PATHS_16384.replace("i < 14", "i < 6"))
    for name in ("a", "b"):
        explore(path, out=tmp_path / name).finish()
    first, second = ([t.objects for t in ktest.read_folder(tmp_path / name)] for name in ("a", "b"))
    assert first == second


def test_arguments_reach_the_program(tmp_path: Path, partita: Run) -> None:
    path = tmp_path / "args.c"
    path.write_text(
        "#include <string.h>\n#include <stdlib.h>\n"
        'int main(int c, char **v) { return c == 3 && !strcmp(v[1], "--json") && atoi(v[2]) == 42 && !v[3] ? 5 : 6; }\n'
    )
    out = tmp_path / "out"
    assert partita("run", str(path), "--out", str(out), "--", "--json", "42").returncode == 0
    assert (out / "endings").read_text() == "000001 exit 5\n"
    assert partita("replay", str(path), str(out)).returncode == 0
