// N words that are 0 or 2^i: their sum has 2^N values, none next to another. With WORST the sum is multiplied by one
// more variable, 0 or 1.
#include <klee/klee.h>
#include <stdint.h>

int main(void) {
  uint32_t word[N], sum = 0, pattern = 0;
  klee_make_symbolic(word, sizeof word, "word");
  for (int i = 0; i < N; i++) {
    uint32_t power = 2u << i;
    // 0 or the power, without a disjunction, which the paper's layer does not learn from.
    klee_assume(word[i] <= power);
    klee_assume(word[i] - 1 >= power - 1);
    sum += word[i];
    if (i % 2) pattern |= power;
  }
#ifdef WORST
  uint32_t factor;
  klee_make_symbolic(&factor, sizeof factor, "factor");
  klee_assume(factor <= 1);
  sum *= factor;
#endif
  if (sum == pattern) return 1;
  return 0;
}
