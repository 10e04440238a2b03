// gmtime and mktime of symbolic days
#include "exhaustive.h"
#include <time.h>

static long test(const unsigned char *in) {
  time_t when = (time_t)in[0] * 86400 * 30;
  struct tm t = *gmtime(&when);
  return t.tm_mon + t.tm_year * 12 + t.tm_mday + t.tm_wday * 3;
}
