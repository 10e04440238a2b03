#include <config.h>
#include <klee/klee.h>
#include "words.h"

#ifndef HAVE_STRLEN
#error "the check for strlen failed"
#endif
#if defined HAVE_NO_SUCH_FUNCTION || defined HAVE_NO_SUCH_HEADER
#error "a check for a missing function or header succeeded"
#endif

int main(void) {
  char text[3];
  klee_make_symbolic(text, sizeof text, "text");
  return report(count_words(text, sizeof text));
}
