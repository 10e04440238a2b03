// What programs use of the library: containers, strings, streams, smart pointers, run-time types, algorithms.
#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
};
struct Circle final : Shape {
  double radius;
  explicit Circle(double radius) : radius(radius) {}
  double area() const override { return 3 * radius * radius; }
};

struct Static {
  std::string name = "static";
  ~Static() { std::cout << "destroyed " << name << "\n"; }
};
static Static object;

template <typename... Parts> static std::string joined(Parts... parts) {
  std::ostringstream out;
  ((out << parts << '|'), ...);
  return out.str();
}

int main() {
  std::map<std::string, std::vector<int>> table;
  for (int i = 0; i < 12; i++)
    table[i % 3 ? "other" : "third"].push_back(i * i);
  for (const auto &[name, values] : table)
    std::cout << name << ' ' << std::accumulate(values.begin(), values.end(), 0) << '\n';
  std::unordered_map<std::string, int> counts;
  std::istringstream words("the quick the lazy the dog");
  for (std::string word; words >> word;)
    counts[word]++;
  std::cout << counts["the"] << counts.size() << std::endl;
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>(1.5));
  shapes.push_back(std::make_unique<Circle>(2));
  for (const auto &shape : shapes) {
    bool round = dynamic_cast<Circle *>(shape.get()) != nullptr;
    std::cout << std::fixed << std::setprecision(3) << shape->area() << ' ' << round << ' '
              << (typeid(*shape) == typeid(Square)) << '\n';
  }
  std::array<int, 6> numbers{5, 2, 8, 1, 9, 3};
  std::sort(numbers.begin(), numbers.end(), std::greater<>());
  std::copy(numbers.begin(), numbers.end(), std::ostream_iterator<int>(std::cout, ","));
  std::set<char> letters;
  for (char c : std::string_view("mississippi"))
    letters.insert(c);
  std::cout << std::string(letters.begin(), letters.end()) << '\n';
  std::variant<int, std::string> either = "text";
  std::cout << std::visit([](const auto &value) { return joined(value, 1, 'c'); }, either) << '\n';
  std::optional<int> found;
  char digits[] = "1234x";
  int value = 0;
  if (std::from_chars(digits, digits + 5, value).ptr == digits + 4)
    found = value;
  std::cout << std::hex << found.value_or(-1) << std::dec << ' ' << std::stoi("-77") << ' ' << std::to_string(2.5) << '\n';
  auto shared = std::make_shared<std::string>(40, 'x');
  std::weak_ptr<std::string> weak = shared;
  shared.reset();
  std::cout << weak.expired() << '\n';
  std::function<int(int)> factorial = [&](int n) { return n < 2 ? 1 : n * factorial(n - 1); };
  std::cout << factorial(6) << '\n';
  try {
    std::cout << std::vector<int>{1, 2}.at(5);
  } catch (const std::exception &error) {
    std::cout << "caught " << error.what() << '\n';
  }
  return 0;
}
