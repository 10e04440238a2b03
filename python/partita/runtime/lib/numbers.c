/* Parts of <stdlib.h> and <inttypes.h>: whole numbers from text, with the results of musl. One decision per character. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

int abs(int n) { return n < 0 ? -n : n; }
long labs(long n) { return n < 0 ? -n : n; }
long long llabs(long long n) { return n < 0 ? -n : n; }

/* Value of a digit, or 99. Up to base 10 only digits matter: a symbolic letter is no case of its own. */
static int digit(char c, int base) {
  if ((unsigned char)(c - '0') < 10) return c - '0';
  if (base > 10 && (unsigned char)((c | 32) - 'a') < 26) return (c | 32) - 'a' + 10;
  return 99;
}

/* Parses the digits of a number in `base`. Above `limit` the result is `limit`, with ERANGE and `any` 2. */
static unsigned long magnitude(const char **s, int base, unsigned long limit, int *any) {
  unsigned long value = 0;
  int overflow = 0;
  for (*any = 0; digit(**s, base) < base; ++*s, *any = 1) {
    unsigned long d = (unsigned long)digit(**s, base);
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
  if ((*base == 0 || *base == 16) && s[0] == '0' && (s[1] | 32) == 'x' && digit(s[2], 16) < 16) {
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
intmax_t strtoimax(const char *restrict s, char **restrict end, int base) { return strtol(s, end, base); }
uintmax_t strtoumax(const char *restrict s, char **restrict end, int base) { return strtoul(s, end, base); }

/* These leave errno alone, and wrap where C defines nothing, as musl's. */
long atol(const char *s) {
  int base = 10, negative;
  unsigned long value = 0;
  for (s = start(s, &base, &negative); digit(*s, 10) < 10; s++) value = 10 * value + (unsigned long)(*s - '0');
  return (long)(negative ? 0 - value : value);
}
int atoi(const char *s) { return (int)atol(s); }
long long atoll(const char *s) { return atol(s); }
