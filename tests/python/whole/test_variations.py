"""Symbolic environment variables and variations of files: every behaviour is found, and replayed natively."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from partita import explore, ktest
from partita.errors import UsageError
from partita.replay import Verdict
from partita.replay.program import replay_program
from support import PARTITA

VARIABLE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  const char *mode = getenv("MODE");
  if (!mode) return 1;
  puts(mode);
  if (!strcmp(mode, "ab")) return 2;
  if (!*mode) return 4;
  puts("other");
  return 3;
}
"""

# 1: a pipe; 2: an empty input; 3: a folder; 4: an empty file; 5: a read that fails; 6: a short read; 7: a large file;
# 0: none of them.
FILES = """#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  struct stat status;
  char text[8192];
  if (lseek(0, 0, SEEK_CUR) < 0) {
    if (errno != ESPIPE) return 99;
    long first = read(0, text, 8192), second = read(0, text, 8192);
    return first == 4 && !second ? 1 : first == 8192 && second == 4100 && !read(0, text, 1) ? 8 : 99;
  }
  if (fstat(0, &status) || !S_ISREG(status.st_mode)) return 98;
  if (status.st_size == 0) return read(0, text, 8) <= 0 ? 2 : 97; /* that may fail */
  int file = open("A", O_RDONLY);
  if (file < 0) return 10;
  if (fstat(file, &status)) return 96;
  if (S_ISDIR(status.st_mode)) return read(file, text, 8) < 0 && errno == EISDIR ? 3 : 95;
  if (status.st_size == 0) return 4;
  if (status.st_size > 4) return pread(file, text, 1, 2) == 1 && text[0] == 'a' ? 7 : 91;
  long count = read(file, text, 8);
  if (count < 0) return errno == EIO ? 5 : 94;
  if (count == 1) return read(file, text, 8) == 3 ? 6 : 93;
  return count == 4 ? 0 : 92;
}
"""

# 1: a full device; 2: closing fails; 0: none of them.
CALLS = """#include <errno.h>
#include <unistd.h>
int main(void) {
  if (write(1, "a", 1) < 0) return errno == ENOSPC ? 1 : 99;
  if (close(0) < 0) return errno == EIO ? 2 : 98;
  return close(0) < 0 ? 0 : 97;
}
"""

# 1: the locale is UTF-8.
LOCALE = """#include <locale.h>
#include <stdlib.h>
int main(void) {
  setlocale(LC_ALL, "");
  return MB_CUR_MAX > 1;
}
"""

# Takes long before it looks, and forks often after that.
LONG = """#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  struct stat status;
  char text[8];
  int count = 0;
  volatile uint32_t work = 0;
  for (uint32_t i = 0; i < WORK; i++) work += i;
  if (fstat(0, &status)) return 9;
  if (S_ISFIFO(status.st_mode)) return 1;
  if (read(0, text, 8) < 8) return 2;
  for (int i = 0; i < 8; i++)
    if (text[i] == 'x') count++;
  return 3 + count;
}
"""


def built(folder: Path, source: str) -> Path:
    (folder / "p.c").write_text(source)
    subprocess.run([str(PARTITA), "cc", str(folder / "p.c"), "-o", str(folder / "prog")], check=True)
    return folder / "prog"


def replayed(program: Path, folder: Path) -> list[ktest.Test]:
    """The tests of a run, all of which end natively as predicted."""
    tests = list(ktest.read_folder(str(folder)))
    try:
        results = replay_program(program, tests)
    except UsageError as error:
        pytest.skip(str(error))
    assert [result for result in results if result.verdict is not Verdict.AS_PREDICTED] == []
    return tests


def test_a_symbolic_variable_is_absent_or_has_any_value(tmp_path: Path) -> None:
    program = built(tmp_path, VARIABLE)
    run = explore(program, arguments=["--sym-env", "MODE", "2"], sym_stdout=True, out=tmp_path / "out").finish()
    assert run.complete
    tests = replayed(program, tmp_path / "out")
    assert {test.ending for test in tests} == {f"exit {status}" for status in (1, 2, 3, 4)}
    # It replaces a variable of the same name, and exists on the paths that do not look at it.
    run = explore(program, arguments=["--sym-env", "MODE", "0"], env={"MODE": "ab"})
    assert sorted(path.ending for path in run) == ["exit 1", "exit 4"]


def test_files_vary_once_the_program_looks(tmp_path: Path) -> None:
    program = built(tmp_path, FILES)
    options = {"sym_files": (1, 4), "sym_stdin": 4}
    plain = explore(program, **options)  # type: ignore[arg-type]
    assert {path.ending for path in plain} <= {"exit 0", "exit 10"}
    run = explore(program, **options, vary_files="on", out=tmp_path / "out").finish()  # type: ignore[arg-type]
    assert run.complete
    tests = replayed(program, tmp_path / "out")
    assert {test.ending for test in tests} >= {f"exit {status}" for status in range(9)}
    assert not {test.ending for test in tests} & {f"exit {status}" for status in range(90, 100)}


