"""Every input of small programs, natively and in the reported paths. `tests/soak/exhaustive.py` has all programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita import explore
from support import exhaustive

# Every twelfth program, and those of one byte only: the others take longer.
SAMPLE = [program for program in exhaustive.PROGRAMS[::12] if exhaustive.inputs_of(program) == 1]


@pytest.mark.parametrize("program", SAMPLE, ids=lambda p: p.stem)
def test_every_input_is_on_one_path_and_ends_as_predicted(program: Path, tmp_path: Path) -> None:
    assert exhaustive.problems(program, tmp_path) == []


@pytest.mark.parametrize("name", ["environment_alias", "goto_computed", "sort_equal_keys", "string_tokens_state"])
def test_the_tests_of_a_run_replay_as_predicted(name: str, tmp_path: Path) -> None:
    assert exhaustive.problems(exhaustive.FOLDER / f"{name}.c", tmp_path, replays=True) == []


def test_a_test_that_replays_otherwise_is_found(tmp_path: Path) -> None:
    program = exhaustive.FOLDER / "goto_computed.c"
    run = explore(program, cflags=["-I", str(exhaustive.FOLDER)], out=tmp_path / "out").finish()
    assert run.complete
    endings = tmp_path / "out" / "endings"
    endings.write_text(endings.read_text().replace("exit ", "exit 1", 1))
    (problem,) = exhaustive.replayed(program, tmp_path / "out")
    assert problem.startswith("replay: test000001.ktest: different: exit ")


def test_there_are_enough_programs() -> None:
    assert len(exhaustive.PROGRAMS) >= 100


def test_a_wrong_prediction_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = exhaustive.FOLDER / "switch_sparse.c"
    endings = exhaustive.native_endings(program, tmp_path, 256)
    endings[7] += 1
    monkeypatch.setattr(exhaustive, "native_endings", lambda *_: endings)
    (problem,) = exhaustive.problems(program, tmp_path)
    assert problem.startswith("input 0x7 is on path ")


def test_a_bug_that_the_program_does_not_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = exhaustive.FOLDER / "calloc_read.c"
    monkeypatch.setattr(exhaustive, "bugs_of", lambda _: {"double-free"})
    *bugs, missing = exhaustive.problems(program, tmp_path)
    assert bugs
    assert all("ends as out-of-bounds-read, which no line `// BUG` names: " in bug for bug in bugs)
    assert missing == "no path ends in double-free"


def test_pointers_are_computed_from_the_object_they_started_at(tmp_path: Path) -> None:
    assert exhaustive.problems(exhaustive.FOLDER / "index_with_bias.c", tmp_path) == []


def test_an_input_on_no_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = exhaustive.Evaluator.script

    def script(self: exhaustive.Evaluator, text: str) -> object:
        holds = original(self, text)
        holds[9] = False
        return holds

    monkeypatch.setattr(exhaustive.Evaluator, "script", script)
    assert exhaustive.problems(exhaustive.FOLDER / "boolean.c", tmp_path) == ["input 0x9 is on 0 paths"]
