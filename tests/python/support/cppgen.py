"""Random C++ programs without input, which print what they compute: classes with virtual and multiple inheritance,
exceptions, templates, containers, streams, ownership and static objects.

A program has parts, functions of which each prints lines of its own. Nothing that it prints depends on addresses, and
it is free of undefined behaviour by construction, so that a native run prints the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

_HEAD = """#include <algorithm>
#include <any>
#include <array>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

static int depth = 0;
struct Guard {
  const char *name;
  explicit Guard(const char *n) : name(n) { std::printf("%*s+%s\\n", depth++, "", name); }
  Guard(const Guard &) = delete;
  ~Guard() { std::printf("%*s-%s %d\\n", --depth, "", name, std::uncaught_exceptions()); }
};
"""


@dataclass
class _Class:
    name: str
    bases: list[_Class]
    is_virtual: bool  # inherited virtually by every class
    overrides: bool
    ancestors: set[str] = field(default_factory=set)

    def all(self) -> set[str]:
        return self.ancestors | {self.name}


def _hierarchy(rng: random.Random, tag: str) -> tuple[str, str]:
    """Classes with virtual functions, casts between all of them, and the order of constructors and destructors."""
    classes: list[_Class] = []
    for number in range(rng.randint(4, 7)):
        bases: list[_Class] = []
        for base in rng.sample(classes, min(len(classes), rng.randint(1, 3))):
            shared = {c.name for c in classes if not c.is_virtual and any(c.name in b.all() for b in bases)}
            # A base twice is unambiguous only if it is virtual.
            if not shared & base.all() and not any(base.name in b.all() for b in bases):
                bases = [b for b in bases if b.name not in base.all()] + [base]
        new = _Class(f"{tag}C{number}", bases, rng.random() < 0.6, number == 0 or len(bases) != 1 or rng.random() < 0.5)
        new.ancestors = set().union(*(b.all() for b in bases)) if bases else set()
        classes.append(new)
    text = ""
    for c in classes:
        bases_text = ", ".join(f"public {'virtual ' if b.is_virtual else ''}{b.name}" for b in c.bases)
        text += (
            f"struct {c.name}{' : ' + bases_text if bases_text else ''} {{\n  int m{c.name} = {rng.randint(-50, 50)};\n"
        )
        text += f'  Guard guard{c.name}{{"{c.name}"}};\n'
        text += f'  {c.name}() {{ std::printf("{c.name} made\\n"); }}\n'
        text += f'  virtual ~{c.name}() {{ std::printf("{c.name} ends %d\\n", m{c.name}); }}\n'
        if c.overrides:
            members = " + ".join(f"m{name}" for name in sorted(c.all()))
            inner = f"{rng.choice(c.bases).name}::f(x - 1)" if c.bases and rng.random() < 0.6 else "x"
            text += f"  virtual long f(int x) {{ return ({members}) * {rng.randint(2, 9)}L + {inner}; }}\n"
        text += "};\n"
    roots = [c for c in classes if any(c.name in k.ancestors for k in classes)] or classes
    body = ""
    for _ in range(rng.randint(3, 6)):
        static = rng.choice(roots)
        kind = rng.choice([c for c in classes if static.name in c.all()])
        to, other = rng.choice(classes), rng.choice(classes)
        body += f"""  {{
    std::unique_ptr<{static.name}> p = std::make_unique<{kind.name}>();
    std::printf("%ld %d %d\\n", p->f({rng.randint(-9, 9)}), dynamic_cast<{to.name} *>(p.get()) != nullptr,
                typeid(*p) == typeid({other.name}));
    try {{
      std::printf("%d\\n", dynamic_cast<{to.name} &>(*p).m{to.name});
    }} catch (const std::bad_cast &) {{
      std::puts("bad cast");
    }}
  }}
