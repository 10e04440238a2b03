// concrete floating point
#include "exhaustive.h"

static long test(const unsigned char *in) {
  static const double t[4] = {0.5, -1.25, 1e3, 3.75};
  double x = 0;
  switch (in[0] & 3) { case 0: x = t[0]; break; case 1: x = t[1]; break; case 2: x = t[2]; break; case 3: x = t[3]; } return (long)(x * 4);
}
