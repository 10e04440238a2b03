// Inline assembly as headers and libraries have it, and carries and fences as intrinsics: a line per result, to be
// compared with the processor's.
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

static u64 state = 88172645463325252u;

static u64 next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state & 1 ? state : state & 2 ? (u64)(int64_t)(int8_t)(state >> 8) : (u64)1 << (state >> 58);
}

#define SHOW(name, value) printf("%s %llx\n", name, (unsigned long long)(value))

static void words(u64 a, u64 b) {
  u64 x = a, y = b;
  u32 k = (u32)a, l = (u32)b;
  u16 s = (u16)a;
  u8 flag;
  __asm__("bswap %0" : "+r"(x));
  SHOW("bswapq", x);
  __asm__("bswapl %0" : "+r"(k));
  SHOW("bswapl", k);
  __asm__("rolq %%cl, %0" : "+r"(x) : "c"(b));
  SHOW("rolq", x);
  __asm__("roll $7, %0" : "+r"(k));
  SHOW("roll", k);
  __asm__("rorl %b1, %0" : "+r"(k) : "c"(l));
  SHOW("rorl", k);
  __asm__("rorw $8, %w0" : "+r"(s));
  SHOW("rorw", s);
  __asm__("shlq %%cl, %0; shrl %%cl, %1" : "+r"(x), "+r"(k) : "c"((u8)(b & 31)) : "cc");
  SHOW("shl", x);
  SHOW("shr", k);
  __asm__("sarq $3, %0" : "+r"(y));
  SHOW("sar", y);
  __asm__("addq %3, %1; adcq $0, %0" : "+r"(x), "+r"(y) : "r"(a), "r"(b) : "cc");
  SHOW("adc", x);
  SHOW("add", y);
  __asm__("subl %2, %0; sbbl %1, %1" : "+r"(k), "=&r"(l) : "r"((u32)b), "1"(l) : "cc");
  SHOW("sub", k);
  SHOW("sbb", l);
  __asm__("addl %2, %0\n\tsetc %1" : "+r"(k), "=q"(flag) : "r"((u32)b) : "cc");
  SHOW("setc", flag);
  __asm__("cmpq %2, %1; sete %0" : "=q"(flag) : "r"(a), "r"(b & 3) : "cc");
  SHOW("sete", flag);
  int below;
  __asm__("cmpq %2, %1" : "=@ccb"(below) : "r"(a), "r"(b));
  SHOW("ccb", below);
  __asm__("negq %0; notl %1" : "+r"(x), "+r"(k) : : "cc");
  SHOW("neg", x);
  SHOW("not", k);
  __asm__("movb $5, %b0" : "+q"(x));
  SHOW("movb", x);
  __asm__("movl %k1, %k0" : "+r"(x) : "r"(b));
  SHOW("movl", x);
  __asm__("xorl %0, %0; incl %0; decq %1" : "=&r"(k), "+r"(y) : : "cc");
  SHOW("inc", k);
  SHOW("dec", y);
  u64 kept = 77;
  __asm__("bsfq %1, %0" : "+r"(kept) : "rm"(a & b) : "cc");
  SHOW("bsf", kept);
  kept = 99;
  __asm__("bsrq %1, %0" : "+r"(kept) : "r"(a & b) : "cc");
  SHOW("bsr", kept);
  __asm__("rep; bsf %1, %0" : "=r"(kept) : "r"(a & b) : "cc");
  SHOW("tzcnt", kept);
  __asm__("popcntq %1, %0" : "=r"(kept) : "r"(a) : "cc");
  SHOW("popcnt", kept);
  u32 low, high;
  __asm__("mull %3" : "=a"(low), "=d"(high) : "0"((u32)a), "r"((u32)b) : "cc");
  SHOW("mul", low);
  SHOW("high", high);
  __asm__("divl %4" : "=a"(low), "=d"(high) : "0"((u32)a), "1"((u32)b & 7), "r"((u32)b | 8) : "cc");
  SHOW("div", low);
  SHOW("rest", high);
}

static void memory(u64 a, u64 b) {
  u64 cell = a, old = b;
  __asm__ volatile("lock; xaddq %0, %1" : "+r"(old), "+m"(cell) : : "memory", "cc");
  SHOW("xadd", old);
  SHOW("cell", cell);
  u32 place = (u32)a, seen;
  __asm__ volatile("lock cmpxchgl %2, %1" : "=a"(seen), "+m"(place) : "r"((u32)b), "0"((u32)(a & ~1)) : "memory", "cc");
  SHOW("cmpxchg", seen);
  SHOW("place", place);
  char done;
  __asm__ volatile("lock; cmpxchgq %3, %1; setz %0"
                   : "=q"(done), "+m"(cell), "+a"(old)
                   : "r"(b)
                   : "memory", "cc");
  SHOW("setz", done);
  SHOW("cell", cell);
  SHOW("old", old);
  u16 narrow = (u16)a, other = (u16)b;
  __asm__ volatile("xchgw %0, %1" : "+r"(narrow), "+m"(other) : : "memory");
  SHOW("xchg", narrow);
  SHOW("other", other);
  __asm__ volatile("lock; addl %1, %0" : "+m"(place) : "ir"(7) : "memory", "cc");
  SHOW("lock add", place);
  __asm__ volatile("lock; orl $0, %0" : "+m"(place) : : "memory", "cc");
  __asm__ volatile("mfence" : : : "memory");
  __asm__ volatile("" : "+r"(a), "+m"(cell) : : "memory");
  SHOW("empty", a + cell);
}

static void carries(u64 a, u64 b) {
  unsigned long long wide;
  unsigned narrow;
  for (u8 carry = 0; carry < 2; carry++) {
    SHOW("addcarry", _addcarry_u64(carry, a, b, &wide));
    SHOW("sum", wide);
    SHOW("subborrow", _subborrow_u64(carry, a, b, &wide));
    SHOW("difference", wide);
    SHOW("addcarry32", _addcarry_u32(carry, (u32)a, (u32)b, &narrow));
    SHOW("sum", narrow);
    SHOW("subborrow32", _subborrow_u32(carry, (u32)a, (u32)b, &narrow));
    SHOW("difference", narrow);
  }
  _mm_mfence(), _mm_lfence(), _mm_sfence(), _mm_pause();
}

int main(void) {
  for (int i = 0; i < 12; i++) {
    u64 a = next(), b = next();
    words(a, b);
    memory(a, b);
    carries(a, b);
  }
  return 0;
}
