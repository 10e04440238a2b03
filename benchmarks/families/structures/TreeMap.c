// A left-leaning red-black tree: inserts symbolic keys, then looks one up.
#include "numbers.h"
#include <stdlib.h>

struct node {
  int key, red;
  struct node *left, *right;
};

static int is_red(struct node *n) { return n && n->red; }

static struct node *rotate_left(struct node *n) {
  struct node *up = n->right;
  n->right = up->left;
  up->left = n;
  up->red = n->red;
  n->red = 1;
  return up;
}

static struct node *rotate_right(struct node *n) {
  struct node *up = n->left;
  n->left = up->right;
  up->right = n;
  up->red = n->red;
  n->red = 1;
  return up;
}

static struct node *put(struct node *n, int key) {
  if (!n) {
    n = calloc(1, sizeof *n);
    n->key = key;
    n->red = 1;
    return n;
  }
  if (key < n->key) n->left = put(n->left, key);
  else if (key > n->key) n->right = put(n->right, key);
  if (is_red(n->right) && !is_red(n->left)) n = rotate_left(n);
  if (is_red(n->left) && is_red(n->left->left)) n = rotate_right(n);
  if (is_red(n->left) && is_red(n->right)) {
    n->red = 1;
    n->left->red = n->right->red = 0;
  }
  return n;
}

int main(void) {
  struct node *root = 0;
  choose_numbers(-100000, 100000);
  for (int i = 0; i < SIZE - 1; i++) {
    root = put(root, number[i]);
    root->red = 0;
  }
  for (struct node *n = root; n; n = number[SIZE - 1] < n->key ? n->left : n->right)
    if (n->key == number[SIZE - 1]) return 1;
  return 0;
}
