"""GNU Coreutils, if built: some command lines of tests/soak/coreutils.txt in the engine and natively."""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from pathlib import Path

import pytest

from support import REPOSITORY

_SPEC = importlib.util.spec_from_file_location("coreutils", REPOSITORY / "tests" / "soak" / "coreutils.py")
assert _SPEC is not None
assert _SPEC.loader is not None
coreutils = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(coreutils)

BUILT = Path(os.environ.get("PARTITA_COREUTILS", REPOSITORY / "build" / "coreutils" / "coreutils-9.1" / "src"))


def test_table_of_command_lines() -> None:
    counts = Counter(command.utility for command in coreutils.commands())
    assert len(counts) == 27
    assert set(counts.values()) == {10}
    command = next(c for c in coreutils.commands() if c.text == "-s e < words")
    assert (command.words, command.stdin) == (["-s", "e"], "words")
    command = next(c for c in coreutils.commands() if c.utility == "expr" and "<" in c.text)
    assert (command.words, command.stdin) == (["1", "<", "2", "&", "0"], "empty")


@pytest.mark.skipif(not BUILT.is_dir(), reason=f"no Coreutils at {BUILT}: run make coreutils, or set PARTITA_COREUTILS")
def test_first_lines_of_each_utility(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    coreutils.make_files(tmp_path)
    seen = {command.utility: command for command in reversed(list(coreutils.commands()))}
    assert coreutils.compare(BUILT, list(seen.values())) == []
