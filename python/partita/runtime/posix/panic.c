/* Panics of Rust programs. `frontends/rust.py` inserts the calls: where a panic begins, and where it would unwind or end
   the process. Between the two Rust's own code writes its message to standard error, which is kept here. */
#include "kernel.h"

__attribute__((noreturn)) void partita_report_bug(const char *bug_class, const char *file, int line, const char *text);
void __partita_follow_model(void);

static char message[2048];
static size_t length;
static int is_panicking;

void __partita_panic_begins(void) {
  if (is_panicking) return; /* a panic while a message is made: the first one is reported */
  is_panicking = 1;
  __partita_follow_model();
}

void __partita_panic_output(const char *bytes, size_t count) {
  if (!is_panicking) return;
  if (count > sizeof message - 1 - length) count = sizeof message - 1 - length;
  memcpy(message + length, bytes, count);
  length += count;
}

/* Splits `FILE:LINE:COLUMN`, which ends where it is written to. Returns the line, 0 if there is none. */
static int split(char *place) {
  char *column = strrchr(place, ':');
  if (!column) return 0;
  *column = 0;
  char *line = strrchr(place, ':');
  if (!line) return 0;
  *line = 0;
  return atoi(line + 1);
}

static __attribute__((noreturn)) void report(void) {
  message[length] = 0;
  char *note = strstr(message, "\nnote: run with `RUST_BACKTRACE");
  if (note) *note = 0;
  char *place = strstr(message, "panicked at ");
  if (!place) partita_report_bug("panic", "", 0, "a panic that the program's own hook reports");
  place += 12;
  char *text;
  if (*place == '\'') { /* before Rust 1.73: 'MESSAGE', PLACE */
    text = place + 1;
    char *end = strstr(text, "', ");
    if (!end) partita_report_bug("panic", "", 0, text);
    *end = 0;
    place = end + 3;
    place[strcspn(place, "\n")] = 0;
  } else {
    text = strchr(place, '\n');
    if (!text) partita_report_bug("panic", "", 0, place);
    *text++ = 0;
    if (text[-2] == ':') text[-2] = 0;
  }
  int line = split(place);
  /* A message is one line; `assert_eq!` writes three. */
  char *to = text;
  for (char *from = text; *from; from++) {
    char c = *from == '\n' ? ' ' : *from;
    if (c != ' ' || (to > text && to[-1] != ' ')) *to++ = c;
  }
  while (to > text && to[-1] == ' ') to--;
  *to = 0;
  partita_report_bug("panic", place, line, text);
}

void __partita_panic_ends(void) {
  if (is_panicking) report();
}

/* Calls of `abort` in Rust's libraries. */
__attribute__((noreturn)) void __partita_panic_abort(void) {
  __partita_panic_ends();
  abort();
}