"""
    return text, body


_THROWN = ("int", "E0", "E1", "E2", "string", "runtime", "range", "literal", "double")


def _throw(rng: random.Random) -> str:
    number = rng.randint(0, 99)
    return {
        "int": f"throw {number};",
        "double": f"throw {number}.25;",
        "literal": f'throw "text {number}";',
        "string": f'throw std::string("string {number}");',
        "runtime": f'throw std::runtime_error("runtime {number}");',
        "range": f'throw std::out_of_range("range {number}");',
        "E0": f"throw E0({number});",
        "E1": f"throw E1({number});",
        "E2": f"throw E2({number});",
    }[rng.choice(_THROWN)]


_HANDLERS = {
    "int": ("int e", '%d", e'),
    "double": ("const double &e", '%.2f", e'),
    "literal": ("const char *e", '%s", e'),
    "string": ("const std::string &e", '%s", e.c_str()'),
    "E2": ("const E2 &e", 'E2 %d", e.code()'),
    "E1": ("E1 &e", 'E1 %d", e.code()'),
    "E0": ("const E0 &e", 'E0 %d", e.code()'),
    "range": ("const std::logic_error &e", 'logic %s", e.what()'),
    "runtime": ("const std::exception &e", 'exception %s", e.what()'),
}
_EXCEPTIONS = """struct E0 {
  int n;
  explicit E0(int x) : n(x) {}
  E0(const E0 &other) : n(other.n) { std::printf("copy of E %d\\n", n); }
  virtual ~E0() { std::printf("end of E %d\\n", n); }
  virtual int code() const { return n; }
};
struct E1 : virtual E0 {
  explicit E1(int x) : E0(x + 100) {}
  int code() const override { return n * 2; }
};
struct Side { int s = 7; virtual ~Side() = default; };
struct E2 : Side, E1 {
  explicit E2(int x) : E0(x + 200), E1(x) {}
  int code() const override { return n * 3 + s; }
};
static void print_nested(const std::exception &e, int level) {
  std::printf("%*s%s\\n", level, "", e.what());
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception &inner) {
    print_nested(inner, level + 1);
  } catch (...) {
    std::puts("something else is nested");
  }
}
"""


def _exceptions(rng: random.Random, tag: str) -> tuple[str, str]:
    """Functions that throw, catch, rethrow and nest, with objects to destroy on the way."""
    count = rng.randint(4, 7)
    text = ""
    for number in reversed(range(count)):
        name = f"{tag}f{number}"
        callees = [f"{tag}f{i}" for i in range(number + 1, count)]

        def statement(level: int, callees: list[str] = callees, name: str = name) -> str:
            kind = rng.randint(0, 9)
            pad = "  " * level
            if kind <= 2 and callees:
                return f"{pad}total += {rng.choice(callees)}(x {rng.choice('+-*^')} {rng.randint(1, 5)});\n"
            if kind <= 4:
                return f"{pad}if ((x & {rng.choice((1, 2, 3, 4, 7))}) == {rng.randint(0, 2)}) {_throw(rng)}\n"
            if kind <= 7 and level < 4:
                inner = "".join(statement(level + 1) for _ in range(rng.randint(1, 3)))
                return f'{pad}try {{\n{pad}  Guard g("{name}.{level}");\n{inner}{pad}}}{handlers(level)}\n'
            return f"{pad}total = total * 3 + x;\n"

        def handlers(level: int) -> str:
            pad = "  " * level
            # Derived classes before their bases.
            chosen = sorted(rng.sample(list(_HANDLERS), rng.randint(1, 4)), key=list(_HANDLERS).index)
            found = ""
            for each in chosen:
                declaration, shown = _HANDLERS[each]
                after = rng.choice(
                    ("", "", "throw;", 'std::throw_with_nested(std::runtime_error("outer"));', _throw(rng))
                )
                prefix, rest = shown.split('"', 1)
                found += f' catch ({declaration}) {{\n{pad}  std::printf("caught {prefix}\\n"{rest});\n'
                found += f"{pad}  total += 5;\n{pad}  {after}\n{pad}}}"
            if rng.random() < 0.3:
                found += f' catch (...) {{\n{pad}  std::puts("caught all");\n{pad}  total -= 9;\n{pad}}}'
            return found

        body = "".join(statement(1) for _ in range(rng.randint(2, 5)))
        text += f'static long {name}(int x) {{\n  Guard g("{name}");\n  long total = x;\n{body}  return total;\n}}\n'
    body = f"""  for (int x = {rng.randint(-4, 0)}; x < {rng.randint(4, 8)}; x++) {{
    try {{
      std::printf("%ld\\n", {tag}f0(x));
    }} catch (const std::exception &e) {{
      print_nested(e, 0);
    }} catch (const E0 &e) {{
      std::printf("E0 %d\\n", e.code());
    }} catch (...) {{
      std::exception_ptr kept = std::current_exception();
      try {{
        std::rethrow_exception(kept);
      }} catch (int e) {{
        std::printf("int %d\\n", e);
      }} catch (...) {{
        std::puts("other");
      }}
    }}
  }}
