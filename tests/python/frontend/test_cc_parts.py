"""Native programs are linked with the files of musl that they need."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from partita.cc import elf, main, parts
from partita.frontends.musl_files import rows_of

PROGRAM = """
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *thread(void *at) { *(int *)at = 7; return at; }
static int order(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
int main(void) {
  jmp_buf buffer;
  int jumped = setjmp(buffer), set = 0;
  if (!jumped) longjmp(buffer, 3);
  pthread_t started;
  pthread_create(&started, 0, thread, &set);
  pthread_join(started, 0);
  char text[] = "musl", *copy = strdup(text);
  qsort(text, 4, 1, order);
  memmove(copy + 1, copy, 3);
  double complex root = csqrt(-4.0 * set);
  printf("%d %d %s %s %.17g %.17g %.3Lf", jumped, set, text, copy, sin(set), cimag(root), 2.5L * set);
  free(copy);
}
"""


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    return folder


def test_a_program_needs_a_tenth_of_musl(tmp_path: Path, empty_cache: Path) -> None:
    """And neither all of musl nor zig's own runtime libraries, which take 40 s of processor time."""
    source, binary = tmp_path / "a.c", tmp_path / "a"
    source.write_text(PROGRAM)
    assert main(["cc", "-O1", str(source), "-o", str(binary), "-lm", "-lpthread"]) == 0
    output = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    assert output == "3 7 lmsu mmus 0.65698659871878906 5.2915026221291814 17.500"
    compiled = list(empty_cache.rglob("*.o"))
    assert len(compiled) < 250 < len(parts.all_files()) / 5
    assert not list(empty_cache.rglob("libc.a"))
    assert not list(empty_cache.rglob("libcompiler_rt.a"))


def test_names_outside_of_musl_are_for_zig(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source, made = tmp_path / "a.c", tmp_path / "a.o"
    source.write_text("int other(void); int main(void) { return other(); }")
    assert main(["cc", "-c", str(source), "-o", str(made)]) == 0
    assert parts.link([str(made), "-o", str(tmp_path / "a")]) is None
    assert parts.link([str(made), "-Wl,--wrap=other", "-o", str(tmp_path / "a")]) is None
    assert main(["cc", str(made), "-o", str(tmp_path / "a")]) != 0
    assert "undefined symbol: other" in capfd.readouterr().err


def test_the_index_is_that_of_the_compiler(tmp_path: Path) -> None:
    """Every fortieth file; `python -m partita.cc.parts` prints all of it."""
    rows = rows_of(parts.index_path())
    assert list(rows) == parts.all_files()
    items = [(name, os.path.join(tmp_path, f"{i}.o")) for i, name in enumerate([*list(rows)[::40], "partita/copy.c"])]
    parts.compile_files(items)
    for name, made in items:
        found = elf.symbols(Path(made).read_bytes())
        assert (found.defines, found.needs) == (rows[name].defines, rows[name].needs), name
    defined = set().union(*(row.defines for row in rows.values()))
    assert set().union(*(row.needs for row in rows.values())) - defined == {"main"}
