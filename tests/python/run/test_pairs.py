"""Bugs that are just present and just absent: no miss and no false alarm, as the sanitizers of the machine say."""

from __future__ import annotations

import os
import subprocess

import pytest

from partita import explore
from partita.replay.sanitized import FLAGS, find_compiler
from support.pairs import PAIRS, program

NOT_REPORTED = {"arguments"}
"""Bugs that AddressSanitizer and UBSan of gcc and clang do not report."""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "pairs.c"
    path.write_text(program())
    return path


def test_every_bug_is_found_and_nothing_else(source):
    run = explore(source, check=["overflow", "shift"], max_time=120).finish()
    assert run.complete
    found: dict[int, list[str]] = {}
    for bug in run.bugs:
        found.setdefault(dict(bug.inputs)["number"][0], []).append(bug.class_)
    assert found == {2 * i: [pair.class_] for i, pair in enumerate(PAIRS)}


@pytest.mark.skipif(find_compiler() is None, reason="no gcc or clang with AddressSanitizer")
def test_sanitizers_agree(source, tmp_path):
    binary = tmp_path / "pairs"
    compiler = find_compiler()
    assert compiler is not None
    flags = [*FLAGS, "-fsanitize=float-cast-overflow", "-fno-sanitize-recover=all", "-DNATIVE", "-O0"]
    subprocess.run([compiler, *flags, str(source), "-o", str(binary)], check=True)
    variables = {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1"}
    differ = []
    for number in range(2 * len(PAIRS)):
        pair, is_bad = PAIRS[number // 2], number % 2 == 0
        done = subprocess.run(
            [str(binary), str(number)], env={**os.environ, **variables}, capture_output=True, check=False
        )
        if (done.returncode != 0) != (is_bad and pair.name not in NOT_REPORTED):
            differ.append((pair.name, is_bad, done.returncode))
    assert differ == []
