"""Whole programs: symbolic arguments, files and input, host files, unmodelled features."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from partita import explore, ktest, results
from partita.errors import UsageError
from partita.toolchain import runtime_include
from partita.whole import Libc
from support import Run

HEADERS = "".join(
    f"#include <{name}.h>\n" for name in "errno fcntl stdio stdlib string sys/socket sys/stat unistd dirent".split()
)


def write(folder: Path, body: str) -> Path:
    path = folder / "p.c"
    path.write_text(HEADERS + body)
    return path


def names(path: results.Path) -> list[str]:
    return [name for name, _ in path.inputs]


def value(path: results.Path, name: str) -> bytes:
    return dict(path.inputs)[name]


def test_symbolic_arguments_keep_their_positions(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "int main(int argc, char **argv) {\n"
        '  if (strcmp(argv[1], "first") || strcmp(argv[3], "third")) abort();\n'
        '  if (!strcmp(argv[2], "yes")) return 10;\n'
        "  if (argc == 4) return 4;\n"
        "  return strlen(argv[4]) <= 2 ? argc : 99; }\n",
    )
    run = explore(source, arguments="first --sym-arg 3 third --sym-args 0 2 2".split())
    paths = list(run)
    assert run.complete
    assert not run.bugs
    assert {path.status for path in paths} == {10, 4, 5, 6}
    for path in paths:
        assert names(path)[:2] == ["arg00", "n_args"]
        assert len(value(path, "arg00")) == 4
        count = int.from_bytes(value(path, "n_args"), "little")
        assert len([name for name in names(path) if name.startswith("arg")]) == 1 + count
        if path.status == 10:
            assert value(path, "arg00")[:3] == b"yes"


def test_symbolic_files_and_input(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "int main(void) {\n"
        "  char text[8]; struct stat s;\n"
        '  FILE *file = fopen("B", "r");\n'
        "  if (fread(text, 1, 8, file) != 3 || fgetc(stdin) == EOF) return 1;\n"
        '  if (stat("A", &s) || s.st_size != 3 || !S_ISREG(s.st_mode)) return 2;\n'
        '  if (fopen("C", "r")) return 3;\n'
        "  if (text[2] == 'x' && getchar() == 'y') return 4;\n"
        "  if (s.st_mode & 0100) return 5;\n  return 6; }\n",
    )
    run = explore(source, sym_files=(2, 3), sym_stdin=2)
    paths = list(run)
    assert run.complete
    assert {path.status for path in paths} == {4, 5, 6}
    for path in paths:
        expected = ["A_data", "A_data_stat", "B_data", "B_data_stat", "stdin", "stdin_stat"]
        assert names(path) == expected
        if path.status == 4:
            assert value(path, "B_data")[2:] == b"x"
            assert value(path, "stdin")[1:] == b"y"
        else:
            mode = int.from_bytes(value(path, "A_data_stat")[24:28], "little")
            assert mode & ~0o777 == 0o100000
            assert bool(mode & 0o100) == (path.status == 5)


def test_symbolic_file_names_match_every_possible_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of one byte is the file, a folder, or no file; host files are not looked up by symbolic names."""
    (tmp_path / "h").write_text("not seen")
    monkeypatch.chdir(tmp_path)
    source = write(
        tmp_path,
        "int main(int argc, char **argv) {\n"
        "  struct stat s;\n"
        "  if (stat(argv[1], &s)) return errno == ENOENT ? 0 : 9;\n"
        "  return S_ISREG(s.st_mode) ? 1 : S_ISDIR(s.st_mode) ? 2 : 9; }\n",
    )
    run = explore(source, sym_files=(1, 1), arguments=["--sym-arg", "1"])
    found = {(path.status, value(path, "arg00")[:1]) for path in run}
    assert run.complete
    assert {pair for pair in found if pair[0]} == {(1, b"A"), (2, b"."), (2, b"/")}


