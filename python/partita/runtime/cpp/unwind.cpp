// Unwinding of the stack for C++ exceptions: what libunwind and the personality function do natively. libc++abi's own
// code raises, catches and destroys exceptions; this file finds their handlers.
//
// As in the Itanium ABI the first phase looks for a handler and changes nothing, so that an exception which nothing
// catches ends the program where it was thrown. The second phase continues at the nearest landing pad that handles the
// exception or cleans up; a cleanup ends in `_Unwind_Resume`.
#include "cxa_exception.h"
#include "private_typeinfo.h"

using namespace __cxxabiv1;

extern "C" {
// The clauses of the landing pad that is the given number of landing pads away, as `python/partita/llvm/exceptions.py`
// writes them; null if there is none.
const long *partita_landing_pad(long number);
[[noreturn]] void partita_land(long number, _Unwind_Exception *exception, int selector);
}

namespace {

struct Handler {
  long pad; // -1 if there is none
  long selector; // 0 for a cleanup
  void *object; // as the handler's type sees it
};

void *thrown_object(_Unwind_Exception *exception) {
  if (__getExceptionClass(exception) != kOurDependentExceptionClass)
    return exception + 1;
  return (reinterpret_cast<__cxa_dependent_exception *>(exception + 1) - 1)->primaryException;
}

__cxa_exception *header_of(_Unwind_Exception *exception) {
  return reinterpret_cast<__cxa_exception *>(exception + 1) - 1;
}

bool can_catch(long type, _Unwind_Exception *exception, void *&object) {
  if (type == 0)
    return true;
  const auto *thrown = static_cast<const __shim_type_info *>(header_of(exception)->exceptionType);
  return reinterpret_cast<const __shim_type_info *>(type)->can_catch(thrown, object);
}

// The selector of the first clause that applies; 0 if none does.
long selector_of(const long *clauses, _Unwind_Exception *exception, void *&object) {
  const long *clause = clauses + 2;
  for (long left = clauses[0]; left > 0; left--, clause += 2 + clause[1]) {
    bool caught = false;
    void *adjusted = thrown_object(exception);
    for (long i = 0; i < clause[1] && !caught; i++)
      caught = can_catch(clause[2 + i], exception, adjusted);
    // A filter lists the types that may pass.
    if (caught == (clause[0] > 0)) {
      object = adjusted;
      return clause[0];
    }
  }
  return 0;
}

Handler find(_Unwind_Exception *exception, bool cleanups) {
  for (long pad = 0;; pad++) {
    const long *clauses = partita_landing_pad(pad);
    if (!clauses)
      return {-1, 0, nullptr};
    void *object = nullptr;
    long selector = selector_of(clauses, exception, object);
    if (selector != 0 || (cleanups && clauses[1]))
      return {pad, selector, object};
  }
}

void land(_Unwind_Exception *exception) {
  Handler handler = find(exception, true);
  if (handler.pad < 0)
    return;
  if (handler.selector != 0) {
    header_of(exception)->handlerSwitchValue = static_cast<int>(handler.selector);
    header_of(exception)->adjustedPtr = handler.object;
  }
  partita_land(handler.pad, exception, static_cast<int>(handler.selector));
}

} // namespace

extern "C" {

_Unwind_Reason_Code _Unwind_RaiseException(_Unwind_Exception *exception) {
  if (find(exception, false).pad < 0)
    return _URC_END_OF_STACK;
  land(exception);
  return _URC_FATAL_PHASE2_ERROR;
}

void _Unwind_Resume(_Unwind_Exception *exception) {
  land(exception);
  std::terminate();
}

_Unwind_Reason_Code _Unwind_Resume_or_Rethrow(_Unwind_Exception *exception) {
  return _Unwind_RaiseException(exception);
}

void _Unwind_DeleteException(_Unwind_Exception *exception) {
  if (exception->exception_cleanup)
    exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
}
}

// Objects with static storage are destroyed at exit; there are no shared libraries that end earlier.
extern "C" void *__dso_handle = nullptr;
