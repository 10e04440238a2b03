"""Weak definitions of musl: the answer does not depend on whether the file with the strong one is linked.

A program is linked with the files that it needs, and with all of musl where functions are started in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from partita import explore
from partita.frontends import musl, musl_files

# Uses the files with weak definitions of these names, and none with the strong ones.
PROGRAM = """#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int clearenv(void);
static void *thread(void *at) {
  *(int *)at = 7;
  return at;
}
int main(void) {
  int set = 0;
  char name[] = "NAME=1";
  pthread_t started;
  if (pthread_create(&started, 0, thread, &set) || pthread_join(started, 0)) return 1;
  char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || munmap(page, 4096)) return 2;
  if (putenv(name) || strcmp(getenv("NAME"), "1") || unsetenv("NAME") || getenv("NAME") || clearenv()) return 3;
  FILE *file = fopen("/none", "w+");
  if (file) fputs("text", file), fflush(0), fclose(file);
  int fd = open("/dev/null", O_WRONLY);
  if (fd < 0 || close(fd)) return 4;
  sem_t semaphore;
  struct timespec soon = {0};
  sem_init(&semaphore, 0, 0);
  if (!sem_timedwait(&semaphore, &soon) || errno != ETIMEDOUT) return 5;
  if (strcmp(strerror(ENOENT), "No such file or directory")) return 6;
  if (fork() >= 0) return 7;
  quick_exit(set);
}
"""

# Names of which another set of files makes no difference to the program: it is linked with all files that define them
# (only weakly, in `__aio_atfork` and `__aio_close`), or with none (`__gettextdomain`, of translations).
NOT_COMPARED = (
    "__acquire_ptc __aio_atfork __aio_close __do_cleanup_pop __do_cleanup_push __gettextdomain __release_ptc"
    " __stdio_ofl_lockptr __stdout_used __tl_sync __vm_wait __vmlock_lockptr"
).split()


def _definers() -> dict[str, list[str]]:
    """The files that define each name which more than one of musl's files defines."""
    found: dict[str, list[str]] = {}
    for file, row in musl_files.index().items():
        for name in row.defines:
            found.setdefault(name, []).append(file)
    return {name: files for name, files in found.items() if len(files) > 1}


def test_strong_definitions_change_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    answers = []
    sets: list[set[str]] = []
    strong = {file for files in _definers().values() for file in files}

    def needed(names: Iterable[str], always: Sequence[str]) -> list[str]:
        more = sorted(strong) if sets else []
        files = musl_files.needed(names, [*always, *more])
        sets.append(set(files))
        return files

    monkeypatch.setattr(musl, "needed", needed)
    for _ in range(2):
        run = explore(source)
        endings = Counter(path.ending for path in run)
        answers.append((endings, Counter(row["why"] for row in run.summary()["incomplete"])))
    assert answers[0] == answers[1]
    assert answers[0][0] == {"exit 7": 1}
    assert set(answers[0][1]) == {
        "not modelled, fails with ENOSYS: system call fork",
        "a system call of one of several threads: its other orders are not explored",
    }
    assert strong <= sets[-1]
    tested = {
        name for name, files in _definers().items() if sets[0].intersection(files) and not sets[0].issuperset(files)
    }
    assert sorted(set(_definers()) - tested) == NOT_COMPARED
