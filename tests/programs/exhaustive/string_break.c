// strpbrk, strcspn and strrchr with a symbolic set
#include "exhaustive.h"

static long test(const unsigned char *in) {
  char set[3] = {(char)in[0], 'd', 0};
  const char *text = "abcdcba";
  char *p = strpbrk(text, set), *last = strrchr(text, in[0]);
  return (p ? p - text : 8) * 9 + (last ? last - text : 8) + (long)strcspn(text, set) * 3;
}
