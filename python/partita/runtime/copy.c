/* Copies for native programs: the compiler's wheel has them in its own language, not among the sources of musl. */
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  void *at = to;
  __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(count) : : "memory");
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  if ((uintptr_t)to - (uintptr_t)from >= count) return memcpy(to, from, count);
  char *at = (char *)to + count;
  const char *source = (const char *)from + count;
  while (at != to) *--at = *--source;
  return to;
}
