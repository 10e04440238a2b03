"""KLEE's flags on the command line of `partita run`: each works, is not needed, or is refused with advice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from partita.cli import make_parser
from partita.cli.klee_flags import ROWS, translate
from partita.errors import UsageError
from support import Run

PAGE = Path(__file__).parents[3] / "docs" / "klee.md"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("--output-dir=found p.c", "--out=found p.c"),
        ("-output-dir=found p.c", "--out=found p.c"),
        ("p.c --max-time=60s -max-depth=3 -optimize", "p.c --max-time=60s --max-depth=3 --optimize"),
        ("--search=dfs p.c", "--search=dfs p.c"),
        ("--search dfs p.c", "--search=dfs p.c"),
        ("--search=random-path --search=nurs:covnew p.c", "p.c --search=mix"),
        ("--search=nurs:md2u p.c", "--search=coverage p.c"),
        ("--only-output-states-covering-new p.c", "--tests=coverage p.c"),
        ("--emit-all-errors p.c", "--all-bugs p.c"),
        ("--exit-on-error-type=Assert p.c", "--tests=bugs --max-tests=1 p.c"),
        ("--seed-file=x.ktest p.c", "--seeds=x.ktest p.c"),
        ("-seed-dir=seeds p.c", "--seeds=seeds p.c"),
        ("--use-cex-cache p.c", "p.c"),
        ("--use-cex-cache=true p.c", "p.c"),
        ("--max-memory=2GB p.c", "--max-memory=2GB p.c"),
        ("--libc=none p.c", "--libc=none p.c"),
        ("--debug-crosscheck-core-solver=z3 p.c", "--verify=z3 p.c"),
        ("--sym-args 0 2 4 --sym-files 1 8 p.c", "--sym-args 0 2 4 --sym-files 1 8 p.c"),
    ],
)
def test_flags_that_work(given: str, expected: str) -> None:
    assert translate(given.split()) == expected.split()


def test_a_solver_becomes_a_chain_of_layers() -> None:
    assert translate(["--solver-backend=z3", "p.c"]) == ["--layers=simplify split z3", "p.c"]


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("--posix-runtime", "the kernel model is linked if the program needs it"),
        ("--libc=uclibc", "musl is linked if the program needs a C library"),
        ("-write-cov", "coverage.lcov is always written"),
    ],
)
def test_flags_that_are_not_needed(given: str, note: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert translate([given, "p.c"]) == ["p.c"]
    assert capsys.readouterr().err == f"partita: note: {given}: not needed: {note}\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "--max-memory=2000",
            "--max-memory=2000 is a flag of KLEE: KLEE counts it in megabytes: add the unit, as in --max-memory 2000MB",
        ),
        ("--use-cex-cache=false", '--use-cex-cache=false is a flag of KLEE: use --layers "-reuse"'),
        ("--seed-dir", "--seed-dir is a flag of KLEE: use --seeds DIR"),
        (
            "--search=nurs:qc",
            "--search=nurs:qc is a flag of KLEE: use --search mix, coverage, random-path, dfs or bfs",
        ),
        ("--search=dfs --search=bfs", "--search is given 2 times: use --search mix, or one strategy"),
    ],
)
def test_flags_with_a_substitute(given: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        translate(given.split())
    assert str(caught.value) == message


def test_the_page_lists_flags_that_are_known() -> None:
    """Every flag in the first column of the page is one of the table, or an option of `partita run`."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `--")]
    flags = {name for row in rows for name in re.findall(r"`--([a-z0-9-]+)", row.split("|")[1])}
    assert len(flags) > 20
    parser = make_parser()
    for flag in sorted(flags - set(ROWS)):
        values = {"sym-args": ["0", "1", "1"], "sym-files": ["1", "1"]}.get(flag, [])
        values = values or ([] if flag in ("sym-stdout", "optimize") else ["1"])
        parser.parse_args(["run", "p.c", f"--{flag}", *values])
    assert set(ROWS) - flags <= MORE, "flags that the page does not explain"


MORE = {"only-replay-seeds"}
"""Flags that belong to one on the page."""


def test_seeds_of_klee(partita: Run, tmp_path: Path) -> None:
    """A test of an earlier run is the first input of the next one."""
    source = tmp_path / "prog.c"
    source.write_text("#include <stdio.h>\nint main(void) { if (getchar() == 'x') return 1; return 0; }\n")
    first = tmp_path / "first"
    assert partita("run", f"--out={first}", str(source), "--sym-stdin", "1").returncode == 0
    (seed,) = (file for file in first.glob("*.ktest") if b"x" in file.read_bytes()[-200:])
    second = tmp_path / "second"
    words = [f"--seed-file={seed}", "--max-tests=1", "--max-time=9s", f"--out={second}"]
    done = partita("run", *words, str(source), "--sym-stdin", "1")
    assert done.returncode in (0, 3), done.stderr
    assert "exit 1" in (second / "endings").read_text()


def test_a_command_line_of_klee(partita: Run, tmp_path: Path) -> None:
    source = tmp_path / "prog.c"
    source.write_text("#include <stdio.h>\nint main(void) { if (getchar() == 'x') return 1; return 0; }\n")
    found = tmp_path / "found"
    done = partita(
        "run", "-output-dir=" + str(found), "--libc=uclibc", "--posix-runtime", str(source), "-sym-stdin", "1"
    )
    assert done.returncode == 0, done.stderr
    assert len(list(found.glob("*.ktest"))) == 2
    refused = partita("run", "--max-memory=2000", str(source))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "add the unit, as in --max-memory 2000MB" in refused.stderr
