// hsearch for a symbolic key
#include "exhaustive.h"
#include <search.h>

static long test(const unsigned char *in) {
  char key[2] = {(char)in[0], 0};
  hcreate(4);
  ENTRY entry = {"a", (void *)5}, wanted = {key, 0};
  hsearch(entry, ENTER);
  ENTRY *found = hsearch(wanted, FIND);
  return found ? (long)found->data : 1;
}
