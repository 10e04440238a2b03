// inet_pton of text with a symbolic character
#include "exhaustive.h"
#include <arpa/inet.h>

static long test(const unsigned char *in) {
  char text[8] = "1.2.3.4";
  text[2] = (char)in[0];
  struct in_addr address = {0};
  int found = inet_pton(AF_INET, text, &address);
  return found * 64 + (address.s_addr >> 8 & 63);
}
