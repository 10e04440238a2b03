// libinjection: is any text of six characters an injection of SQL, or of a script into HTML?
#include <klee/klee.h>
#include <libinjection.h>
#include <libinjection_sqli.h>
#include <libinjection_xss.h>

int main(void) {
  char text[7];
  struct libinjection_sqli_state state;
  klee_make_symbolic(text, sizeof text, "text");
  klee_assume(text[6] == 0);
  libinjection_sqli_init(&state, text, 6, FLAG_NONE);
  if (libinjection_is_sqli(&state)) return 1;
  return libinjection_xss(text, 6) ? 2 : 0;
}
