// mbtowc of an incomplete or invalid sequence
#include "exhaustive.h"
#include <wchar.h>
#include <wctype.h>

static long test(const unsigned char *in) {
  char text[3] = {(char)in[0], (char)0x84, 0};
  wchar_t wide = 0;
  int length = mbtowc(&wide, text, 2);
  return length * 3 + (iswalpha(wide) ? 64 : 0) + (wide & 15);
}
