/* <string.h>, <strings.h>, <ctype.h>: results on many small inputs. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const words[] = {"", "a", "b", "ab", "aba", "abab", "Abc", "abC", "xyzzy", "zy", "a\xff", "\x80", " a b "};
enum { COUNT = sizeof words / sizeof *words };

static int sign(int n) { return n < 0 ? -1 : n > 0; }
static long at(const char *p, const char *base) { return p ? p - base : -1; }

int main(void) {
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) {
      const char *a = words[i], *b = words[j];
      printf("%d %d: %d %d %d %d %zu %zu %ld %ld %ld\n", i, j, sign(strcmp(a, b)), sign(strncmp(a, b, 2)),
             sign(strcasecmp(a, b)), sign(strncasecmp(a, b, 2)), strspn(a, b), strcspn(a, b), at(strstr(a, b), a),
             at(strpbrk(a, b), a), *b ? at(strcasestr(a, b), a) : 0);
    }
  for (int i = 0; i < COUNT; i++) {
    char buffer[32];
    const char *a = words[i];
    memset(buffer, '#', sizeof buffer);
    strncpy(buffer, a, 6);
    printf("%zu %zu %.8s ", strlen(a), strnlen(a, 3), buffer);
    strcpy(buffer, "<");
    strcat(buffer, a);
    strncat(buffer, "tail", 2);
    printf("%s %ld %ld %ld ", buffer, at(strchr(a, 'b'), a), at(strrchr(a, 'b'), a), at(memchr(a, 'y', strlen(a)), a));
    printf("%ld %ld %zu\n", at(stpcpy(buffer, a), buffer), at(strchrnul(a, 'z'), a), strlcpy(buffer, a, 3));
    char *copy = strdup(a), *rest, *word;
    for (word = strtok_r(copy, " a", &rest); word; word = strtok_r(NULL, " a", &rest)) printf("[%s]", word);
    free(copy);
    copy = strndup(a, 2);
    char *walk = copy;
    while ((word = strsep(&walk, "ab"))) printf("{%s}", word);
    free(copy);
    printf("%d\n", sign(memcmp("abc", "abd", (size_t)i % 4)));
  }
  for (int c = -1; c < 256; c++)
    printf("%d%d%d%d%d%d%d%d%d%d%d%d %d %d\n", !!isalpha(c), !!isdigit(c), !!isalnum(c), !!isspace(c), !!isupper(c),
           !!islower(c), !!ispunct(c), !!isprint(c), !!isgraph(c), !!iscntrl(c), !!isxdigit(c), !!isblank(c), tolower(c),
           toupper(c));
  for (int e = 0; e < 140; e += 7) printf("%s\n", strerror(e));
  printf("%s %s\n", strsignal(11), strerror(-1));
  char block[] = "0123456789";
  memmove(block + 2, block, 6);
  puts(block);
  memmove(block, block + 3, 6);
  puts(block);
  printf("%ld\n", at(memmem("abcabd", 6, "abd", 3), "abcabd"));
  return 0;
}
