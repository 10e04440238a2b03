#ifndef WORDS_H
#define WORDS_H
/* Inlined natively; unoptimised code calls the definition in fold.c, which is used nowhere else. */
inline int is_space(char c) { return c == ' ' || c == '\n'; }
int count_words(const char *text, unsigned long size);
void fold_case(char *text, unsigned long size);
int report(int words);
#endif
