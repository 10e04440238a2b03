// mktime of months and days outside of the calendar
#include "exhaustive.h"
#include <time.h>

static long test(const unsigned char *in) {
  struct tm fields = {0};
  fields.tm_mon = in[0];
  fields.tm_mday = (signed char)in[0];
  fields.tm_year = 70;
  return mktime(&fields) / 86400;
}