"""
    return text, body


def _numbers(rng: random.Random, count: int = 8) -> str:
    return ", ".join(str(rng.randint(-99, 99)) for _ in range(count))


def _containers(rng: random.Random, tag: str) -> tuple[str, str]:
    """Random operations on containers and algorithms on them."""
    kind = rng.choice(("std::vector<int>", "std::deque<int>", "std::list<int>"))
    operations = [
        f"c.push_back({rng.randint(-99, 99)});",
        f"c.insert(std::next(c.begin(), (long)c.size() / {rng.randint(1, 3)}), {rng.randint(-9, 9)});",
        "if (!c.empty()) c.pop_back();",
        "if (!c.empty()) c.erase(c.begin());",
        f"c.insert(c.end(), {{{_numbers(rng, 3)}}});",
        f"c.resize(c.size() + {rng.randint(0, 4)}, {rng.randint(-9, 9)});",
        "std::reverse(c.begin(), c.end());",
        "c.erase(std::unique(c.begin(), c.end()), c.end());",
        f"std::erase_if(c, [](int n) {{ return n % {rng.randint(2, 7)} == 0; }});",
        f"std::transform(c.begin(), c.end(), c.begin(), [k = {rng.randint(2, 5)}](int n) {{ return n * k % 101; }});",
        "if (!c.empty()) std::rotate(c.begin(), std::next(c.begin()), c.end());",
        f"std::replace(c.begin(), c.end(), {rng.randint(-3, 3)}, 77);",
        "c = decltype(c)(c.rbegin(), c.rend());",
    ]
    if "list" in kind:
        operations += ["c.sort();", "c.sort(std::greater<>());", "c.unique();"]
    else:
        operations += [
            "std::sort(c.begin(), c.end());",
            "std::stable_sort(c.begin(), c.end(), [](int a, int b) { return a % 10 < b % 10; });",
            "std::make_heap(c.begin(), c.end()); std::sort_heap(c.begin(), c.end());",
            "if (c.size() > 2) std::partial_sort(c.begin(), c.begin() + 2, c.end());",
        ]
    body = f"  {kind} c{{{_numbers(rng)}}};\n"
    for _ in range(rng.randint(5, 10)):
        body += f"  {rng.choice(operations)}\n  show(c);\n"
    keys = rng.choice(
        ("std::map<std::string, int>", "std::unordered_map<std::string, int>", "std::multimap<std::string, int>")
    )
    words = [rng.choice("abcxyz") * rng.randint(1, 30) for _ in range(rng.randint(3, 9))]
    body += f"  {keys} m;\n"
    for word in words:
        body += f'  m.insert({{"{word}", {rng.randint(0, 99)}}});\n'
    body += f'  m.erase("{rng.choice(words)}");\n'
    body += '  for (const auto &[key, value] : m) std::cout << key.size() << key[0] << "=" << value << " ";\n'
    body += f"""  std::cout << m.count("{words[0]}") << "\\n";
  std::set<int> s(c.begin(), c.end());
  s.merge(std::set<int>{{{_numbers(rng, 4)}}});
  show(s);
  auto at = s.lower_bound({rng.randint(-20, 20)});
  std::cout << (at == s.end() ? -1000 : *at) << " " << std::accumulate(c.begin(), c.end(), 0L) << "\\n";
  std::priority_queue<int, std::vector<int>, std::greater<>> q(s.begin(), s.end());
  for (int i = 0; i < 3 && !q.empty(); i++, q.pop()) std::cout << q.top() << ";";
  std::unordered_set<int> u(c.begin(), c.end());
  std::bitset<64> bits({rng.getrandbits(40)}ULL);
  std::cout << u.size() << " " << (bits << {rng.randint(0, 30)}).count() << "\\n";
  try {{
    std::cout << std::vector<int>(c.begin(), c.end()).at({rng.randint(0, 12)}) << "\\n";
  }} catch (const std::out_of_range &e) {{
    std::cout << e.what() << "\\n";
  }}
