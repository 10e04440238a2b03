"""`partita bench` says where experiments are."""

from __future__ import annotations

import pytest

from partita.cli import main


def test_where_experiments_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 0
    assert "python -m experiments --list" in capsys.readouterr().out


def test_nothing_is_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "foo", "--quick"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("partita: error: nothing was run. Experiments and benchmarks are part of")
