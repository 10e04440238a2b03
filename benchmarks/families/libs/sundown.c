// sundown: converts any Markdown of six characters to HTML.
#include <buffer.h>
#include <html.h>
#include <klee/klee.h>
#include <markdown.h>

int main(void) {
  uint8_t text[6];
  struct sd_callbacks callbacks;
  struct html_renderopt options;
  klee_make_symbolic(text, sizeof text, "text");
  struct buf *html = bufnew(64);
  sdhtml_renderer(&callbacks, &options, 0);
  struct sd_markdown *markdown = sd_markdown_new(MKDEXT_TABLES | MKDEXT_FENCED_CODE | MKDEXT_AUTOLINK, 16, &callbacks, &options);
  sd_markdown_render(html, text, sizeof text, markdown);
  sd_markdown_free(markdown);
  bufrelease(html);
  return 0;
}
