// sha1-cd: looks for a collision attack in a block of 64 bytes, of which eight are symbolic.
#include <klee/klee.h>
#include <sha1.h>

int main(void) {
  char block[64] = "a block of a message; the first eight characters are symbolic";
  unsigned char digest[20];
  SHA1_CTX context;
  char message[8];
  klee_make_symbolic(message, sizeof message, "message");
  for (int i = 0; i < 8; i++) block[i] = message[i];
  SHA1DCInit(&context);
  SHA1DCUpdate(&context, block, sizeof block);
  return SHA1DCFinal(digest, &context);
}
