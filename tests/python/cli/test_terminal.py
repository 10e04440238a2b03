"""Output of `partita run`: in a terminal, through a pipe that is closed early, as events."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

from partita.reports import text
from support import PARTITA, PATIENCE_S, Run

BUGGY = """#include "klee/klee.h"
#include <assert.h>
int main(void) {
  char word[4];
  unsigned n;
  klee_make_symbolic(word, sizeof word, "word");
  klee_make_symbolic(&n, sizeof n, "n");
  klee_assume(word[0] == 'o' & word[1] == 'k' & word[2] == 0 & word[3] == 0);
  if (n == 70000)
    assert(word[0] != 'o');
  return n > 5;
}
"""
# Too many paths to explore completely.
ENDLESS = """#include "klee/klee.h"
int main(void) {
  unsigned char b[40], n = 0;
  klee_make_symbolic(b, sizeof b, "b");
  for (int i = 0; i < 40; i++)
    if (b[i] > 7)
      n++;
  return n;
}
"""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def buggy(tmp_path: Path) -> Path:
    path = tmp_path / "buggy.c"
    path.write_text(BUGGY)
    return path


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    path = tmp_path / "endless.c"
    path.write_text(ENDLESS)
    return path


def in_terminal(*words: str, cwd: Path, columns: int = 80, typed: bytes = b"", **environment: str) -> tuple[str, int]:
    """Runs the command in a terminal of the given width; returns the output and the exit status. `typed` is sent once
    the exploration has started."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [str(PARTITA), *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={**variables, "TERM": "xterm-256color", **environment},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    written = b""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # the process has closed the terminal
                break
            written += part
            if typed and b" open" in written:
                os.write(ours, typed)
                typed = b""
    os.close(ours)
    return written.decode(), process.wait(PATIENCE_S)


def plain(written: str) -> list[str]:
    return [ESCAPES.sub("", line).rstrip() for line in written.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def test_progress_and_summary_in_a_terminal(endless: Path, tmp_path: Path) -> None:
    written, status = in_terminal("run", endless.name, "--max-time", "4s", "--tests", "bugs", cwd=tmp_path)
    assert status == 3
    lines = plain(written)
    for pattern in (
        r"exploring endless\.c",
        r"time +\d\.\d s",
        r"paths +[\d,]+ ended, [\d,]+ open",
        r"bugs +0",
        r"covered +\d+ % of \d+ instructions",
        r"speed +[\d.]+ [kMG]? ?instructions/s, [\d.]+ [kMG]? ?paths/s",
        r"spent in +.*engine \d+ %.*",
        r"limits +time \d+ %.*",
    ):
        assert any(re.fullmatch(pattern, line) for line in lines), pattern
    # The progress display is erased; the summary stays, fits a screen, and names the next commands.
    end = lines[-1 - lines[::-1].index(next(line for line in lines if re.match(r"paths +[\d,]+ completed", line))) :]
    assert len(end) < 20
    assert "explored      incompletely, stopped by max-time" in end
    assert "next          raise --max-time to explore more" in end
    assert "              partita report partita-out-0" in end
    assert "\x1b[?25h" in written  # the cursor is shown again


def test_control_c_ends_the_run_with_a_summary(endless: Path, tmp_path: Path) -> None:
    words = ("run", endless.name, "--tests", "bugs", "--max-time", "30s")
    written, status = in_terminal(*words, cwd=tmp_path, typed=b"\x03")
    assert status == 3
    assert "explored      incompletely, interrupted" in plain(written)
    assert "\x1b[?25h" in written
    assert "Traceback" not in written


def test_a_bug_is_printed_once_with_its_input(buggy: Path, tmp_path: Path) -> None:
    written, status = in_terminal("run", buggy.name, cwd=tmp_path)
    assert status == 1
    lines = [line for line in plain(written) if line]
    (at,) = (i for i, line in enumerate(lines) if ": error: " in line)
    assert lines[at] == "buggy.c:10: error: assertion failed: word[0] != 'o' [assert]"
    assert lines[at + 1] == '    with word = "ok" and 2 zero bytes, n = 70000 (70 11 01 00)'
    assert "bugs          1" in lines
    assert re.search(r"next +partita replay buggy\.c partita-out-0/test\d{6}\.ktest\n", "\n".join(lines))
    assert "\x1b[1;31merror" in written


def test_no_color_and_forty_columns(buggy: Path, endless: Path, tmp_path: Path) -> None:
    written, status = in_terminal("run", buggy.name, columns=40, cwd=tmp_path, NO_COLOR="1")
    assert status == 1
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|10[0-7]|38|48)[;m]", written)
    # A bug stays on one line, for editors; the summary is wrapped.
    assert "buggy.c:10: error: assertion failed: word[0] != 'o' [assert]" in plain(written)
    lines = plain(written)
    end = lines[lines.index("paths     1 completed, 1 ended in a bug") :]
    assert max(len(line) for line in end if "partita" not in line) <= 40
    written, _ = in_terminal(
        "run", endless.name, "--max-time", "1s", "--tests", "bugs", columns=40, cwd=tmp_path, NO_COLOR="1"
    )
    assert max(len(line) for line in plain(written) if "partita" not in line) <= 40


