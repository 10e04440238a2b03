"""Random programs whose threads take turns in an order that the program fixes: every schedule prints the same."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from partita import explore
from partita.toolchain import TARGET, zig_dir

OURS_S = 120
_HEAD = """#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

"""
# How a thread waits for its turn `step` and gives the turn to the next one.
_TURNS = {
    "condition": (
        "static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n"
        "static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;\n"
        "static void begin(int step) {\n  pthread_mutex_lock(&mutex);\n"
        "  while (turn != step) pthread_cond_wait(&turned, &mutex);\n}\n"
        "static void end(void) {\n  turn++;\n  pthread_cond_broadcast(&turned);\n  pthread_mutex_unlock(&mutex);\n}\n",
        "",
    ),
    "semaphores": (
        "static sem_t gates[STEPS + 1];\nstatic void begin(int step) { sem_wait(&gates[step]); }\n"
        "static void end(void) {\n  turn++;\n  sem_post(&gates[turn]);\n}\n",
        "  for (int i = 0; i <= STEPS; i++) sem_init(&gates[i], 0, i == 0);\n",
    ),
    "c11": (
        "static mtx_t mutex;\nstatic cnd_t turned[THREADS];\nstatic void begin(int step) {\n  mtx_lock(&mutex);\n"
        "  while (turn != step) cnd_wait(&turned[order[step]], &mutex);\n}\n"
        "static void end(void) {\n  turn++;\n  if (turn < STEPS) cnd_broadcast(&turned[order[turn]]);\n"
        "  mtx_unlock(&mutex);\n}\n",
        "  mtx_init(&mutex, mtx_plain);\n  for (int i = 0; i < THREADS; i++) cnd_init(&turned[i]);\n",
    ),
    "read-write lock": (
        "static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;\n"
        "static void begin(int step) {\n  for (;;) {\n    pthread_rwlock_rdlock(&lock);\n"
        "    int is_mine = turn == step;\n"
        "    pthread_rwlock_unlock(&lock);\n    if (is_mine) break;\n    sched_yield();\n  }\n"
        "  pthread_rwlock_wrlock(&lock);\n}\n"
        "static void end(void) {\n  turn++;\n  pthread_rwlock_unlock(&lock);\n}\n",
        "",
    ),
}


def generate(seed: int) -> str:
    rng = random.Random(seed)
    kind = rng.choice(list(_TURNS))
    functions, start = _TURNS[kind]
    # Threads that spin have many schedules.
    spins = kind == "read-write lock"
    threads, steps = (2, 3) if spins else (rng.randint(2, 3), rng.randint(3, 6))
    order = [rng.randrange(threads) for _ in range(steps)]
    text = f"#define THREADS {threads}\n#define STEPS {steps}\n{_HEAD}#include <sched.h>\nstatic int turn;\n"
    text += f"static const int order[STEPS] = {{{', '.join(map(str, order))}}};\n"
    text += f"static long shared[3] = {{{rng.randint(-9, 9)}, {rng.randint(-9, 9)}, {rng.randint(-9, 9)}}};\n"
    text += f"static _Thread_local long own = {rng.randint(1, 9)};\n{functions}"
    text += "static long work(int step) {\n  switch (step) {\n"
    for step in range(steps):
        a, b = rng.randrange(3), rng.randrange(3)
        text += f"  case {step}: own = own * {rng.randint(2, 5)} + shared[{a}]; shared[{b}] {rng.choice('+-^')}= own;\n"
        text += f"    return shared[{b}] % 1000 + {rng.randint(0, 9)};\n"
    text += "  }\n  return 0;\n}\n"
    text += """static void *run(void *argument) {
  int number = (int)(long)argument;
  long last = 0;
  for (int step = 0; step < STEPS; step++) {
    if (order[step] != number) continue;
    begin(step);
    last = work(step);
    printf("step %d thread %d: %ld own %ld\\n", step, number, last, own);
    end();
  }
  return (void *)last;
}
"""
    text += f"int main(void) {{\n{start}  pthread_t all[THREADS];\n"
    text += "  for (long i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, run, (void *)i);\n  long total = 0;\n"
    text += "  for (int i = 0; i < THREADS; i++) {\n    void *result;\n    pthread_join(all[i], &result);\n"
    text += "    total = total * 7 + (long)result;\n  }\n"
    text += '  printf("%ld %ld %ld %ld\\n", total, shared[0], shared[1], shared[2]);\n'
    return f"{text}  return (int)(total & 63);\n}}\n"


def compare(seed: int, folder: Path) -> str:
    """A message about a path that prints or returns something else than the native run; empty if there is none."""
    source, binary = folder / f"threads{seed}.c", folder / f"threads{seed}"
    source.write_text(generate(seed))
    command = [str(zig_dir() / "zig"), "cc", "-target", TARGET, "-O1", "-w", str(source), "-o", str(binary)]
    subprocess.run(command, check=True, capture_output=True)
    native = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, check=False)
    run = explore(source, max_time=OURS_S)
    paths = list(run)
    if not paths or not run.summary()["complete"]:
        return f"seed {seed}: {len(paths)} paths, incomplete: {run.summary()['incomplete']}"
    for path in paths:
        if (path.ending, path.output.decode()) != (f"exit {native.returncode}", native.stdout):
            return f"seed {seed}: expected {native.stdout!r}, found {path.output!r}, {path.ending}: {path.message}"
    return ""
