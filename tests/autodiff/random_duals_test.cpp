// Random programs of dual numbers at nested levels, against numbers with infinitesimals.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/ir/graph_signature.h"
#include "tests/autodiff/dual_values.h"
#include "tests/input/parse.h"
#include "tests/random/random_graph.h"

namespace recut {
namespace {

constexpr int kLevels = 3;

// A number with infinitesimals e0, e1, e2 of square 0, by its definition: the coefficient of each
// product of them, by the set of levels.
struct Jet {
  std::array<double, 1 << kLevels> parts{};
  int levels = 0;  // that it may have tangents at

  static Jet constant(double number) {
    Jet jet;
    jet.parts[0] = number;
    return jet;
  }
  friend Jet operator+(const Jet& a, const Jet& b) {
    Jet sum{{}, a.levels | b.levels};
    for (std::size_t s = 0; s < a.parts.size(); ++s) sum.parts[s] = a.parts[s] + b.parts[s];
    return sum;
  }
  friend Jet operator*(const Jet& a, const Jet& b) {
    Jet product{{}, a.levels | b.levels};
    for (std::size_t s = 0; s < a.parts.size(); ++s)
      for (std::size_t t = 0; t < a.parts.size(); ++t)
        if ((s & t) == 0) product.parts[s | t] += a.parts[s] * b.parts[t];
    return product;
  }
  // f(a + n) by Taylor's series, which ends since n⁴ = 0.
  Jet mapped(const std::array<double, kLevels + 1>& derivatives) const {
    Jet rest = *this, power = constant(1), sum = constant(derivatives[0]);
    rest.parts[0] = 0;
    double factorial = 1;
    for (std::size_t k = 1; k < derivatives.size(); ++k) {
      power = power * rest;
      factorial *= static_cast<double>(k);
      sum = sum + constant(derivatives[k] / factorial) * power;
    }
    sum.levels = levels;
    return sum;
  }
  // The coefficients that have the level, without it; or those that lack it.
  Jet part(int level, bool tangent) const {
    Jet found;
    found.levels = levels & ~(1 << level);
    for (std::size_t s = 0; s < parts.size(); ++s)
      if (((s >> level) & 1) == 0) found.parts[s] = parts[s | (tangent ? 1u << level : 0u)];
    return found;
  }
};

// A random program of smooth calls and dual numbers, as text, and the value of each of its names.
class RandomDuals {
 public:
  explicit RandomDuals(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) {
      const double number = 0.25 * static_cast<double>(random_.between(-4, 4)) + 0.1;
      inputs["x" + std::to_string(i)] = {number};
      add("input f64[1]", Jet::constant(number), "x" + std::to_string(i));
    }
    while (values_.size() < 24) step();
    std::string results;
    for (std::size_t i = values_.size() - 6; i < values_.size(); ++i) {
      results += (results.empty() ? " %" : ", %") + names_[i];
      expected.push_back(values_[i]);
    }
    text = "graph \"random\" on cpu {\n" + text + "  results" + results + "\n}\n";
  }

  std::string text;
  std::map<std::string, std::vector<double>> inputs;
  std::vector<Jet> expected;  // of the results
  int made = 0;

 private:
  void add(const std::string& call, const Jet& value, std::string name = {}) {
    if (name.empty()) name = "v" + std::to_string(values_.size());
    text += "  %" + name + " = " + call + "\n";
    names_.push_back(name);
    values_.push_back(value);
  }

  std::size_t any() {
    return static_cast<std::size_t>(random_.below(std::int64_t(values_.size())));
  }

  void step() {
    const std::size_t a = any(), b = any();
    const std::string x = "%" + names_[a], y = "%" + names_[b];
    const double at = values_[a].parts[0];
    const int level = static_cast<int>(random_.below(kLevels));
    switch (random_.below(7)) {
      case 0:
        return add(fmt::format("mul.Tensor({}, {})", x, y), values_[a] * values_[b]);
      case 1:
        return add(fmt::format("add.Tensor({}, {})", x, y), values_[a] + values_[b]);
      case 2:
        return add(fmt::format("sin({})", x),
                   values_[a].mapped({std::sin(at), std::cos(at), -std::sin(at), -std::cos(at)}));
      case 3:
        return add(fmt::format("cos({})", x),
                   values_[a].mapped({std::cos(at), -std::sin(at), -std::cos(at), std::sin(at)}));
      case 4:
        return unpack(x, values_[a], level);
      default:
        return make(x, y, values_[a], values_[b], level);
    }
  }

  void make(const std::string& x, const std::string& y, const Jet& primal, const Jet& tangent,
            int level) {
    if ((((primal.levels | tangent.levels) >> level) & 1) != 0) return;
    Jet dual = primal;
    dual.levels |= tangent.levels | 1 << level;
    for (std::size_t s = 0; s < dual.parts.size(); ++s)
      if (((s >> level) & 1) != 0) dual.parts[s] = tangent.parts[s & ~(std::size_t{1} << level)];
    add(fmt::format("external aten._make_dual({}, {}, {}) : f64[1]", x, y, level), dual);
    ++made;
  }

  // A copy of the value, since the list of values grows.
  void unpack(const std::string& x, Jet dual, int level) {
    if (random_.one_in(3))
      return add(fmt::format("external aten._fw_primal({}, {}) : f64[1]", x, level),
                 dual.part(level, false));
    const std::string list = "u" + std::to_string(values_.size());
    text += fmt::format("  %{} = external aten._unpack_dual({}, {}) : (f64[1], f64[1])\n", list, x,
                        level);
    add(fmt::format("getitem(%{}, 0)", list), dual.part(level, false));
    add(fmt::format("getitem(%{}, 1)", list), dual.part(level, true));
  }

  test::Random random_;
  std::vector<std::string> names_;
  std::vector<Jet> values_;
};

TEST_CASE("dual calls: random nestings have the values of numbers with infinitesimals",
          "[random]") {
  int made = 0, mixed = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const RandomDuals program(seed);
    INFO(program.text);
    const Graph graph = expanded_duals(parse(program.text));
    const auto values = values_at(graph, program.inputs);
    // The levels of each result: of the program's own none, and of each tangent its primal's more.
    std::map<std::size_t, std::pair<std::size_t, std::size_t>> known;
    for (std::size_t i = 0; i < program.expected.size(); ++i) known[i] = {i, 0};
    if (graph.signature != nullptr)
      for (const DualResult& dual : graph.signature->dual_results) {
        const auto [of, levels] = known.at(dual.primal);
        known[dual.tangent] = {of, levels | std::size_t{1} << dual.level};
      }
    REQUIRE(known.size() == values.size());
    std::set<std::pair<std::size_t, std::size_t>> listed;
    for (const auto& [result, part] : known) {
      const double expected = program.expected[part.first].parts[part.second];
      CHECK(std::abs(values[result][0] - expected) <= 1e-9 * std::max(1.0, std::abs(expected)));
      mixed += expected != 0 && (part.second & (part.second - 1)) != 0;
      listed.insert(part);
    }
    for (std::size_t i = 0; i < program.expected.size(); ++i)
      for (std::size_t s = 0; s < program.expected[i].parts.size(); ++s)
        if (listed.count({i, s}) == 0) CHECK(program.expected[i].parts[s] == 0);
    made += program.made;
  }
  CHECK(made > 500);
  CHECK(mixed > 50);
}

}  // namespace
}  // namespace recut
