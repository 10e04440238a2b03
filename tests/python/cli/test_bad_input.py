"""Bad input and bad programs: messages that say what is wrong, where, and what to do; exit status."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from partita import cli
from support import Run

SYMBOLIC = '#include "klee/klee.h"\n#include <stdlib.h>\n'


def write(folder: Path, text: str, name: str = "p.c") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_source_that_does_not_compile(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "int main(void) { return x; }\n")
    done = partita("run", path, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert f"{path}:1:25: error: use of undeclared identifier 'x'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_no_main(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "int f(void) { return 0; }\n")
    done = partita("run", path)
    assert done.returncode == 2
    expected = (
        "expected a program with a function `main`, found f:\n"
        f"  start one of them with symbolic parameters: partita run {path} --entry f\n"
        f"  or all of them in turn: partita run {path} --entry all"
    )
    assert done.stderr == f"partita: error: {expected}\n"


def test_code_for_another_target(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, 'target triple = "aarch64-linux-musl"\ndefine i32 @main() {\n  ret i32 0\n}\n', "p.ll")
    done = partita("run", path, "--json")
    assert done.returncode == 2
    expected = (
        "expected code for x86-64 or 32-bit x86, found target `aarch64-linux-musl`: compile with"
        " `-target x86_64-linux-musl`, or with `-m32` in addition"
    )
    assert done.stderr == f"partita: error: {expected}\n"
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"event": "error", "status": 2, "message": expected}
    ]


class PanicException(BaseException):
    """As the bindings raise it for a panic of the core."""


@pytest.mark.parametrize("kind", [RuntimeError, PanicException])
def test_a_failure_of_ours_is_not_status_1(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from partita import cli
    from partita.cli import run

    def fail(words: list[str]) -> tuple[list[str], list[str]]:
        raise kind("of ours")

    monkeypatch.setattr(run, "split_arguments", fail)
    assert cli.main(["run", "p.c", "--json"]) == 4
    found = capsys.readouterr()
    assert found.err.endswith(f"{kind.__name__}: of ours\npartita: internal error: please report the lines above\n")
    assert json.loads(found.out) == {"event": "error", "status": 4, "message": f"{kind.__name__}: of ours"}


def test_not_bitcode(partita: Run, tmp_path: Path) -> None:
    path = tmp_path / "junk.bc"
    path.write_bytes(b"\x00" * 100)
    done = partita("run", str(path))
    assert done.returncode == 2
    expected = f"expected LLVM bitcode in `{path}`, found something else: compile with `-emit-llvm -c`"
    assert done.stderr == f"partita: error: {expected}\n"


def test_truncated_bitcode(partita: Run, tmp_path: Path) -> None:
    path = tmp_path / "cut.bc"
    path.write_bytes(b"BC\xc0\xde" + b"\x35\x14\x00\x00" * 7)
    done = partita("run", str(path))
    assert done.returncode == 2
    assert str(path) in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "int main(void) { return 0; }\n")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    done = partita("run", path, "--out", str(folder / "out"))
    assert done.returncode == 2
    assert f"cannot write into `{folder / 'out'}`: Permission denied; choose another folder with --out" in done.stderr


def test_folder_with_files_in_it(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "int main(void) { return 0; }\n")
    done = partita("run", path, "--out", str(tmp_path))
    assert done.returncode == 2
    expected = f"expected a new or empty folder, found `{tmp_path}` with files in it: choose another --out"
    assert done.stderr == f"partita: error: {expected}\n"


BUGS = {
    "wrong size": (
        'int main(void) {\n  int x;\n  klee_make_symbolic(&x, 3, "x");\n  return x;\n}\n',
        5,
        "klee_make_symbolic: expected the size of the object, 4 bytes, found 3 for `x`: pass sizeof the whole object",
        "model-error",
    ),
    "inside an object": (
        'int main(void) {\n  int x[2];\n  klee_make_symbolic(x + 1, 4, "x");\n  return x[1];\n}\n',
        5,
        "klee_make_symbolic: expected the start of an object, found offset 4 of `x`",
        "model-error",
    ),
    "freed pointer": (
        'int main(void) {\n  char *p = malloc(4);\n  free(p);\n  klee_make_symbolic(p, 4, "p");\n  return 0;\n}\n',
        6,
        "klee_make_symbolic: write of 4 bytes at offset 0 of a heap object that was freed",
        "use-after-free",
    ),
    "contradiction": (
        'int main(void) {\n  int x = klee_int("x");\n  klee_assume(x > 3);\n  klee_assume(x < 2);\n  return 0;\n}\n',
        6,
        "klee_assume: the assumption contradicts earlier assumptions or decisions of this path: "
        "no input reaches this point",
        "model-error",
    ),
    "infinite recursion": (
        "int f(int n) {\n  return f(n + 1) + 1;\n}\nint main(void) { return f(0); }\n",
        4,
        "the stack is full: 174763 nested calls need more than 8388608 bytes",
        "stack-overflow",
    ),
    "empty range": (
        'int main(void) {\n  return klee_range(3, 3, "x");\n}\n',
        4,
        "klee_range: expected begin < end, found 3 and 3 for `x`",
        "model-error",
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_bugs_have_messages_and_tests(partita: Run, tmp_path: Path, name: str) -> None:
    text, line, message, class_ = BUGS[name]
    path = write(tmp_path, SYMBOLIC + text)
    done = partita("run", path, "--out", str(tmp_path / "out"), "--quiet")
    assert done.stdout == f"{path}:{line}: error: {message} [{class_}]\n"
    assert done.returncode == 1
    assert (tmp_path / "out" / f"test000001.{class_}.err").read_text().startswith(f"{path}:{line}: error: {message}\n")
    assert (tmp_path / "out" / "test000001.ktest").exists()


TIME = "a time such as 60s, 10m or 2h"
COUNT = "a whole number from 0 to 2^63 - 1"
LIMITS = {
    ("--max-time", "-1s"): f"expected --max-time to be {TIME}, found `-1s`",
    ("--max-time=-1s",): f"expected --max-time to be {TIME}, found `-1s`",
    ("--max-time", "99999999999999999999h"): f"expected --max-time to be {TIME}, found `99999999999999999999h`",
    ("--max-solver-time", "-1s"): f"expected --max-solver-time to be {TIME}, found `-1s`",
    ("--max-solver-time", "9" * 30): f"expected --max-solver-time to be {TIME}, found `{'9' * 30}`",
    ("--max-tests=-3",): f"expected --max-tests to be {COUNT}, found `-3`",
    ("--max-depth", "99999999999"): "expected --max-depth to be a whole number from 0 to 2^32 - 1, found `99999999999`",
    ("--max-memory", "huge"): "expected --max-memory to be a size such as 500MB or 2GB, found `huge`",
    ("--max-instructions", "9" * 24): f"expected --max-instructions to be {COUNT}, found `{'9' * 24}`",
    ("--tests", "some"): "expected --tests to be all, coverage or bugs, found `some`",
}


@pytest.mark.parametrize("flags", LIMITS)
def test_limit_out_of_range(partita: Run, tmp_path: Path, flags: tuple[str, ...]) -> None:
    path = write(tmp_path, "int main(void) { return 0; }\n")
    done = partita("run", path, "--out", str(tmp_path / "out"), *flags)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(f"error: {LIMITS[flags]}")


def test_infinite_loop(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, SYMBOLIC + 'int main(void) {\n  if (klee_int("x") == 7)\n    return 1;\n  for (;;) {}\n}\n')
    for flags, reason in (
        (("--max-instructions", "2000000"), "max-instructions"),
        # Compiling counts; the program is in the cache now.
        (("--max-time", "2s"), "max-time"),
    ):
        out = tmp_path / reason
        done = partita("run", path, "--out", str(out), "--search", "bfs", "--check", "no-non-termination", *flags)
        assert done.returncode == 3
        assert f"{path}:6: incomplete: stopped by {reason}" in done.stdout
        # Both the completed path and the one that was cut have a test.
        endings = (out / "endings").read_text().splitlines()
        assert sorted(line.split(" ", 1)[1] for line in endings) == ["exit 1", f"limit {reason}"]


def test_allocation_that_is_too_large(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, SYMBOLIC + "int main(void) {\n  char *p = malloc(1UL << 33);\n  return p[5];\n}\n")
    done = partita("run", path, "--out", str(tmp_path / "out"), "--max-memory", "1GB")
    message = "an object of 8589934592 bytes: more than an object may have (4294967296 bytes)"
    assert f"{path}:4: incomplete: {message}" in done.stdout
    assert done.returncode == 3
    assert (tmp_path / "out" / "test000001.ktest").exists()


def test_function_without_definition(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, SYMBOLIC + "int other(int);\nint main(void) {\n  return other(3) == 4;\n}\n")
    done = partita("run", path, "--out", str(tmp_path / "out"))
    message = "call of `other`, which has no definition: link it, or let it return any value with `--undefined havoc`"
    assert f"{path}:5: incomplete: {message}" in done.stdout
    assert done.returncode == 3
    done = partita("run", path, "--out", str(tmp_path / "havoc"), "--undefined", "havoc")
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["run", "p.c", "--serch", "dfs"],
            "expected an option of partita run, found `--serch`: did you mean --search?",
        ),
        (
            ["run", "p.c", "--cflags", "-DX", "-O1"],
            "expected an option of partita run, found `-O1`:"
            " flags of the compiler are one argument, --cflags '-DX -O1'",
        ),
        (
            ["run", "--sym-args", "1"],
            "argument --sym-args: expected 3 arguments: partita run --help lists what there is",
        ),
        (
            ["run", "p.c", "--max-time", "5x"],
            "expected --max-time to be a time such as 60s, 10m or 2h, found `5x`",
        ),
        (
            ["show", "out", "--all-of-it"],
            "expected an option of partita show, found `--all-of-it`: partita show --help lists the options",
        ),
        (["run", "p.c", "more"], "cannot read `p.c`: No such file or directory"),
    ],
)
def test_wrong_options(words: list[str], message: str, partita: Run) -> None:
    """One line that says what to write, not all of the usage."""
    done = partita(*words)
    assert (done.returncode, done.stderr) == (2, f"partita: error: {message}\n")


def test_flags_of_the_compiler_add_up(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "#if A != 1 || B != 2\n#error\n#endif\nint main(void) { return 0; }\n")
    assert partita("run", path, "--cflags=-DA=1", "--cflags", "-DB=2", "--out", str(tmp_path / "out")).returncode == 0


def test_a_program_without_symbolic_input_gets_advice(partita: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "int main(int argc, char **argv) { return argc > 1 ? argv[1][0] : 0; }\n")
    done = partita("run", path, "--out", str(tmp_path / "out"))
    assert "no input is symbolic: make some so with --sym-arg 8, --sym-stdin 8 or --entry FUNC" in done.stdout
    done = partita("run", path, "--sym-arg", "1", "--out", str(tmp_path / "other"))
    assert "no input is symbolic" not in done.stdout


def test_memory_that_python_does_not_get(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("partita.cli.make_parser", refuse)
    assert cli.main(["smt", "x.smt2"]) == 4
    assert capsys.readouterr().err == "partita: error: out of memory: the system refused more\n"
