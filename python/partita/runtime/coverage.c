/* Line coverage: linked with a program that sets one byte per line it reaches (replay/coverage.py). The bytes are mapped
   from a file that all runs share, so that they survive any end of a run. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char partita_reached_lines[];
extern const long partita_reached_lines_size;

__attribute__((constructor(101))) static void share_reached_lines(void) {
  const char *path = getenv("PARTITA_REACHED_LINES");
  if (!path) return;
  int file = open(path, O_RDWR);
  void *mapped = file < 0 ? MAP_FAILED
                          : mmap(partita_reached_lines, partita_reached_lines_size, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_FIXED, file, 0);
  if (mapped == MAP_FAILED) {
    perror("partita: cannot map the file of reached lines");
    _exit(2);
  }
  unsetenv("PARTITA_REACHED_LINES"); /* the program may print its environment */
  /* Not `close`: replay counts its calls. */
  syscall(SYS_close_range, file, file, 0);
}
