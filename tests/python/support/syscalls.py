"""Cases for system calls in the register of models: each is made with each of its arguments symbolic in turn.

The same program runs natively, in a folder of its own for every input, and in the engine with the model of the kernel.
It makes some files and descriptors (`setup`), one call, and keeps the result and what the call wrote. Results that are
those of one machine (numbers of processes, clocks) are kept only as far as they are the same everywhere. The calls are
in `syscalls.txt`.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from partita import Run, explore
from partita.cc.musl import link_command
from partita.register import Kind

INPUTS = 8
OUT_BYTES = 64


def _read() -> tuple[dict[str, list[str]], dict[str, str]]:
    """The calls that are also made natively, and the others."""
    both: dict[str, list[str]] = {}
    only: dict[str, str] = {}
    for line in (Path(__file__).parent / "syscalls.txt").read_text().splitlines():
        name, colon, body = line.partition(": ")
        if name.startswith("only "):
            only[name[5:]] = body
        elif colon and not line.startswith("#"):
            both.setdefault(name, []).append(body)
    return both, only


CALLS, ONLY_HERE = _read()

HEAD = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define OUT 64
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
void klee_make_symbolic(void *, size_t, const char *);
void klee_assume(unsigned long);
static unsigned char K, out[OUT];
static unsigned filled;
static char b[128], big[4096], page[8192] __attribute__((aligned(4096)));
static struct stat st;
static struct timespec times[2];
static struct timeval old_times[2];
static struct iovec part = {b, 4};
static const char *const names[] = {"f", "d", "l", "none", "d/g", "f/x", "", "d/none"};
static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_CREAT | O_RDWR, O_CREAT | O_EXCL | O_RDWR, O_TRUNC | O_WRONLY,
                            O_DIRECTORY, O_APPEND | O_WRONLY};
#define P names[K]
#define FD (3 + (K & 3))
#define FLAGS flags[K]
static void put(const void *bytes, size_t count) {
  for (size_t i = 0; i < count && filled < OUT - 1; i++) out[filled++] = ((const unsigned char *)bytes)[i];
}
#define R(...) result(syscall(NAME __VA_OPT__(, ) __VA_ARGS__))
/* Only errors that do not depend on the file system. */
#define E(...) error(syscall(NAME __VA_OPT__(, ) __VA_ARGS__))
static void error(long value) {
  int common = errno == EBADF || errno == ENOENT || errno == ENOTDIR;
  out[OUT - 1] = (unsigned char)(value < 0 && common ? errno : 0);
}
static void result(long value) {
  put(&value, 4);
  out[OUT - 1] = value < 0 ? (unsigned char)errno : 0;
}
static void kept(void) { put(&st.st_mode, 4), put(&(int){S_ISREG(st.st_mode) ? (int)st.st_size : -1}, 4); }
static void mode_of(const char *name) { if (!stat(name, &st)) put(&st.st_mode, 4); }
static void size_of(const char *name) { if (!stat(name, &st)) put(&st.st_size, 4); }
static void time_of(const char *name) { if (!stat(name, &st)) put(&st.st_mtime, 4); }
static void setup(void) {
  umask(022);
  for (int fd = 3; fd < 12; fd++) close(fd);
  int f = open("f", O_RDWR | O_CREAT, 0644);
  write(f, "hello\n", 6), lseek(f, 0, SEEK_SET);
  mkdir("d", 0755), symlink("f", "l");
  int d = open("d", O_RDONLY | O_DIRECTORY);
  int g = openat(d, "g", O_CREAT | O_WRONLY, 0644);
  close(g);
}
"""
MAIN = r"""
#ifdef NATIVE
void klee_make_symbolic(void *object, size_t size, const char *name) {}
void klee_assume(unsigned long condition) {}
int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (K = 0; K < INPUTS; K++) {
      char folder[32];
      int ends[2], status;
      snprintf(folder, sizeof folder, "%zu-%d", i, K);
      if (pipe(ends) || mkdir(folder, 0755)) return 1;
      if (!fork()) {
        dup2(ends[1], 100);
        if (chdir(folder)) _exit(1);
        setup();
        all[i]();
        _exit(write(100, out, OUT) != OUT);
      }
      close(ends[1]);
      unsigned char got[OUT] = {0};
      if (read(ends[0], got, OUT) != OUT) return fprintf(stderr, "call %zu with %d ended\n", i, K), 2;
      close(ends[0]);
      wait(&status);
      fwrite(got, 1, OUT, stdout);
    }
  return 0;
}
#else
static int splits;
int main(int argc, char **argv) {
  int number = 0;
  for (char *digit = argv[1]; *digit; digit++) number = 10 * number + *digit - '0';
  setup();
  klee_make_symbolic(&K, 1, "in");
  klee_assume(K < INPUTS);
  all[number]();
  if (argv[2][0] == '1') {
    for (int bit = 2; bit >= 0; bit--)
      if (K >> bit & 1) splits++;
    write(1, out, OUT);
  }
  return 0;
}
#endif
"""


