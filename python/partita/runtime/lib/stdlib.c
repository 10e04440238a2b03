/* Parts of <stdlib.h>: searching, the environment. Numbers are in `numbers.c`, sorting in `sort.c`. */
#include <stdlib.h>
#include <string.h>

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
