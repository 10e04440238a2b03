/* Atomic operations: plain ones, since threads do not switch inside of the library. musl's atomic.h derives the others from these. */
#define a_cas a_cas
static inline int a_cas(volatile int *p, int expected, int value) {
  int old = *p;
  if (old == expected) *p = value;
  return old;
}

#define a_cas_p a_cas_p
static inline void *a_cas_p(volatile void *p, void *expected, void *value) {
  void *volatile *place = (void *volatile *)p;
  void *old = *place;
  if (old == expected) *place = value;
  return old;
}

#define a_swap a_swap
static inline int a_swap(volatile int *p, int value) {
  int old = *p;
  *p = value;
  return old;
}

#define a_fetch_add a_fetch_add
static inline int a_fetch_add(volatile int *p, int value) {
  int old = *p;
  *p = (int)((unsigned)old + (unsigned)value);
  return old;
}

#define a_and a_and
static inline void a_and(volatile int *p, int value) { *p &= value; }

#define a_or a_or
static inline void a_or(volatile int *p, int value) { *p |= value; }

#define a_inc a_inc
static inline void a_inc(volatile int *p) { a_fetch_add(p, 1); }

#define a_dec a_dec
static inline void a_dec(volatile int *p) { a_fetch_add(p, -1); }

#define a_store a_store
static inline void a_store(volatile int *p, int value) { *p = value; }

#define a_barrier a_barrier
static inline void a_barrier(void) {}

#define a_spin a_spin
static inline void a_spin(void) {}

#define a_crash a_crash
static inline void a_crash(void) { __builtin_trap(); }

#define a_ctz_64 a_ctz_64
static inline int a_ctz_64(uint64_t x) { return __builtin_ctzll(x); }

#define a_clz_64 a_clz_64
static inline int a_clz_64(uint64_t x) { return __builtin_clzll(x); }
