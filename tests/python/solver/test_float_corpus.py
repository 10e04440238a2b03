"""Floating-point queries of executors and verifiers (`corpus/fp` of $PARTITA_SHARED): no verdict is wrong."""

from __future__ import annotations

import json
import os

import pytest

from support import SHARED, Run

FOLDER = SHARED / "corpus" / "fp"
STEP = int(os.environ.get("PARTITA_FLOAT_CORPUS_STEP", "8"))
"""Every STEP-th file is asked; `make corpus` asks all."""
TIMEOUT_MS = 5_000
MIN_ANSWERED = 0.85


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no floating-point queries at {FOLDER}: set PARTITA_SHARED")
def test_verdicts(partita: Run) -> None:
    index = json.loads((FOLDER / "index.json").read_text())
    names = sorted(index)[::STEP]
    wrong, answered = [], 0
    for name in names:
        done = partita("smt", f"--timeout-ms={TIMEOUT_MS}", "--memory-mb=2000", str(FOLDER / f"{name}.smt2.gz"))
        verdicts = [line for line in done.stdout.splitlines() if line in ("sat", "unsat", "unknown")]
        found, expected = verdicts[-1] if verdicts else "unknown", index[name]["verdict"]
        answered += found == expected
        if found != expected and found != "unknown":
            wrong.append((name, found, expected))
    assert not wrong
    assert answered >= MIN_ANSWERED * len(names), (answered, len(names))
