// Symbolic values for C++ programs.
#ifndef PARTITA_HPP
#define PARTITA_HPP

#include "partita.h"
#include <type_traits>

namespace partita {

// A value of any trivially copyable type, all of whose bytes are symbolic.
template <typename T> T symbolic(const char *name) {
  static_assert(std::is_trivially_copyable_v<T>, "symbolic<T> needs a type without constructors of its own");
  T value;
  if constexpr (std::is_same_v<T, bool>) {
    unsigned char byte;
    partita_make_symbolic(&byte, 1, name);
    partita_assume(byte <= 1);
    value = byte;
  } else {
    partita_make_symbolic(&value, sizeof value, name);
  }
  return value;
}

// Paths on which the condition is false are dropped.
inline void assume(bool condition) { __VERIFIER_assume(condition); }

} // namespace partita
#endif
