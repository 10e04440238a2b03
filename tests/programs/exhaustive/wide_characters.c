// mbtowc and wide strings of a symbolic byte
#include "exhaustive.h"
#include <wchar.h>

static long test(const unsigned char *in) {
  char s[3] = {(char)in[0], 'b', 0};
  wchar_t w[3] = {(wchar_t)in[0], L'b', 0};
  return (long)wcslen(w) * 16 + (wcschr(w, L'b') ? 1 : 0) + (wcscmp(w, L"ab") == 0 ? 2 : 0) + (wcsncmp(w, L"zz", 1) > 0 ? 4 : 0);
}
