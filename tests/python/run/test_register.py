"""The register of models: every row has a case, and the kind of the row is what a run shows.

`make test` takes a sample, with one symbolic byte; `PARTITA_REGISTER=all` (`make register`) takes all, with two.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from partita import _core, explore
from partita.register import KINDS, Kind, modelled_system_calls, rows
from partita.whole import library
from support import intrinsics, register, syscalls

ALL = os.environ.get("PARTITA_REGISTER") == "all"
KIND = {row.name: row.kind for row in rows() if row.family in ("model", "library")}
FUNCTIONS = sorted({*register.SIGNATURES, *register.STATEMENTS})
# Groups that run by themselves, so that `make register` uses all cores.
SAMPLES = [FUNCTIONS[i::24] for i in range(24)] if ALL else [FUNCTIONS[::9]]
OF_LLVM = (
    [intrinsics.CASES[i::12] for i in range(12)]
    if ALL
    else [[name for name in intrinsics.CASES[::6] if name not in intrinsics.WITH_MUSL]]
)


def kinds_of(
    selected: list[register.Probe],
    folder: Path,
    native: dict[str, list[bytes]],
    declarations: str = "",
    others: Sequence[Path] = (),
) -> dict[str, Kind]:
    """The worst kind of each function. Fails where an input is on no path, on two, or has another result."""
    files = [folder / "probes.c", *others]
    files[0].write_text(register.source(selected, declarations))
    observed: defaultdict[str, list[Kind]] = defaultdict(list)
    problems = []
    for number, probe in enumerate(selected):
        kind = register.observed_kind(files, number, probe)
        observed[probe.function].append(kind)
        if probe.name in native:
            problems += register.problems(files, number, probe, native[probe.name], kind)
    assert problems == []
    return {function: register.worst(kinds) for function, kinds in observed.items()}


def first(names: Sequence[str]) -> str:
    """The name of a group."""
    return names[0]


@pytest.mark.parametrize("functions", SAMPLES, ids=first)
def test_calls_treat_symbolic_data_as_the_register_says(functions: list[str], tmp_path: Path) -> None:
    selected = [probe for probe in register.probes() if probe.function in functions]
    found: dict[str, Kind] = {}
    # Exception flags are recorded in programs that can read them, which some functions of mathematics count.
    for reads_flags, of_one_byte in product((False, True), repeat=2):
        group = [p for p in selected if (p.function.startswith("fe"), p.of_one_byte) == (reads_flags, of_one_byte)]
        native = register.native_outputs(group, tmp_path, two=ALL and not of_one_byte)
        for function, kind in kinds_of(group, tmp_path, native).items():
            found[function] = register.worst([kind, found.get(function, kind)])
    assert found == {function: KIND[function] for function in functions}


def test_intrinsics_of_the_engine_have_the_kind_of_the_register(tmp_path: Path) -> None:
    selected = [p for p in register.engine_probes() if ALL or p.function not in register.WITH_MUSL]
    found: dict[str, Kind] = {}
    for reads_flags in (False, True):
        found |= kinds_of([p for p in selected if p.function.startswith("fe") == reads_flags], tmp_path, {})
    assert found == {probe.function: KIND[probe.function] for probe in selected}


def intrinsic_kinds() -> dict[str, Kind]:
    return {row.name.removeprefix("llvm."): row.kind for row in rows() if row.family == "intrinsic"}


@pytest.mark.parametrize("names", OF_LLVM, ids=first)
def test_intrinsics_of_llvm_treat_symbolic_data_as_the_register_says(names: list[str], tmp_path: Path) -> None:
    file, meaning, declarations = tmp_path / "intrinsics.ll", tmp_path / "native.ll", intrinsics.declarations(names)
    file.write_text(intrinsics.text(names))
    meaning.write_text(intrinsics.text(names, native=True))
    selected = intrinsics.probes(names)
    native = register.native_outputs(selected, tmp_path, two=ALL, declarations=declarations, others=[meaning])
    found = kinds_of(selected, tmp_path, native, declarations, [file])
    kinds = intrinsic_kinds()
    assert found == {intrinsics.symbol(name): kinds[name] for name in names}


def test_intrinsics_that_only_a_compiler_uses(tmp_path: Path) -> None:
    selected = [register.Probe(intrinsics.symbol(name), 0, body) for name, body in intrinsics.IN_C.items()]
    native = register.native_outputs(selected, tmp_path, two=ALL, declarations=intrinsics.C_FUNCTIONS)
    found = kinds_of(selected, tmp_path, native, intrinsics.C_FUNCTIONS)
    kinds = intrinsic_kinds()
    assert found == {intrinsics.symbol(name): kinds[name] for name in intrinsics.IN_C}


@pytest.mark.parametrize("name", intrinsics.ENDINGS)
def test_intrinsics_that_end_the_path(name: str, tmp_path: Path) -> None:
    file = tmp_path / "end.ll"
    file.write_text(intrinsics.ending_text(name))
    assert [path.ending for path in explore(file)] == [intrinsics.ENDINGS[name][1]]


@pytest.mark.parametrize("name", intrinsics.UNKNOWN)
def test_addresses_that_a_path_does_not_have_are_counted(name: str, tmp_path: Path) -> None:
    file = tmp_path / "address.ll"
    file.write_text(intrinsics.unknown_text(name))
    run = explore(file).finish()
    assert [row["why"] for row in run.summary()["incomplete"]] == ["uninitialised memory decides a branch"]
    assert intrinsic_kinds()[name] == "binds"


def test_every_intrinsic_has_a_case() -> None:
    cases = [*intrinsics.CASES, *intrinsics.IN_C, *intrinsics.IN_CPP, *intrinsics.ENDINGS, *intrinsics.UNKNOWN]
    assert sorted(cases) == sorted(intrinsic_kinds())


def test_system_calls_treat_symbolic_data_as_the_register_says(tmp_path: Path) -> None:
    names = list(syscalls.CALLS)[:: None if ALL else 12]
    selected = syscalls.calls(names)
    native = syscalls.native_outputs(selected, tmp_path)
    file = tmp_path / "calls.c"
    file.write_text(syscalls.source(selected))
    observed: defaultdict[str, list[Kind]] = defaultdict(list)
    problems = []
    for number, call in enumerate(selected):
        kind = syscalls.observed_kind(file, number)
        observed[call.name].append(kind)
        if kind != "unsupported":
            problems += syscalls.problems(file, number, call, native[number])
    assert problems == []
    kinds = {row.name: row.kind for row in rows() if row.family == "system call"}
    found = {name: register.worst(observed[name]) for name in names}
    # A program that exists cannot be executed: not tried, since the native one would be.
    found |= {name: "unsupported" for name in ("execve", "execveat") if name in found}
    assert found == {name: kinds[name] for name in names}


def test_system_calls_that_are_not_made_natively(tmp_path: Path) -> None:
    names = list(syscalls.ONLY_HERE)[:: None if ALL else 4]
    selected = [syscalls.Call(name, 0, syscalls.ONLY_HERE[name]) for name in names]
    file = tmp_path / "calls.c"
    file.write_text(syscalls.source(selected))
    kinds = {row.name: row.kind for row in rows() if row.family == "system call"}
    found = {call.name: syscalls.observed_kind(file, number) for number, call in enumerate(selected)}
    assert found == {name: kinds[name] for name in names}


def test_system_calls_without_a_model_are_counted(tmp_path: Path) -> None:
    kinds = {row.name: row.kind for row in rows() if row.family == "system call"}
    names = sorted(kinds.keys() - {*modelled_system_calls()})[:: None if ALL else 40]
    selected = [syscalls.Call(name, 0, "R(K, K, K, K);") for name in names]
    file = tmp_path / "calls.c"
    file.write_text(syscalls.source(selected))
    found = {call.name: syscalls.observed_kind(file, number) for number, call in enumerate(selected)}
    assert found == {name: kinds[name] for name in names}


def test_every_system_call_of_the_model_has_a_case() -> None:
    assert sorted([*syscalls.CALLS, *syscalls.ONLY_HERE]) == modelled_system_calls()


def test_every_function_has_a_row_and_every_row_a_case() -> None:
    cases = {*FUNCTIONS, *register.ENGINE}
    callable_names = {name for name, _ in _core.MODELS} | {*_core.defined_names(library())}
    callable_names = {name for name in callable_names if not name.startswith("__partita_")}
    families = {"__VERIFIER_nondet_", "__ubsan_handle_"}  # tests of intrinsics and sanitizers call every member
    named = {row.name for row in rows() if row.family in ("model", "library")}
    assert named == callable_names
    assert cases == named - families


def test_rows_are_unique_and_of_the_four_kinds() -> None:
    found = [(row.family, row.name) for row in rows()]
    assert len(found) == len({*found})
    assert {row.kind for row in rows()} <= {*KINDS}


def test_a_wrong_result_is_found(tmp_path: Path) -> None:
    selected = [probe for probe in register.probes() if probe.function == "toascii"]
    native = register.native_outputs(selected, tmp_path, two=False)
    native["toascii_0"][7] = bytes(register.OUT_BYTES)
    with pytest.raises(AssertionError, match=r"toascii_0: input 0x7: natively 0000"):
        kinds_of(selected, tmp_path, native)