"""
    return "", body


def _streams(rng: random.Random, tag: str) -> tuple[str, str]:
    """Formatted output, parsing, strings."""
    manipulators = ["std::hex", "std::oct", "std::showbase", "std::showpos", "std::uppercase", "std::left",
                    "std::internal",
                    "std::fixed", "std::scientific", "std::boolalpha", "std::setfill('*')", "std::setprecision(3)",
                    "std::defaultfloat", "std::dec", "std::noshowpos"]  # fmt: skip
    body = "  std::ostringstream out;\n"
    for _ in range(rng.randint(4, 8)):
        value = rng.choice((
            str(rng.randint(-9999, 9999)), f"{rng.randint(0, 10**12)}ULL", f"{rng.uniform(-1e3, 1e3):.6f}",
            f"{rng.uniform(-1, 1):.3e}", "true", '"text"', "'c'", f"{rng.uniform(0, 9):.3f}f", "std::string(3, 'z')",
        ))  # fmt: skip
        body += f"  out << {rng.choice(manipulators)} << std::setw({rng.randint(0, 14)}) << {value} << '|';\n"
    numbers = " ".join(rng.choice((str(rng.randint(-999, 999)), f"{rng.uniform(-9, 9):.3f}", "word")) for _ in range(6))
    body += f"""  std::cout << out.str() << "\\n";
  std::istringstream in("{numbers}\\nsecond line; with {rng.randint(0, 9)} parts;end");
  int n = -7;
  while (in >> n) std::cout << n << ",";
  std::cout << in.eof() << in.fail() << n;
  in.clear();
  std::string word, line;
  in >> word;
  std::getline(in, line);
  std::cout << "[" << word << "][" << line << "]";
  while (std::getline(in, line, ';')) std::cout << "{{" << line << "}}";
  std::cout << "\\n";
  std::string text = "{"".join(rng.choice("abcdefgh ") for _ in range(rng.randint(5, 40)))}";
  text.replace({rng.randint(0, 3)}, 2, "<{rng.randint(0, 999)}>").insert(1, {rng.randint(0, 3)}, '-');
  std::cout << text << text.find("{rng.choice("abcd")}") % 1000 << text.substr({rng.randint(0, 4)}, 5)
            << (text < "c{rng.choice("ab")}") << std::to_string({rng.uniform(-99, 99):.4f}) << "\\n";
  std::string_view view(text);
  view.remove_prefix(2);
  std::cout << view.substr(0, 3) << view.find_first_of("aeiou") % 1000 << std::quoted(text) << "\\n";
  try {{
    std::cout << std::stoi("{rng.choice(("12x", "-77", "x", "99999999999", " 42"))}") << "\\n";
  }} catch (const std::logic_error &e) {{
    std::cout << typeid(e).name() << e.what() << "\\n";
  }}
