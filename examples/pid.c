/* A controller that turns a temperature into the duty cycle of a heater, 0 to 255. The integral term is not limited, so
   after some cold readings the duty cycle does not fit its type: `partita run examples/pid.c` finds the readings. */
#include "klee/klee.h"
#include <stdint.h>

#define READINGS 3

static uint8_t duty(const int16_t *tenths) {
  const float target = 20.0f, proportional = 4.0f, integrating = 4.0f;
  float sum = 0, output = 0;
  for (int i = 0; i < READINGS; i++) {
    float error = target - tenths[i] / 10.0f;
    sum += error; /* missing: a limit of `sum` */
    output = proportional * error + integrating * sum;
    if (output < 0) output = 0;
  }
  return (uint8_t)output;
}

int main(void) {
  int16_t tenths[READINGS];
  klee_make_symbolic(tenths, sizeof tenths, "tenths");
  for (int i = 0; i < READINGS; i++) klee_assume(tenths[i] >= 0 & tenths[i] <= 400);
  return duty(tenths) > 200;
}
