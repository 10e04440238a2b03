// Runs the program on every input, each in a child process, and prints the ending of each: `N` for an exit status, `-N` for
// a signal. The program is compiled with -Dmain=program_main.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int program_main(void);
static unsigned input;

void klee_make_symbolic(void *object, size_t size, const char *name) {
  unsigned char bytes[4] = {input & 255, input >> 8 & 255};
  (void)name;
  memcpy(object, bytes, size);
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 256;
  for (input = 0; input < count; input++) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      // Processor time, since the machine may be busy.
      struct rlimit seconds = {10, 10};
      struct rlimit none = {0, 0};
      setrlimit(RLIMIT_CPU, &seconds);
      setrlimit(RLIMIT_CORE, &none);
      alarm(300);
      if (!freopen("/dev/null", "w", stderr)) _exit(99);
      _exit(program_main());
    }
    int status;
    waitpid(child, &status, 0);
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  }
  return 0;
}
