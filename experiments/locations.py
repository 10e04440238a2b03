"""Folders that experiments read: the benchmarks of this repository, and optionally a larger query corpus."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAMS = REPOSITORY / "benchmarks" / "programs"
"""Programs with recorded figures of KLEE (`klee.json`) and expected paths and bugs (`expected.json`)."""
FAMILIES = REPOSITORY / "benchmarks" / "families"
"""Programs whose size is chosen by `-D`."""
QUERIES = REPOSITORY / "benchmarks" / "queries"
"""Query logs recorded from `PROGRAMS` by `experiments.record_queries`."""


def corpora() -> list[Path]:
    """Folders of query logs: `QUERIES`, and $PARTITA_SHARED/corpus (default: ../shared/corpus) if it exists."""
    larger = Path(os.environ.get("PARTITA_SHARED", REPOSITORY.parent / "shared")) / "corpus"
    return [folder for folder in (QUERIES, larger) if folder.is_dir()]


def corpus() -> Path:
    """The largest corpus available."""
    return corpora()[-1]
