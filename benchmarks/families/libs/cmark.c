// cmark: converts any Markdown of six characters to HTML.
#include <cmark.h>
#include <klee/klee.h>
#include <stdlib.h>

int main(void) {
  char text[6];
  klee_make_symbolic(text, sizeof text, "text");
  free(cmark_markdown_to_html(text, sizeof text, CMARK_OPT_DEFAULT));
  return 0;
}
