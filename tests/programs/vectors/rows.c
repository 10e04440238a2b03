/* Every row of the table of x86's vector and bit instructions, on random values: prints all results. */
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
static void fill(void *to, int bytes) {
  for (int i = 0; i < bytes; i++) ((unsigned char *)to)[i] = (unsigned char)(next() >> 20);
}
/* Numbers of few digits, with some that are equal, infinite or no number. */
static double number(void) {
  static const double some[] = {0.0, -0.0, 1.5, -2.25, __builtin_inf(), -__builtin_inf(), __builtin_nan(""), 1e-30};
  return some[next() >> 10 & 7];
}
static float ps[8];
static double pd[4];
static void draw(void) {
  for (int i = 0; i < 8; i++) ps[i] = (float)number();
  for (int i = 0; i < 4; i++) pd[i] = number();
}
#define Fps(x) f##x##ps
#define Fpd(x) f##x##pd
#define Gps(x) g##x##ps
#define Gpd(x) g##x##pd
#define SHOW(size, value)                                                   \
  do {                                                                      \
    unsigned char bytes[size];                                              \
    __typeof__(value) result = value;                                       \
    memcpy(bytes, &result, size);                                           \
    for (int i = 0; i < size; i++) printf("%02x", bytes[i]);                \
    puts("");                                                               \
  } while (0)