@dataclass(frozen=True)
class Call:
    name: str
    number: int
    body: str


def calls(selected: list[str]) -> list[Call]:
    return [Call(name, i, body) for name in selected for i, body in enumerate(CALLS[name])]


def source(selected: list[Call]) -> str:
    parts = [HEAD, f"#define INPUTS {INPUTS}"]
    for i, call in enumerate(selected):
        parts += [f"#define NAME SYS_{call.name}", f"static void call_{i}(void) {{ {_expanded(call)} }}", "#undef NAME"]
    table = ", ".join(f"call_{i}" for i in range(len(selected)))
    return "\n".join([*parts, f"static void (*const all[])(void) = {{{table}}};", MAIN])


def _expanded(call: Call) -> str:
    """The body; `NAME` in the macro `R` is expanded here, where it has its value."""
    return re.sub(r"\bNAME\b", f"SYS_{call.name}", call.body)


def native_outputs(selected: list[Call], folder: Path) -> list[list[bytes]]:
    """Output of each call by input, each in a folder of its own."""
    code, binary, place = folder / "native.c", folder / "native", folder / "place"
    code.write_text(source(selected))
    place.mkdir()
    subprocess.run(link_command(["-w", "-DNATIVE", str(code), "-o", str(binary)]), check=True, capture_output=True)
    data = subprocess.run([str(binary)], check=True, capture_output=True, cwd=place).stdout
    rows = [data[i : i + OUT_BYTES] for i in range(0, len(data), OUT_BYTES)]
    assert len(rows) == INPUTS * len(selected)
    return [rows[i * INPUTS : (i + 1) * INPUTS] for i in range(len(selected))]


def _run(file: Path, number: int, forks: bool) -> Run:
    before = Path.cwd()
    os.chdir(file.parent / "empty")
    try:
        run = explore(file, arguments=[str(number), str(int(forks))], libc="musl", max_time=120, cflags=["-w"])
        run.finish()
    finally:
        os.chdir(before)
    return run


def observed_kind(file: Path, number: int) -> Kind:
    """How a call treats symbolic data, as a run shows."""
    (file.parent / "empty").mkdir(exist_ok=True)
    run = _run(file, number, forks=False)
    reasons = [row["why"] for row in run.summary()["incomplete"]]
    if any("not modelled" in why for why in reasons):
        return "unsupported"
    if reasons or not run.complete:
        return "binds"
    return "exact" if run.summary()["forks"] == 0 else "forks"


def problems(file: Path, number: int, call: Call, native: list[bytes]) -> list[str]:
    """Inputs that are on several paths, or on none, or have another output than natively."""
    before = Path.cwd()
    os.chdir(file.parent / "empty")
    found, seen = [], Counter[int]()
    try:
        run = explore(file, arguments=[str(number), "1"], libc="musl", max_time=120, cflags=["-w"])
        for path in run:
            value = next(data for name, data in path.inputs if name == "in")[0]
            seen[value] += 1
            if path.kind != "exit":
                found.append(f"{call.name}_{call.number}: input {value} ends as {path.ending}: {path.message}")
            elif path.output[-OUT_BYTES:] != native[value]:
                right, wrong = native[value].hex(), path.output[-OUT_BYTES:].hex()
                found.append(f"{call.name}_{call.number}: input {value}: natively {right}, found {wrong}")
    finally:
        os.chdir(before)
    found += [f"{call.name}_{call.number}: input {v} is on {seen[v]} paths" for v in range(INPUTS) if seen[v] != 1]
    return found
