// poll and select of a pipe with and without bytes and writers, a file and descriptors that are not open
#define _GNU_SOURCE
#include "exhaustive.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>
#include <unistd.h>

static long test(const unsigned char *in) {
  int ends[2], null = open("/dev/null", O_RDWR), closed = in[0] & 8 ? 50 : null;
  if (pipe(ends)) return 255;
  if (in[0] & 1) write(ends[1], "ab", 2);
  if (in[0] & 2) close(ends[1]);
  struct pollfd list[] = {{ends[0], POLLIN, 0}, {in[0] & 4 ? ends[0] : null, POLLIN | POLLOUT, 0}, {closed, POLLOUT, 0}};
  long result = poll(list, 3, 0);
  for (int i = 0; i < 3; i++) result = result * 7 + list[i].revents;
  fd_set reads, writes;
  FD_ZERO(&reads);
  FD_ZERO(&writes);
  FD_SET(ends[0], &reads);
  FD_SET(null, &reads);
  FD_SET(closed, &writes);
  errno = 0;
  int found = select(60, &reads, &writes, 0, &(struct timeval){0});
  result = result * 7 + found + errno;
  return found < 0 ? result : result * 5 + FD_ISSET(ends[0], &reads) + FD_ISSET(null, &writes) * 2;
}
