"""Loops that provably never end, and loops that do."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore
from partita.ktest import read_folder
from partita.replay import Verdict, compile_native, replay

ENDLESS = {
    "nothing changes": "if (in == 7) for (;;) ; return 0;",
    "a short cycle": "int i = 4; while (in == 7 && i != 200) i = i * 3 % 251 % 100; return 0;",
    "memory": "char text[4] = {0}; while (text[1] != in % 2 + 2) text[1] ^= 1; return 0;",
    "calls": "int n = 0; while (in == 3) { n += twice(4); n -= 8; } return 0;",
    "local variables": "int n = 0; while (in == 3) { int a[3] = {in}; n = first(a); } return 0;",
}
ENDING = {
    "a long loop": "unsigned n = 0; for (unsigned i = 0; i < 3000000; i++) n += i; return n == 1;",
    "a counter in memory": "int n[2] = {0}; while (n[1] < 400000) n[1]++; return 0;",
    "output": 'for (int i = 0; i < 60000; i++) putchar("ab"[i & 1]); return 0;',
}
HEAD = """#include <stdio.h>
#include <klee/klee.h>
static int twice(int x) { return x * 2; }
static int first(const int *a) { return a[0]; }
"""


def source(body: str, folder: Path) -> Path:
    file = folder / "program.c"
    file.write_text(f'{HEAD}int main(void) {{ unsigned char in; klee_make_symbolic(&in, 1, "in"); {body} }}\n')
    return file


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_loop_is_a_bug(name: str, tmp_path: Path) -> None:
    run = explore(source(ENDLESS[name], tmp_path), max_time=60).finish()
    assert {bug.class_ for bug in run.bugs} == {"non-termination"}
    assert all(bug.line == 5 for bug in run.bugs)
    assert run.complete


@pytest.mark.parametrize("name", ENDING)
def test_a_long_loop_is_none(name: str, tmp_path: Path) -> None:
    run = explore(source(ENDING[name], tmp_path), max_time=60).finish()
    assert run.bugs == []
    assert run.complete


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    file = source(ENDLESS["nothing changes"], tmp_path)
    run = explore(file, check=["no-non-termination"], max_instructions=2_000_000).finish()
    assert run.bugs == []
    assert run.summary()["stopped"] == "max-instructions"


def test_replay_waits_for_its_limit(tmp_path: Path) -> None:
    file = source(ENDLESS["nothing changes"], tmp_path)
    explore(file, out=tmp_path / "out").finish()
    tests = list(read_folder(tmp_path / "out"))
    with compile_native([str(file)]) as binary:
        results = replay(binary, tests, timeout=1)
    assert {result.verdict for result in results} == {Verdict.AS_PREDICTED}
