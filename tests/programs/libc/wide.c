/* Wide characters and encodings, in the C locale and in UTF-8. */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static void decode(const char *bytes, size_t count) {
  mbstate_t state;
  memset(&state, 0, sizeof state);
  size_t at = 0;
  while (at < count) {
    wchar_t c;
    errno = 0;
    size_t n = mbrtowc(&c, bytes + at, count - at, &state);
    if (n == (size_t)-1 || n == (size_t)-2) {
      printf("<%ld %d>", (long)n, errno);
      break;
    }
    printf("U+%04lx/%zu ", (unsigned long)c, n);
    at += n ? n : 1;
  }
  printf("\n");
}

int main(void) {
  static const char *const locales[] = {"C", "C.UTF-8"};
  for (int i = 0; i < 2; i++) {
    printf("%s %zu\n", setlocale(LC_ALL, locales[i]), MB_CUR_MAX);
    decode("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", 11);
    decode("\xff", 1);
    decode("\xe2\x82", 2);
    char out[8];
    mbstate_t state = {0};
    size_t n = wcrtomb(out, 0x20ac, &state);
    printf("%ld %d %d\n", (long)n, mblen("\xc3\xa9", 2), wctob(L'a'));
  }
  static const wchar_t some[] = {L'a', L'Z', L'5', L' ', 0xe9, 0x3b1, 0x4e2d, 0x20ac, 0x301};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    printf("%d%d%d%d%d %lx %lx %d\n", !!iswalpha(some[i]), !!iswdigit(some[i]), !!iswspace(some[i]), !!iswprint(some[i]), !!iswupper(some[i]),
           (unsigned long)towlower(some[i]), (unsigned long)towupper(some[i]), wcwidth(some[i]));
  wchar_t buffer[32];
  swprintf(buffer, 32, L"%d %ls %.2f", 42, L"wide", 1.5);
  printf("%ls %zu %d\n", buffer, wcslen(buffer), wcscmp(buffer, L"42"));
  wcscpy(buffer, L"one two");
  printf("%ls %ls %ld %ld\n", wcschr(buffer, L't'), wcsstr(buffer, L"e t"), wcstol(L"-77x", NULL, 10), (long)wcsspn(buffer, L"enot"));
  return 0;
}