def test_a_dumb_terminal_gets_plain_lines(buggy: Path, tmp_path: Path) -> None:
    written, status = in_terminal("run", buggy.name, cwd=tmp_path, TERM="dumb")
    assert (status, "\x1b" in written) == (1, False)
    assert "explored      completely" in written


def test_no_progress_through_a_pipe(endless: Path, tmp_path: Path, partita: Run) -> None:
    out = tmp_path / "out"
    done = partita("run", str(endless), "--max-time", "1s", "--out", str(out), "--tests", "bugs")
    assert (done.returncode, done.stderr, "\x1b" in done.stdout) == (3, "", False)
    assert re.match(r"\npaths         [\d,]+ completed", done.stdout)
    assert f"partita report {out}\n" in done.stdout
    quiet = partita("run", str(endless), "--max-time", "0.1s", "--out", str(tmp_path / "quiet"), "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (3, "", "")


def test_quiet_prints_only_bugs(buggy: Path, tmp_path: Path, partita: Run) -> None:
    done = partita("run", str(buggy), "--out", str(tmp_path / "out"), "--quiet")
    assert done.returncode == 1
    assert done.stdout == f"{buggy}:10: error: assertion failed: word[0] != 'o' [assert]\n"


def test_events(buggy: Path, endless: Path, tmp_path: Path, partita: Run) -> None:
    done = partita("run", str(buggy), "--out", str(tmp_path / "a"), "--json")
    _, bug, last = map(json.loads, done.stdout.splitlines())
    assert (bug["event"], bug["class"], bug["line"]) == ("bug", "assert", 10)
    assert bug["inputs"] == [["word", "6f6b0000"], ["n", "70110100"]]
    assert last == json.loads((tmp_path / "a" / "run.json").read_text())
    words = ("--json", "--max-time", "4s", "--tests", "bugs")
    done = partita("run", str(endless), "--out", str(tmp_path / "b"), *words)
    _, *progress, last = map(json.loads, done.stdout.splitlines())
    assert progress
    assert {row["event"] for row in progress} == {"progress"}
    assert progress[-1]["open"] > 0
    assert progress[-1]["paths"]["completed"] <= last["paths"]["completed"]
    assert 0.98 < sum(progress[-1]["shares"].values()) < 1.02


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_pipe_ends_the_run(form: list[str], endless: Path, buggy: Path, tmp_path: Path) -> None:
    """No traceback, complete files, the exit status of the run. The reader closes the pipe before the first output."""
    for program, expected in ((buggy, 3 if form else 1), (endless, 3)):
        out = tmp_path / program.stem
        ours, theirs = os.pipe()
        os.close(ours)
        # Without events the first output is the summary, so a closed pipe is noticed only then.
        limit = "20s" if form or program is buggy else "1s"
        words = ["run", str(program), "--out", str(out), "--max-time", limit, "--tests", "bugs", *form]
        process = subprocess.Popen([str(PARTITA), *words], stdout=theirs, stderr=subprocess.PIPE, text=True)
        os.close(theirs)
        _, stderr = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, stderr) == (expected, "")
        data = json.loads((out / "run.json").read_text())
        assert data["stopped"] == (None if expected == 1 else "interrupted" if form else "max-time")


def test_other_commands_end_without_traceback(buggy: Path, tmp_path: Path, partita: Run) -> None:
    out = tmp_path / "out"
    partita("run", str(buggy), "--out", str(out), "--quiet")
    for words in (["show", str(out)], ["export", str(out), "--format", "junit"], ["report", str(out)], ["--help"]):
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run(
            [str(PARTITA), *words], stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S
        )
        os.close(theirs)
        assert (done.returncode, done.stderr) == (0, ""), words


def test_inputs_on_one_line() -> None:
    assert text.short_input("s", b"ab\0\0\0") == 's = "ab" and 3 zero bytes'
    assert text.short_input("s", b'a"\\\n\t') == 's = "a\\"\\\\\\n\\t"'
    assert text.short_input("s", b"x" * 30) == f's = "{"x" * 24}"...'
    assert text.short_input("n", b"\xff\xff\xff\xff") == "n = -1 (unsigned 4294967295) (ff ff ff ff)"
    assert text.short_input("n", b"\0\0\0\0") == "n = 0"
    assert text.short_input("b", b"\0" * 9) == "b = 9 zero bytes"
    assert text.short_input("b", b"\x80" * 30) == "b = hex 80" + " 80" * 23 + "..."
    assert text.short_input("p", b"\0\x80", 1 << 30) == "p = hex 00 80... (1,073,741,824 bytes)"
    assert text.input_line([("p", b"\1")], sizes=[5000]) == "with p = hex 01... (5,000 bytes)"
    assert text.input_line([]) == "on every input"
    whole = [("n_args", b"\1\0\0\0"), ("arg00", b"-x"), ("stdin_stat", bytes(144)), ("A-data-stat", bytes(144))]
    assert text.input_line(whole) == 'with arg00 = "-x"'
    assert text.input_line([(f"x{i}", b"\1") for i in range(8)]).endswith("x5 = 1, and 2 more")
