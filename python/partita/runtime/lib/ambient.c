/* <time.h> and random numbers for analysed programs. */
#define AMBIENT
#include "ambient.h"

long partita_ambient(const char *name, long fixed);

static long partita_ambient_value(const char *name, long fixed) { return partita_ambient(name, fixed); }
