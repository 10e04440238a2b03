#include "words.h"

int count_words(const char *text, unsigned long size) {
  int words = 0, inside = 0;
  for (unsigned long i = 0; i < size; i++) {
    if (is_space(text[i])) inside = 0;
    else if (!inside) inside = 1, words++;
  }
  return words;
}
