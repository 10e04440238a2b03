// smaz: compresses any text of six characters, and decompresses it again.
#include <klee/klee.h>
#include <smaz.h>
#include <string.h>

int main(void) {
  char text[6], packed[32], again[32];
  klee_make_symbolic(text, sizeof text, "text");
  int length = smaz_compress(text, sizeof text, packed, sizeof packed);
  int size = smaz_decompress(packed, length, again, sizeof again);
  return size != sizeof text || memcmp(text, again, sizeof text) != 0;
}
