// Kernels that compute calls of forward again for themselves, in the loop form's interpreter and as
// machine code; the interpreter of graphs is the judge.
#include <catch2/catch_test_macros.hpp>

#include "engine/fusion/fuse_pointwise.h"
#include "tests/codegen/agreement.h"
#include "tests/partition/graphs.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// What is wrong with a graph whose kernel of %g has these calls of forward in it; its text has to
// read the one and not the other.
void check(const std::string& body, const std::vector<std::string>& inlined,
           const std::string& read, const std::string& unread) {
  const Graph graph = parse("graph \"g\" {\n" + body + "\n}");
  INFO(body);
  KernelRunOptions options;
  options.groups =
      fuse_pointwise(graph, StorageModel(graph, StorageModel::Sizes::values), Fusion::rows);
  const std::int32_t g = options.groups.group(graph.find("g"));
  REQUIRE(g != FusionGroups::kAlone);
  const auto calls = options.groups.inlined(g);
  CHECK(names(graph, {calls.begin(), calls.end()}) == inlined);
  const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
  CHECK(disagreement(graph, inputs, options, true) == "");
  std::string text;
  for (const std::string& kernel : run_kernels(graph, inputs, options).texts)
    if (kernel.find("%g ") != std::string::npos) text = kernel;
  CHECK(text.find("buffer %" + read + " ") != std::string::npos);
  CHECK(text.find("buffer %" + unread + " ") == std::string::npos);
}

TEST_CASE("inlined calls: a value that forward's kernels write as well", "[codegen][cpu]") {
  for (const char* type : {"f32", "bf16", "f64"}) {
    const std::string t = type;
    check("%x = parameter " + t + "[13, 20]\n%w = parameter " + t + "[20, 40]\n%v = parameter " +
              t + "[40, 9]\n%t = tangent " + t + "[13, 40]" + R"(
      %p = mm(%x, %w)
      %b = neg(%p)
      %a = relu(%b)
      %o = mm(%a, %v)
      %g = mul.Tensor(%t, %a)
      %k = mul.Tensor(%g, %p)
      %q = mm(%k, %v)
      results %o
      gradients %q)",
          {"b", "a"}, "p", "a");
  }
}

TEST_CASE("inlined calls: by views, and row by row", "[codegen][cpu]") {
  check(R"(
    %x = parameter f32[50, 20]
    %w = parameter f32[20, 60]
    %v = parameter f32[60, 9]
    %t = tangent f32[60, 50]
    %u = parameter f32[50, 9]
    %p = mm(%x, %w)
    %a = mul.Scalar(%p, 2)
    %o = mm(%a, %v)
    %at = permute(%a, [1, 0])
    %pt = permute(%p, [1, 0])
    %g = mul.Tensor(%t, %at)
    %k = mul.Tensor(%g, %pt)
    %q = mm(%k, %u)
    results %o
    gradients %q)",
        {"a"}, "p", "a");
  check(R"(
    %x = parameter f32[50, 20]
    %w = parameter f32[20, 60]
    %v = parameter f32[60, 9]
    %t = tangent f32[50, 60]
    %p = mm(%x, %w)
    %a = mul.Scalar(%p, 2)
    %o = mm(%a, %v)
    %g = mul.Tensor(%t, %a)
    %s = sum.dim_IntList(%g, [1], true)
    %h = mul.Tensor(%p, %s)
    %k = sub.Tensor(%g, %h)
    %q = mm(%k, %v)
    results %o
    gradients %q)",
        {"a"}, "p", "a");
}

TEST_CASE("inlined calls: those that move, also behind a sum of rows", "[codegen][cpu]") {
  for (const char* type : {"f32", "bf16", "f64"}) {
    const std::string t = type;
    const std::string forward = "%x = parameter " + t + "[50, 20]\n%w = parameter " + t +
                                "[20, 60]\n%v = parameter " + t + "[60, 9]\n%t = tangent " + t +
                                "[50, 60]" + R"(
      %p = mm(%x, %w)
      %a = tanh(%p)
      %o = mm(%a, %v))";
    const std::string end = R"(
      %q = mm(%k, %v)
      results %o
      gradients %q)";
    check(forward + R"(
      %b = pow.Tensor_Scalar(%a, 2)
      %d = exp(%b)
      %g = mul.Tensor(%t, %d)
      %k = neg(%g))" +
              end,
          {"b", "d"}, "a", "d");
    check(forward + R"(
      %g = mul.Tensor(%t, %a)
      %s = sum.dim_IntList(%g, [1], true)
      %n = neg(%a)
      %k = prims.fma(%n, %s, %g))" +
              end,
          {"n"}, "a", "n");
  }
}

}  // namespace
}  // namespace recut::test