def test_output_matches_the_inputs_of_the_test(tmp_path: Path) -> None:
    """A byte is written before a branch constrains it: the test has the output of a native run."""
    source = write(
        tmp_path,
        "int main(void) { int c = getchar(); putchar(c); fflush(stdout); if (c == 'q') return 1; return 0; }\n",
    )
    run = explore(source, sym_stdin=1, sym_stdout=True)
    paths = list(run)
    assert len(paths) == 2
    own = run.summary()["coverage"]
    assert own["covered"] == own["instructions"]
    assert 0 < own["library"]["covered"] < own["library"]["instructions"], "output is written by library code"
    for path in paths:
        assert path.output == value(path, "stdin")
        assert value(path, "stdout") == path.output.ljust(1024, b"\0")
        assert (path.output == b"q") == (path.status == 1)


def test_exit_status_matches_the_inputs_of_the_test(tmp_path: Path) -> None:
    """The status is symbolic, and a handler branches on it after `exit` was called."""
    source = write(
        tmp_path,
        "static int c;\n"
        'static void last(void) { if (c == 3) puts("three"); else if (c == 8) puts("eight"); }\n'
        "int main(void) { c = getchar(); atexit(last); return c & 1; }\n",
    )
    run = explore(source, sym_stdin=1)
    paths = list(run)
    assert run.complete
    assert len(paths) == 3
    assert {path.output for path in paths} == {b"three\n", b"eight\n", b""}
    for path in paths:
        assert path.status == value(path, "stdin")[0] & 1


def test_given_input_and_environment(partita: Run, tmp_path: Path) -> None:
    source = write(
        tmp_path, 'int main(void) { return getchar() == \'g\' && !strcmp(getenv("COLOUR"), "red") ? 7 : 1; }\n'
    )
    (tmp_path / "input").write_text("given")
    out = tmp_path / "out"
    done = partita("run", str(source), "--stdin", str(tmp_path / "input"), "--env", "COLOUR=red", "--out", str(out))
    assert done.returncode == 0, done.stderr
    (test,) = ktest.read_folder(str(out))
    assert test.ending == "exit 7"


def test_tests_have_the_command_line(partita: Run, tmp_path: Path) -> None:
    source = write(tmp_path, "int main(int argc, char **argv) { return argc; }\n")
    out = tmp_path / "out"
    words = [
        "--sym-arg",
        "1",
        "--sym-stdin",
        "2",
        "--sym-stdout",
        "--out",
        str(out),
        "--",
        "a",
        "--sym-args",
        "0",
        "1",
        "2",
    ]
    done = partita("run", str(source), *words)
    assert done.returncode == 0, done.stderr
    tests = list(ktest.read_folder(str(out)))
    assert sorted(test.ending or "" for test in tests) == ["exit 3", "exit 4"]
    expected = ["--sym-stdin", "2", "--sym-stdout", "--sym-arg", "1", "a", "--sym-args", "0", "1", "2"]
    assert list(tests[0].arguments[1:]) == expected


def test_host_files_are_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept"
    kept.write_text("before")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    source = write(
        tmp_path,
        "int main(void) {\n"
        "  char text[16] = {0};\n"
        '  int fd = open("kept", O_RDWR);\n'
        '  if (read(fd, text, 16) != 6 || strcmp(text, "before")) return 1;\n'
        '  if (pwrite(fd, "AFTER", 5, 0) != 5 || ftruncate(fd, 5)) return 2;\n'
        '  if (pread(fd, text, 5, 0) != 5 || memcmp(text, "AFTER", 5)) return 3;\n'
        '  if (rename("kept", "folder/moved") || !access("kept", F_OK) || access("folder/moved", F_OK)) return 4;\n'
        '  if (mkdir("new", 0700) || close(creat("new/file", 0600))) return 5;\n'
        '  if (unlink("folder/moved") || rmdir("folder")) return 6;\n'
        "  return 0; }\n",
    )
    before = {path.name for path in tmp_path.iterdir()}
    (path,) = explore(source)
    assert path.status == 0
    assert kept.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == before


