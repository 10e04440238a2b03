// Every way in which an exception leaves a function: by type, by base, through cleanups, rethrown, nested, uncaught.
#include <exception>
#include <partita.hpp>
#include <stdexcept>
#include <string>

static int destroyed;

struct Guard {
  int weight;
  ~Guard() { destroyed += weight; }
};

struct Base {
  virtual ~Base() = default;
  int tag = 40;
};
struct Left : virtual Base {
  int left = 1;
};
struct Right : virtual Base {
  int right = 2;
};
struct Both : Left, Right {};

static void raise(unsigned kind) {
  Guard guard{1};
  switch (kind) {
  case 0:
    throw 7;
  case 1:
    throw std::out_of_range("range");
  case 2:
    throw std::string("a text");
  case 3:
    throw Both();
  case 4:
    throw static_cast<const char *>("pointer");
  case 5:
    try {
      throw std::runtime_error("inner");
    } catch (...) {
      std::throw_with_nested(std::logic_error("outer"));
    }
  case 6:
    try {
      throw 8L;
    } catch (long &value) {
      value++;
      throw;
    }
  case 7:
    throw 1.5; // nothing catches it
  default:
    return;
  }
}

static int between(unsigned kind) {
  Guard guard{10};
  try {
    Guard inner{100};
    raise(kind);
  } catch (const char *text) {
    return text[0];
  }
  return 3;
}

int main() {
  auto kind = partita::symbolic<unsigned char>("kind");
  partita::assume(kind < 9);
  int result = 0;
  try {
    result = between(kind);
  } catch (int value) {
    result = value;
  } catch (const std::logic_error &error) {
    result = 20 + error.what()[0] % 8;
    try {
      std::rethrow_if_nested(error);
    } catch (const std::runtime_error &inner) {
      result += inner.what()[1] % 4;
    }
  } catch (const Right &right) {
    result = right.tag + right.right;
  } catch (const std::string &text) {
    result = static_cast<int>(text.size());
  } catch (long value) {
    result = static_cast<int>(value);
  }
  return destroyed == 111 ? result : 99;
}
