"""The register of models: every row has a case, and the kind of the row is what a run shows.

`make test` takes a sample, with one symbolic byte; `PARTITA_REGISTER=all` (`make register`) takes all, with two.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from partita import _core
from partita.register import KINDS, Kind, rows
from partita.whole import library
from support import intrinsics, register

ALL = os.environ.get("PARTITA_REGISTER") == "all"
KIND = {row.name: row.kind for row in rows() if row.family in ("model", "library")}
FUNCTIONS = sorted({*register.SIGNATURES, *register.STATEMENTS})
SAMPLE = FUNCTIONS if ALL else FUNCTIONS[::9]


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


def test_calls_treat_symbolic_data_as_the_register_says(tmp_path: Path) -> None:
    selected = [probe for probe in register.probes() if probe.function in SAMPLE]
    found: dict[str, Kind] = {}
    # Exception flags are recorded in programs that can read them, which some functions of mathematics count.
    for reads_flags in (False, True):
        group = [probe for probe in selected if probe.function.startswith("fe") == reads_flags]
        native = register.native_outputs(group, tmp_path, two=ALL)
        found |= kinds_of(group, tmp_path, native)
    assert found == {function: KIND[function] for function in SAMPLE}


def test_intrinsics_of_the_engine_have_the_kind_of_the_register(tmp_path: Path) -> None:
    selected = [p for p in register.engine_probes() if ALL or p.function not in register.WITH_MUSL]
    found = kinds_of(selected, tmp_path, {})
    assert found == {probe.function: KIND[probe.function] for probe in selected}


def test_intrinsics_of_llvm_are_exact(tmp_path: Path) -> None:
    names = list(intrinsics.CASES)[:: None if ALL else 9]
    file, declarations = tmp_path / "intrinsics.ll", intrinsics.declarations(names)
    file.write_text(intrinsics.text(names))
    selected = intrinsics.probes(names)
    native = register.native_outputs(selected, tmp_path, two=ALL, declarations=declarations, others=[file])
    found = kinds_of(selected, tmp_path, native, declarations, [file])
    kinds = {row.name: row.kind for row in rows() if row.family == "intrinsic"}
    assert found == {intrinsics.symbol(name): kinds[f"llvm.{name}"] for name in names}


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