def test_calls_fail(tmp_path: Path) -> None:
    program = built(tmp_path, CALLS)
    run = explore(program, sym_stdin=1, vary_files="on", out=tmp_path / "out").finish()
    assert run.complete
    endings = [test.ending for test in replayed(program, tmp_path / "out")]
    assert (len(endings), set(endings)) == (3, {"exit 0", "exit 1", "exit 2"})


def test_the_locale_varies(tmp_path: Path) -> None:
    program = built(tmp_path, LOCALE)
    run = explore(program, sym_stdin=1, vary_files="on", out=tmp_path / "out").finish()
    assert run.complete
    assert {test.ending for test in replayed(program, tmp_path / "out")} == {"exit 0", "exit 1"}
    run = explore(program, sym_stdin=1).finish()
    assert (run.summary()["paths"]["completed"], run.summary()["varied"]) == (1, 0)


def test_late_variations_change_no_usual_path(tmp_path: Path) -> None:
    """A short run has none. A long one has some, counted apart: paths and their inputs are those without variations."""
    found = {}
    for work, vary in ((0, "late"), (10_000_000, "late"), (10_000_000, "off")):
        program = built(tmp_path, LONG.replace("WORK", str(work)))
        out = tmp_path / f"{vary}{work}"
        run = explore(program, sym_stdin=8, vary_files=vary, out=out).finish()  # type: ignore[arg-type]
        assert run.complete
        summary = run.summary()
        assert summary["paths"]["completed"] == 2**8
        found[vary, work] = summary["varied"], {test.ending for test in replayed(program, out)}
    usual = {f"exit {status}" for status in range(3, 12)}
    assert found["late", 0] == found["off", 10_000_000] == (0, usual)
    varied, endings = found["late", 10_000_000]
    assert varied > 0
    assert endings > usual


def test_a_run_with_variations_is_resumed(tmp_path: Path) -> None:
    program = built(tmp_path, FILES)
    options = {"sym_files": (1, 4), "sym_stdin": 4, "vary_files": "on"}
    whole = explore(program, **options).finish().summary()  # type: ignore[arg-type]
    run = explore(program, **options, out=tmp_path / "out", max_instructions=whole["instructions"] // 2)  # type: ignore[arg-type]
    assert run.finish().summary()["stopped"] == "max-instructions"
    again = explore(program, **options)  # type: ignore[arg-type]
    again.resume(tmp_path / "out")
    assert again.finish().summary()["paths"] == whole["paths"]


def test_the_folder_around_is_that_of_a_replay(tmp_path: Path) -> None:
    """A symbolic name can be `.` or `..`, whose times and entries were those of the machine."""
    program = built(
        tmp_path,
        "#include <dirent.h>\n#include <stdio.h>\n#include <sys/stat.h>\n"
        "int main(int count, char **words) {\n"
        "  struct stat status;\n"
        "  if (words[1][0] != '.') return 2;\n"
        "  DIR *folder = opendir(words[1]);\n"
        "  if (!folder || stat(words[1], &status)) return 1;\n"
        '  printf("%ld\\n", (long)status.st_mtime);\n'
        "  for (struct dirent *entry; (entry = readdir(folder));) if (entry->d_name[0] != '.') puts(entry->d_name);\n"
        "  return 0; }\n",
    )
    folder = tmp_path / "empty"
    folder.mkdir()
    command = [str(PARTITA), "run", str(program), "--sym-arg", "2", "--sym-files", "1", "1", "--sym-stdout"]
    subprocess.run([*command, "--out", str(tmp_path / "out")], cwd=folder, check=False, capture_output=True)
    tests = replayed(program, tmp_path / "out")
    names = {dict(test.objects)["arg00"].split(b"\0")[0] for test in tests if test.ending == "exit 0"}
    assert {b".", b".."} <= names


# Prints a number that the machine chooses, or always the same.
NUMBER = """#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  struct stat status;
  if (stat("A", &status)) return 1;
  printf("%lu\\n", OF_FILE ? status.st_ino : 12345ul);
}
"""


def test_output_that_changes_from_run_to_run_is_told_from_a_wrong_one(tmp_path: Path) -> None:
    for of_file, verdict in ((1, Verdict.UNSTABLE), (0, Verdict.DIFFERENT)):
        program = built(tmp_path, NUMBER.replace("OF_FILE", str(of_file)))
        out = tmp_path / str(of_file)
        explore(program, sym_files=(1, 1), sym_stdout=True, out=out).finish()
        (test,) = ktest.read_folder(str(out))
        wrong = [(name, b"0" * len(data) if name == "stdout" else data) for name, data in test.objects]
        try:
            (result,) = replay_program(program, [replace(test, objects=tuple(wrong))])
        except UsageError as error:
            pytest.skip(str(error))
        assert result.verdict is verdict
