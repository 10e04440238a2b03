"""The package: names are imported lazily, and `partita cc` imports only what it needs."""

from __future__ import annotations

import subprocess
import sys

import partita


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_public_names_can_be_imported() -> None:
    assert set(partita._HOMES) == set(partita.__all__) == set(dir(partita))
    for name in partita.__all__:
        assert getattr(partita, name) is not None


def test_functions_are_not_shadowed_by_modules() -> None:
    for first in ("import partita.explore", "from partita.explore import Run", "from partita import Run"):
        assert run(f"{first}\nimport partita\nprint(callable(partita.explore))") == "True\n"


def test_a_compiler_starts_quickly() -> None:
    heavy = {"partita._core", "partita.explore", "partita.frontends", "llvmlite", "argparse", "dataclasses", "hashlib"}
    code = "import sys, partita.cli, partita.cc.compile, partita.cc.link\nprint(*sys.modules)"
    assert heavy.isdisjoint(run(code).split())
