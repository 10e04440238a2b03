// The library's `operator new` and `operator delete`, as libc++ has them, which say what they return and release: memory
// of `new`, `new[]` and `malloc` is released by `delete`, `delete[]` and `free`. All of them are weak: a program may define
// its own. Those for arrays call the others, and those with a size, or without exceptions, call those without.
#include <new>
#include <stdlib.h>

extern "C" void __partita_new(void *memory, int is_array);
extern "C" void __partita_delete(void *memory, int is_array);

namespace {
constexpr int kSingle = 0;
constexpr int kArray = 1;

void *allocated(size_t size, size_t alignment) {
  if (size == 0) size = 1;
  if (alignment != 0 && alignment < sizeof(void *)) alignment = sizeof(void *);
  for (;;) {
    void *memory = nullptr;
    if (alignment == 0) {
      memory = malloc(size);
    } else if (posix_memalign(&memory, alignment, size) != 0) {
      memory = nullptr;
    }
    if (memory != nullptr) return memory;
    std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void *made(void *memory, int is_array) {
  __partita_new(memory, is_array);
  return memory;
}

void released(void *memory) {
  __partita_delete(memory, kSingle);
  free(memory);
}
} // namespace

#define WEAK __attribute__((weak))
#define NOTHROW const std::nothrow_t &

WEAK void *operator new(size_t size) { return made(allocated(size, 0), kSingle); }
WEAK void *operator new[](size_t size) { return made(::operator new(size), kArray); }
WEAK void *operator new(size_t size, NOTHROW) noexcept {
  try {
    return ::operator new(size);
  } catch (...) {
    return nullptr;
  }
}
WEAK void *operator new[](size_t size, NOTHROW) noexcept {
  try {
    return ::operator new[](size);
  } catch (...) {
    return nullptr;
  }
}
WEAK void operator delete(void *memory) noexcept { released(memory); }
WEAK void operator delete(void *memory, NOTHROW) noexcept { ::operator delete(memory); }
WEAK void operator delete(void *memory, size_t) noexcept { ::operator delete(memory); }
WEAK void operator delete[](void *memory) noexcept {
  __partita_delete(memory, kArray);
  ::operator delete(memory);
}
WEAK void operator delete[](void *memory, NOTHROW) noexcept { ::operator delete[](memory); }
WEAK void operator delete[](void *memory, size_t) noexcept { ::operator delete[](memory); }

WEAK void *operator new(size_t size, std::align_val_t alignment) {
  return made(allocated(size, static_cast<size_t>(alignment)), kSingle);
}
WEAK void *operator new[](size_t size, std::align_val_t alignment) {
  return made(::operator new(size, alignment), kArray);
}
WEAK void *operator new(size_t size, std::align_val_t alignment, NOTHROW) noexcept {
  try {
    return ::operator new(size, alignment);
  } catch (...) {
    return nullptr;
  }
}
WEAK void *operator new[](size_t size, std::align_val_t alignment, NOTHROW) noexcept {
  try {
    return ::operator new[](size, alignment);
  } catch (...) {
    return nullptr;
  }
}
WEAK void operator delete(void *memory, std::align_val_t) noexcept { released(memory); }
WEAK void operator delete(void *memory, std::align_val_t alignment, NOTHROW) noexcept {
  ::operator delete(memory, alignment);
}
WEAK void operator delete(void *memory, size_t, std::align_val_t alignment) noexcept {
  ::operator delete(memory, alignment);
}
WEAK void operator delete[](void *memory, std::align_val_t alignment) noexcept {
  __partita_delete(memory, kArray);
  ::operator delete(memory, alignment);
}
WEAK void operator delete[](void *memory, std::align_val_t alignment, NOTHROW) noexcept {
  ::operator delete[](memory, alignment);
}
WEAK void operator delete[](void *memory, size_t, std::align_val_t alignment) noexcept {
  ::operator delete[](memory, alignment);
}
