// leaks: heap objects that nothing points to at exit
// CHECK: leak
#include "bugs.h"
#include <stdlib.h>

static char *kept;
static struct list {
  struct list *next;
} *head;

static void lost(int edge) {
  unsigned char i = byte_input("i");
  char *p = malloc(8); // BUG leak
  if (i < 9 + !edge)
    free(p);
  else if (i > 9)
    kept = p;
}

static void middle_of_an_object(int edge) {
  kept = malloc(100);
  kept = edge ? kept : kept + 50;
}

static void chain(int edge) {
  for (int i = 0; i < 3; i++) {
    struct list *node = malloc(sizeof *node); // BUG leak
    node->next = head;
    head = node;
  }
  if (edge)
    head->next = NULL;
}

static void alive_at_exit(int edge) {
  char *volatile p = malloc(3);
  p[0] = (char)edge;
  exit(0);
}

static void handler(void) { kept = NULL; }

static void alive_until_exit(int edge) {
  if (edge)
    atexit(handler);
  kept = malloc(7); // BUG leak
}

CASES(lost, middle_of_an_object, chain, alive_at_exit, alive_until_exit)
