// A binary search tree: inserts symbolic numbers, then looks one up and removes one.
#include "numbers.h"
#include <stdlib.h>

struct node {
  int value;
  struct node *left, *right;
};
static struct node *root;

static struct node **place(int value) {
  struct node **at = &root;
  while (*at && (*at)->value != value) at = value < (*at)->value ? &(*at)->left : &(*at)->right;
  return at;
}

static void insert(int value) {
  struct node **at = place(value);
  if (*at) return;
  *at = calloc(1, sizeof **at);
  (*at)->value = value;
}

static void take_out(int value) {
  struct node **at = place(value), *gone = *at;
  if (!gone) return;
  if (gone->left && gone->right) {
    struct node **next = &gone->right;
    while ((*next)->left) next = &(*next)->left;
    gone->value = (*next)->value;
    at = next;
    gone = *next;
  }
  *at = gone->left ? gone->left : gone->right;
  free(gone);
}

int main(void) {
  choose_numbers(-100000, 100000);
  for (int i = 0; i < SIZE - 2; i++) insert(number[i]);
  int found = *place(number[SIZE - 2]) != 0;
  take_out(number[SIZE - 1]);
  return found;
}
