/* Firmware with a sensor that is not available: examples/hooks.py models it in Python. */
int read_sensor(int channel);

static int scale(int raw) { return 1000 / (raw - 512); }

int main(void) {
  int first = read_sensor(0), second = read_sensor(1);
  if (first > second)
    return scale(first);
  return scale(second) > 0;
}
