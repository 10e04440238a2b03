"""Replay of whole programs: a native run with the arguments, files and standard input of a test."""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.errors import UsageError
from partita.replay import Verdict
from partita.replay.coverage import instrument_lines
from partita.replay.environment import File, environment, uses_environment
from partita.replay.program import replay_program
from support import PARTITA, PATIENCE_S, Run

Objects = Sequence[tuple[str, bytes]]

# The exit status tells how the program was called.
PROGRAM = r"""
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
int main(int count, char **words) {
  if (count == 1) return getchar() == 'q' ? 7 : 0;
  if (!strcmp(words[1], "size")) {
    struct stat status;
    if (stat("A", &status)) return 9;
    printf("%ld %o %ld\n", (long)status.st_size, status.st_mode & 0777, (long)status.st_mtime);
    return 0;
  }
  if (!strcmp(words[1], "copy")) {
    int c;
    FILE *file = fopen(words[2], "r");
    if (!file) return 8;
    while ((c = getc(file)) != EOF) putchar(c);
    return 0;
  }
  if (!strcmp(words[1], "name")) return strcmp(words[0], "tool") != 0;
  if (!strcmp(words[1], "variables")) return getenv("USER") != 0 || strcmp(getenv("LC_ALL"), "C") != 0;
  if (!strcmp(words[1], "null")) return *(volatile int *)0;
  if (!strcmp(words[1], "wait")) for (;;) {}
  if (!strcmp(words[1], "flood")) for (;;) puts("on and on");
  if (!strcmp(words[1], "escape")) return fopen(words[2], "w") ? 0 : errno;
  if (!strcmp(words[1], "mode")) return chmod(words[2], 0) ? errno : 0;
  if (!strcmp(words[1], "signal")) return kill(atoi(words[2]), 0) ? errno : 0;
  if (!strcmp(words[1], "discard")) return fopen("/dev/null", "w") ? 0 : errno;
  if (!strcmp(words[1], "write")) return !fopen("created", "w");
  return 100 + count;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run([str(PARTITA), "cc", "-O2", "program.c", "-o", "program"], cwd=folder, check=True)
    try:
        replay_program(folder / "program", [case("name")])
    except UsageError as error:
        pytest.skip(str(error))
    return folder / "program"


def status(mode: int, modified: int) -> bytes:
    data = bytearray(144)
    struct.pack_into("<I", data, 24, 0o100000 | mode)
    struct.pack_into("<Q", data, 88, modified)
    return bytes(data)


def case(words: str, objects: Objects = (), ending: str | None = "exit 0") -> ktest.Test:
    return ktest.Test("test", ("tool", *words.split()), tuple(objects), ending)


def number(value: int) -> bytes:
    return value.to_bytes(4, "little")


@pytest.mark.parametrize(("dash", "older"), [("_", []), ("-", [("model_version", number(1))])])
def test_command_line_of_a_test(dash: str, older: Objects) -> None:
    """With the names of KLEE 3, and with those of older versions."""
    words = "first --sym-arg 3 --sym-args 0 2 4 middle --sym-args 1 3 2 --sym-files 1 4 --sym-stdin 2 last"
    objects = [
        ("arg00", b"ab\0c"),
        ("n_args", number(2)),
        ("arg01", b"xyz\0\0"),
        ("arg02", b"\0\0\0\0\0"),
        ("n_args", number(1)),
        ("arg03", b"\xff\xfe\0"),
        (f"A{dash}data", b"1234"),
        (f"A{dash}data{dash}stat", status(0o640, 5)),
        ("stdin", b"in"),
        (f"stdin{dash}stat", bytes(144)),
        ("mine", b"own"),
        *older,
    ]
    around = environment(case(words, objects))
    assert around.arguments == (b"tool", b"first", b"ab", b"xyz", b"", b"middle", b"\xff\xfe", b"last")
    assert around.files == {"A": File(b"1234", 0o640, 5)}
    assert (around.stdin, around.stdout, around.program_objects) == (b"in", None, (("mine", b"own"),))
    assert uses_environment(case(words, objects))
    assert not uses_environment(case("plain words", objects))


@pytest.mark.parametrize("counts", [[], [("n_args", number(2))]])
def test_a_fixed_number_of_arguments_has_no_object(counts: Objects) -> None:
    """Tests of older versions of Partita have one."""
    objects = [*counts, ("arg00", b"a\0"), ("arg01", b"b\0"), ("n_args", number(1)), ("arg02", b"c\0")]
    around = environment(case("--sym-args 2 2 1 --sym-args 0 1 1", objects))
    assert around.arguments[1:] == (b"a", b"b", b"c")


@pytest.mark.parametrize(
    ("words", "objects", "message"),
    [
        ("--sym-arg 3", [], "test: expected an object for --sym-arg 3, found none"),
        ("--sym-args 0 1 3", [], "test: expected an object for --sym-args 0 1 3, found none"),
        (
            "--sym-args 0 1 3",
            [("n_args", number(2))],
            "test: expected at most 1 arguments for --sym-args 0 1 3, found 2",
        ),
        ("-sym-args 0", [("n_args", number(0))], "test: expected 3 numbers after -sym-args, found `0  `"),
    ],
)
def test_objects_that_do_not_fit(words: str, objects: Objects, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        environment(case(words, objects))
    assert str(caught.value) == message


def test_endings(program: Path) -> None:
    files = [("A_data", b"abc"), ("A_data_stat", status(0o751, 12345))]
    output = b"3 751 12345\n".ljust(64, b"\0")
    cases = [
        (case("--sym-arg 5", [("arg00", b"other\0")], "exit 102"), "exit 102"),
        (case("--sym-args 0 2 1", [("n_args", number(0))]), "exit 0"),
        (case("--sym-stdin 1", [("stdin", b"q")], "exit 7"), "exit 7"),
        (case("size --sym-files 1 3 --sym-stdout", [*files, ("stdout", output)]), "exit 0"),
        (case("size", ending="exit 9"), "exit 9"),
        (case("name"), "exit 0"),
        (case("variables"), "exit 0"),
        (case("write"), "exit 0"),
        (case("write", ending="exit 1"), "exit 0"),
        (case("null", ending="null"), "signal 11"),
        (case("copy A --sym-files 1 3 --sym-stdout", [*files, ("stdout", b"abd")]), "exit 0, other output"),
        (case("name", [("mine", b"1")]), "diverged the program makes no `mine`"),
    ]
    found = replay_program(program, [test for test, _ in cases])
    assert [result.ending for result in found] == [ending for _, ending in cases]
    predicted = [result.verdict is Verdict.AS_PREDICTED for result in found]
    assert predicted == [True] * 8 + [False, True, False, False]


def test_replay_is_confined(program: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    mode = mine.stat().st_mode
    # /tmp is a private folder, so that files of others there do not exist; all others are read-only.
    hidden = errno.ENOENT if tmp_path.is_relative_to("/tmp") else errno.EROFS
    outside = Path("/partita-test-of-replay")
    words = [f"escape {mine}", f"escape {tmp_path / 'new'}", f"mode {mine}", f"escape {outside}"]
    words += [f"signal {os.getpid()}", "discard"]
    expected = [hidden, hidden, hidden, errno.EROFS, errno.ESRCH, 0]
    found = replay_program(program, [case(text) for text in words])
    assert [result.ending for result in found] == [f"exit {number}" for number in expected]
    assert (mine.read_text(), mine.stat().st_mode) == ("precious", mode)
    assert list(tmp_path.iterdir()) == [mine]
    assert not outside.exists()
    (result,) = replay_program(program, [case(words[1])], confined=False)
    assert (result.ending, len(list(tmp_path.iterdir()))) == ("exit 0", 2)


def test_failing_system_calls_fail_in_replay(tmp_path: Path) -> None:
    """Each kind of call that can fail does so in some test; the same call fails natively."""
    source = tmp_path / "p.c"
    source.write_text(
        "#include <errno.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
        "int main(void) {\n"
        "  char text[100];\n"
        '  int fd = open("A", O_RDWR);\n'
        "  if (read(fd, text, 1) < 0) return errno == EIO ? 1 : 9;\n"
        "  if (read(fd, text, 1) < 0) return errno == EIO ? 2 : 9;\n"
        '  if (write(fd, "x", 1) < 0) return errno == ENOSPC ? 3 : 9;\n'
        "  if (ftruncate(fd, 1) < 0) return errno == EIO ? 4 : 9;\n"
        "  if (!getcwd(text, sizeof text)) return errno == ENOENT ? 5 : 9;\n"
        "  return close(fd) < 0 ? 6 : 0; }\n"
    )
    subprocess.run([str(PARTITA), "cc", str(source), "-o", str(tmp_path / "prog")], check=True)
    list(explore(tmp_path / "prog", sym_files=(1, 2), max_fail=1, out=tmp_path / "out"))
    tests = list(ktest.read_folder(str(tmp_path / "out")))
    assert {test.ending for test in tests} == {f"exit {status}" for status in range(7)}
    results = replay_program(tmp_path / "prog", tests)
    assert [result.verdict for result in results] == [Verdict.AS_PREDICTED] * len(tests)


def test_clocks_are_replayed(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        "#include <stdio.h>\n#include <sys/time.h>\n#include <time.h>\n"
        "int main(void) {\n"
        "  struct timespec real, steady; struct timeval day;\n"
        "  clock_gettime(CLOCK_REALTIME, &real); clock_gettime(CLOCK_MONOTONIC, &steady); gettimeofday(&day, 0);\n"
        '  printf("%ld.%09ld %ld.%09ld %ld.%06ld %ld\\n", (long)real.tv_sec, real.tv_nsec, (long)steady.tv_sec,\n'
        "         steady.tv_nsec, (long)day.tv_sec, (long)day.tv_usec, (long)time(0));\n"
        "  if (getchar() == 'a') return 1;\n  return 0; }\n"
    )
    subprocess.run([str(PARTITA), "cc", str(source), "-o", str(tmp_path / "prog")], check=True)
    paths = list(explore(tmp_path / "prog", sym_stdin=1, sym_stdout=True, out=tmp_path / "out"))
    assert {path.output[:20] for path in paths} == {b"1700000000.000001000"}
    results = replay_program(tmp_path / "prog", list(ktest.read_folder(str(tmp_path / "out"))))
    assert [result.verdict for result in results] == [Verdict.AS_PREDICTED] * 2


def test_programs_that_do_not_end(program: Path) -> None:
    (result,) = replay_program(program, [case("wait")], timeout=1)
    assert (result.ending, result.verdict is Verdict.AS_PREDICTED) == ("timeout", False)


def test_endless_output_is_cut(program: Path) -> None:
    (result,) = replay_program(program, [case("flood")], timeout=PATIENCE_S)
    assert result.ending == "signal 25"


def test_files_named_by_arguments_are_created(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "notes").write_text("hello")
    test = case("copy sub/notes --sym-stdout", [("stdout", b"hello\0\0")])
    (result,) = replay_program(program, [test])
    assert result.verdict is Verdict.AS_PREDICTED
    (result,) = replay_program(program, [case("copy absent", ending="exit 8")])
    assert result.verdict is Verdict.AS_PREDICTED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sub"]


def write(path: Path, test: ktest.Test) -> None:
    def counted(data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + data

    words = b"".join(counted(word.encode()) for word in test.arguments)
    objects = b"".join(counted(name.encode()) + counted(data) for name, data in test.objects)
    head = b"KTEST" + struct.pack(">II", 3, len(test.arguments))
    path.write_bytes(head + words + bytes(8) + struct.pack(">I", len(test.objects)) + objects)


def test_the_command(partita: Run, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    write(out / "test000001.ktest", case("--sym-arg 4", [("arg00", b"size\0")]))
    write(out / "test000002.ktest", case("--sym-arg 4", [("arg00", b"name\0")]))
    (out / "endings").write_text("000001 exit 9\n000002 exit 3\n")
    (out / "run.json").write_text('{"schema": 1, "environment": {"LC_ALL": "C"}}')
    done = partita("replay", str(program), "out", "--gcov", "--lcov", "lines")
    assert done.returncode == 1
    rows = done.stdout.splitlines()
    assert rows[:3] == [
        "test000001.ktest: as predicted: exit 9 (predicted: exit 9)",
        "test000002.ktest: different: exit 0 (predicted: exit 3)",
        "1 as predicted, 1 different",
    ]
    assert rows[3].endswith(f" lines  {program.with_suffix('.c')}")
    assert rows[4].endswith(" lines  total")
    reached = dict(row[3:].split(",") for row in Path("lines").read_text().splitlines() if row.startswith("DA:"))
    lines = {text.strip(): str(at) for at, text in enumerate(PROGRAM.split("\n"), start=1)}
    assert reached[lines['if (stat("A", &status)) return 9;']] == "1"
    assert reached[lines["return 0;"]] == "0"
    assert reached[lines['if (!strcmp(words[1], "name")) return strcmp(words[0], "tool") != 0;']] == "1"
    assert reached[lines["return 100 + count;"]] == "0"


def test_sources_with_arguments(partita: Run, tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    write(tmp_path / "test000001.ktest", case("--sym-arg 5", [("arg00", b"other\0")]))
    (tmp_path / "endings").write_text("000001 exit 102\n")
    done = partita("replay", str(tmp_path / "program.c"), str(tmp_path / "test000001.ktest"), "--quiet")
    assert (done.stdout, done.returncode) == ("1 as predicted\n", 0)
    done = partita("replay", str(tmp_path / "program.c"), str(tmp_path / "test000001.ktest"), "--gcov")
    assert done.stderr == "partita: error: expected an executable built with `partita cc` for --gcov, found sources\n"


def test_marks_precede_lines() -> None:
    text = """\
