// Four bytes as a pattern, four as the text.
#include "re.h"
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char text[9], pattern[5] = {0};
  int length;
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  memcpy(pattern, text, 4);
  return re_match(pattern, text + 4, &length) >= 0;
}