def test_host_files_are_written_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(
        tmp_path,
        "int main(void) {\n"
        '  FILE *file = fopen("made", "w"); fputs("text", file); fclose(file);\n'
        '  if (mkdir("folder", 0700) || rename("made", "folder/moved") || chmod("folder/moved", 0600)) return errno;\n'
        '  return truncate("folder/moved", 2); }\n',
    )
    (path,) = explore(source, write_host=True)
    assert path.status == 0
    assert (tmp_path / "folder" / "moved").read_text() == "te"
    assert (tmp_path / "folder" / "moved").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "made").exists()


PROCESSES = {
    "fork": "fork() == -1",
    "clone": "vfork() == -1",
    "system": 'system("true") == -1',
    "popen": '!popen("ls", "r")',
    "spawn": 'posix_spawn(&(pid_t){0}, "/bin/true", 0, 0, (char *[]){"true", 0}, 0) != 0',
}


@pytest.mark.parametrize("name", PROCESSES)
def test_another_process_is_counted(name: str, tmp_path: Path) -> None:
    source = write(tmp_path, f"#include <spawn.h>\nint main(void) {{ return {PROCESSES[name]}; }}\n")
    run = explore(source)
    assert [path.ending for path in run] == ["exit 1"]
    (why,) = {row["why"] for row in run.summary()["incomplete"]}
    assert re.fullmatch(r"not modelled, fails with ENOSYS: system call (v?fork|clone)", why)


def test_nothing_else_fails_with_enosys() -> None:
    """A call that fails because it is not modelled is counted: `statx` has other calls for what it does."""
    runtime = runtime_include().parent
    files = [*(runtime / "posix").glob("*.c"), *(runtime / "musl").glob("*.c")]
    uncounted = []
    for file in files:
        lines = file.read_text().splitlines()
        for at, line in enumerate(lines):
            if "-ENOSYS" in line and not any("__partita_not_modelled(" in near for near in lines[at - 2 : at + 1]):
                uncounted.append(line.split(":")[0].strip())
    assert uncounted == ["case SYS_statx"]


def test_unmodelled_features_are_counted_with_their_place(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "int main(void) {\n  if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != ENOSYS) return 1;\n  return 0; }\n",
    )
    run = explore(source).finish()
    (row,) = run.summary()["incomplete"]
    assert row["why"] == "not modelled, fails with ENOSYS: system call socket"
    assert row["where"] == f"{source}:{HEADERS.count(chr(10)) + 2}"
    assert run.summary()["paths"]["completed"] == 1
    assert not run.complete


def test_executor_and_library_share_errno(tmp_path: Path) -> None:
    body = 'int klee_get_errno(void);\nint main(void) { open("/none", O_RDONLY); return klee_get_errno() == ENOENT; }\n'
    (path,) = explore(write(tmp_path, body))
    assert path.status == 1


@pytest.mark.parametrize("libc", ["musl", "none"])
def test_huge_allocations_fail(tmp_path: Path, libc: Libc) -> None:
    source = write(
        tmp_path,
        "static int refused(void *p) { int e = errno; errno = 0; return p == 0 && e == ENOMEM; }\n"
        "int main(void) {\n"
        "  void *p = malloc(1), *q = p; size_t much = (size_t)1 << 50;\n"
        "  if (!p || errno) return 1;\n"
        "  if (!refused(malloc(much)) || !refused(calloc(much, 1)) || !refused(calloc(much, much))) return 2;\n"
        "  if (!refused(realloc(p, much)) || !refused(realloc(0, much))) return 3;\n"
        "  if (!refused(reallocarray(p, much, much)) || !refused(aligned_alloc(64, much))) return 4;\n"
        "  if (posix_memalign(&q, 64, much) != ENOMEM || q != p || errno) return 5;\n"
        "  free(p);\n"
        "  return 0; }\n",
    )
    (path,) = explore(source, libc=libc)
    assert path.status == 0


