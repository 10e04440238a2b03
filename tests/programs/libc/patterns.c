/* Regular expressions, wildcards, and globbing. */
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>

static void try(const char *pattern, int flags, const char *text) {
  regex_t regex;
  regmatch_t found[4];
  int error = regcomp(&regex, pattern, flags);
  if (error) {
    char message[64];
    regerror(error, &regex, message, sizeof message);
    printf("%s: %s\n", pattern, message);
    return;
  }
  int result = regexec(&regex, text, 4, found, 0);
  printf("%s on %s: %d", pattern, text, result);
  for (int i = 0; !result && i < 4; i++) printf(" %d-%d", (int)found[i].rm_so, (int)found[i].rm_eo);
  printf("\n");
  regfree(&regex);
}

int main(void) {
  try("abc", 0, "xabcx");
  try("^a.*z$", 0, "abcz");
  try("(a|b)+c", REG_EXTENDED, "ababc");
  try("([0-9]+)-([0-9]+)", REG_EXTENDED, "tel 12-345");
  try("a{2,3}", REG_EXTENDED, "aaaa");
  try("[[:alpha:]]+", REG_EXTENDED, "12ab");
  try("\\(a\\)\\1", 0, "xaa");
  try("HELLO", REG_ICASE, "hello");
  try("[^a-c]", 0, "abcd");
  try("(", REG_EXTENDED, "");
  try("a**", REG_EXTENDED, "a");
  try("x?", REG_EXTENDED, "");
  static const char *const globs[][2] = {{"*.c", "a.c"}, {"*.c", ".c"}, {"a?c", "abc"}, {"[a-c]x", "bx"}, {"[!a]x", "ax"}, {"a/*", "a/b/c"}, {"\\*", "*"}, {"*", "a/b"}};
  for (int i = 0; i < 8; i++)
    printf("%d %d %d\n", fnmatch(globs[i][0], globs[i][1], 0), fnmatch(globs[i][0], globs[i][1], FNM_PATHNAME), fnmatch(globs[i][0], globs[i][1], FNM_PERIOD));
  return 0;
}
