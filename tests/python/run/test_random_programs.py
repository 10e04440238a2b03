"""A sample of csmith's random programs (`make fuzz` runs more), ablation of layers, and optimised programs."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from partita import explore, ktest
from partita.replay import Verdict, compile_native, replay
from support import PROGRAM_FOLDER, REPOSITORY

OPTIMIZED = ["bitfields", "floats", "objects_by_pointer", "setjmp_longjmp", "string_tables", "varargs"]
ABLATED = ["bugs/pointers.c", "bugs/strings.c", "bugs/arithmetic.c"]


def script(name: str) -> ModuleType:
    """Imports one of the scripts in tests/soak."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "tests" / "soak" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("csmith") is None, reason="csmith is not installed")
@pytest.mark.parametrize("first", [1, 11])
def test_random_programs_print_their_checksum(first: int, tmp_path: Path) -> None:
    csmith = script("csmith")
    headers = csmith.include()
    results = [csmith.compare(seed, tmp_path, headers) for seed in range(first, first + 10)]
    assert [result for result in results if result] == []
    assert results.count("") >= 5


@pytest.mark.skipif(shutil.which("csmith") is None, reason="csmith is not installed")
def test_random_programs_of_32_bits_print_their_checksum(tmp_path: Path) -> None:
    csmith = script("csmith")
    headers = csmith.include()
    results = [csmith.compare(seed, tmp_path, headers, narrow=True) for seed in range(1, 9)]
    assert [result for result in results if result] == []
    assert results.count("") >= 4


@pytest.mark.parametrize("name", ABLATED)
def test_results_without_each_layer(name: str) -> None:
    assert list(script("ablation").differences(PROGRAM_FOLDER / name, 60)) == []


@pytest.mark.parametrize("name", OPTIMIZED)
def test_optimised_programs_have_the_same_results(name: str, tmp_path: Path) -> None:
    program = PROGRAM_FOLDER / f"{name}.c"
    plain = explore(program).finish()
    run = explore(program, optimize=True, out=tmp_path / "out").finish()
    data = run.summary()
    assert {bug.class_ for bug in run.bugs} == {bug.class_ for bug in plain.bugs}
    assert (data["paths"]["unsupported"], run.complete) == (0, True)
    assert 0 < data["paths"]["completed"] <= plain.summary()["paths"]["completed"]
    with compile_native([str(program)]) as binary:
        results = replay(binary, list(ktest.read_folder(tmp_path / "out")))
    assert [str(result) for result in results if result.verdict is Verdict.DIFFERENT] == []
