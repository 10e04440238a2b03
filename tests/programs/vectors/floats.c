/* Conversions, rounding and arithmetic of floating-point vectors, and bytes of blocks, on random values. */
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
/* Numbers around the limits of integers, halves, and some that are infinite or no number. */
static double number(void) {
  static const double some[] = {0.5, 1.5, -2.5, -0.0, 2147483647.0, 2147483648.0, -2147483648.0, -2147483649.0,
                                9223372036854775807.0, -9223372036854775808.0, 1e30, __builtin_inf(), -__builtin_inf(),
                                __builtin_nan(""), 1e-320, 0.49999999999999994};
  unsigned long long n = next() >> 9;
  if (n & 1) return some[n >> 1 & 15];
  return (double)(long long)(n >> 8) / (double)(1ULL << (n & 62)) * (n & 128 ? -1 : 1);
}
static float ps[2][8];
static double pd[2][4];
#define SHOW(size, value)                                    \
  do {                                                       \
    unsigned char bytes[size];                               \
    __typeof__(value) result = value;                        \
    memcpy(bytes, &result, size);                            \
    for (int i = 0; i < size; i++) printf("%02x", bytes[i]); \
    puts("");                                                \
  } while (0)

int main(void) {
  for (int round = 0; round < 4 * ROUNDS; round++) {
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < 8; i++) ps[k][i] = (float)number();
      for (int i = 0; i < 4; i++) pd[k][i] = number();
    }
    __m128 a = _mm_loadu_ps(ps[0]), b = _mm_loadu_ps(ps[1]);
    __m128d c = _mm_loadu_pd(pd[0]), d = _mm_loadu_pd(pd[1]);
    __m256 A = _mm256_loadu_ps(ps[0]), B = _mm256_loadu_ps(ps[1]);
    __m256d C = _mm256_loadu_pd(pd[0]), D = _mm256_loadu_pd(pd[1]);
    __m256i E = _mm256_lddqu_si256((const __m256i *)ps[0]), F = _mm256_lddqu_si256((const __m256i *)pd[1]);
    __m128i e = _mm_lddqu_si128((const __m128i *)ps[0]), f = _mm_lddqu_si128((const __m128i *)pd[1]);
    SHOW(4, _mm_cvtss_si32(a));
    SHOW(8, _mm_cvtss_si64(a));
    SHOW(4, _mm_cvttss_si32(a));
    SHOW(8, _mm_cvttss_si64(a));
    SHOW(4, _mm_cvtsd_si32(c));
    SHOW(8, _mm_cvtsd_si64(c));
    SHOW(4, _mm_cvttsd_si32(c));
    SHOW(8, _mm_cvttsd_si64(c));
    SHOW(16, _mm_cvtps_epi32(a));
    SHOW(16, _mm_cvttps_epi32(a));
    SHOW(16, _mm_cvtpd_epi32(c));
    SHOW(16, _mm_cvttpd_epi32(c));
    SHOW(32, _mm256_cvtps_epi32(A));
    SHOW(32, _mm256_cvttps_epi32(A));
    SHOW(16, _mm256_cvtpd_epi32(C));
    SHOW(16, _mm256_cvttpd_epi32(C));
    SHOW(16, _mm_cvtpd_ps(c));
    SHOW(16, _mm256_cvtpd_ps(C));
    SHOW(16, _mm_cvtsd_ss(a, c));
    SHOW(16, _mm_cvtss_sd(c, a));
    SHOW(16, _mm_cvtps_pd(a));
    SHOW(32, _mm256_cvtps_pd(a));
    SHOW(16, _mm_cvtepi32_ps(e));
    SHOW(32, _mm256_cvtepi32_ps(E));
    SHOW(16, _mm_cvtepi32_pd(e));
    SHOW(32, _mm256_cvtepi32_pd(e));
    SHOW(16, _mm_cvtsi64_sd(c, (long long)next()));
    SHOW(16, _mm_cvtsi64_ss(a, (long long)next()));
    SHOW(16, _mm_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    SHOW(16, _mm_floor_ps(a));
    SHOW(16, _mm_ceil_pd(c));
    SHOW(16, _mm_round_pd(c, _MM_FROUND_TO_ZERO));
    SHOW(16, _mm_round_ps(a, _MM_FROUND_CUR_DIRECTION));
    SHOW(32, _mm256_round_ps(A, _MM_FROUND_TO_NEAREST_INT));
    SHOW(32, _mm256_floor_pd(C));
    SHOW(32, _mm256_ceil_ps(A));
    SHOW(16, _mm_round_ss(a, b, _MM_FROUND_TO_NEG_INF));
    SHOW(16, _mm_round_sd(c, d, _MM_FROUND_TO_POS_INF));
    SHOW(16, _mm_hadd_ps(a, b));
    SHOW(16, _mm_hsub_ps(a, b));
    SHOW(16, _mm_hadd_pd(c, d));
    SHOW(16, _mm_hsub_pd(c, d));
    SHOW(32, _mm256_hadd_ps(A, B));
    SHOW(32, _mm256_hsub_ps(A, B));
    SHOW(32, _mm256_hadd_pd(C, D));
    SHOW(32, _mm256_hsub_pd(C, D));
    SHOW(16, _mm_addsub_ps(a, b));
    SHOW(16, _mm_addsub_pd(c, d));
    SHOW(32, _mm256_addsub_ps(A, B));
    SHOW(32, _mm256_addsub_pd(C, D));
    SHOW(16, _mm_dp_ps(a, b, 0xff));
    SHOW(16, _mm_dp_ps(a, b, 0x75));
    SHOW(16, _mm_dp_pd(c, d, 0x31));
    SHOW(16, _mm_dp_pd(c, d, 0x13));
    SHOW(32, _mm256_dp_ps(A, B, 0xb6));
    SHOW(16, _mm_insert_ps(a, b, 0x00));
    SHOW(16, _mm_insert_ps(a, b, 0x9c));
    SHOW(16, _mm_insert_ps(a, b, 0xe1));
    SHOW(16, _mm_mpsadbw_epu8(e, f, 0));
    SHOW(16, _mm_mpsadbw_epu8(e, f, 7));
    SHOW(32, _mm256_mpsadbw_epu8(E, F, 0x2e));
    SHOW(16, _mm_sqrt_ps(a));
    SHOW(32, _mm256_sqrt_pd(C));
    SHOW(16, _mm_div_ps(a, b));
  }
  return 0;
}
