"""The journal: runs that are killed or stopped go on with the result of runs that were not."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from partita import journal
from partita.cli import INTERNAL_STATUS
from partita.errors import InternalError, UsageError
from partita.explore import explore
from partita.frontends import load_program
from support.three_ways import program


def command(path: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "partita", "run", "--store", "none", "--quiet", str(path), *words]


def result(folder: Path) -> dict[str, Any]:
    data = json.loads((folder / "run.json").read_text())
    names = ("complete", "stopped", "paths", "forks", "instructions", "tests", "coverage", "incomplete")
    bugs = [{name: bug[name] for name in ("class", "line", "paths")} for bug in data["bugs"]]
    files = sorted(path.name for path in folder.glob("test*.ktest"))
    return {"bugs": bugs, "files": files, **{name: data[name] for name in names}}


def test_a_killed_run_is_resumed(tmp_path: Path) -> None:
    path = program(tmp_path, 7)
    subprocess.run(command(path, "--out", str(tmp_path / "whole")), check=False)
    expected = result(tmp_path / "whole")
    out = tmp_path / "out"
    words = ["--out", str(out)]
    random_s = random.Random(5)
    for _ in range(3):
        process = subprocess.Popen(command(path, *words))
        limit = time.monotonic() + 60
        # The run may be complete before it is killed.
        while not (out / "journal").exists() and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
        time.sleep(random_s.random() * 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (out / "journal").exists():
            words = ["--resume", str(out)]
    subprocess.run(command(path, *words), check=False)
    assert result(out) == expected
    assert journal.read(out).counts.complete


def test_a_run_that_a_limit_stopped_is_resumed(tmp_path: Path) -> None:
    path = program(tmp_path, 5)
    options: dict[str, Any] = {}
    expected = explore(path, out=tmp_path / "whole", **options).finish().summary()
    run = explore(path, out=tmp_path / "out", max_instructions=expected["instructions"] // 3).finish()
    assert run.summary()["stopped"] == "max-instructions"
    counts = journal.read(tmp_path / "out").counts
    assert counts.open > 0
    assert not counts.complete
    assert 0 < counts.explored < 1
    again = explore(path, **options)
    again.resume(tmp_path / "out")
    again.finish()
    assert result(tmp_path / "out") == result(tmp_path / "whole")
    assert len(list(again.tests())) == expected["tests"]


def interrupted(tmp_path: Path) -> tuple[Path, Path]:
    path = program(tmp_path, 4)
    explore(path, out=tmp_path / "out", max_instructions=300).finish()
    return path, tmp_path / "out"


def test_other_programs_and_options_are_refused(tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    with pytest.raises(UsageError, match="has other options"):
        explore(path, max_depth=5).resume(out)
    path.write_text(path.read_text().replace("200", "201"))
    with pytest.raises(UsageError, match="has another program"):
        explore(path).resume(out)
    process = subprocess.run(command(path, "--resume", str(out)), capture_output=True, text=True, check=False)
    assert process.returncode == 2
    assert len(process.stderr.splitlines()) == 1
    with pytest.raises(UsageError, match="expected the folder of a run with a journal"):
        explore(path).resume(tmp_path)
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)
    first = explore(path)
    first.resume(out)
    assert journal.is_running(out)
    with pytest.raises(UsageError, match="another run is writing into"):
        explore(path).resume(out)
    first.finish()
    assert not journal.is_running(out)


def test_a_damaged_journal_is_used_as_far_as_it_is_intact(tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)
    expected = explore(path, out=tmp_path / "whole").finish()
    data = (out / "journal").read_bytes()
    random_place = random.Random(3)
    places = [random_place.randrange(len(data)) for _ in range(6)]
    for number, place in enumerate([*places, len(data) - 1]):
        for is_cut in (False, True):
            copy = tmp_path / f"copy{number}{is_cut}"
            shutil.copytree(out, copy)
            damaged = data[:place] if is_cut else data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :]
            (copy / "journal").write_bytes(damaged)
            run = explore(path)
            warned: list[str] = []
            run.warn = warned.append
            try:
                run.resume(copy)
            except UsageError as error:
                assert "damaged at its beginning" in str(error)  # noqa: PT017 (either is right)
                continue
            run.finish()
            assert warned
            assert result(copy) == result(tmp_path / "whole")
    assert expected.complete


def test_the_status_of_a_run(tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)

    def status() -> dict[str, Any]:
        words = [sys.executable, "-m", "partita", "status", "--json", str(out)]
        data: dict[str, Any] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        return data

    assert status()["state"] == "interrupted"
    run = explore(path)
    run.resume(out)
    assert status()["state"] == "running"
    run.finish()
    assert status() | {"program": []} == {
        "schema": 1,
        "state": "complete",
        "program": [],
        "open": 0,
        "explored": 1.0,
        "paths": 81,
        "tests": run.summary()["tests"],
        "damaged_bytes": 0,
    }


def test_zeros_are_no_record() -> None:
    data = journal.HEAD + journal.FRAME.pack(3, zlib.crc32(b"abc")) + b"abc" + bytes(24)
    assert [record for record, _ in journal._records(data)] == [b"abc"]


NAMED = r"""
#include <partita.h>
#include <assert.h>
#include <string.h>
int main(int argc, char **argv) {
  unsigned char x[4], n = strlen(argv[0]);
  partita_make_symbolic(x, sizeof x, "x");
  for (int i = 0; i < 4; i++)
    if (x[i] > 100) n++;
  assert(n != strlen(argv[0]) + 4);
  return n;
}
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_is_resumed_in_another_folder(tmp_path: Path, jobs: int) -> None:
    here, there = tmp_path / "here", tmp_path / "another" / "folder"
    (here / "src").mkdir(parents=True)
    (here / "src" / "named.c").write_text(NAMED)

    def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "partita", "run", "--store", "none", "--quiet", *words]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    flags = f"--cflags=-I{here}"
    run(here, "src/named.c", "--out", "whole", flags)
    run(here, "src/named.c", "--out", "out", flags, "--max-instructions", "200")
    assert journal.read(here / "out").counts.open > 0
    shutil.copytree(here / "out", tmp_path / "copy")
    shutil.move(here, there)
    # The program again, by another name, and compiled with folders of another machine.
    words = ["named.c", f"--cflags=-I{there}", "--resume", str(tmp_path / "copy"), "--jobs", str(jobs)]
    assert run(there / "src", *words).returncode == 1
    assert result(tmp_path / "copy") == result(there / "whole")
    bugs = json.loads((tmp_path / "copy" / "run.json").read_text())["bugs"]
    assert [bug["file"] for bug in bugs] == [str(there / "src" / "named.c")]
    # Without a program, the command is repeated: the program is where it was relative to this folder.
    words = ["--resume", "out", "--max-instructions", "1000000", "--jobs", str(jobs)]
    assert run(there, *words).returncode == 1
    assert result(there / "out") == result(there / "whole")
    done = run(tmp_path, "--resume", str(there / "out"))
    assert done.returncode == 2
    assert "expected `src/named.c` of the run" in done.stderr
    (there / "src" / "named.c").write_text(NAMED.replace("> 100", "> 101"))
    done = run(there, "--resume", "out")
    assert done.returncode == 2
    assert "has another program" in done.stderr


