// Gradients of max pooling: a GPU kernel gathers them from the overlapping windows if the indices
// come from a forward call with the same windows. Otherwise each gradient is scattered by its
// index.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/autodiff/differentiate.h"
#include "engine/codegen/lower/structural_key.h"
#include "engine/input/text.h"
#include "tests/codegen/agreement.h"
#include "tests/codegen/given_inputs.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

constexpr const char* kScatters = "store add %g[";

// The kernel of %g for a GPU; it and the one for a CPU have to agree with the interpreter.
std::string kernel_of_gradient(const std::string& body) {
  const auto graph = parse_graph_text("graph \"pooling\" {\n" + body + "\n}", "pooling");
  INFO(body);
  if (!graph) FAIL(format(graph.diagnostics()));
  const Inputs inputs = inputs_for(*graph, 1, Values::ordinary);
  KernelRunOptions for_gpu;
  for_gpu.lower = cuda::lower_options({});
  CHECK(disagreement(*graph, inputs, {}, true).substr(0, 3000) == "");
  CHECK(disagreement(*graph, inputs, for_gpu, true).substr(0, 3000) == "");
  for (const std::string& text : run_kernels(*graph, inputs, for_gpu).texts)
    if (text.find("note \"%g = max_pool") != std::string::npos) return text;
  FAIL("no kernel makes %g");
  return "";
}

bool gathers(const std::string& body) {
  return kernel_of_gradient(body).find(kScatters) == std::string::npos;
}

// Windows of one or two and three dimensions: kernel, stride, padding, dilation, ceil_mode.
std::string pooled(const std::string& dtype, const std::string& in, const std::string& out,
                   const std::string& windows, int dims = 2) {
  return fmt::format(R"(
    %x = parameter {0}[{1}]
    %t = tangent {0}[{2}]
    %p = max_pool{4}d_with_indices(%x, {3})
    %y = getitem(%p, 0)
    %i = getitem(%p, 1)
    %g = max_pool{4}d_with_indices_backward(%t, %x, {3}, %i)
    results %y
    gradients %g)",
                     dtype, in, out, windows, dims);
}

TEST_CASE("max pooling: gradients are gathered for all windows", "[codegen][cpu]") {
  for (const char* dtype : {"f32", "bf16", "f64"}) {
    // Windows without overlap, with gaps, with overlap, beyond the plane; ATen's default strides;
    // dilation; ceil_mode; one window for many positions.
    CHECK(gathers(
        pooled(dtype, "2, 3, 8, 10", "2, 3, 4, 5", "[2, 2], [2, 2], [0, 0], [1, 1], false")));
    CHECK(gathers(pooled(dtype, "3, 9, 11", "3, 3, 3", "[2, 2], [3, 4], [0, 0], [1, 1], false")));
    CHECK(gathers(
        pooled(dtype, "2, 2, 9, 12", "2, 2, 5, 6", "[3, 3], [2, 2], [1, 1], [1, 1], false")));
    CHECK(gathers(pooled(dtype, "2, 7, 9", "2, 7, 9", "[5, 3], [1, 1], [2, 1], [1, 1], false")));
    CHECK(gathers(pooled(dtype, "2, 9, 8", "2, 3, 4", "[3, 2], [], [0, 0], [1, 1], false")));
    CHECK(gathers(
        pooled(dtype, "1, 2, 12, 13", "1, 2, 5, 11", "[3, 2], [2, 1], [1, 0], [2, 2], false")));
    CHECK(gathers(pooled(dtype, "2, 8, 9", "2, 4, 5", "[3, 2], [2, 2], [0, 0], [1, 1], true")));
  }
  CHECK(gathers(pooled("f32", "2, 6, 7, 9", "2, 3, 4, 4",
                       "[3, 2, 3], [2, 2, 2], [1, 1, 0], [1, 1, 1], false", 3)));
  CHECK(gathers(pooled("f32", "2, 6, 8, 10", "2, 3, 5, 4",
                       "[3, 2, 3], [2, 2, 2], [1, 1, 0], [1, 1, 1], false", 3)));
  CHECK(gathers(pooled("f32", "2, 9, 8", "2, 3, 3", "[7, 6], [1, 1], [0, 0], [1, 1], false")));
  CHECK(gathers(R"(
    %x = parameter f32[2, 3, 9, 12]
    %t = tangent f32[2, 3, 5, 6]
    %p = prims._low_memory_max_pool_with_offsets(%x, [3, 3], [2, 2], [1, 1], [1, 1], false)
    %y = getitem(%p, 0)
    %o = getitem(%p, 1)
    %i = prims._low_memory_max_pool_offsets_to_indices(%o, [3, 3], [9, 12], [2, 2], [1, 1], [1, 1])
    %g = max_pool2d_with_indices_backward(%t, %x, [3, 3], [2, 2], [1, 1], [1, 1], false, %i)
    results %y
    gradients %g)"));
}

// Indices outside of the call's windows.
std::string indexed(const std::string& indices) {
  return R"(
    %x = parameter f32[2, 6, 6]
    %a = parameter f32[2, 6, 6]
    %t = tangent f32[2, 3, 3]
    %z = full([2, 3, 3], 7, dtype=i64)
    %p = max_pool2d_with_indices(%a, [4, 4], [1, 1], [0, 0], [1, 1], false)
    %y = getitem(%p, 0)
    %w = getitem(%p, 1)
    %g = max_pool2d_with_indices_backward(%t, %x, [2, 2], [2, 2], [0, 0], [1, 1], false, %)" +
         indices + R"()
    results %y
    gradients %g)";
}

