/* Functions whose bug needs a shape of the objects behind their parameters. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct list {
  int value;
  struct list *next;
};
struct tree {
  struct tree *left, *right;
  int key;
};
struct buffer {
  char *data;
  size_t length, capacity;
};
struct flags {
  unsigned kind : 3, other : 5;
  bool on;
  double weight;
  int row[3];
};

/* A list of three elements. */
int third(struct list *list) {
  if (list && list->next && list->next->next && list->next->next->value == 7) abort();
  return 0;
}

/* A list that leads back to its first element. */
int cycle(struct list *list) {
  if (list && list->next == list) abort();
  return 0;
}

/* The right child of a left child. */
int nephew(struct tree *tree) {
  if (tree && tree->left && tree->left->right && tree->left->right->key == 77) abort();
  return 0;
}

/* Two parameters that share an object. */
int alias(int *a, int *b) {
  if (!a || !b) return 0;
  *a = 1;
  *b = 2;
  if (*a == 2) abort();
  return 0;
}

/* An index that the object's own members allow. */
void append(struct buffer *buffer, char c) {
  if (buffer && buffer->data && buffer->length < buffer->capacity) buffer->data[buffer->length++] = c;
}

int words(char **names, unsigned short n) {
  int found = 0;
  for (int i = 0; i < n; i++) found += names[i][0] == 'a';
  return found;
}

static int unused(struct buffer buffer, bool on) {
  if (on && buffer.data && buffer.length == 3 && buffer.data[1] == 'q') abort();
  return 0;
}

int callback(int (*f)(int, void *), void *user) {
  if (f && f(3, user) == 5) abort();
  return 0;
}

int typed(const struct flags *f, float x, enum { RED, GREEN = 5 } color) {
  if (f && f->on && f->kind == 3 && f->weight == 2.5 && f->row[2] == -4 && x < -1.5f && color == GREEN) abort();
  return f ? f->on : 0;
}

int deep(struct list *list) {
  int n = 0;
  for (; list && n < 40; list = list->next) n++;
  return n;
}

/* Reads behind a backslash that ends a pattern of n characters. */
int trailing(const char *s, unsigned long n) {
  int escaped = 0;
  if (!s || n > 3) return 0;
  for (const char *end = s + n; s < end; s++)
    if (*s == '\\' && *++s == 'x') escaped++;
  return escaped;
}

int harmless(int a, int b) { return a < b ? a : b; }
