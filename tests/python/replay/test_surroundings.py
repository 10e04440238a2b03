"""A replayed program finds what it found in the run: its environment, standard input and numbers of descriptors."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore
from partita.cc import main as cc
from partita.ktest import read_folder
from partita.replay import Verdict
from partita.replay.native import replay_natively

PROGRAM = """#include <fcntl.h>
#include <klee/klee.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv, char **variables) {
  char in;
  klee_make_symbolic(&in, 1, "in");
  switch (in) {
  case 1: return getchar() == EOF ? 1 : 2;
  case 2: return open("/dev/null", O_RDONLY);
  case 3: return getenv("LC_ALL") ? getenv("LC_ALL")[0] : 4;
  case 4: return getenv("MINE") || getenv("PWD") || getenv("PARTITA_REPLAY_SECONDS") ? 7 : 8;
  case 5: return fileno(tmpfile());
  case 6: {
    int n = 0;
    while (environ[n]) n += environ[n] == variables[n];
    return n;
  }
  case 7: return (fcntl(0, F_GETFL) & O_ACCMODE) * 4 + (fcntl(1, F_GETFL) & O_ACCMODE);
  case 8: return isatty(0) + isatty(1) + isatty(2);
  case 9: return *environ[0] + *variables[3];
  default: return 0;
  }
}
"""


@pytest.mark.parametrize("is_built", [False, True])
def test_the_surroundings_are_those_of_the_run(is_built: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text(PROGRAM)
    if is_built:
        assert cc(["cc", "-w", str(source), "-o", str(program)]) == 0
    chosen = program if is_built else source
    run = explore(chosen, out=tmp_path / "out").finish()
    assert run.complete
    tests = list(read_folder(tmp_path / "out"))
    assert len(tests) == 10
    monkeypatch.setenv("LC_ALL", "other")
    monkeypatch.setenv("MINE", "1")
    results = replay_natively([str(chosen)], tests)
    assert [str(result) for result in results if result.verdict is not Verdict.AS_PREDICTED] == []