TEST_CASE("max pooling: gradients are scattered by foreign indices", "[codegen][cpu]") {
  CHECK_FALSE(gathers(indexed("z")));
  CHECK_FALSE(gathers(indexed("w")));
}

// Otherwise a program would lower one of them and run it for the other.
TEST_CASE("max pooling: the producer of the indices is in the structural key", "[codegen]") {
  const auto key = [](const std::string& body) {
    const auto graph = parse_graph_text("graph \"pooling\" {\n" + body + "\n}", "pooling");
    REQUIRE(graph.ok());
    const NodeId call = graph->find("g");
    return loop::structural_key_of(*graph, StorageModel(*graph), FusionGroups(), {&call, 1}).key;
  };
  const std::string own =
      pooled("f32", "2, 6, 6", "2, 3, 3", "[2, 2], [2, 2], [0, 0], [1, 1], false");
  const bool equal = key(own) == key(indexed("w"));
  CHECK_FALSE(equal);
}

// The first maximum of a window wins; among NaNs the last.
TEST_CASE("max pooling: the last of several NaNs in a window wins", "[codegen][cpu]") {
  const double nan = std::nan("");
  const GivenNumbers given = {{"x", {nan, 3, nan, 3, 1, 1, 2, nan, nan, 7, 7, 1}}};
  struct Case {
    const char* in;
    const char* call;
    Numbers expected;  // values and places
  };
  const Case cases[] = {
      {"2, 6", "max_pool1d_with_indices(%x, [3], [3])", {nan, 3, nan, 7, 2, 3, 2, 3}},
      {"1, 3, 4", "max_pool2d_with_indices(%x, [3, 2], [3, 2])", {nan, nan, 8, 7}},
      {"1, 3, 4",
       "max_pool2d_with_indices(%x, [3, 3], [2, 2], [1, 1])",
       {nan, nan, nan, nan, 0, 7, 8, 7}},
      {"1, 1, 3, 4", "max_pool3d_with_indices(%x, [1, 3, 2], [1, 3, 2])", {nan, nan, 8, 7}},
      {"1, 3, 4",
       "prims._low_memory_max_pool_with_offsets(%x, [3, 2], [3, 2], [0, 0], [1, 1], false)",
       {nan, nan, 4, 3}},
      {"1, 3, 4", "adaptive_max_pool2d(%x, [1, 2])", {nan, nan, 8, 7}},
      {"2, 6", "adaptive_max_pool1d(%x, [2])", {nan, 3, nan, 7, 2, 3, 2, 3}},
      {"1, 1, 3, 4", "adaptive_max_pool3d(%x, [1, 1, 2])", {nan, nan, 8, 7}},
      // Here the first NaN counts.
      {"2, 6", "max.dim(%x, 1)", {nan, nan, 0, 1}},
      {"2, 6", "cummax(%x, 1)", {nan, nan, nan, nan, nan, nan, 2, nan, nan, nan, nan, nan,
                                 0,   0,   2,   2,   2,   2,   0, 1,   2,   2,   2,   2}},
  };
  for (const Case& one : cases) {
    const Graph graph =
        graph_of(fmt::format("  %x = input f32[{}]\n  %o = {}\n  %y = getitem(%o, 0)\n"
                             "  %i = getitem(%o, 1)\n  results %y, %i\n  gradients none",
                             one.in, one.call));
    INFO(one.call);
    CHECK(wrong_numbers(graph, given, one.expected, one.in == std::string("1, 1, 3, 4")) == "");
  }
}

TEST_CASE("max pooling: the gradient of several NaNs goes to the last", "[codegen][cpu]") {
  const double nan = std::nan("");
  for (const char* call :
       {"max_pool2d_with_indices(%x, [2, 2], [2, 2])", "adaptive_max_pool2d(%x, [1, 2])"}) {
    const Graph forward =
        graph_of(fmt::format("  %x = parameter f32[1, 1, 2, 4]\n  %o = {}\n"
                             "  %y = getitem(%o, 0)\n  results %y",
                             call));
    const auto joint = differentiate(forward);
    REQUIRE(joint.ok());
    INFO(call);
    CHECK(wrong_numbers(*joint, {{"x", {nan, 1, 4, 4, 2, nan, 4, 1}}, {"tangents_1", {10, 100}}},
                        {nan, 4, 0, 0, 100, 0, 0, 10, 0, 0}) == "");
  }
}

}  // namespace
}  // namespace recut::test
