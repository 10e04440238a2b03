#include "words.h"

extern inline int is_space(char c);

void fold_case(char *text, unsigned long size) {
  for (unsigned long i = 0; i < size; i++)
    if (!is_space(text[i])) text[i] |= 32;
}
