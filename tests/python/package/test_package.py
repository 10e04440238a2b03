"""The package: names are imported lazily, and `partita cc` imports only what it needs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import partita

REPOSITORY = Path(__file__).resolve().parents[3]


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


def test_no_file_names_a_folder_of_a_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    pattern = re.compile(rb"/(?:root|home|work|Users|tmp)/[A-Za-z0-9_.]+")
    files = [REPOSITORY / name.decode() for name in listed.split(b"\0") if name]
    found = {file.name: match[0] for file in files if file.is_file() and (match := pattern.search(file.read_bytes()))}
    assert found == {}
