/* qsort, bsearch, hash tables and trees, and the environment. */
#define _GNU_SOURCE
#include <getopt.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int by_text_with(const void *a, const void *b, void *calls) {
  ++*(int *)calls;
  return strcmp(*(char *const *)a, *(char *const *)b);
}
static int plain(const void *a, const void *b) { return strcmp(a, b); }
static void visit(const void *node, VISIT which, int depth) {
  if (which == postorder || which == leaf) printf("%s@%d ", *(char *const *)node, depth);
}

int main(int argc, char **argv) {
  int numbers[200];
  unsigned seed = 12345;
  for (int i = 0; i < 200; i++) numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 16) % 1000;
  qsort(numbers, 200, sizeof *numbers, by_number);
  for (int i = 0; i < 200; i++) printf("%d ", numbers[i]);
  int key = numbers[77], missing = 1001;
  printf("\n%d %d\n", *(int *)bsearch(&key, numbers, 200, sizeof *numbers, by_number), bsearch(&missing, numbers, 200, sizeof *numbers, by_number) == NULL);
  char *names[] = {"pear", "apple", "fig", "orange", "banana", "fig"};
  qsort(names, 6, sizeof *names, by_text);
  for (int i = 0; i < 6; i++) printf("%s ", names[i]);
  int calls = 0;
  qsort_r(names, 6, sizeof *names, by_text_with, &calls);
  printf("%d\n", calls > 0);
  void *root = NULL;
  for (int i = 0; i < 6; i++) tsearch(names[i], &root, plain);
  twalk(root, visit);
  printf("%d\n", tfind("fig", &root, plain) != NULL);
  hcreate(20);
  for (int i = 0; i < 6; i++) hsearch((ENTRY){names[i], (void *)(long)i}, ENTER);
  ENTRY *found = hsearch((ENTRY){"orange", NULL}, FIND);
  printf("%s %ld\n", found->key, (long)found->data);
  setenv("COLOUR", "green", 1);
  setenv("COLOUR", "red", 0);
  putenv("SHAPE=round");
  printf("%s %s ", getenv("COLOUR"), getenv("SHAPE"));
  unsetenv("COLOUR");
  printf("%d\n", getenv("COLOUR") == NULL);
  char *words[] = {"prog", "-a", "--size=5", "-bvalue", "rest", "--verbose", "more", NULL};
  static const struct option longs[] = {{"size", required_argument, NULL, 's'}, {"verbose", no_argument, NULL, 'v'}, {0}};
  int option;
  while ((option = getopt_long(7, words, "ab:v", longs, NULL)) != -1) printf("%c:%s ", option, optarg ? optarg : "-");
  printf("%d %s\n", optind, words[optind]);
  printf("%d %s\n", argc, strrchr(argv[0], '/') ? "path" : "name");
  return 0;
}
