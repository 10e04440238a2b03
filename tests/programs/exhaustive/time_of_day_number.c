// gmtime and strftime of a symbolic number of days
#include "exhaustive.h"
#include <time.h>

static long test(const unsigned char *in) {
  time_t seconds = (time_t)in[0] * 86400 * 37;
  struct tm *fields = gmtime(&seconds);
  char text[40];
  strftime(text, 40, "%a %j", fields);
  return text[0] + fields->tm_mon * 3;
}
