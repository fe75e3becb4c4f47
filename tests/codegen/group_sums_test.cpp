// Row sums by groups of GPU threads: as many lanes as a thread block or a cluster has, with all
// reduced dimensions in one loop.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>

#include "engine/codegen/lower/lowering.h"
#include "engine/cost/device.h"
#include "engine/eval/compare.h"
#include "engine/fusion/fuse_pointwise.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/run_kernels.h"
#include "tests/partition/graphs.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut::test {
namespace {

Graph softmax_of(const std::string& type) {
  return parse("graph \"g\" {\n %x = parameter " + type + R"(
    %m = amax(%x, [-1], true)
    %d = sub.Tensor(%x, %m)
    %e = exp(%d)
    %s = sum.dim_IntList(%e, [-1], true)
    %q = div.Tensor(%e, %s)
    results %q
  })");
}

// Batch norm in training: statistics over batch and space, the normalized values, and a sum of
// these.
Graph batch_norm_of(const std::string& type) {
  return parse("graph \"g\" {\n %x = parameter " + type + R"(
    %p = var_mean.correction(%x, [0, 2, 3], correction=0, keepdim=true)
    %v = getitem(%p, 0)
    %m = getitem(%p, 1)
    %a = add.Tensor(%v, 1e-05)
    %r = rsqrt(%a)
    %c = sub.Tensor(%x, %m)
    %h = mul.Tensor(%c, %r)
    %z = relu(%h)
    %t = sum.dim_IntList(%z, [0, 2, 3])
    results %z, %t
  })");
}

// The gradient of a bias and its operand, which is read once and stored.
Graph column_sums_of(const std::string& type) {
  return parse("graph \"g\" {\n %x = parameter " + type + R"(
    %a = mul.Tensor(%x, 0.5)
    %b = exp(%a)
    %s = sum.dim_IntList(%b, [0])
    %t = sum.dim_IntList(%a, [0], true)
    results %b, %s, %t
  })");
}

// Like the gradient of a linear layer: a sum of a view.
Graph viewed_sums_of(const std::string& type, const std::string& view) {
  return parse("graph \"g\" {\n %x = parameter " + type + R"(
    %a = mul.Tensor(%x, 0.5)
    %b = add.Tensor(%a, 1.0)
    %v = view(%b, )" +
               view + R"()
    %s = sum.dim_IntList(%v, [0])
    results %b, %s
  })");
}

// For a GPU of 16 SMs: cooperative groups of 16 blocks, which fibres can run.
constexpr SmLimits kCooperative = {true, 16};

KernelRunOptions for_gpu(const Graph& graph, const SmLimits& limits) {
  KernelRunOptions options;
  options.groups = fuse_pointwise(graph, StorageModel(graph, StorageModel::Sizes::values));
  options.lower = cuda::lower_options(limits);
  return options;
}

std::vector<loop::Kernel> kernels_for_gpu(const Graph& graph, const SmLimits& limits) {
  const StorageModel storages(graph, StorageModel::Sizes::values);
  const KernelRunOptions options = for_gpu(graph, limits);
  std::vector<loop::Kernel> kernels;
  for (const std::vector<NodeId>& calls : kernels_of(graph, options.groups))
    if (auto lowered = loop::lower(graph, storages, options.groups, calls, options.lower))
      kernels.push_back(std::move(lowered->kernel));
  return kernels;
}

// Runs the loop interpreter and CUDA against the graph's own meaning.
void check_values(const Graph& graph, const SmLimits& limits) {
  KernelRunOptions options = for_gpu(graph, limits);
  const Inputs inputs = inputs_for(graph, 1, Values::ordinary);
  const auto expected = evaluate(graph, inputs);
  REQUIRE(expected.ok());
  for (const Executor executor : {Executor::interpreter, Executor::cuda}) {
    if (executor == Executor::cuda && !has_compiler()) continue;
    options.executor = executor;
    const KernelRun run = run_kernels(graph, inputs, options);
    REQUIRE(run.problem == "");
    REQUIRE(run.outputs.size() == expected->outputs.size());
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      CHECK(compare(run.outputs[i], expected->outputs[i]).problem == "");
  }
}

TEST_CASE("groups: lanes of a sum", "[codegen]") {
  CHECK(loop::lanes_for_group(5, 1, 8192) == 1);
  CHECK(loop::lanes_for_group(49, 1, 8192) == 8);
  CHECK(loop::lanes_for_group(64, 1, 8192) == 32);
  CHECK(loop::lanes_for_group(768, 8192, 8192) == 128);  // a warp, by fours
  CHECK(loop::lanes_for_group(1024, 49152, 8192) == 128);
  CHECK(loop::lanes_for_group(50257, 4096, 8192) == 2048);  // by single elements
  CHECK(loop::lanes_for_group(32000, 4096, 8192) == 4096);
  CHECK(loop::lanes_for_group(524288, 32, 8192) == 8192);  // eight blocks
  CHECK(loop::lanes_for_group(524288, 32, 1024) == 1024);
  CHECK(loop::lanes_for_group(100352, 256, 8192) == 8192);
}

