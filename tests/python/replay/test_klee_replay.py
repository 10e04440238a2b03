"""Tests of whole programs have the layout of KLEE 3, whose `klee-replay` runs them.

`klee-replay` reads the objects in the order in which KLEE's POSIX runtime makes them, and compares sizes, not names.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.replay.environment import environment
from partita.replay.program import replay_program
from support import PARTITA, PATIENCE_S

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  char text[4] = "";
  FILE *file = fopen("A", "r");
  if (!file || fread(text, 1, 3, file) != 3) return 1;
  if (strcmp(words[1], "first")) return 2;
  putchar(words[2][0] == 'y' ? 'Y' : 'N');
  if (text[1] == 'a' && getchar() == 'q') return 3;
  return 10 + count;
}
"""
WORDS = "first --sym-arg 2 --sym-args 0 1 3 --sym-args 2 2 1 last".split()
STAT = 144


def expected_layout(count: int) -> list[tuple[str, int]]:
    """Names and sizes of the objects, with `count` arguments of the first --sym-args."""
    arguments = [("arg00", 3), ("n_args", 4), *[("arg01", 4)] * count]
    fixed = [(f"arg{1 + count + i:02}", 2) for i in range(2)]
    files = [("A_data", 3), ("A_data_stat", STAT), ("stdin", 2), ("stdin_stat", STAT)]
    failures = [(f"{call}_fail", 4) for call in ("read", "write", "close", "ftruncate", "getcwd")]
    return [*arguments, *fixed, *files, *failures, ("stdout", 1024), ("stdout_stat", STAT)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("klee")
    (where / "prog.c").write_text(PROGRAM)
    run = explore(
        where / "prog.c",
        arguments=WORDS,
        sym_files=(1, 3),
        sym_stdin=2,
        sym_stdout=True,
        max_fail=1,
        out=where / "found",
    )
    list(run)
    assert run.complete
    subprocess.run([str(PARTITA), "cc", "prog.c", "-o", "prog"], cwd=where, check=True)
    return where


def test_layout(folder: Path) -> None:
    tests = list(ktest.read_folder(folder / "found"))
    counts = set()
    for test in tests:
        count = int.from_bytes(dict(test.objects)["n_args"], "little")
        counts.add(count)
        assert [(name, len(data)) for name, data in test.objects] == expected_layout(count)
        assert len(environment(test).arguments) == 1 + 1 + 1 + count + 2 + 1
    assert counts == {0, 1}
    endings = {test.ending for test in tests}
    assert {"exit 1", "exit 3", "exit 16", "exit 17"} <= endings


def test_the_bytes_of_a_test(folder: Path) -> None:
    """The file as klee-replay reads it: magic, version 3, arguments, no symbolic arguments of old versions, objects."""
    data = (folder / "found" / "test000001.ktest").read_bytes()
    words = [str(folder / "prog.c"), *"--sym-files 1 3 --sym-stdin 2 --sym-stdout --max-fail 1".split(), *WORDS]
    test = ktest.parse(data, "test")

    def counted(part: bytes) -> bytes:
        return len(part).to_bytes(4, "big") + part

    arguments = b"".join(counted(word.encode()) for word in test.arguments)
    objects = b"".join(counted(name.encode()) + counted(value) for name, value in test.objects)
    head = b"KTEST" + (3).to_bytes(4, "big") + len(words).to_bytes(4, "big")
    assert list(test.arguments[1:]) == words[1:]
    assert data == head + arguments + bytes(8) + len(test.objects).to_bytes(4, "big") + objects


@pytest.mark.skipif(shutil.which("klee-replay") is None, reason="klee-replay is not installed")
def test_klee_replay_runs_them(folder: Path) -> None:
    """With the predicted exit status and output. Failing calls are not replayed by klee-replay."""
    tests = [
        (path, ktest.read(path))
        for path in sorted((folder / "found").glob("*.ktest"))
        if not any(int.from_bytes(data, "little") for name, data in ktest.read(path).objects if name.endswith("_fail"))
    ]
    endings = set()
    for path, test in tests:
        done = subprocess.run(
            ["klee-replay", str(folder / "prog"), str(path)],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert "ERROR" not in done.stderr, done.stderr
        status = (test.ending or "").removeprefix("exit ")
        wanted = "NORMAL" if status == "0" else f"ABNORMAL {status}"
        assert f"EXIT STATUS: {wanted} (" in done.stderr, done.stderr
        endings.add(test.ending)
    assert {"exit 3", "exit 16", "exit 17"} <= endings


def test_ours_runs_them_too(folder: Path) -> None:
    tests = list(ktest.read_folder(folder / "found"))
    results = replay_program(folder / "prog", tests)
    assert [str(result) for result in results if result.verdict.value != "as predicted"] == []
