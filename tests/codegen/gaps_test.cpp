// as_strided and its kin as kernels: inputs arrive row by row, whatever their recorded strides, and
// the results follow the recorded strides.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/codegen/given_inputs.h"

namespace recut::test {
namespace {

Graph viewed(const std::string& type, const std::string& calls) {
  return graph_of(fmt::format("  %x = input {}\n{}  results %y\n  gradients none", type, calls));
}

TEST_CASE("as_strided of inputs with gaps shows what the recorded strides say", "[codegen][cpu]") {
  struct Case {
    const char* type;
    const char* calls;
    Numbers expected;
  };
  const Case cases[] = {
      {"f32[3, 4]{9, 2}", "  %y = as_strided(%x, [2, 2], [9, 2], 2)\n", {1, 2, 5, 6}},
      // Diagonals; strides that go through two dimensions at once.
      {"f32[3, 4]{9, 2}", "  %y = as_strided(%x, [3], [11], 2)\n", {1, 6, 11}},
      {"f32[3, 4]{9, 2}", "  %y = as_strided_copy(%x, [2, 2], [18, 4])\n", {0, 2, 8, 10}},
      // Transposed, and three dimensions.
      {"f32[3, 4]{2, 7}", "  %y = as_strided(%x, [4], [7], 2)\n", {4, 5, 6, 7}},
      {"f32[2, 2, 3]{20, 8, 1}", "  %y = as_strided(%x, [2, 2], [20, 1], 9)\n", {4, 5, 10, 11}},
      // Offsets count in the storage, whatever view comes before.
      {"f32[3, 4]{9, 2}",
       "  %s = slice.Tensor(%x, 0, 1, 3)\n  %y = as_strided(%s, [2], [2], 9)\n",
       {4, 5}},
      {"f32[3, 4]{9, 2}", "  %s = select.int(%x, 1, 3)\n  %y = as_strided(%s, [2], [9])\n", {3, 7}},
      {"f32[3, 4]{9, 2}",
       "  %s = as_strided(%x, [2, 3], [9, 2], 9)\n  %y = as_strided(%s, [2, 2], [2, 9])\n",
       {4, 8, 5, 9}},
      {"f32[3, 4]{9, 2}",
       "  %s = as_strided(%x, [2, 3], [9, 2], 9)\n  %y = slice.Tensor(%s, 1, 1, 3)\n",
       {5, 6, 9, 10}},
      // A reshape that has to copy starts a storage of its own.
      {"f32[3, 4]{9, 2}",
       "  %s = slice.Tensor(%x, 0, 1, 3)\n  %v = reshape(%s, [8])\n"
       "  %y = as_strided(%v, [3], [2], 1)\n",
       {5, 7, 9}},
      // Dense layouts are unchanged.
      {"f32[3, 4]{1, 3}", "  %y = as_strided(%x, [2, 2], [3, 1], 1)\n", {4, 8, 5, 9}},
      {"i64[3, 4]{9, 2}", "  %y = as_strided(%x, [2], [2], 20)\n", {9, 10}},
  };
  for (const Case& one : cases) {
    INFO(one.type << "\n" << one.calls);
    const Graph graph = viewed(one.type, one.calls);
    CHECK(wrong_numbers(graph, {}, one.expected) == "");
  }
}

TEST_CASE("as_strided of storages that row-major elements can't tell is refused",
          "[codegen][cpu]") {
  const GivenNumbers same = {{"x", {0, 1, 2, 1, 2, 3}}};
  struct Case {
    const char* type;
    const char* call;
  };
  for (const Case& one : {Case{"f32[2, 3]{1, 1}", "as_strided(%x, [2], [1], 1)"},
                          Case{"f32[2, 3]{1, 0}", "as_strided(%x, [2, 2], [2, 1])"},
                          Case{"f32[2, 3]{8, 2}", "as_strided(%x, [3], [1])"}}) {
    const Graph graph = viewed(one.type, fmt::format("  %v = {}\n  %y = neg(%v)\n", one.call));
    const std::string why = refusal(graph, same);
    INFO(why);
    CHECK(why.find("node 'v'") != std::string::npos);
    CHECK(why.find(std::string("'x' that in its type ") + one.type) != std::string::npos);
    CHECK(why.find("declare that row by row") != std::string::npos);
  }
}

TEST_CASE("as_strided_scatter counts in the storage of a view's input", "[codegen][cpu]") {
  const Graph graph = graph_of(
      "  %x = input f32[3, 4]{9, 1}\n  %s = input f32[2]\n  %r = select.int(%x, 0, 1)\n"
      "  %y = as_strided_scatter(%r, %s, [2], [2], 10)\n  results %y\n  gradients none, none");
  CHECK(wrong_numbers(graph, {{"s", {-1, -2}}}, {4, -1, 6, -2}) == "");
}

}  // namespace
}  // namespace recut::test