def test_system_calls_fail_on_request(tmp_path: Path) -> None:
    source = write(
        tmp_path,
        "int main(void) {\n"
        "  char c; int failed = 0;\n"
        "  for (int i = 0; i < 3; i++) failed += read(0, &c, 1) == -1 && errno == EIO;\n"
        '  failed += write(1, "x", 1) == -1;\n'
        "  return failed; }\n",
    )
    counts: dict[int, int] = {}
    run = explore(source, sym_stdin=3, max_fail=1)
    for path in run:
        counts[path.status or 0] = counts.get(path.status or 0, 0) + 1
    assert run.complete
    assert counts == {0: 1, 1: 4}
    counts.clear()
    for path in explore(source, sym_stdin=3, max_fail=2):
        counts[path.status or 0] = counts.get(path.status or 0, 0) + 1
    assert counts == {0: 1, 1: 4, 2: 3}


def test_a_host_file_that_vanishes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that disappears between `stat` and `read` is an error for the program and is counted as incomplete."""
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim"
    victim.write_text("soon gone")
    source = write(
        tmp_path,
        "int main(int argc, char **argv) {\n"
        "  struct stat s;\n"
        '  if (stat("victim", &s)) return 1;\n'
        "  int n = 0; for (long i = 0; i < 20000000; i++) n += i & 1;\n"
        '  return open("victim", O_RDONLY) == -1 && errno == EIO ? 5 : n == 0; }\n',
    )
    run = explore(source, max_instructions=10**10)
    run.step(0.01)
    victim.unlink()
    run.finish()
    (row,) = run.summary()["incomplete"]
    assert row["why"] == f"the file `{victim}` vanished during the run: reading it fails with EIO"


FILES = "NUM from 0 to 26 and SIZE from 0 to 16777216"
SIZE = "a whole number from 0 to 16777216"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--sym-files", "27", "8"], f"expected --sym-files to be {FILES}, found `27 8`"),
        (["--", "-sym-files", "27", "8"], f"expected -sym-files to be {FILES}, found `27 8`"),
        (["--sym-stdin", "99999999"], f"expected --sym-stdin to be {SIZE}, found `99999999`"),
        (["--", "--sym-stdin", "x"], f"expected --sym-stdin to be {SIZE}, found `x`"),
        (["--", "--sym-args", "1"], "expected --sym-args to be MIN from 0 to 100, MAX from 0 to 100 and N from"),
        (["--sym-args", "2", "1", "1"], "expected MIN MAX N after --sym-args, MIN at most MAX, found `2 1 1`"),
        (["--sym-args", "0", "60", "1", "--sym-args", "0", "60", "1"], "at most 100 symbolic arguments, found 120"),
        (["--sym-arg", "x"], f"expected --sym-arg to be {SIZE}, found `x`"),
        (["--libc", "none", "--sym-stdin", "1"], "leave out `--libc none`"),
        (["--env", "nonsense"], "expected --env to be NAME=VALUE, found `nonsense`"),
        (["--stdin", "/none"], "cannot read `/none` for --stdin: No such file or directory"),
    ],
)
def test_bad_flags(partita: Run, tmp_path: Path, words: list[str], expected: str) -> None:
    source = write(tmp_path, "int main(void) { return 0; }\n")
    done = partita("run", str(source), *words)
    assert done.returncode == 2
    assert expected in done.stderr


def test_options_from_python(tmp_path: Path) -> None:
    source = write(tmp_path, "int main(void) { return 0; }\n")
    with pytest.raises(UsageError, match=r"expected sym_files to be a tuple \(NUM, SIZE\), NUM from 0 to 26"):
        explore(source, sym_files=(27, 1))
    with pytest.raises(UsageError, match="expected libc to be auto, musl or none, found 'glibc'"):
        explore(source, libc="glibc")  # type: ignore[arg-type]
