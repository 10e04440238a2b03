"""The linked C library, run concretely, behaves as natively: same output, same exit status."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from partita import explore
from partita.errors import UsageError
from partita.frontends import musl, musl_files
from partita.options import ENVIRONMENT
from partita.toolchain import zig_dir
from support import PATIENCE_S, PROGRAM_FOLDER, Run

PROGRAMS = sorted((PROGRAM_FOLDER / "libc").glob("*.c"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_conformance(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary, native, ours = tmp_path / "binary", tmp_path / "native", tmp_path / "ours"
    command = [str(zig_dir() / "zig"), "cc", "-target", "x86_64-linux-musl", "-O0", "-w", "-fno-sanitize=all"]
    subprocess.run([*command, str(program), "-o", str(binary)], check=True)
    native.mkdir()
    ours.mkdir()
    expected = subprocess.run([str(binary)], cwd=native, env=ENVIRONMENT, capture_output=True, timeout=PATIENCE_S)
    monkeypatch.chdir(ours)
    run = explore(program, libc="musl")
    paths = list(run)
    assert [path.message for path in paths] == [None]
    assert paths[0].output == expected.stdout
    assert paths[0].status == expected.returncode
    assert run.complete, run.summary()["incomplete"]
    assert not list(ours.iterdir()), "the program's files are not written to the host"


def test_user_definitions_override_the_library(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n"
        'int puts(const char *s) { return printf("<%s>\\n", s); }\n'
        'char *getenv(const char *name) { return "mine"; }\n'
        'int main(void) { puts("a"); puts(getenv("PATH")); return fileno(stdout); }\n'
    )
    (path,) = explore(source)
    assert (path.output, path.status) == (b"<a>\n<mine>\n", 1)


def test_only_needed_functions_are_linked(tmp_path: Path) -> None:
    """A program that needs only modelled functions is not linked with the library."""
    source = tmp_path / "p.c"
    source.write_text('#include <stdio.h>\nint main(void) { return printf("x") - 1; }\n')
    assert explore(source).finish().summary()["libc"] == "none"
    assert explore(source, libc="musl").finish().summary()["libc"] == "musl"
    source.write_text('#include <stdio.h>\nint main(void) { return fopen("/none", "r") != 0; }\n')
    run = explore(source).finish()
    assert (run.summary()["libc"], run.complete) == ("musl", True)
    run = explore(source, libc="none").finish()
    assert run.summary()["incomplete"][0]["why"].startswith("call of `fopen`, which has no definition")


def test_exit_handlers(tmp_path: Path) -> None:
    """`exit` runs handlers, then destructors, then flushes streams; `_exit` does none of these."""
    source = tmp_path / "p.c"
    source.write_text(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        'static void first(void) { printf("handler "); }\n'
        '__attribute__((destructor)) static void last(void) { printf("destructor"); }\n'
        '__attribute__((constructor)) static void early(void) { printf("%s ", getenv("TZ")); }\n'
        'int main(int argc, char **argv) { atexit(first); printf("main "); if (argc > 1) _exit(3); return 2; }\n'
    )
    (path,) = explore(source, libc="musl")
    assert (path.output, path.status) == (b"UTC0 main handler destructor", 2)
    (path,) = explore(source, libc="musl", arguments=["x"])
    assert (path.output, path.status) == (b"", 3)


def test_the_index_has_every_file() -> None:
    assert list(musl_files.index()) == musl.all_files()


def test_a_sample_of_the_index_is_what_the_compiler_says() -> None:
    files = [name for name in musl.all_files() if name.startswith(("partita/", "exit/", "env/"))]
    rows = {line.partition(":")[0]: line for line in musl_files.index_path().read_text().splitlines()}
    assert [musl_files.row_text(name, data) for name, data in musl.compiled(files)] == [rows[name] for name in files]


def test_needed_files_are_closed_and_few() -> None:
    files = musl_files.needed(["printf", "fgets"])
    rows = musl_files.index()
    defined = {name for file in files for name in rows[file].defines}
    known = {name for row in rows.values() for name in row.defines}
    assert {"stdio/printf.c", "stdio/vfprintf.c", "stdio/fgets.c", "stdio/stdout.c"} <= set(files)
    assert all(rows[file].needs & known <= defined for file in files)
    assert len(files) < len(rows) / 8


def test_a_program_gets_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an empty cache, a part of the library is compiled, and does what the whole does."""
    source = tmp_path / "p.c"
    source.write_text(
        '#include <stdio.h>\nint main(void) { char b[8]; if (fgets(b, 8, stdin)) printf("%s|", b); return 3; }\n'
    )
    whole = [(path.ending, path.output) for path in explore(source, sym_stdin=3)]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    part = [(path.ending, path.output) for path in explore(source, sym_stdin=3)]
    assert sorted(part) == sorted(whole)
    (entry,) = [path for path in (tmp_path / "cache" / "partita" / "libc").iterdir() if path.name != "lock"]
    assert entry.stat().st_size < 1 << 20


def build_slowly(folder: str, made: str) -> bytes:
    """Returns the result of `musl()` in a process whose build is slow; each build leaves a file."""
    os.environ["XDG_CACHE_HOME"] = folder

    def make(files: Sequence[str], _narrow: bool) -> bytes:
        import time

        with open(made, "a") as file:
            file.write("x")
        time.sleep(0.3)
        return small(files)

    musl._build = make
    return musl.musl()


def small(_files: Sequence[str] = (), _narrow: bool = False) -> bytes:
    from partita.llvm import lower

    return lower("")


def test_concurrent_runs_build_the_library_once(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        both = pool.starmap(build_slowly, [(str(tmp_path), str(made))] * 2)
    assert both == [small(), small()]
    assert made.read_text() == "x"


def test_a_damaged_library_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(musl, "_build", small)
    whole = musl.musl()
    (entry,) = [path for path in (tmp_path / "partita" / "libc").iterdir() if path.name != "lock"]
    saved = entry.read_bytes()
    entry.write_bytes(saved[:-1] + b"?")
    assert musl.musl() == whole
    assert entry.read_bytes() == saved


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that cannot be stored leaves no partial file."""

    def on_a_full_disk(**options: object) -> tuple[int, str]:
        name = tmp_path / "partita" / "libc" / ".new-x"
        name.touch()
        return os.open("/dev/full", os.O_WRONLY), str(name)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(musl, "_build", small)
    monkeypatch.setattr("tempfile.mkstemp", on_a_full_disk)
    with pytest.raises(UsageError, match="No space left on device; it needs 10 MB: free some space"):
        musl.musl()
    assert [path.name for path in (tmp_path / "partita" / "libc").iterdir()] == ["lock"]


def test_without_ziglang(partita: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `pip install --no-deps`."""
    source = tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'ziglang' else find(name, *rest)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = partita("run", str(source), "--sym-stdin", "1")
    assert done.returncode == 2
    assert done.stderr == (
        "partita: error: exploring programs needs packages that are not installed: pip install ziglang==0.14.1\n"
    )


def test_no_room_for_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "partita").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UsageError) as raised:
        musl.musl()
    expected = (
        f"cannot save the C library in `{tmp_path}/partita/libc`: Not a directory; it needs 10 MB: free some space"
    )
    assert str(raised.value).startswith(expected)