"""
    return "", body


def _values(rng: random.Random, tag: str) -> tuple[str, str]:
    """optional, variant, any, tuple, function and lambdas."""
    body = f"""  std::optional<std::string> o;
  if ({rng.randint(0, 1)}) o = std::string({rng.randint(0, 30)}, 'o');
  std::cout << o.has_value() << o.value_or("none").size();
  try {{
    std::cout << o.value().size() << "\\n";
  }} catch (const std::bad_optional_access &) {{
    std::cout << " empty\\n";
  }}
  std::vector<std::variant<int, std::string, double>> all{{
      {rng.randint(0, 99)}, "s{rng.randint(0, 99)}", {rng.randint(0, 9)}.5}};
  all[{rng.randint(0, 2)}] = std::string("changed");
  for (const auto &each : all)
    std::visit([](const auto &v) {{ std::cout << v << (std::is_same_v<decltype(v), const int &> ? "i " : " "); }},
               each);
  std::any any = {rng.choice(("1", "2.5", 'std::string("any")'))};
  try {{
    std::cout << std::any_cast<int>(any) << "\\n";
  }} catch (const std::bad_any_cast &) {{
    std::cout << "bad any cast\\n";
  }}
  int outer = {rng.randint(1, 9)};
  std::function<long(int)> recursive = [&](int n) -> long {{ return n < 2 ? outer : recursive(n - 1) * n % 1009; }};
  auto counter = [n = {rng.randint(0, 9)}](int by) mutable {{ return n += by; }};
  auto copy = counter;
  std::cout << recursive({rng.randint(1, 9)}) << " " << counter(2) << counter(3) << copy(5) << "\\n";
  std::vector<std::function<int(int)>> chain;
  for (int i = 1; i < {rng.randint(2, 6)}; i++) chain.push_back([i, &outer](int x) {{ return x * i + outer; }});
  int value = {rng.randint(-5, 5)};
  for (const auto &f : chain) value = f(value), outer++;
  auto [a, b, c] = std::make_tuple(value, std::string("tuple"), {rng.randint(0, 9)}u);
  std::cout << a << b << c << std::get<1>(std::tuple_cat(std::make_tuple(1), std::tie(b))) << "\\n";
"""
    return "", body


def _templates(rng: random.Random, tag: str) -> tuple[str, str]:
    """Recursion, packs, specialisation, concepts, static polymorphism."""
    text = f"""template <int N> struct {tag}Sum {{
  static constexpr long value = N * {rng.randint(1, 5)} + {tag}Sum<N - 1>::value;
}};
template <> struct {tag}Sum<0> {{ static constexpr long value = {rng.randint(0, 9)}; }};
template <class... T> static long {tag}pack(T... t) {{ return (0L + ... + (long)t) * sizeof...(T); }}
template <class T> concept {tag}Sized = requires(T t) {{ t.size(); }};
template <{tag}Sized T> static long {tag}size(const T &t) {{ return (long)t.size(); }}
template <class T> requires(!{tag}Sized<T>) static long {tag}size(const T &) {{ return -{rng.randint(1, 9)}; }}
template <class D> struct {tag}Base {{
  int twice() {{ return 2 * static_cast<D *>(this)->once(); }}
  friend bool operator<(const D &a, const D &b) {{ return a.n < b.n; }}
}};
struct {tag}Derived : {tag}Base<{tag}Derived> {{
  int n;
  explicit {tag}Derived(int x) : n(x) {{}}
  int once() {{ return n + {rng.randint(1, 9)}; }}
  auto operator<=>(const {tag}Derived &o) const {{ return n <=> o.n; }}
}};
template <class T, std::size_t N> struct {tag}Ring {{
  std::array<T, N> a{{}};
  std::size_t at = 0;
  void put(T t) {{ a[at++ % N] = std::move(t); }}
  T fold() const {{ return std::accumulate(a.begin(), a.end(), T{{}}); }}
}};
constexpr long {tag}power(long base, unsigned n) {{ return n ? base * {tag}power(base, n - 1) % 10007 : 1; }}
"""
    body = f"""  std::cout << {tag}Sum<{rng.randint(1, 30)}>::value << " "
            << {tag}pack({rng.randint(0, 9)}, {rng.randint(0, 9)}.7, 'a', true)
            << " " << {tag}size(std::string("abc")) << {tag}size({rng.randint(0, 9)}) << "\\n";
  {tag}Derived d({rng.randint(-9, 9)}), e({rng.randint(-9, 9)});
  std::cout << d.twice() << (d < e) << (d <=> e > 0) << std::max(d, e).n << "\\n";
  {tag}Ring<std::string, {rng.randint(2, 4)}> ring;
  for (int i = 0; i < {rng.randint(3, 9)}; i++) ring.put(std::to_string(i * i));
  constexpr long p = {tag}power({rng.randint(2, 9)}, {rng.randint(2, 20)});
  std::cout << ring.fold() << " " << p << "\\n";
