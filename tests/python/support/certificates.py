"""Certificates of programs: written by a run, checked with another solver, altered on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from partita import explore
from partita.check import certificate, solver
from partita.check.meaning.machine import interpreter

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("tests/programs", "tests/programs/bugs", "tests/programs/exhaustive", "benchmarks/programs", "examples")


def certified(program: Path, folder: Path, **options: Any) -> dict[str, Any] | None:
    """The certificate of a program; None if the run was not complete."""
    file = folder / "certificate.json"
    with explore(program, certificate=file, **options) as run:
        run.warn = lambda _line: None
        run.finish()
    return certificate.load(file) if file.exists() else None


def checked(body: dict[str, Any]) -> Any:
    return certificate.check(body, solver.make(None), interpreter)


def sealed(body: dict[str, Any]) -> dict[str, Any]:
    """The certificate with the checksum of what it says now."""
    body = json.loads(json.dumps(body))
    return {**body, "sha256": certificate.digest(body)}
