// A number in N bytes, in the notation of strtol with base 0: each byte is a space, a sign, a digit of one of three bases,
// or the end.
#include <klee/klee.h>

#ifndef N
#define N 6
#endif

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

int main(void) {
    char text[N + 1];
    klee_make_symbolic(text, sizeof text, "text");
    text[N] = 0;
    const char *at = text;
    while (*at == ' ' || *at == '\t' || *at == '\n')
        at++;
    int is_negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    int base = 10;
    if (*at == '0')
        base = at[1] == 'x' || at[1] == 'X' ? (at += 2, 16) : 8;
    unsigned value = 0;
    int digits = 0;
    for (; digit(*at) < base; at++, digits++)
        value = value * base + digit(*at);
    if (digits == 0)
        return 1;
    if (*at)
        return 2;
    if (is_negative)
        return 3;
    return value == 1234 ? 4 : 0;
}