"""
    return text, body


def _ownership(rng: random.Random, tag: str) -> tuple[str, str]:
    """Copies and moves, counted; smart pointers; arrays of objects."""
    no = rng.choice(("noexcept", "noexcept(false)"))
    text = f"""struct {tag}T {{
  static inline int copies = 0, moves = 0, alive = 0;
  int n;
  std::string text = std::string({rng.randint(1, 40)}, 't');
  explicit {tag}T(int x = 0) : n(x) {{ alive++; }}
  {tag}T(const {tag}T &o) : n(o.n), text(o.text) {{
    if (n == {rng.randint(0, 9)}) throw std::runtime_error("no copy");
    copies++, alive++;
  }}
  {tag}T({tag}T &&o) {no} : n(std::exchange(o.n, -1)), text(std::move(o.text)) {{ moves++, alive++; }}
  {tag}T &operator=(const {tag}T &) = default;
  {tag}T &operator=({tag}T &&o) {no} {{ n = std::exchange(o.n, -2), text = std::move(o.text), moves++; return *this; }}
  ~{tag}T() {{ alive--; }}
}};
struct {tag}Node {{ std::shared_ptr<{tag}Node> next; std::weak_ptr<{tag}Node> back; Guard g{{"node"}}; }};
"""
    body = f"""  using T = {tag}T;
  auto counts = [] {{ std::printf("copies %d moves %d alive %d\\n", T::copies, T::moves, T::alive); }};
  try {{
    std::vector<T> v;
    for (int i = 0; i < {rng.randint(2, 9)}; i++) {{
      T t(i + {rng.randint(0, 3)});
      if (i & 1) v.push_back(t); else v.push_back(std::move(t));
      counts();
    }}
    std::vector<T> w = v;
    counts();
    std::swap(v.front(), w.back());
    v.erase(v.begin());
    w = std::move(v);
    counts();
    std::sort(w.begin(), w.end(), [](const T &a, const T &b) {{ return a.n > b.n; }});
    for (const T &t : w) std::printf("%d ", t.n);
    std::puts("");
  }} catch (const std::runtime_error &e) {{
    std::puts(e.what());
  }}
  counts();
  {{
    auto a = std::make_shared<{tag}Node>(), b = std::make_shared<{tag}Node>();
    a->next = b, b->back = a;
    std::weak_ptr<{tag}Node> w = a;
    std::printf("%ld %ld %d\\n", a.use_count(), b.use_count(), w.expired());
    a.reset();
    std::printf("%d %ld\\n", w.expired(), b.use_count());
    std::unique_ptr<T[]> array(new T[{rng.randint(1, 5)}]);
    array[0].n = 5;
    auto deleter = [](T *t) {{ std::printf("deleter %d\\n", t->n); delete t; }};
    std::unique_ptr<T, decltype(deleter)> own(new T({rng.randint(0, 9)}), deleter);
    std::shared_ptr<int> alias(std::make_shared<T>(8), &array[0].n);
    std::map<int, std::unique_ptr<T>> owners;
    for (int i = 0; i < 3; i++) owners.emplace(i * {rng.randint(1, 9)}, std::make_unique<T>(i));
    auto node = owners.extract(owners.begin());
    node.key() = 50;
    owners.insert(std::move(node));
    for (const auto &[key, owner] : owners) std::printf("%d:%d ", key, owner->n);
    std::printf("%d\\n", *alias);
    counts();
  }}
  counts();
