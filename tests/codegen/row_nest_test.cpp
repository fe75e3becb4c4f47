// Kernels that continue after a reduction, row by row, in the loop interpreter and as machine code,
// against the interpreter of graphs.
#include <catch2/catch_test_macros.hpp>

#include "engine/fusion/fuse_pointwise.h"
#include "tests/codegen/agreement.h"
#include "tests/partition/graphs.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

// The body's %x comes from another kernel, so that it counts as bytes of the step.
Graph with_body(const std::string& type, const std::string& body) {
  return parse("graph \"g\" {\n %given = parameter " + type + "\n" + " %x = flip(%given, [0])\n" +
               body + "\n}");
}

std::string disagreement_of_one_kernel(const std::string& type, const std::string& body) {
  const Graph graph = with_body(type, body);
  const StorageModel storages(graph, StorageModel::Sizes::values);
  KernelRunOptions options;
  options.groups = fuse_pointwise(graph, storages);
  const auto kernels = kernels_of(graph, options.groups);
  if (kernels.size() != 2) return std::to_string(kernels.size() - 1) + " kernels";
  return disagreement(graph, inputs_for(graph, 1, Values::ordinary), options, true).substr(0, 3000);
}

TEST_CASE("rows: softmax is one kernel, in every dtype and layout", "[codegen][cpu]") {
  const std::string body = R"(
    %m = amax(%x, [-1], true)
    %d = sub.Tensor(%x, %m)
    %e = exp(%d)
    %s = sum.dim_IntList(%e, [-1], true)
    %q = div.Tensor(%e, %s)
    results %q)";
  for (const char* type : {"f32[5, 50]", "bf16[5, 70]", "f16[3, 4, 33]", "f64[2, 300]", "f32[40]",
                           "f32[2, 3, 1, 49]"}) {
    INFO(type);
    CHECK(disagreement_of_one_kernel(type, body) == "");
  }
}

TEST_CASE("rows: normalizations with stored statistics", "[codegen][cpu]") {
  CHECK(disagreement_of_one_kernel("f32[20, 100]", R"(
    %w = parameter f32[100]
    %p = var_mean.correction(%x, [1], correction=0, keepdim=true)
    %v = getitem(%p, 0)
    %m = getitem(%p, 1)
    %a = add.Tensor(%v, 1e-05)
    %r = rsqrt(%a)
    %c = sub.Tensor(%x, %m)
    %h = mul.Tensor(%c, %r)
    %y = mul.Tensor(%h, %w)
    results %y)") == "");
  // Over batch and space; the reduced dimensions are dropped, and views restore them.
  CHECK(disagreement_of_one_kernel("f32[5, 4, 10, 3]", R"(
    %w = parameter f32[4]
    %m = mean.dim(%x, [0, 2, 3])
    %u = unsqueeze(%m, 1)
    %n = unsqueeze(%u, 2)
    %c = sub.Tensor(%x, %n)
    %t = mul.Tensor(%c, %c)
    %s = sum.dim_IntList(%t, [0, 2, 3])
    %k = mul.Tensor(%s, %w)
    %b = view(%k, [1, 4, 1, 1])
    %z = expand(%b, [5, 4, 10, 3])
    %y = mul.Tensor(%c, %z)
    results %y)") == "");
}

TEST_CASE("rows: reductions that share loops or depend on each other", "[codegen][cpu]") {
  CHECK(disagreement_of_one_kernel("f32[9, 200]", R"(
    %g = tangent f32[9, 200]
    %p = mul.Tensor(%g, %x)
    %s = sum.dim_IntList(%p, [1], true)
    %t = sum.dim_IntList(%g, [1], true)
    %a = mul.Tensor(%x, %s)
    %b = sub.Tensor(%g, %a)
    %m = amax(%b, [1], true)
    %l = argmax(%g, 1, true)
    %f = _to_copy(%l, dtype=f32)
    %c = add.Tensor(%f, %m)
    %d = add.Tensor(%t, %c)
    %e = mul.Tensor(%b, %d)
    gradients %e)") == "");
}

}  // namespace
}  // namespace recut::test
