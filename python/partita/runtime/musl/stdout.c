/* Standard output is no terminal (`posix/start.c`), so it is buffered in full from the beginning. musl would find that
   out at the first flush, and until then compare every byte written with a newline: a fork for each symbolic one. */
#include "stdio_impl.h"

#undef stdout

static unsigned char buffer[BUFSIZ + UNGET];
hidden FILE __stdout_FILE = {
    .buf = buffer + UNGET,
    .buf_size = sizeof buffer - UNGET,
    .fd = 1,
    .flags = F_PERM | F_NORD,
    .lbf = -1,
    .write = __stdio_write,
    .seek = __stdio_seek,
    .close = __stdio_close,
    .lock = -1,
};
FILE *const stdout = &__stdout_FILE;
FILE *volatile __stdout_used = &__stdout_FILE;
