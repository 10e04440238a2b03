/* Names that glibc's <math.h> has for classification, in preprocessed sources; musl has macros. Values as glibc's: isinf
   says the sign. */
#define CLASSIFY(suffix, type) \
  __attribute__((weak)) int __isnan##suffix(type x) { return __builtin_isnan(x); } \
  __attribute__((weak)) int isnan##suffix(type x) { return __builtin_isnan(x); } \
  __attribute__((weak)) int __isinf##suffix(type x) { return __builtin_isinf_sign(x); } \
  __attribute__((weak)) int isinf##suffix(type x) { return __builtin_isinf_sign(x); } \
  __attribute__((weak)) int __finite##suffix(type x) { return __builtin_isfinite(x); }

CLASSIFY(, double)
CLASSIFY(f, float)
CLASSIFY(l, long double)
