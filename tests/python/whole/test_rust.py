"""Rust programs: panics as bugs, the standard library, bitcode of other builds, native replay."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from partita import explore
from partita.errors import UsageError
from partita.frontends import rust
from support import REPOSITORY, Run

PROGRAMS = REPOSITORY / "tests" / "programs" / "rust"
needs_rust = pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")

MESSAGES = {
    "overflow": "attempt to add with overflow",
    "assert": "five with true",
    "bounds": "index out of bounds: the len is 3 but the index is ",
    "none": "called `Option::unwrap()` on a `None` value",
    "text": "called `Result::unwrap()` on an `Err` value: FromUtf8Error { bytes: [",
    "explicit": "seven",
    "borrowed": "RefCell already mutably borrowed",
    "zero": "attempt to divide by zero",
    "equal": "assertion `left == right` failed left: ",
}


def line_of(source: Path, mark: str) -> int:
    return next(n for n, line in enumerate(source.read_text().splitlines(), 1) if line.endswith(f"// {mark}"))


@needs_rust
def test_every_way_to_panic_is_found_and_replayed(tmp_path: Path, partita: Run) -> None:
    program, out = PROGRAMS / "panics.rs", tmp_path / "out"
    done = partita("run", str(program), "--out", str(out))
    assert done.returncode == 1, done.stderr
    summary = json.loads((out / "run.json").read_text())
    assert summary["complete"] is True
    found = {(bug["class"], bug["file"], bug["line"]): bug["message"] for bug in summary["bugs"]}
    assert len(found) == len(MESSAGES) + 1
    assert found["abort", str(program), line_of(program, "aborts")] == "abort was called"
    for mark, message in MESSAGES.items():
        assert found["panic", str(program), line_of(program, mark)].startswith(message)
    # The message is that of the test.
    bug = next(bug for bug in summary["bugs"] if bug["line"] == line_of(program, "bounds"))
    named = re.search(r"the index is (\d+)$", bug["message"])
    (index,) = (value for name, value in _inputs(out / f"test{bug['test']:06}.ktest") if name == "index")
    assert named is not None
    assert int(named[1]) == int.from_bytes(index, "little")
    replayed = partita("replay", str(program), str(out))
    assert replayed.returncode == 0
    assert replayed.stdout.splitlines()[-1] == f"{summary['tests']} as predicted"


def _inputs(path: Path) -> list[tuple[str, bytes]]:
    from partita import ktest

    return list(ktest.read(path).objects)


@needs_rust
def test_the_library_prints_what_it_prints_natively(tmp_path: Path) -> None:
    program, binary = PROGRAMS / "library.rs", tmp_path / "library"
    rust.compile_native(str(program), binary)
    text = b"one\ntwo words\n"
    native = subprocess.run([str(binary)], input=text, capture_output=True, check=True)
    run = explore(program, stdin=text)
    (path,) = run
    assert path.ending == "exit 0"
    assert path.output.decode() == native.stdout.decode()
    assert run.complete


@needs_rust
def test_bitcode_of_an_optimised_build_that_unwinds(tmp_path: Path, partita: Run) -> None:
    source = tmp_path / "short.rs"
    source.write_text(
        "fn main() {\n"
        "    let mut line = String::new();\n"
        "    std::io::stdin().read_line(&mut line).unwrap();\n"
        "    let bytes = line.as_bytes();\n"
        "    if bytes.len() > 1 && bytes[0] == b'x' && bytes[1] == b'y' {\n"
        '        panic!("the magic {}", bytes.len());\n'
        "    }\n"
        "}\n"
    )
    command = [rust.rustc(), "-O", "-g", "-C", "lto=fat", "--emit=llvm-bc,link", "-C", "linker=true", str(source)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    out = tmp_path / "out"
    done = partita("run", str(tmp_path / "short.bc"), "--sym-stdin", "2", "--out", str(out))
    assert "short.rs:6: error: the magic 2 [panic]" in done.stdout, done.stdout + done.stderr
    replayed = partita("replay", str(tmp_path / "short.bc"), str(out))
    assert "expected the source or the executable of a Rust program, found bitcode" in replayed.stderr


@needs_rust
def test_errors_are_the_compilers(tmp_path: Path) -> None:
    source = tmp_path / "wrong.rs"
    source.write_text('fn main() { let x: u8 = "a"; }\n')
    with pytest.raises(UsageError, match="mismatched types"):
        explore(source)


def test_without_rustc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.rs"
    source.write_text("fn main() {}\n")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(UsageError, match="expected `rustc` on PATH to compile Rust, found none: install Rust, or give"):
        explore(source)


def test_calls_are_inserted_where_panics_begin_and_end() -> None:
    text = """define void @_RNvNtCs1_4core9panicking9panic_fmt(ptr %0) {
start:
  %1 = alloca i8
  ret void
}
define i32 @_RNvCs1_7___rustc10rust_panic(ptr %0) {
  call void @abort()
  unreachable
}
declare void @abort()
"""
    marked = rust.with_panics(text)
    assert "alloca i8\n  call void @__partita_panic_begins()\n  ret void" in marked
    assert "{\n  call void @__partita_panic_ends()\n  call void @__partita_panic_abort()" in marked
    assert "declare void @__partita_panic_abort()" in marked
