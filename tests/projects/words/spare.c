#include "words.h"

/* Unused. */
int spare(void) { return report(2); }
