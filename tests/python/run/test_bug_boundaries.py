"""Bugs that are just present and just absent: no miss and no false alarm, as the sanitizers of the machine say."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from partita import explore
from partita.replay.sanitized import FLAGS, find_compiler
from support.pairs import PAIRS, program

NOT_REPORTED = {"arguments", "member_copy", "member_string"}
"""Bugs that AddressSanitizer and UBSan of gcc and clang do not report."""
UNINITIALIZED = "uninitialized-read"
ENDLESS = "non-termination"
CHECKS = ["overflow", "shift", "alignment", "member"]


def _has_memory_sanitizer() -> bool:
    if shutil.which("clang") is None:
        return False
    probe = ["clang", "-fsanitize=memory", "-x", "c", "-", "-o", os.devnull]
    done = subprocess.run(probe, input=b"int main(void) { return 0; }", capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("pairs") / "pairs.c"
    path.write_text(program())
    return path


def test_every_bug_is_found_and_nothing_else(source):
    run = explore(source, check=CHECKS, max_time=120).finish()
    why = {row["why"] for row in run.summary()["incomplete"]}
    assert all(reason.startswith("uninitialised memory decides") for reason in why), why
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
    silent = [pair.name for pair in PAIRS if pair.class_ == UNINITIALIZED]
    assert _differences(binary, variables, {*NOT_REPORTED, *silent}) == []


@pytest.mark.skipif(not _has_memory_sanitizer(), reason="no clang with MemorySanitizer")
def test_memory_sanitizer_agrees(source, tmp_path):
    binary = tmp_path / "pairs"
    flags = ["-w", "-g", "-O0", "-DNATIVE", "-fsanitize=memory", "-fno-sanitize-recover=all"]
    subprocess.run(["clang", *flags, str(source), "-o", str(binary)], check=True)
    others = {pair.name for pair in PAIRS if pair.class_ != UNINITIALIZED}
    assert _differences(binary, {}, others, only=UNINITIALIZED) == []


def _differences(binary, variables, silent, only=None):
    """Functions that do not end as the pair says: a bug of a pair that is not in `silent` is reported or endless."""
    found = []
    for number in range(2 * len(PAIRS)):
        pair, is_bad = PAIRS[number // 2], number % 2 == 0
        if only is not None and pair.class_ != only:
            continue
        endless = is_bad and pair.class_ == ENDLESS
        # An endless loop is ended after a second of processor time.
        command = [str(binary), str(number)]
        if endless:
            command = ["sh", "-c", f"ulimit -t 1; exec {binary} {number}"]
        done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, check=False)
        if (done.returncode != 0) != (is_bad and pair.name not in silent):
            found.append((pair.name, is_bad, done.returncode))
    return found
