// wcstol of a symbolic wide character
#include "exhaustive.h"
#include <wchar.h>

static long test(const unsigned char *in) {
  wchar_t text[3] = {in[0], '5', 0}, *end;
  long value = wcstol(text, &end, 0);
  return value + (end - text) * 64;
}
