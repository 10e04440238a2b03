// Shortest paths from one node of a complete graph with SIZE nodes and symbolic lengths.
#include <klee/klee.h>

static int length[SIZE][SIZE];

int main(void) {
  int distance[SIZE], done[SIZE] = {0};
  klee_make_symbolic(length, sizeof length, "length");
  for (int i = 0; i < SIZE; i++)
    for (int j = 0; j < SIZE; j++) {
      klee_assume(length[i][j] > 0);
      klee_assume(length[i][j] < 100000);
    }
  for (int i = 1; i < SIZE; i++) distance[i] = length[0][i];
  distance[0] = 0;
  done[0] = 1;
  for (int round = 1; round < SIZE; round++) {
    int next = -1;
    for (int i = 0; i < SIZE; i++)
      if (!done[i] && (next < 0 || distance[i] < distance[next])) next = i;
    done[next] = 1;
    for (int i = 0; i < SIZE; i++)
      if (!done[i] && distance[next] + length[next][i] < distance[i]) distance[i] = distance[next] + length[next][i];
  }
  return 0;
}
