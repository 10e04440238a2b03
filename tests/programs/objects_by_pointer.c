// objects_by_pointer: reads, writes and structure copies through pointers to several possible objects
// EXPECT: paths=4 bug=none
#include "klee/klee.h"
#include <stdlib.h>
#include <string.h>

struct item {
  int key;
  char text[12];
};

int main(void) {
  struct item local = {1, "local"}, *heap = malloc(2 * sizeof *heap);
  static struct item global = {4, "global"};
  heap[0] = (struct item){2, "heap"};
  heap[1] = (struct item){3, "second"};
  struct item *all[4] = {&local, &heap[0], &heap[1], &global};
  unsigned char i, j;
  klee_make_symbolic(&i, sizeof i, "i");
  klee_make_symbolic(&j, sizeof j, "j");
  klee_assume(i < 4);
  klee_assume(j < 12);

  // One path per object. There are three: the two items on the heap are in one object.
  struct item copy = *all[i];
  klee_assert(copy.key == i + 1);
  klee_assert((copy.text[0] == 'h') == (i == 1));
  all[i]->text[j] = '!';
  klee_assert(all[i]->text[j] == '!');
  klee_assert(copy.text[11] == 0);
  int changed = memcmp(copy.text, all[i]->text, sizeof copy.text);
  if (changed == 0)
    klee_assert(0);
  heap = all[i] == &heap[1] ? heap : realloc(heap, 8 * sizeof *heap);
  klee_assert(heap[1].key == 3);
  free(heap);
  return 0;
}
