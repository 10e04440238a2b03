/* Parts of <stdlib.h>: sorting, searching, the environment. Numbers are in `numbers.c`. */
#include <stdlib.h>
#include <string.h>

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
