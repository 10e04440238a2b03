"""The package itself: its names come when they are used, and `partita cc` starts without what it does not need."""

from __future__ import annotations

import subprocess
import sys

import partita


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_every_name_is_there() -> None:
    assert set(partita._HOMES) == set(partita.__all__) == set(dir(partita))
    for name in partita.__all__:
        assert getattr(partita, name) is not None


def test_a_function_is_not_hidden_by_its_module() -> None:
    for first in ("import partita.explore", "from partita.explore import Run", "from partita import Run"):
        assert run(f"{first}\nimport partita\nprint(callable(partita.explore))") == "True\n"


def test_a_compiler_starts_quickly() -> None:
    heavy = {"partita._core", "partita.explore", "partita.frontends", "llvmlite", "argparse", "dataclasses", "hashlib"}
    code = "import sys, partita.cli, partita.cc.compile, partita.cc.link\nprint(*sys.modules)"
    assert heavy.isdisjoint(run(code).split())
