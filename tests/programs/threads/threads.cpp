// expected: exit 5
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static int value;

int main() {
  std::thread thread([] {
    std::lock_guard guard(lock);
    value = 5;
    changed.notify_one();
  });
  int found;
  {
    std::unique_lock held(lock);
    changed.wait(held, [] { return value != 0; });
    found = value;
  }
  thread.join();
  return found;
}