int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    __m128i a, b, c, amount, small, thin;
    __m256i A, B, C, SMALL, THIN;
    fill(&a, 16), fill(&b, 16), fill(&c, 16), fill(&A, 32), fill(&B, 32), fill(&C, 32);
    long long high = (long long)next(), low = (long long)(next() & 127);
    amount = _mm_set_epi64x(high, low);
    draw();
    __m128 faps = _mm_loadu_ps(ps);
    __m128d fapd = _mm_loadu_pd(pd);
    __m256 gAps = _mm256_loadu_ps(ps);
    __m256d gApd = _mm256_loadu_pd(pd);
    draw();
    __m128 fbps = _mm_loadu_ps(ps);
    __m128d fbpd = _mm_loadu_pd(pd);
    __m256 gBps = _mm256_loadu_ps(ps);
    __m256d gBpd = _mm256_loadu_pd(pd);
    small = _mm_and_si128(b, _mm_set1_epi64x(0x0000003f0000003fLL));
    SMALL = _mm256_and_si256(B, _mm256_set1_epi64x(0x0000003f0000003fLL));
    thin = round % 3 ? _mm_and_si128(b, a) : _mm_andnot_si128(a, b);
    THIN = round % 3 ? _mm256_and_si256(B, A) : _mm256_andnot_si256(A, B);
    unsigned x = (unsigned)next();
    unsigned y = (unsigned)next();
    unsigned long long wide = next();
    unsigned long long other = next();
    int n = (int)(next() & 31);
    SHOW(16, _mm_packs_epi32(a, b));
    SHOW(32, _mm256_packs_epi32(A, B));
    SHOW(16, _mm_packs_epi16(a, b));
    SHOW(32, _mm256_packs_epi16(A, B));
    SHOW(16, _mm_packus_epi16(a, b));
    SHOW(32, _mm256_packus_epi16(A, B));
    SHOW(16, _mm_packus_epi32(a, b));
    SHOW(32, _mm256_packus_epi32(A, B));
    SHOW(16, _mm_avg_epu8(a, b));
    SHOW(32, _mm256_avg_epu8(A, B));
    SHOW(16, _mm_avg_epu16(a, b));
    SHOW(32, _mm256_avg_epu16(A, B));
    SHOW(16, _mm_mulhi_epi16(a, b));
    SHOW(32, _mm256_mulhi_epi16(A, B));
    SHOW(16, _mm_mulhi_epu16(a, b));
    SHOW(32, _mm256_mulhi_epu16(A, B));
    SHOW(16, _mm_mulhrs_epi16(a, b));
    SHOW(32, _mm256_mulhrs_epi16(A, B));
    SHOW(16, _mm_madd_epi16(a, b));
    SHOW(32, _mm256_madd_epi16(A, B));
    SHOW(16, _mm_maddubs_epi16(a, b));
    SHOW(32, _mm256_maddubs_epi16(A, B));
    SHOW(16, _mm_sad_epu8(a, b));
    SHOW(32, _mm256_sad_epu8(A, B));
    SHOW(16, _mm_shuffle_epi8(a, b));
    SHOW(32, _mm256_shuffle_epi8(A, B));
    SHOW(16, _mm_sign_epi8(a, b));
    SHOW(32, _mm256_sign_epi8(A, B));
    SHOW(16, _mm_sign_epi16(a, b));
    SHOW(32, _mm256_sign_epi16(A, B));
    SHOW(16, _mm_sign_epi32(a, b));
    SHOW(32, _mm256_sign_epi32(A, B));
    SHOW(16, _mm_hadd_epi16(a, b));
    SHOW(32, _mm256_hadd_epi16(A, B));
    SHOW(16, _mm_hadd_epi32(a, b));
    SHOW(32, _mm256_hadd_epi32(A, B));
    SHOW(16, _mm_hadds_epi16(a, b));
    SHOW(32, _mm256_hadds_epi16(A, B));
    SHOW(16, _mm_hsub_epi16(a, b));
    SHOW(32, _mm256_hsub_epi16(A, B));
    SHOW(16, _mm_hsub_epi32(a, b));
    SHOW(32, _mm256_hsub_epi32(A, B));
    SHOW(16, _mm_hsubs_epi16(a, b));
    SHOW(32, _mm256_hsubs_epi16(A, B));
    SHOW(16, _mm_sll_epi16(a, amount));
    SHOW(32, _mm256_sll_epi16(A, amount));
    SHOW(16, _mm_slli_epi16(a, 3));
    SHOW(32, _mm256_slli_epi16(A, 3));
    SHOW(16, _mm_slli_epi16(a, n));
    SHOW(32, _mm256_slli_epi16(A, n));
    SHOW(16, _mm_sll_epi32(a, amount));
    SHOW(32, _mm256_sll_epi32(A, amount));
    SHOW(16, _mm_slli_epi32(a, 3));
    SHOW(32, _mm256_slli_epi32(A, 3));
    SHOW(16, _mm_slli_epi32(a, n));
    SHOW(32, _mm256_slli_epi32(A, n));
    SHOW(16, _mm_sll_epi64(a, amount));
    SHOW(32, _mm256_sll_epi64(A, amount));
    SHOW(16, _mm_slli_epi64(a, 3));
    SHOW(32, _mm256_slli_epi64(A, 3));
    SHOW(16, _mm_slli_epi64(a, n));
    SHOW(32, _mm256_slli_epi64(A, n));
    SHOW(16, _mm_srl_epi16(a, amount));
    SHOW(32, _mm256_srl_epi16(A, amount));
    SHOW(16, _mm_srli_epi16(a, 3));
    SHOW(32, _mm256_srli_epi16(A, 3));
    SHOW(16, _mm_srli_epi16(a, n));
    SHOW(32, _mm256_srli_epi16(A, n));
    SHOW(16, _mm_srl_epi32(a, amount));
    SHOW(32, _mm256_srl_epi32(A, amount));
    SHOW(16, _mm_srli_epi32(a, 3));
    SHOW(32, _mm256_srli_epi32(A, 3));
    SHOW(16, _mm_srli_epi32(a, n));
    SHOW(32, _mm256_srli_epi32(A, n));
    SHOW(16, _mm_srl_epi64(a, amount));
    SHOW(32, _mm256_srl_epi64(A, amount));
    SHOW(16, _mm_srli_epi64(a, 3));
    SHOW(32, _mm256_srli_epi64(A, 3));
    SHOW(16, _mm_srli_epi64(a, n));
    SHOW(32, _mm256_srli_epi64(A, n));
    SHOW(16, _mm_sra_epi16(a, amount));
    SHOW(32, _mm256_sra_epi16(A, amount));
    SHOW(16, _mm_srai_epi16(a, 3));
    SHOW(32, _mm256_srai_epi16(A, 3));
    SHOW(16, _mm_srai_epi16(a, n));
    SHOW(32, _mm256_srai_epi16(A, n));
    SHOW(16, _mm_sra_epi32(a, amount));
    SHOW(32, _mm256_sra_epi32(A, amount));
    SHOW(16, _mm_srai_epi32(a, 3));
    SHOW(32, _mm256_srai_epi32(A, 3));
    SHOW(16, _mm_srai_epi32(a, n));
    SHOW(32, _mm256_srai_epi32(A, n));
    SHOW(16, _mm_sllv_epi32(a, small));
    SHOW(32, _mm256_sllv_epi32(A, SMALL));
    SHOW(16, _mm_sllv_epi64(a, small));
    SHOW(32, _mm256_sllv_epi64(A, SMALL));
    SHOW(16, _mm_srlv_epi32(a, small));
    SHOW(32, _mm256_srlv_epi32(A, SMALL));
    SHOW(16, _mm_srlv_epi64(a, small));
    SHOW(32, _mm256_srlv_epi64(A, SMALL));
    SHOW(16, _mm_srav_epi32(a, small));
    SHOW(32, _mm256_srav_epi32(A, SMALL));
    SHOW(16, _mm_blendv_epi8(a, b, c));
    SHOW(32, _mm256_blendv_epi8(A, B, C));
    SHOW(16, _mm_minpos_epu16(a));
    SHOW(32, _mm256_permutevar8x32_epi32(A, B));
    SHOW(32, _mm256_permutevar8x32_ps(_mm256_castsi256_ps(A), B));
    SHOW(16, _mm_permutevar_ps(_mm_castsi128_ps(a), b));
    SHOW(32, _mm256_permutevar_ps(_mm256_castsi256_ps(A), B));
    SHOW(16, _mm_blendv_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _mm_castsi128_ps(c)));
    SHOW(32, _mm256_blendv_ps(_mm256_castsi256_ps(A), _mm256_castsi256_ps(B), _mm256_castsi256_ps(C)));
    SHOW(16, _mm_min_ps(Fps(a), Fps(b)));
    SHOW(32, _mm256_min_ps(Gps(A), Gps(B)));
    SHOW(16, _mm_max_ps(Fps(a), Fps(b)));
    SHOW(32, _mm256_max_ps(Gps(A), Gps(B)));
    SHOW(16, _mm_min_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_max_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpeq_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpeq_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmplt_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmplt_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmple_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmple_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpneq_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpneq_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpunord_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpunord_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpord_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpord_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpnlt_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpnlt_ss(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpnle_ps(Fps(a), Fps(b)));
    SHOW(16, _mm_cmpnle_ss(Fps(a), Fps(b)));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 0));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 1));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 2));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 8));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 9));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 11));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 12));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 13));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 14));
    SHOW(32, _mm256_cmp_ps(Gps(A), Gps(B), 15));
    SHOW(16, _mm_permutevar_pd(_mm_castsi128_pd(a), b));
    SHOW(32, _mm256_permutevar_pd(_mm256_castsi256_pd(A), B));
    SHOW(16, _mm_blendv_pd(_mm_castsi128_pd(a), _mm_castsi128_pd(b), _mm_castsi128_pd(c)));
    SHOW(32, _mm256_blendv_pd(_mm256_castsi256_pd(A), _mm256_castsi256_pd(B), _mm256_castsi256_pd(C)));
    SHOW(16, _mm_min_pd(Fpd(a), Fpd(b)));
    SHOW(32, _mm256_min_pd(Gpd(A), Gpd(B)));
    SHOW(16, _mm_max_pd(Fpd(a), Fpd(b)));
    SHOW(32, _mm256_max_pd(Gpd(A), Gpd(B)));
    SHOW(16, _mm_min_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_max_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpeq_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpeq_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmplt_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmplt_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmple_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmple_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpneq_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpneq_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpunord_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpunord_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpord_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpord_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpnlt_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpnlt_sd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpnle_pd(Fpd(a), Fpd(b)));
    SHOW(16, _mm_cmpnle_sd(Fpd(a), Fpd(b)));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 0));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 1));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 2));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 8));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 9));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 11));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 12));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 13));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 14));
    SHOW(32, _mm256_cmp_pd(Gpd(A), Gpd(B), 15));
    printf("%llx\n", (unsigned long long)_mm_movemask_epi8(a));
    printf("%llx\n", (unsigned long long)_mm256_movemask_epi8(A));
    printf("%llx\n", (unsigned long long)_mm_movemask_ps(_mm_castsi128_ps(a)));
    printf("%llx\n", (unsigned long long)_mm_movemask_pd(_mm_castsi128_pd(a)));
    printf("%llx\n", (unsigned long long)_mm256_movemask_ps(_mm256_castsi256_ps(A)));
    printf("%llx\n", (unsigned long long)_mm256_movemask_pd(_mm256_castsi256_pd(A)));
    printf("%llx\n", (unsigned long long)_mm_testz_si128(a, thin));
    printf("%llx\n", (unsigned long long)_mm256_testz_si256(A, THIN));
    printf("%llx\n", (unsigned long long)_mm_testz_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(thin)));
    printf("%llx\n", (unsigned long long)_mm256_testz_ps(_mm256_castsi256_ps(A), _mm256_castsi256_ps(THIN)));
    printf("%llx\n", (unsigned long long)_mm_testz_pd(_mm_castsi128_pd(a), _mm_castsi128_pd(thin)));
    printf("%llx\n", (unsigned long long)_mm256_testz_pd(_mm256_castsi256_pd(A), _mm256_castsi256_pd(THIN)));
    printf("%llx\n", (unsigned long long)_mm_testc_si128(a, thin));
    printf("%llx\n", (unsigned long long)_mm256_testc_si256(A, THIN));
    printf("%llx\n", (unsigned long long)_mm_testc_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(thin)));
    printf("%llx\n", (unsigned long long)_mm256_testc_ps(_mm256_castsi256_ps(A), _mm256_castsi256_ps(THIN)));
    printf("%llx\n", (unsigned long long)_mm_testc_pd(_mm_castsi128_pd(a), _mm_castsi128_pd(thin)));
    printf("%llx\n", (unsigned long long)_mm256_testc_pd(_mm256_castsi256_pd(A), _mm256_castsi256_pd(THIN)));
    printf("%llx\n", (unsigned long long)_mm_testnzc_si128(a, thin));
    printf("%llx\n", (unsigned long long)_mm256_testnzc_si256(A, THIN));
    printf("%llx\n", (unsigned long long)_mm_testnzc_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(thin)));
    printf("%llx\n", (unsigned long long)_mm256_testnzc_ps(_mm256_castsi256_ps(A), _mm256_castsi256_ps(THIN)));
    printf("%llx\n", (unsigned long long)_mm_testnzc_pd(_mm_castsi128_pd(a), _mm_castsi128_pd(thin)));
    printf("%llx\n", (unsigned long long)_mm256_testnzc_pd(_mm256_castsi256_pd(A), _mm256_castsi256_pd(THIN)));
    printf("%llx\n", (unsigned long long)_mm_comieq_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_comilt_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_comile_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_comigt_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_comige_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_comineq_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomieq_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomilt_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomile_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomigt_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomige_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomineq_ss(Fps(a), Fps(b)));
    printf("%llx\n", (unsigned long long)_mm_comieq_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_comilt_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_comile_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_comigt_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_comige_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_comineq_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomieq_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomilt_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomile_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomigt_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomige_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_ucomineq_sd(Fpd(a), Fpd(b)));
    printf("%llx\n", (unsigned long long)_mm_crc32_u8(x, (unsigned char)y));
    printf("%llx\n", (unsigned long long)_mm_crc32_u16(x, (unsigned short)y));
    printf("%llx\n", (unsigned long long)_mm_crc32_u32(x, y));
    printf("%llx\n", (unsigned long long)_mm_crc32_u64(x, wide));
    printf("%llx\n", (unsigned long long)_bextr_u32(x, y & 63, y >> 8 & 63));
    printf("%llx\n", (unsigned long long)_bextr_u64(wide, y & 127, y >> 8 & 127));
    printf("%llx\n", (unsigned long long)_bzhi_u32(x, y & 63));
    printf("%llx\n", (unsigned long long)_bzhi_u64(wide, y & 127));
    printf("%llx\n", (unsigned long long)_pdep_u32(x, y));
    printf("%llx\n", (unsigned long long)_pext_u32(x, y));
    printf("%llx\n", (unsigned long long)_pdep_u64(wide, other));
    printf("%llx\n", (unsigned long long)_pext_u64(wide, other));
    SHOW(16, _mm_clmulepi64_si128(a, b, 0));
    SHOW(16, _mm_clmulepi64_si128(a, b, 1));
    SHOW(16, _mm_clmulepi64_si128(a, b, 16));
    SHOW(16, _mm_clmulepi64_si128(a, b, 17));
  }
  return 0;
}
