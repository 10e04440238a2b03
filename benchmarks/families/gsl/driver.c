// One function of the GNU Scientific Library on symbolic numbers: -DDRIVE=gsl_cdf_beta_P. Errors are returned, not fatal.
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_complex_math.h>
#include <gsl/gsl_deriv.h>
#include <gsl/gsl_diff.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_poly.h>
#include <gsl/gsl_sf.h>
#include <klee/klee.h>
#include <math.h>

// Not in the public headers.
int gsl_sf_bessel_Inu_scaled_asymp_unif_e(const double nu, const double x, gsl_sf_result *result);
int gsl_sf_bessel_cos_pi4_e(double y, double eps, gsl_sf_result *result);
int gsl_sf_bessel_sin_pi4_e(double y, double eps, gsl_sf_result *result);

static double number(const char *name) {
  double x;
  klee_make_symbolic(&x, sizeof x, name);
  return x;
}

#define X number("x")
#define A number("a")
#define B number("b")
#define C number("c")

// The functions that GSL's own tests differentiate and integrate.
static double power(double x, void *parameters) {
  (void)parameters;
  return pow(x, 1.5);
}
static double rational(double x, void *parameters) {
  (void)parameters;
  return 1 / (5 * x * x * x + 6);
}
static const gsl_function POWER = {power, 0};
static gsl_function RATIONAL = {rational, 0};

#define DISTRIBUTION(name, ...) \
  static int drive_##name(void) { return name(__VA_ARGS__) > 0.5; }
DISTRIBUTION(gsl_cdf_beta_P, X, A, B)
DISTRIBUTION(gsl_cdf_beta_Pinv, X, A, B)
DISTRIBUTION(gsl_cdf_cauchy_Pinv, X, A)
DISTRIBUTION(gsl_cdf_chisq_P, X, A)
DISTRIBUTION(gsl_cdf_gumbel1_Q, X, A, B)
DISTRIBUTION(gsl_cdf_gumbel1_Qinv, X, A, B)
DISTRIBUTION(gsl_cdf_gumbel2_Pinv, X, A, B)
DISTRIBUTION(gsl_cdf_weibull_Qinv, X, A, B)

#define COMPLEX(name)                                 \
  static int drive_##name(void) {                     \
    gsl_complex z = name(gsl_complex_rect(A, B)); \
    return GSL_REAL(z) > GSL_IMAG(z);                 \
  }
COMPLEX(gsl_complex_exp)
COMPLEX(gsl_complex_log)
COMPLEX(gsl_complex_sinh)

static int drive_gsl_deriv_forward(void) {
  double result, error;
  return gsl_deriv_forward(&POWER, X, 1e-8, &result, &error);
}
static int drive_gsl_diff_forward(void) {
  double result, error;
  return gsl_diff_forward(&POWER, X, &result, &error);
}
static int drive_gsl_eigen_genv_sort(void) {
  gsl_vector_complex *alpha = gsl_vector_complex_alloc(2);
  gsl_vector *beta = gsl_vector_alloc(2);
  gsl_matrix_complex *vectors = gsl_matrix_complex_calloc(2, 2);
  for (int i = 0; i < 2; i++) {
    gsl_vector_complex_set(alpha, i, gsl_complex_rect(A, B));
    gsl_vector_set(beta, i, C);
  }
  return gsl_eigen_genv_sort(alpha, beta, vectors, GSL_EIGEN_SORT_ABS_ASC);
}
static int drive_gsl_integration_glfixed(void) {
  gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(3);
  return gsl_integration_glfixed(&POWER, A, B, table) > 0;
}
static int drive_gsl_integration_qawc(void) {
  double result, error;
  gsl_integration_workspace *workspace = gsl_integration_workspace_alloc(8);
  return gsl_integration_qawc(&RATIONAL, A, B, C, 0, 1e-3, 8, workspace, &result, &error);
}
static int drive_gsl_integration_qng(void) {
  double result, error;
  size_t evaluations;
  return gsl_integration_qng(&RATIONAL, A, B, 1e-3, 1e-3, &result, &error, &evaluations);
}
static int drive_gsl_linalg_PTLQ_decomp(void) {
  gsl_matrix *a = gsl_matrix_alloc(2, 2);
  gsl_vector *tau = gsl_vector_alloc(2), *norm = gsl_vector_alloc(2);
  gsl_permutation *p = gsl_permutation_alloc(2);
  int sign;
  for (int i = 0; i < 4; i++) gsl_matrix_set(a, i / 2, i % 2, A);
  return gsl_linalg_PTLQ_decomp(a, tau, p, &sign, norm);
}
static int drive_gsl_linalg_complex_LU_lndet(void) {
  gsl_matrix_complex *lu = gsl_matrix_complex_calloc(2, 2);
  for (int i = 0; i < 2; i++) gsl_matrix_complex_set(lu, i, i, gsl_complex_rect(A, B));
  return gsl_linalg_complex_LU_lndet(lu) > 0;
}
static int drive_gsl_poly_complex_solve_cubic(void) {
  gsl_complex z[3];
  return gsl_poly_complex_solve_cubic(A, B, C, &z[0], &z[1], &z[2]);
}
static int drive_gsl_poly_complex_solve_quadratic(void) {
  gsl_complex z[2];
  return gsl_poly_complex_solve_quadratic(A, B, C, &z[0], &z[1]);
}
static int drive_gsl_poly_solve_quadratic(void) {
  double x[2];
  return gsl_poly_solve_quadratic(A, B, C, &x[0], &x[1]);
}

#define SPECIAL(name, ...)          \
  static int drive_##name(void) {   \
    gsl_sf_result result;           \
    return name(__VA_ARGS__, &result); \
  }
SPECIAL(gsl_sf_airy_Ai_deriv_e, X, GSL_PREC_DOUBLE)
SPECIAL(gsl_sf_bessel_Inu_e, A, X)
SPECIAL(gsl_sf_bessel_Inu_scaled_asymp_unif_e, A, X)
SPECIAL(gsl_sf_bessel_Inu_scaled_e, A, X)
SPECIAL(gsl_sf_bessel_cos_pi4_e, X, A)
SPECIAL(gsl_sf_bessel_sin_pi4_e, X, A)
SPECIAL(gsl_sf_debye_1_e, X)
SPECIAL(gsl_sf_gamma_inc_P_e, A, X)

static int drive_gsl_sf_bessel_In_scaled_e(void) {
  int n;
  gsl_sf_result result;
  klee_make_symbolic(&n, sizeof n, "n");
  return gsl_sf_bessel_In_scaled_e(n, X, &result);
}
static int drive_gsl_sf_elljac_e(void) {
  double sn, cn, dn;
  return gsl_sf_elljac_e(X, A, &sn, &cn, &dn);
}

#define JOIN(a, b) a##b
#define CALL(name) JOIN(drive_, name)()

int main(void) {
  gsl_set_error_handler_off();
  return CALL(DRIVE);
}
