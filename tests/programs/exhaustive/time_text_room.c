// strftime into too little room
#include "exhaustive.h"
#include <time.h>

static long test(const unsigned char *in) {
  struct tm fields = {0};
  fields.tm_year = 100;
  fields.tm_mday = in[0] & 31;
  char text[32];
  size_t n = strftime(text, in[0] >> 4, "%d %b", &fields);
  return (long)n * 4 + (n ? text[0] & 3 : 0);
}
