// A stock of goods with a bug: goods that are taken out while others are counted. `partita run examples/inventory.cpp`
// finds it, and an exception that nothing catches.
#include <map>
#include <partita.hpp>
#include <stdexcept>
#include <string>

class Inventory {
public:
  void add(const std::string &name, int count) { stock[name] += count; }

  void take(const std::string &name, int count) {
    auto found = stock.find(name);
    if (found == stock.end())
      throw std::invalid_argument("no such goods: " + name);
    found->second -= count;
    if (found->second == 0)
      stock.erase(found);
  }

  // Takes one of everything.
  void take_all() {
    for (auto &[name, count] : stock)
      take(name, 1); // the loop continues from an entry that may be gone
  }

private:
  std::map<std::string, int> stock;
};

int main() {
  Inventory inventory;
  auto apples = partita::symbolic<unsigned char>("apples");
  auto wanted = partita::symbolic<char>("wanted");
  partita::assume(apples > 0 && apples < 100);
  inventory.add("apples", apples);
  inventory.add("pears", 3);
  if (wanted == 'p')
    inventory.take("plums", 1);
  inventory.take_all();
  return 0;
}