"""
    return text, body


def _statics(rng: random.Random, tag: str) -> tuple[str, str]:
    """Constructors and destructors of static objects, and of objects whose constructors throw."""
    text = f"""struct {tag}S {{
  const char *name;
  explicit {tag}S(const char *n) : name(n) {{ std::printf("static %s\\n", name); }}
  ~{tag}S() {{ std::printf("end of static %s\\n", name); }}
}};
static {tag}S {tag}one("{tag} one");
static std::string {tag}text = std::string({rng.randint(1, 40)}, 's') + "{tag}";
inline {tag}S {tag}two("{tag} two");
static {tag}S &{tag}lazy(int x) {{
  static int tries = 0;
  static {tag}S lazy = [x] {{
    if (tries++ < x) throw x;
    return {tag}S("{tag} lazy");
  }}();
  return lazy;
}}
struct {tag}Parts {{
  Guard a{{"part a"}};
  std::vector<Guard *> heap;
  Guard b{{"part b"}};
  explicit {tag}Parts(int n) try : heap((n < 0 ? throw n : n), nullptr), b("other b") {{
    if (n > {rng.randint(1, 4)}) throw std::length_error("parts");
    std::puts("complete");
  }} catch (const std::exception &e) {{
    std::printf("constructor: %s\\n", e.what());
  }}
}};
"""
    body = f"""  std::printf("%zu %s\\n", {tag}text.size(), {tag}text.c_str() + {tag}text.size() - 2);
  for (int i = 0; i < {rng.randint(2, 4)}; i++) {{
    try {{
      std::puts({tag}lazy({rng.randint(0, 3)}).name);
    }} catch (int e) {{
      std::printf("static failed %d\\n", e);
    }}
  }}
  for (int i = -1; i < {rng.randint(2, 7)}; i++) {{
    try {{
      {tag}Parts parts(i);
    }} catch (const std::exception &e) {{
      std::printf("rethrown %s\\n", e.what());
    }} catch (int e) {{
      std::printf("thrown %d\\n", e);
    }}
  }}
"""
    return text, body


_PARTS: tuple[Callable[[random.Random, str], tuple[str, str]], ...] = (
    _hierarchy, _exceptions, _containers, _streams, _values, _templates, _ownership, _statics,
)  # fmt: skip
# How a program may end instead of returning.
_ENDS = (
    "throw E1(3);",
    'throw std::runtime_error("the end");',
    "[]() noexcept { throw 1; }();",
    "std::exit(3);",
    "std::_Exit(4);",
    "std::terminate();",
)


def generate(seed: int) -> str:
    """A program. Its parts follow from the seed."""
    rng = random.Random(seed)
    kinds = rng.sample(_PARTS, 3)
    text, calls = _HEAD + _EXCEPTIONS, ""
    text += """template <class C> static void show(const C &c) {
  std::ostringstream out;
  std::copy(c.begin(), c.end(), std::ostream_iterator<int>(out, " "));
  std::cout << c.size() << ": " << out.str() << "\\n";
}
"""
    for number, kind in enumerate(kinds):
        declarations, body = kind(rng, f"p{number}")
        text += f"{declarations}static void part{number}() {{\n{body}  std::cout << std::flush;\n"
        text += "  std::fflush(stdout);\n}\n"
        calls += f"  part{number}();\n"
    end = f"  {rng.choice(_ENDS)}\n" if rng.random() < 0.25 else ""
    return f"{text}int main() {{\n{calls}{end}  return {rng.randint(0, 99)};\n}}\n"
