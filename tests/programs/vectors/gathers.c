/* Gathers, masked loads and stores on random values: prints all results. Elements that a mask leaves out are outside. */
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

static unsigned long long state = 88172645463325252ULL;
static unsigned long long next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
#define SHOW(size, value)                                    \
  do {                                                       \
    unsigned char bytes[size];                               \
    __typeof__(value) result = value;                        \
    memcpy(bytes, &result, size);                            \
    for (int i = 0; i < size; i++) printf("%02x", bytes[i]); \
    puts("");                                                \
  } while (0)

int main(void) {
  long long table[16];
  for (int i = 0; i < 16; i++) table[i] = (long long)next();
  for (int round = 0; round < ROUNDS; round++) {
    int narrow[8], narrow_mask[8];
    long long wide[4], wide_mask[4];
    for (int i = 0; i < 8; i++) narrow[i] = (int)(next() >> 20 & 15), narrow_mask[i] = next() & 64 ? -1 : 0;
    for (int i = 0; i < 4; i++) wide[i] = (long long)(next() >> 20 & 15), wide_mask[i] = next() & 64 ? -1 : 0;
    __m128i n = _mm_loadu_si128((const __m128i *)narrow), w = _mm_loadu_si128((const __m128i *)wide);
    __m256i N = _mm256_loadu_si256((const __m256i *)narrow), W = _mm256_loadu_si256((const __m256i *)wide);
    __m128i nm = _mm_loadu_si128((const __m128i *)narrow_mask), wm = _mm_loadu_si128((const __m128i *)wide_mask);
    __m256i NM = _mm256_loadu_si256((const __m256i *)narrow_mask), WM = _mm256_loadu_si256((const __m256i *)wide_mask);
    const int *ints = (const int *)table;
    const float *floats = (const float *)table;
    const double *doubles = (const double *)table;
    SHOW(16, _mm_i32gather_epi32(ints, n, 4));
    SHOW(32, _mm256_i32gather_epi32(ints, N, 8));
    SHOW(16, _mm_i64gather_epi32(ints, w, 4));
    SHOW(16, _mm256_i64gather_epi32(ints, W, 4));
    SHOW(16, _mm_i32gather_epi64(table, n, 8));
    SHOW(32, _mm256_i32gather_epi64(table, n, 4));
    SHOW(16, _mm_i64gather_epi64(table, w, 8));
    SHOW(32, _mm256_i64gather_epi64(table, W, 2));
    SHOW(16, _mm_i32gather_ps(floats, n, 4));
    SHOW(32, _mm256_i32gather_ps(floats, N, 1));
    SHOW(16, _mm_i64gather_ps(floats, w, 4));
    SHOW(16, _mm256_i64gather_ps(floats, W, 4));
    SHOW(16, _mm_i32gather_pd(doubles, n, 8));
    SHOW(32, _mm256_i32gather_pd(doubles, n, 8));
    SHOW(16, _mm_i64gather_pd(doubles, w, 8));
    SHOW(32, _mm256_i64gather_pd(doubles, W, 8));
    __m128i far = _mm_or_si128(n, _mm_andnot_si128(nm, _mm_set1_epi32(0x7f000000)));
    SHOW(16, _mm_mask_i32gather_epi32(w, ints, far, nm, 4));
    SHOW(32, _mm256_mask_i64gather_pd(_mm256_set1_pd(1.5), doubles, W, _mm256_castsi256_pd(WM), 8));
    SHOW(16, _mm_maskload_epi32(ints, nm));
    SHOW(32, _mm256_maskload_epi32(ints, NM));
    SHOW(16, _mm_maskload_epi64(table, wm));
    SHOW(32, _mm256_maskload_epi64(table, WM));
    SHOW(16, _mm_maskload_ps(floats, nm));
    SHOW(32, _mm256_maskload_ps(floats, NM));
    SHOW(16, _mm_maskload_pd(doubles, wm));
    SHOW(32, _mm256_maskload_pd(doubles, WM));
    /* Only the first two elements are inside of the object. */
    long long two[2] = {(long long)next(), (long long)next()};
    SHOW(32, _mm256_maskload_epi64(two, _mm256_and_si256(WM, _mm256_set_epi64x(0, 0, -1, -1))));
    long long to[4] = {1, 2, 3, 4};
    _mm_maskstore_epi32((int *)to, nm, n);
    _mm256_maskstore_epi64(to, WM, W);
    _mm_maskstore_ps((float *)to, nm, _mm_castsi128_ps(w));
    _mm256_maskstore_pd((double *)to, WM, _mm256_castsi256_pd(N));
    _mm_maskmoveu_si128(n, nm, (char *)(to + 2));
    SHOW(32, _mm256_loadu_si256((const __m256i *)to));
    _mm256_maskstore_epi64(two, _mm256_and_si256(WM, _mm256_set_epi64x(0, 0, -1, -1)), W);
    SHOW(16, _mm_loadu_si128((const __m128i *)two));
  }
  return 0;
}