TEST_CASE("groups: rows by packs, and what is left over", "[codegen][cpu]") {
  for (const char* type :
       {"f32[5, 50]", "f32[6, 96]", "f32[3, 1024]", "f32[2, 1000]", "f32[2, 999]", "bf16[3, 520]",
        "f64[2, 300]", "f32[1, 5000]", "f32[2, 3, 1, 260]"}) {
    INFO(type);
    check_values(softmax_of(type), {});
  }
}

TEST_CASE("groups: rows of several dimensions are one loop", "[codegen][cpu]") {
  for (const char* type :
       {"f32[3, 4, 8, 8]", "f32[5, 2, 7, 7]", "f32[2, 3, 12, 10]", "f32[4, 1, 40, 40]"}) {
    INFO(type);
    check_values(batch_norm_of(type), {});
  }
}

TEST_CASE("groups: long rows are a cluster's", "[codegen][cpu]") {
  check_values(softmax_of("f32[2, 40000]"), {true});
  check_values(softmax_of("f32[2, 20001]"), {true});  // by single elements
  check_values(batch_norm_of("f32[5, 2, 96, 96]"), {true});
}

TEST_CASE("groups: lanes of sums side by side", "[codegen]") {
  CHECK(loop::lanes_for_columns(32, 10, 8192) == 1);
  CHECK(loop::lanes_for_columns(4096, 3072, 8192) == 128);
  CHECK(loop::lanes_for_columns(4096, 3072, 1024) == 32);
  CHECK(loop::lanes_for_columns(8192, 768, 8192) == 256);
  CHECK(loop::lanes_for_columns(128, 10, 8192) == 16);
  CHECK(loop::lanes_for_columns(4096, 1 << 18, 8192) == 1);
  constexpr std::int64_t kGpuThreads = 128 * 1024;  // threads
  CHECK(loop::lanes_for_columns(524288, 32, 8192) == 256);
  CHECK(loop::lanes_for_columns(524288, 32, 8192, kGpuThreads) == 4096);
  CHECK(loop::lanes_for_columns(524288, 24, 8192, kGpuThreads) == 4096);
  CHECK(loop::lanes_for_columns(524288, 32, 1024, kGpuThreads / 2) ==
        2048);  // a GPU without clusters
  CHECK(loop::lanes_for_columns(524288, 2, 8192, kGpuThreads) == 8192);
  CHECK(loop::lanes_for_columns(2000, 8, 1024, kGpuThreads) ==
        32);  // too few terms for a cooperative group
  CHECK(loop::lanes_for_columns(8192, 32, 8192, kGpuThreads) == 1024);  // eight terms a lane
  CHECK(loop::lanes_for_columns(8192, 768, 8192, kGpuThreads) == 256);  // many sums: a cluster's
  CHECK(loop::lanes_for_columns(4096, 3072, 8192, kGpuThreads) == 128);
}

TEST_CASE("groups: sums that lie side by side", "[codegen][cpu]") {
  for (const bool clusters : {false, true})
    for (const char* type : {"f32[96, 40]", "f32[300, 7]", "f32[70, 2, 3]", "bf16[1000, 33]",
                             "f64[128, 64]", "f32[2100, 16]"}) {
      INFO(type << (clusters ? " in clusters" : ""));
      check_values(column_sums_of(type), {clusters});
    }
}

TEST_CASE("groups: few sums that lie side by side are a team's", "[codegen][cpu]") {
  CHECK(cuda::lower_options({true, 132}).column_threads == 128 * 1024);
  CHECK(cuda::lower_options({false, 108}).column_threads == 64 * 1024);
  CHECK(cuda::lower_options({true, 300}).column_threads == 128 * 1024);
  CHECK(cuda::lower_options({true, 2}).column_threads == 0);
  for (const SmLimits& limits : {kCooperative, SmLimits{false, 16}})
    for (const char* type : {"f32[10000, 8]", "bf16[20000, 5]"}) {
      INFO(type << (limits.clusters ? " in clusters" : ""));
      check_values(column_sums_of(type), limits);
    }
  check_values(batch_norm_of("f32[2, 8, 80, 80]{51200, 1, 640, 8}"), kCooperative);
  const auto kernels =
      kernels_for_gpu(batch_norm_of("f32[2, 8, 80, 80]{51200, 1, 640, 8}"), kCooperative);
  const cuda::Launch sums = cuda::emit(kernels).kernels.front().front();
  CHECK(sums.cooperative);
  CHECK(sums.cluster == 16);
  CHECK(sums.blocks == 16);
  CHECK(sums.threads == 1024);
}

