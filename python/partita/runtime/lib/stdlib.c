/* Parts of <stdlib.h>: numbers from text, sorting, searching, the environment. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int abs(int n) { return n < 0 ? -n : n; }
long labs(long n) { return n < 0 ? -n : n; }
long long llabs(long long n) { return n < 0 ? -n : n; }

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

/* Parses the digits of a number in `base`. Above `limit` the result is `limit`, with ERANGE and `any` 2. */
static unsigned long magnitude(const char **s, int base, unsigned long limit, int *any) {
  unsigned long value = 0;
  int overflow = 0;
  for (*any = 0; digit(**s) < base; ++*s, *any = 1) {
    unsigned long d = (unsigned long)digit(**s);
    if (overflow || value > (limit - d) / (unsigned long)base) overflow = 1;
    else value = value * (unsigned long)base + d;
  }
  if (!overflow) return value;
  errno = ERANGE;
  *any = 2;
  return limit;
}

static const char *start(const char *s, int *base, int *negative) {
  while (isspace((unsigned char)*s)) s++;
  *negative = *s == '-';
  if (*s == '-' || *s == '+') s++;
  if ((*base == 0 || *base == 16) && s[0] == '0' && (s[1] | 32) == 'x' && digit(s[2]) < 16) {
    *base = 16;
    return s + 2;
  }
  if (*base == 0) *base = *s == '0' ? 8 : 10;
  return s;
}

/* As in musl: no digits, or no such base, is EINVAL. */
static unsigned long no_number(const char *s, char **end) {
  if (end) *end = (char *)s;
  errno = EINVAL;
  return 0;
}

long strtol(const char *restrict s, char **restrict end, int base) {
  int negative, any;
  if (base < 0 || base == 1 || base > 36) return (long)no_number(s, end);
  const char *p = start(s, &base, &negative);
  unsigned long value = magnitude(&p, base, negative ? 1UL + LONG_MAX : LONG_MAX, &any);
  if (!any) return (long)no_number(s, end);
  if (end) *end = (char *)p;
  return (long)(negative ? 0 - value : value);
}

unsigned long strtoul(const char *restrict s, char **restrict end, int base) {
  int negative, any;
  if (base < 0 || base == 1 || base > 36) return no_number(s, end);
  const char *p = start(s, &base, &negative);
  unsigned long value = magnitude(&p, base, ULONG_MAX, &any);
  if (!any) return no_number(s, end);
  if (end) *end = (char *)p;
  return negative && any != 2 ? 0 - value : value;
}

long long strtoll(const char *restrict s, char **restrict end, int base) { return strtol(s, end, base); }
unsigned long long strtoull(const char *restrict s, char **restrict end, int base) { return strtoul(s, end, base); }
/* These leave errno alone, and wrap where C defines nothing, as musl's. */
long atol(const char *s) {
  int base = 10, negative;
  unsigned long value = 0;
  for (s = start(s, &base, &negative); digit(*s) < 10; s++) value = 10 * value + (unsigned long)digit(*s);
  return (long)(negative ? 0 - value : value);
}
int atoi(const char *s) { return (int)atol(s); }
long long atoll(const char *s) { return atol(s); }

/* Binary insertion sort: stable, nearly the minimal number of comparisons, and moves are models of the executor. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  char *a = base, moved[size + 1];
  for (size_t i = 1; i < count; i++) {
    size_t low = 0, high = i;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      if (compare(a + middle * size, a + i * size) > 0) high = middle;
      else low = middle + 1;
    }
    memcpy(moved, a + i * size, size);
    memmove(a + (low + 1) * size, a + low * size, (i - low) * size);
    memcpy(a + low * size, moved, size);
  }
}

void *bsearch(const void *key, const void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  const char *a = base;
  while (count) {
    const char *middle = a + count / 2 * size;
    int order = compare(key, middle);
    if (order == 0) return (void *)middle;
    if (order > 0) {
      a = middle + size;
      count -= count / 2 + 1;
    } else {
      count /= 2;
    }
  }
  return NULL;
}

char **__partita_environment(void);

char *getenv(const char *name) {
  size_t length = strlen(name);
  if (!length || strchr(name, '=')) return 0;
  for (char **entry = __partita_environment(); *entry; entry++)
    if (!strncmp(name, *entry, length) && (*entry)[length] == '=') return *entry + length + 1;
  return 0;
}
