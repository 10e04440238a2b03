/* <string.h>, for programs that are explored without a libc. Functions that copy, compare or measure bytes are models of
   the executor (`models/bytes.rs`, `models/text.rs`); functions that copy strings are made of those: one expression per
   byte and no fork. Functions that search in symbolic bytes are plain loops, which fork: callers usually continue at the
   position found, and a concrete position is worth a path. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partita.h"

/* Position of a byte in concrete bytes, an expression if the byte is symbolic; ABSENT if it does not occur; BYTEWISE if
   some of the bytes are symbolic. */
long __partita_memchr(const void *s, int c, size_t n);
long __partita_strchr(const char *s, int c);
long __partita_strrchr(const char *s, int c);
enum { ABSENT = -1, BYTEWISE = -2 };

void *memchr(const void *s, int c, size_t n) {
  const unsigned char *p = s;
  long at = __partita_memchr(s, c, n);
  if (at != BYTEWISE) return at == ABSENT ? NULL : (void *)(p + at);
  for (; n; n--, p++)
    if (*p == (unsigned char)c) return (void *)p;
  return NULL;
}

void *memrchr(const void *s, int c, size_t n) {
  const unsigned char *p = s;
  while (n--)
    if (p[n] == (unsigned char)c) return (void *)(p + n);
  return NULL;
}

/* Models under separate names: musl defines these functions too, and definitions in this file take precedence. */
int __partita_strcasecmp(const char *a, const char *b);
int __partita_strncasecmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b) { return __partita_strcasecmp(a, b); }
int strncasecmp(const char *a, const char *b, size_t n) { return __partita_strncasecmp(a, b, n); }

char *strcpy(char *restrict to, const char *restrict from) { return memcpy(to, from, strlen(from) + 1); }

char *stpcpy(char *restrict to, const char *restrict from) {
  size_t n = strlen(from);
  memcpy(to, from, n + 1);
  return to + n;
}

char *strncpy(char *restrict to, const char *restrict from, size_t n) {
  size_t length = strnlen(from, n);
  if (!partita_is_symbolic(length)) {
    memcpy(to, from, length);
    memset(to + length, 0, n - length);
    return to;
  }
  /* Zeros first: after the copy, their start would be symbolic. */
  memset(to, 0, n);
  return memcpy(to, from, length);
}

char *strcat(char *restrict to, const char *restrict from) {
  strcpy(to + strlen(to), from);
  return to;
}

char *strncat(char *restrict to, const char *restrict from, size_t n) {
  char *end = to + strlen(to);
  n = strnlen(from, n);
  memcpy(end, from, n);
  end[n] = 0;
  return to;
}

char *strchr(const char *s, int c) {
  long at = __partita_strchr(s, c);
  if (at != BYTEWISE) return at == ABSENT ? NULL : (char *)(s + at);
  for (;; s++) {
    if (*s == (char)c) return (char *)s;
    if (!*s) return NULL;
  }
}

char *strrchr(const char *s, int c) {
  long at = __partita_strrchr(s, c);
  if (at != BYTEWISE) return at == ABSENT ? NULL : (char *)(s + at);
  const char *found = NULL;
  for (;; s++) {
    if (*s == (char)c) found = s;
    if (!*s) return (char *)found;
  }
}

size_t strspn(const char *s, const char *accept) {
  size_t i = 0;
  while (s[i] && strchr(accept, s[i])) i++;
  return i;
}

size_t strcspn(const char *s, const char *reject) {
  size_t i = 0;
  while (s[i] && !strchr(reject, s[i])) i++;
  return i;
}

char *strpbrk(const char *s, const char *accept) {
  s += strcspn(s, accept);
  return *s ? (char *)s : NULL;
}

char *strstr(const char *s, const char *wanted) {
  size_t n = strlen(wanted);
  for (;; s++) {
    if (!strncmp(s, wanted, n)) return (char *)s;
    if (!*s) return NULL;
  }
}

/* As in musl, the rest is null after the last part. */
char *strtok_r(char *restrict s, const char *restrict separators, char **restrict rest) {
  if (!s && !(s = *rest)) return NULL;
  s += strspn(s, separators);
  if (!*s) return *rest = NULL;
  char *end = s + strcspn(s, separators);
  if (*end) *end++ = 0;
  else end = NULL;
  *rest = end;
  return s;
}

char *strtok(char *restrict s, const char *restrict separators) {
  static char *rest;
  return strtok_r(s, separators, &rest);
}

char *strdup(const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = malloc(n);
  return copy ? memcpy(copy, s, n) : NULL;
}

char *strndup(const char *s, size_t n) {
  size_t length = strnlen(s, n);
  char *copy = malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, s, length);
  copy[length] = 0;
  return copy;
}
