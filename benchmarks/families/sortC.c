// Linked with GNU sort: creates, before `main`, a file `lines` of LINES lines of WIDTH characters, alternately symbolic
// and random.
#include <fcntl.h>
#include <klee/klee.h>
#include <unistd.h>

__attribute__((constructor)) static void write_lines(void) {
  char text[LINES][WIDTH + 1];
  unsigned state = 12345;
  klee_make_symbolic(text, sizeof text, "text");
  for (int line = 0; line < LINES; line++) {
    for (int at = 0; at < WIDTH; at++) {
      state = state * 1103515245u + 12345u;
      if (line % 2) text[line][at] = 'a' + (state >> 16) % 26;
      else {
        klee_assume(text[line][at] >= ' ');
        klee_assume(text[line][at] <= '~');
      }
    }
    text[line][WIDTH] = '\n';
  }
  int file = open("lines", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  write(file, text, sizeof text);
  close(file);
}

// Compares byte by byte, as in the paper: our own `memcmp` makes one expression for each line.
int memcmp(const void *first, const void *second, size_t count) {
  const unsigned char *a = first, *b = second;
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}
