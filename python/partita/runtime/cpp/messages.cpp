// How the C++ library ends a program: an exception that nothing catches and a failed assertion of libc++ are bugs of
// their classes, anything else is an abort.
#include "abort_message.h"
#include <__verbose_abort>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern "C" [[noreturn]] void partita_report_bug(const char *bug_class, const char *file, int line, const char *message);

extern "C" void abort_message(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  bool uncaught = strncmp(text, "terminating due to", 18) == 0;
  partita_report_bug(uncaught ? "exception" : "abort", "", 0, text);
}

_LIBCPP_BEGIN_NAMESPACE_STD

// The text is `FILE:LINE: assertion CONDITION failed: WHY`; file and line are those of libc++.
void __libcpp_verbose_abort(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  char *why = strstr(text, " failed: ");
  why = why ? why + 9 : text;
  why[strcspn(why, "\n")] = 0;
  partita_report_bug("assert", "", 0, why);
}

_LIBCPP_END_NAMESPACE_STD
