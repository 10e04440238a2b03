/* `--check member`: functions that write to an array know the member that they are given. Included before the program;
   the compiler passes the size of the member (`pass_object_size`) where it is known at the call. Indices are checked by
   -fsanitize=array-bounds. */
#ifndef __cplusplus
typedef __SIZE_TYPE__ partita_size;
void klee_report_bug(const char *class_, const char *file, int line, const char *message);
#define PARTITA_MEMBER static inline __attribute__((overloadable, unused, always_inline, nodebug))
#define PARTITA_TO(type) type *const to __attribute__((pass_object_size(1)))
#define PARTITA_FITS(count, name) \
  if (__builtin_object_size(to, 1) != (partita_size)-1 && (count) > __builtin_object_size(to, 1)) \
  klee_report_bug("bounds", "", 0, name " past the end of a member or array")

PARTITA_MEMBER void *memcpy(PARTITA_TO(void), const void *from, partita_size n) {
  PARTITA_FITS(n, "memcpy");
  return __builtin_memcpy(to, from, n);
}
PARTITA_MEMBER void *memmove(PARTITA_TO(void), const void *from, partita_size n) {
  PARTITA_FITS(n, "memmove");
  return __builtin_memmove(to, from, n);
}
PARTITA_MEMBER void *memset(PARTITA_TO(void), int value, partita_size n) {
  PARTITA_FITS(n, "memset");
  return __builtin_memset(to, value, n);
}
PARTITA_MEMBER char *strcpy(PARTITA_TO(char), const char *from) {
  PARTITA_FITS(__builtin_strlen(from) + 1, "strcpy");
  return __builtin_strcpy(to, from);
}
PARTITA_MEMBER char *strcat(PARTITA_TO(char), const char *from) {
  PARTITA_FITS(__builtin_strlen(to) + __builtin_strlen(from) + 1, "strcat");
  return __builtin_strcat(to, from);
}
PARTITA_MEMBER char *strncpy(PARTITA_TO(char), const char *from, partita_size n) {
  PARTITA_FITS(n, "strncpy");
  return __builtin_strncpy(to, from, n);
}
#undef PARTITA_MEMBER
#undef PARTITA_TO
#undef PARTITA_FITS
#endif