define i32 @f(i32 %x) !dbg !4 {
  switch i32 %x, label %other [
    i32 1, label %one
  ], !dbg !7

one:
  %a = add i32 %x, 1, !dbg !8
  %b = add i32 %a, 1, !dbg !8
  br label %other, !dbg !9

other:
  %c = phi i32 [ 0, %0 ], [ %b, %one ], !dbg !9
  %d = musttail call i32 @f(i32 %c), !dbg !8
  ret i32 %d, !dbg !9
}

!1 = !DIFile(filename: "f.c", directory: "/there")
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1)
!7 = !DILocation(line: 2, column: 3, scope: !4)
!8 = !DILocation(line: 3, column: 3, scope: !4)
!9 = !DILocation(line: 4, column: 3, scope: !4)
"""
    marked, lines = instrument_lines(text)
    assert lines == [("/there/f.c", 2), ("/there/f.c", 3), ("/there/f.c", 4)]
    rows = marked.split("\n")
    found = [
        (row.rsplit(" ", 1)[1].rstrip(")"), rows[at + 1].strip()[:12]) for at, row in enumerate(rows) if "store" in row
    ]
    assert found == [("0", "switch i32 %"), ("1", "%a = add i32"), ("2", "br label %ot"), ("1", "%d = musttai")]


def test_programs_that_would_change_the_machine(tmp_path: Path) -> None:
    """Changes like those of `date -s`, `rm`, `kill` and `mount` are refused, also if the tests run as root."""
    source, mine = tmp_path / "p.c", tmp_path / "mine"
    mine.write_text("precious")
    source.write_text(
        "#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n"
        "#include <stdlib.h>\n#include <sys/mount.h>\n#include <sys/ptrace.h>\n#include <sys/stat.h>\n"
        "#include <sys/timex.h>\n#include <unistd.h>\n"
        "int main(int count, char **words) {\n"
        "  struct timex clock = {.modes = ADJ_OFFSET_SINGLESHOT};\n"
        "  pid_t other = (pid_t)atoi(words[2]);\n"
        "  if (adjtimex(&clock) >= 0 || errno != EPERM) return 1;\n"
        '  if (unlink(words[1]) == 0 || rename(words[1], "x") == 0) return 2;\n'
        "  if (kill(other, SIGKILL) == 0 || ptrace(PTRACE_ATTACH, other, 0, 0) == 0) return 3;\n"
        '  if (mount("none", "/", 0, MS_REMOUNT | MS_BIND, 0) == 0 && unlink(words[1]) == 0) return 4;\n'
        '  if (sethostname("x", 1) == 0) return 5;\n'
        '  if (mknod("device", S_IFBLK | 0600, 0) == 0 && open("device", O_RDWR) >= 0) return 6;\n'
        '  if (open("/proc/sysrq-trigger", O_WRONLY) >= 0 || open("/dev/mem", O_RDWR) >= 0) return 7;\n'
        '  if (chroot("/") == 0 && unlink(words[1]) == 0) return 8;\n'
        "  return kill(-1, 0) == 0 || errno == ESRCH ? 0 : 9; }\n"
    )
    subprocess.run([str(PARTITA), "cc", str(source), "-o", str(tmp_path / "prog")], check=True)
    before = time.time()
    try:
        (result,) = replay_program(tmp_path / "prog", [case(f"{mine} {os.getpid()}")])
    except UsageError as error:
        pytest.skip(str(error))
    assert result.ending == "exit 0"
    assert mine.read_text() == "precious"
    assert time.time() >= before
