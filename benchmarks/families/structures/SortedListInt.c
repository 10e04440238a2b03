// A sorted list: inserts symbolic numbers, then looks one up and removes one.
#include "numbers.h"
#include <stdlib.h>

struct item {
  int value;
  struct item *next;
};
static struct item *list;

static void insert(int value) {
  struct item **at = &list, *fresh = malloc(sizeof *fresh);
  while (*at && (*at)->value < value) at = &(*at)->next;
  fresh->value = value;
  fresh->next = *at;
  *at = fresh;
}

static int find(int value) {
  int place = 0;
  for (struct item *i = list; i && i->value <= value; i = i->next, place++)
    if (i->value == value) return place;
  return -1;
}

static void delete(int value) {
  struct item **at = &list;
  while (*at && (*at)->value != value) at = &(*at)->next;
  if (*at) {
    struct item *gone = *at;
    *at = gone->next;
    free(gone);
  }
}

int main(void) {
  choose_numbers(-100000, 100000);
  for (int i = 0; i < SIZE - 2; i++) insert(number[i]);
  int found = find(number[SIZE - 2]);
  delete(number[SIZE - 1]);
  return found < 0;
}
