"""Programs with threads (tests/programs/threads): bugs, exit status natively and here, schedules and races."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from partita import Run, explore
from partita.toolchain import TARGET, zig_dir
from support import PROGRAM_FOLDER
from support import Run as Command
from support.threadgen import compare

FOLDER = PROGRAM_FOLDER / "threads"
_HEAD = re.compile(r"(?:/\*|//) expected: ([\w -]+?)(?: \*/)?\n")
PROGRAMS = {path: head[1] for path in sorted(FOLDER.glob("*.c*")) if (head := _HEAD.match(path.read_text()))}
ENDING = [path for path, expected in PROGRAMS.items() if expected.startswith("exit") and path.suffix == ".c"]


def finished(path: Path, **options: object) -> Run:
    return explore(path, max_time=120, **options).finish()  # type: ignore[arg-type]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_all_schedules_end_as_expected(path: Path, tmp_path: Path) -> None:
    run = finished(path, out=tmp_path / "out")
    expected = PROGRAMS[path]
    if not expected.startswith("exit"):
        assert {bug.class_ for bug in run.bugs} == {expected}
        return
    assert not run.bugs
    assert path.suffix == ".cpp" or run.complete, run.summary()["incomplete"]
    assert {test.ending for test in run.tests()} == {expected}


@pytest.mark.parametrize("path", ENDING, ids=lambda path: path.name)
def test_the_exit_status_is_the_native_one(path: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    words = [str(zig_dir() / "zig"), "cc", "-target", TARGET, "-o", str(program), str(path)]
    subprocess.run(words, check=True, capture_output=True)
    done = subprocess.run([str(program)], check=False, timeout=60)
    assert f"exit {done.returncode}" == PROGRAMS[path]


def test_a_race_has_both_stacks_and_the_schedule(tmp_path: Path) -> None:
    run = finished(FOLDER / "race.c", out=tmp_path / "out")
    assert not run.complete
    (text,) = [path.read_text() for path in (tmp_path / "out").glob("*.data-race.err")]
    assert "stack of the earlier write, by thread 1:\n  #0 add at " in text
    assert "schedule (this is thread 2):\n" in text
    assert re.search(r"\n  thread 2 from \w+ at ", text)


def test_without_the_check_a_race_still_makes_the_run_incomplete() -> None:
    run = finished(FOLDER / "race.c", check=("no-race",))
    assert not run.bugs
    assert [row["why"] for row in run.summary()["incomplete"]] == [
        "data race: other orders of these accesses are not explored (see --preempt)"
    ]


@pytest.mark.parametrize(("preemptions", "found"), [(0, False), (1, False), (2, True)])
def test_a_bug_that_needs_two_preemptions(preemptions: int, found: bool) -> None:
    run = finished(FOLDER / "two_preemptions.c", check=("no-race",), preempt=preemptions)
    assert any(bug.class_ == "assert" for bug in run.bugs) == found
    assert not run.complete


def test_all_schedules_within_the_limit_are_complete() -> None:
    run = finished(FOLDER / "two_preemptions.c", check=("no-race",), preempt=9)
    assert run.complete
    assert {bug.class_ for bug in run.bugs} == {"assert"}


def test_weak_atomics_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "weak.c"
    text = (FOLDER / "atomic_flag.c").read_text()
    source.write_text(text.replace("atomic_load(&ready)", "atomic_load_explicit(&ready, memory_order_acquire)"))
    run = finished(source)
    assert not run.bugs
    assert [row["why"] for row in run.summary()["incomplete"]] == [
        "a weak atomic access: only sequentially consistent orders are explored"
    ]


def test_the_example_deadlocks() -> None:
    run = finished(PROGRAM_FOLDER.parents[1] / "examples" / "transfer.c")
    assert [bug.class_ for bug in run.bugs] == ["deadlock"]
    assert run.bugs[0].message.startswith("deadlock: thread 0 waits at transfer.c:")


def test_no_certificate_for_threads(tmp_path: Path) -> None:
    run = finished(FOLDER / "mutex_counter.c", certificate=tmp_path / "c.json")
    assert run.complete
    assert not (tmp_path / "c.json").exists()


_READER = """#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *unused) {
  pthread_mutex_lock(&mutex);
  INPUT;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  getchar(); /* fills the buffer: the threads make no system call */
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, reader, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
"""


@pytest.mark.parametrize("read", ["getchar()", "getc(stdin)", "getc_unlocked(stdin)", 'char c; scanf("%c", &c)'])
def test_reading_a_filled_stream_is_counted(read: str, tmp_path: Path) -> None:
    source = tmp_path / "reader.c"
    source.write_text(_READER.replace("INPUT", read))
    run = finished(source, sym_stdin=3)  # all of it is read: the end of the process need not seek
    assert not run.bugs
    assert {row["why"] for row in run.summary()["incomplete"]} == {
        "a stream is read in a program with several threads: other orders are not explored"
    }


def test_a_stream_that_only_the_first_thread_reads_before_others_is_not_counted(tmp_path: Path) -> None:
    source = tmp_path / "reader.c"
    source.write_text(_READER.replace("INPUT", "putchar('a')"))
    assert finished(source, sym_stdin=1).complete


def waiting(tmp_path: Path, old: str, new: str) -> Run:
    source = tmp_path / "wait.c"
    text = (FOLDER / "wait_once.c").read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    return finished(source)


def test_a_wait_in_a_loop_needs_no_spurious_wake_up(tmp_path: Path) -> None:
    run = waiting(tmp_path, "if (!ready)", "while (!ready)")
    assert (run.complete, run.bugs) == (True, [])


def test_a_spurious_wake_up_is_not_certain(tmp_path: Path) -> None:
    run = waiting(tmp_path, "  pthread_cond_signal(&condition);\n", "")
    assert {bug.class_ for bug in run.bugs} == {"assert", "deadlock"}


def test_a_function_that_waits_and_is_called_in_a_loop(tmp_path: Path) -> None:
    source = tmp_path / "wait.c"
    text = (FOLDER / "wait_once.c").read_text()
    text = text.replace("int main", "static int wait(void) { return pthread_cond_wait(&condition, &mutex); }\nint main")
    source.write_text(
        text.replace("if (!ready)", "while (!ready)").replace(
            "pthread_cond_wait(&condition, &mutex);\n    if", "wait();\n    if"
        )
    )
    run = finished(source)
    assert run.bugs == []
    # Each thread wakes once without a signal, and the second wait is counted.
    assert [row["why"] for row in run.summary()["incomplete"]] == [
        "a thread waits outside of a loop again: one spurious wake-up of each thread is explored"
    ]


def test_replay_has_its_own_schedule(tmp_path: Path, partita: Command) -> None:
    program, out = FOLDER / "wait_once.c", tmp_path / "out"
    assert partita("run", str(program), "--out", str(out)).returncode == 1
    replayed = partita("replay", str(program), str(out))
    lines = replayed.stdout.splitlines()
    # Natively the wait ends by the signal.
    (failed,) = [line for line in lines if "(predicted: assert)" in line]
    assert failed.endswith("not observable natively: exit 0 under another schedule (predicted: assert)")
    assert replayed.returncode == 0


@pytest.mark.parametrize("seed", [1, 3, 7])
def test_programs_that_fix_their_order_end_as_natively_in_every_schedule(seed: int, tmp_path: Path) -> None:
    assert compare(seed, tmp_path) == ""


@pytest.mark.parametrize("flags", [[], ["-m32"]])
def test_a_thread_is_a_number_as_in_glibc(tmp_path: Path, flags: list[str]) -> None:
    """Programs that repeat glibc's typedef beside the header, and compute with it."""
    source = tmp_path / "program.c"
    source.write_text("""
typedef unsigned long int pthread_t;
#include <pthread.h>
#include <threads.h>
#include <assert.h>
static int x;
static void *set(void *to) { *(int *)to = 1; return to; }
int main(void) {
  pthread_t one = 0, self = pthread_self();
  pthread_create(&one, 0, set, &x);
  assert(one > 0 && one != self && one % 2 <= 1 && sizeof one == sizeof(void *));
  pthread_join(one, 0);
  return x;
}
""")
    (path,) = explore(source, cflags=flags)
    assert path.ending == "exit 1"
