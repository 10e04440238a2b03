// FriBidi: reorders six bytes of UTF-8 for display.
#include <fribidi.h>
#include <klee/klee.h>

int main(void) {
  char text[6];
  FriBidiChar logical[7], visual[7];
  FriBidiParType base = FRIBIDI_PAR_ON;
  klee_make_symbolic(text, sizeof text, "text");
  FriBidiStrIndex length = fribidi_charset_to_unicode(FRIBIDI_CHAR_SET_UTF8, text, sizeof text, logical);
  return fribidi_log2vis(logical, length, &base, visual, 0, 0, 0) == 0;
}
