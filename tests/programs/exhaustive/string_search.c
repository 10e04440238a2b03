// strchr and strrchr
#include "exhaustive.h"

static long test(const unsigned char *in) {
  const char *s = "partita", *a = strchr(s, in[0]), *b = strrchr(s, in[0]);
  return (a ? a - s : 20) + 8 * (b ? b - s : 3);
}