// A GPU of sm_80 has no clusters, for any number of terms.
TEST_CASE("groups: without clusters many blocks of a sum are a team", "[codegen]") {
  for (const char* type : {"f32[300, 8]", "f32[2000, 8]", "f32[2000, 32]", "f32[4100, 8]",
                           "f32[4100, 4]", "f32[10000, 8]", "f32[8192, 100]", "f32[100000, 3]"}) {
    INFO(type);
    for (const SmLimits& limits : {SmLimits{false, 16}, {false, 108}}) {
      const auto kernels = kernels_for_gpu(column_sums_of(type), limits);
      for (const auto& launches : cuda::emit(kernels).kernels)
        for (const cuda::Launch& launch : launches)
          CHECK((launch.cluster == 1 || launch.cooperative));
    }
  }
}

TEST_CASE("groups: what is summed is read once and stored", "[codegen][cpu]") {
  check_values(viewed_sums_of("f32[4, 32, 40]", "[128, 40]"), {true});
  check_values(viewed_sums_of("f32[100, 6, 5]", "[100, 30]"), {});
  check_values(viewed_sums_of("f32[6, 512]", "[3, 1024]"), {});
  const Graph graph = viewed_sums_of("f32[4, 1024, 64]", "[4096, 64]");
  const std::vector<NodeId> calls(graph.order().begin() + 1, graph.order().end());
  const auto lowered = loop::lower(graph, StorageModel(graph, StorageModel::Sizes::values),
                                   FusionGroups(), calls, cuda::lower_options({true}));
  REQUIRE(lowered.ok());
  CHECK(cuda::emit({&lowered->kernel, 1}).kernels.front().size() == 1);
  // A thread has two terms; their operand is stored by other threads.
  check_values(column_sums_of("f32[2, 5000]"), {});
  const Graph short_sums = viewed_sums_of("f32[2, 50, 100]", "[2, 5000]");
  const std::vector<NodeId> of_short(short_sums.order().begin() + 1, short_sums.order().end());
  const auto in_order =
      loop::lower(short_sums, StorageModel(short_sums, StorageModel::Sizes::values), FusionGroups(),
                  of_short, cuda::lower_options({true}));
  REQUIRE(in_order.ok());
  CHECK(cuda::emit({&in_order->kernel, 1}).kernels.front().size() > 1);
}

// Bit-exact in any grid: a cluster has several rows then.
TEST_CASE("groups: the loop form's bits", "[codegen][cpu]") {
  if (!has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  std::vector<loop::Kernel> kernels;
  for (const Graph& graph : {softmax_of("f32[3, 40000]"), batch_norm_of("f32[3, 2, 80, 80]"),
                             batch_norm_of("f32[4, 3, 14, 14]"), softmax_of("f32[7, 768]"),
                             column_sums_of("f32[1200, 45]"), column_sums_of("f32[100, 70]")}) {
    for (loop::Kernel& kernel : kernels_for_gpu(graph, {true}))
      kernels.push_back(std::move(kernel));
  }
  const cuda::Module module = cuda::emit(kernels);
  std::vector<cuda::Launch> clusters;
  for (const auto& launches : module.kernels)
    std::copy_if(launches.begin(), launches.end(), std::back_inserter(clusters),
                 [](const cuda::Launch& one) { return one.cluster > 1; });
  REQUIRE(!clusters.empty());
  const cuda::Launch& longest = clusters.front();
  CHECK(longest.cluster == 8);
  CHECK(longest.blocks == 24);
  CHECK(longest.threads * longest.cluster * 4 == 8192);
  for (const std::int64_t blocks : {1 << 30, 16, 1})
    CHECK(cuda_difference(kernels, 1, 4, {blocks}) == "");
  for (const char* type : {"f32[10000, 8]", "f32[4200, 33]"}) {
    const auto cooperative = kernels_for_gpu(column_sums_of(type), kCooperative);
    CHECK(cuda_difference(cooperative, 1, 4) == "");
  }
}

TEST_CASE("groups: the kernels of random graphs do what the interpreter does",
          "[codegen][cpu][random]") {
  if (!has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  for (std::uint64_t group = 0; group < 3; ++group) {
    std::vector<loop::Kernel> kernels;
    for (std::uint64_t seed = 10 * group + 101; seed <= 10 * group + 110; ++seed)
      for (loop::Kernel& kernel : lowered_kernels(random_graph(seed), cuda::lower_options({true})))
        kernels.push_back(std::move(kernel));
    INFO("seeds from " << 10 * group + 101);
    REQUIRE(kernels.size() > 40);
    REQUIRE(cuda_difference(kernels, group, 4, {group % 2 == 0 ? 1 << 30 : 3}) == "");
  }
}

}  // namespace
}  // namespace recut::test
