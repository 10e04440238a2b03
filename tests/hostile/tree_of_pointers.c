// status: 0 1 3
#include "klee/klee.h"
#include <stdlib.h>

struct node { struct node *left, *right; unsigned key; };
static struct node *insert(struct node *n, unsigned key) {
  if (!n) {
    n = calloc(1, sizeof *n);
    n->key = key;
  } else if (key < n->key)
    n->left = insert(n->left, key);
  else
    n->right = insert(n->right, key);
  return n;
}
int main(void) {
  unsigned in[100];
  struct node *root = 0;
  klee_make_symbolic(in, sizeof in, "in");
  for (int i = 0; i < 100; i++)
    root = insert(root, in[i]);
  return root->key == 1;
}
