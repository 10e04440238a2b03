"""The programs of `structures` have the same paths in Java as in C."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.locations import FAMILIES
from experiments.structures import JAVA_SIZES, REPORTED, java_table
from partita import explore
from support.java import compile_all, needs_jdk

SMALL = dict.fromkeys(JAVA_SIZES, 3) | {"Remainder": 6, "NanoXML": 4, "Triangle": 1, "Operations": 2}


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [FAMILIES / "structures" / f"{name}.java" for name in SMALL]
    return compile_all(sources, tmp_path_factory.mktemp("structures") / "classes")


@needs_jdk
@pytest.mark.parametrize("name", SMALL)
def test_paths_are_those_of_c(name: str, classes: Path) -> None:
    size = SMALL[name]
    c = explore(FAMILIES / "structures" / f"{name}.c", cflags=[f"-DSIZE={size}"]).finish()
    java = explore(classes / f"{name}.class", arguments=[str(size)]).finish()
    assert java.complete
    assert java.summary()["paths"] == c.summary()["paths"]
    assert java.summary()["paths"]["completed"] > 1


def test_table() -> None:
    def sample(series: str, configuration: str, seconds: float, paths: int) -> dict[str, object]:
        run = {"cpu_s": seconds, "paths": paths, "hit_rate": 0.5}
        case = {"series": series, "x": "BinTree"}
        return {"outcome": "measured", "case": case, "configuration": configuration, "runs": [run]}

    lines = java_table([sample("C", "default", 1.0, 7), sample("Java", "default", 2.5, 7)])
    assert lines[1].split() == ["BinTree", "default", "7", "7", "1.000", "2.500", "2.50", "0.500"]
    assert "15,227 states in 912.6 s" in lines[2]
    assert (
        lines[3]
        == "default: 1 of 1 programs with the same paths; Java 2.50 s, C 1.00 s, 2.50 times (NOT within 2 times)"
    )
    assert set(REPORTED) == set(JAVA_SIZES)