def test_a_program_is_the_same_in_every_folder(tmp_path: Path) -> None:
    found = []
    for name in ("a", "a longer name"):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "prog.c"
        path.write_text("int main(void) { return 3; }\n")
        found.append(load_program([path]))
    path.write_text("int main(void) { return 4; }\n")
    assert found[0] != found[1]
    first, second, other = (journal.guard([each], {}, []) for each in (*found, load_program([path])))
    assert first == second
    assert first != other


READS = r"""
#include <partita.h>
#include <stdio.h>
#include <sys/stat.h>
int main(int argc, char **argv) {
  char text[8] = "";
  struct stat found;
  FILE *file = fopen(argv[1], "r");
  if (!file || fread(text, 1, 4, file) < 2 || stat(argv[1], &found)) return 9;
  unsigned char x[5], n = 0;
  partita_make_symbolic(x, sizeof x, "x");
  for (int i = 0; i < 5; i++)
    if (x[i] > text[i % 2]) n += found.st_size;
  return n;
}
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_of_the_host_are_read_once_per_run(tmp_path: Path, jobs: int) -> None:
    path, data = tmp_path / "reads.c", tmp_path / "data"
    path.write_text(READS)
    data.write_text("adam")
    options: dict[str, Any] = {"arguments": [str(data)], "tests": "bugs"}
    whole = explore(path, out=tmp_path / "whole", **options).finish().summary()
    assert whole["paths"]["completed"] == 32
    explore(path, out=tmp_path / "out", max_instructions=whole["instructions"] * 3 // 4, **options).finish()
    assert journal.read(tmp_path / "out").counts.open > 0
    data.write_text("no")
    run = explore(path, resume=tmp_path / "out", jobs=jobs, **options).finish()
    assert run.complete
    assert result(tmp_path / "out") == result(tmp_path / "whole")
    other = explore(path, out=tmp_path / "other", **options).finish().summary()
    assert other["instructions"] != whole["instructions"], "the file decides what the program does"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="partita.toml needs Python 3.11")
def test_a_run_of_a_project_is_resumed_with_its_options(tmp_path: Path) -> None:
    (tmp_path / "prog.c").write_text(NAMED)
    (tmp_path / "partita.toml").write_text('program = "prog.c"\nmax-depth = 3\nstore = "none"\n')

    def run(*words: str) -> int:
        return subprocess.run(
            [sys.executable, "-m", "partita", "run", "--quiet", *words], cwd=tmp_path, check=False
        ).returncode

    run("--out", "whole")
    run("--out", "out", "--max-instructions", "100")
    assert journal.read(tmp_path / "out").counts.open > 0
    assert run("--resume", "out", "--max-instructions", "1000000") != 2
    assert result(tmp_path / "out") == result(tmp_path / "whole")


def rewritten(out: Path, change: Callable[[list[bytearray]], None]) -> None:
    """Changes the records of a journal; their checksums are right."""
    data = (out / journal.NAME).read_bytes()
    records = [bytearray(record) for record, _ in journal._records(data)]
    change(records)
    frames = [journal.FRAME.pack(len(record), zlib.crc32(record)) + record for record in records]
    (out / journal.NAME).write_bytes(journal.HEAD + b"".join(frames))


def test_another_build_is_refused(tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)

    def change(records: list[bytearray]) -> None:
        head = json.loads(records[0])
        assert head["guard"]["version"] == journal.BUILD
        head["guard"]["version"] = "0.0.9 (sources 0123456789ab)"
        records[0][:] = json.dumps(head).encode()

    rewritten(out, change)
    written = re.escape(f"was written by Partita 0.0.9 (sources 0123456789ab), this is {journal.BUILD}: resume it with")
    with pytest.raises(UsageError, match=written):
        explore(path).resume(out)


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """A number in LEB128, and the place after it."""
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return number, at


def places_of_first_path(checkpoint: bytes) -> dict[str, int]:
    """Where parts of the first decision of the first open path are, and where that path's end is."""
    size, at = number_at(checkpoint, 1 + 4 + 6 * 8)  # after the flag, the head and the counts
    _, at = number_at(checkpoint, at + size)
    _, at = number_at(checkpoint, at)
    _, at = number_at(checkpoint, at)
    decisions, at = number_at(checkpoint, at)
    places = {"step": at}
    for i in range(decisions):
        _, at = number_at(checkpoint, at)
        head, after = number_at(checkpoint, at)
        if i == 0:
            places["choice"] = at
            assert head & 7 < 2, "a truth"
        for _ in range(2):
            _, after = number_at(checkpoint, after)
        places.setdefault("edges to a decision", after)
        at = after + 1
        if head & 7 >= 2:
            _, at = number_at(checkpoint, at)
    _, at = number_at(checkpoint, at)
    return {**places, "edges to the end": at}


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("step", "found (another point|no decision|the end of the path .*)"),
        ("choice", "found inputs that .*"),
        ("edges to a decision", "found other edges on the way"),
        ("edges to the end", "found other edges on the way"),
    ],
)
def test_a_path_that_takes_another_course_is_an_internal_error(part: str, found: str, tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)

    def change(records: list[bytearray]) -> None:
        records[-1][places_of_first_path(bytes(records[-1]))[part]] ^= 1

    rewritten(out, change)
    place = r"[^ ]*prog\.c:\d+"
    expected = rf"expected .* after \d+ instructions, {found} at {place} after \d+ instructions"
    message = f"a path that was executed again took another course: {expected}"
    shutil.copytree(out, tmp_path / "copy")
    for jobs, folder in ((1, out), (2, tmp_path / "copy")):
        run = explore(path, jobs=jobs)
        run.resume(folder)
        with pytest.raises(InternalError, match=message):
            run.finish()


def test_another_course_is_one_line_of_the_command(tmp_path: Path) -> None:
    path, out = interrupted(tmp_path)

    def change(records: list[bytearray]) -> None:
        records[-1][places_of_first_path(bytes(records[-1]))["choice"]] ^= 1

    rewritten(out, change)
    done = subprocess.run(command(path, "--resume", str(out)), capture_output=True, text=True, check=False)
    assert done.returncode == INTERNAL_STATUS
    (line,) = done.stderr.splitlines()
    assert line.startswith("partita: internal error: a path that was executed again took another course: expected ")
