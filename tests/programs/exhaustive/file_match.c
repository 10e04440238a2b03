// fnmatch of symbolic text
#include "exhaustive.h"
#include <fnmatch.h>

static long test(const unsigned char *in) {
  char text[4] = {'a', (char)in[0], 'c', 0};
  return fnmatch("a[!x-z]*", text, 0) + 2 * fnmatch(text, "abc", FNM_PATHNAME);
}
