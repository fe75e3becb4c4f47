// The CUDA functions for attention, run by fibres with emulated tensor cores (cuda_tensor_cores.h),
// against the interpreter of graphs.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <iterator>

#include "engine/codegen/cuda/attention.h"
#include "engine/input/text.h"
#include "engine/runtime/program.h"
#include "tests/codegen/attention_graph.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/run_kernels.h"
#include "tests/golden/golden.h"
#include "tests/paths.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

using cuda::MatmulPrecision;
using test::AttentionGraph;
using test::ScoreMask;

Graph graph_of(const std::string& text) {
  auto graph = parse_graph_text(text, "attention.recut");
  if (!graph) FAIL(format(graph.diagnostics()) + text);
  return std::move(*graph);
}

// The relative error of the results; non-finite values have to be equal. Where terms cancel to 0,
// the error is relative to these terms: sums of some dozen products.
double error_of(const Tensor& found, const Tensor& expected) {
  const auto x = unpack<double>(found), y = unpack<double>(expected);
  double apart = 0, whole = 0;
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const bool finite = std::isfinite(y[i]);
    if (!finite && !(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])))) return INFINITY;
    if (!finite) continue;
    if (!std::isfinite(x[i])) return INFINITY;
    apart += (x[i] - y[i]) * (x[i] - y[i]);
    whole += y[i] * y[i];
  }
  if (whole < 1e-12) return std::sqrt(apart / static_cast<double>(y.count())) / 8;
  return std::sqrt(apart / whole);
}

// The maximal error of any output.
double bound_of(const std::string& dtype, MatmulPrecision factors) {
  if (dtype == "bf16") return 2e-2;
  if (dtype == "f16") return 4e-3;
  return factors == MatmulPrecision::tf32 ? 2e-3 : 4e-6;
}

test::KernelRun run(const Graph& graph, const Inputs& inputs, MatmulPrecision factors) {
  test::KernelRunOptions options;
  options.executor = test::Executor::cuda;
  options.attention = factors;
  test::KernelRun run = test::run_kernels(graph, inputs, options);
  REQUIRE(run.problem == "");
  REQUIRE(run.attentions == 2);
  return run;
}

void check(const AttentionGraph& form, MatmulPrecision factors, const Graph& graph,
           const Inputs& inputs) {
  INFO(form.name());
  const auto expected = evaluate(graph, inputs);
  REQUIRE(expected.ok());
  const test::KernelRun found = run(graph, inputs, factors);
  for (std::size_t i = 0; i < found.outputs.size(); ++i) {
    CAPTURE(i);
    if (found.outputs[i].exists())
      CHECK(error_of(found.outputs[i], expected->outputs[i]) < bound_of(form.dtype, factors));
  }
}

void check(const AttentionGraph& form, MatmulPrecision factors = MatmulPrecision::tf32,
           std::uint64_t seed = 1) {
  const Graph graph = graph_of(form.text());
  check(form, factors, graph, test::inputs_for(graph, seed, test::Values::ordinary));
}

#define NEEDS_COMPILER \
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor")

TEST_CASE("attention: lengths that are not multiples of the tile", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  for (const std::int64_t length : {1, 5, 64, 70, 129})
    for (const char* dtype : {"f32", "bf16"}) {
      AttentionGraph form;
      form.dtype = dtype;
      form.queries = form.keys = length;
      form.features = form.value_features = 32;
      form.causal = length % 2 != 0;
      check(form);
    }
}

TEST_CASE("attention: head dimensions", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  AttentionGraph form;
  form.queries = 40;
  form.keys = 72;
  for (const auto& [features, value_features] :
       {std::pair{16, 16}, {24, 40}, {64, 64}, {72, 16}, {128, 128}})
    for (const char* dtype : {"f32", "f16"}) {
      form.dtype = dtype;
      form.features = features;
      form.value_features = value_features;
      check(form);
    }
}

TEST_CASE("attention: full f32 by three tf32 products", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  AttentionGraph form;
  form.queries = 70;
  form.causal = true;
  check(form, MatmulPrecision::f32);
  form.features = form.value_features = 80;
  check(form, MatmulPrecision::f32);
}

TEST_CASE("attention: grouped-query heads, and interleaved rows", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  AttentionGraph form;
  form.batches = 2;
  form.heads = 6;
  form.key_heads = 2;
  form.queries = 37;
  form.keys = 50;
  form.features = form.value_features = 16;
  form.transposed = true;
  for (const char* dtype : {"f32", "bf16"}) {
    form.dtype = dtype;
    form.causal = !form.causal;
    check(form);
  }
}

TEST_CASE("attention: masks and dropout", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  AttentionGraph form;
  form.batches = form.heads = form.key_heads = 2;
  form.queries = 20;
  form.keys = 70;
  form.features = form.value_features = 16;
  for (const char* shape :
       {"{queries}, {keys}", "{batches}, 1, 1, {keys}", "{batches}, {heads}, {queries}, 1"}) {
    form.mask_shape = shape;
    form.mask = ScoreMask::additive;
    check(form, MatmulPrecision::f32);
    form.mask = ScoreMask::boolean;
    check(form, MatmulPrecision::f32);
  }
  form.dtype = "bf16";
  form.mask = ScoreMask::additive;
  check(form);
  form.mask = ScoreMask::dropout;
  form.mask_shape = "{batches}, {heads}, {queries}, {keys}";
  check(form);
  form.dtype = "f32";
  check(form, MatmulPrecision::f32);
}

// A fully masked row gives zeros, and -inf as its logsumexp.
TEST_CASE("attention: fully masked rows", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  AttentionGraph form;
  form.queries = 20;
  form.keys = 40;
  form.features = form.value_features = 16;
  // An additive mask of the smallest number for all keys hides nothing.
  for (const auto& [mask, value] :
       {std::pair(ScoreMask::boolean, 0.0), std::pair(ScoreMask::additive, -HUGE_VAL),
        std::pair(ScoreMask::additive, -3.4028234663852886e38)}) {
    form.mask = mask;
    const Graph graph = graph_of(form.text());
    Inputs inputs = test::inputs_for(graph, 1, test::Values::ordinary);
    Tensor& given = inputs.at(graph.find("m"));
    auto values = unpack<double>(given);
    for (const std::int64_t row : {0, 7, 19})
      for (std::int64_t key = 0; key < form.keys; ++key) values[row * form.keys + key] = value;
    given = allocate(graph.type(graph.find("m")), nullptr);
    pack(values, given);
    check(form, MatmulPrecision::f32, graph, inputs);
  }
}

TEST_CASE("attention: deterministic results", "[codegen][cpu][attention]") {
  NEEDS_COMPILER;
  AttentionGraph form;
  form.heads = 2;
  form.features = form.value_features = 16;
  const Graph graph = graph_of(form.text());
  const Inputs inputs = test::inputs_for(graph, 1, test::Values::ordinary);
  const auto once = run(graph, inputs, MatmulPrecision::tf32),
             again = run(graph, inputs, MatmulPrecision::tf32);
  CHECK(test::outputs_difference(once.outputs, again.outputs) == "");
}

TEST_CASE("attention: random shapes and masks", "[codegen][cpu][attention][random]") {
  NEEDS_COMPILER;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    test::Random random(seed);
    AttentionGraph form;
    form.dtype = random.one_in(2) ? "f32" : random.one_in(2) ? "bf16" : "f16";
    form.batches = random.between(1, 2);
    form.key_heads = random.between(1, 2);
    form.heads = form.key_heads * random.between(1, 3);
    form.queries = random.between(1, 100);
    form.keys = random.between(1, 100);
    form.features = 8 * random.between(2, 12);
    form.value_features = random.one_in(2) ? form.features : 8 * random.between(2, 12);
    form.causal = random.one_in(2);
    form.transposed = random.one_in(2);
    form.mask = random.one_in(2)   ? ScoreMask::none
                : random.one_in(2) ? ScoreMask::additive
                                   : ScoreMask::boolean;
    check(form, random.one_in(2) ? MatmulPrecision::f32 : MatmulPrecision::tf32, seed);
  }
}

library::Kernel call_of(const Graph& graph, const char* name) {
  auto kernel = library::library_kernel(graph, StorageModel(graph), graph.find(name));
  REQUIRE(kernel);
  return std::move(*kernel);
}

TEST_CASE("attention: calls that have CUDA functions", "[codegen][attention]") {
  const auto takes = [](const AttentionGraph& form) {
    const Graph graph = graph_of(form.text());
    return cuda::supports_attention(call_of(graph, "a")) &&
           cuda::supports_attention(call_of(graph, "b"));
  };
  AttentionGraph form;
  CHECK(takes(form));
  for (const std::int64_t width : {8, 12, 136}) {
    form.features = width;
    CHECK_FALSE(takes(form));
  }
  form = {};
  form.dtype = "f64";
  const Graph wide = graph_of(form.text());
  CHECK_FALSE(library::library_kernel(wide, StorageModel(wide), wide.find("a")));

  // Not for CPUs.
  form.dtype = "f32";
  const Graph graph = graph_of(form.text());
  const library::Kernel kernel = call_of(graph, "a");
  CHECK_FALSE(library::is_portable(kernel));
  ScheduledKernel scheduled;
  scheduled.calls = {graph.find("a")};
  CHECK_FALSE(library_kernel_of(graph, StorageModel(graph), scheduled));
  CHECK(library_kernel_of(graph, StorageModel(graph), scheduled, cuda::supports_attention));
  CHECK(cuda::attention_workspace_bytes(kernel) == 0);
  CHECK(cuda::attention_workspace_bytes(call_of(graph, "b")) == 64 * 4);
}

TEST_CASE("attention: gradients of a bias are lowered to loops", "[codegen][attention]") {
  AttentionGraph form;
  form.mask = ScoreMask::additive;
  std::string text = form.text();
  text.replace(text.find("true, false]"), 12, "true, true]");
  text.replace(text.find("  results"), 9, "  %gm = getitem(%b, 3)\n  results %gm,");
  const Graph graph = graph_of(text);
  CHECK_FALSE(library::library_kernel(graph, StorageModel(graph), graph.find("b")));
}

TEST_CASE("attention: operands without a strided layout are lowered to loops",
          "[codegen][attention]") {
  for (const std::string name : {"q", "k", "m"}) {
    AttentionGraph form;
    form.mask = ScoreMask::additive;
    std::string text = form.text();
    const std::string whole = "  %" + name + " = input f32[1, 1, 64, 64]\n";
    const std::size_t at = text.find(whole);
    REQUIRE(at != std::string::npos);
    text.replace(at, whole.size(),
                 "  %parts = input f32[1, 2, 32, 64]\n  %turned = permute(%parts, [0, 1, 3, 2])\n"
                 "  %" +
                     name + " = view(%turned, [1, 1, 64, 64])\n");
    const Graph graph = graph_of(text);
    for (const char* call : {"a", "b"})
      CHECK_FALSE(library::library_kernel(graph, StorageModel(graph), graph.find(call)));
  }
}

TEST_CASE("attention: the text of a library call", "[codegen][attention]") {
  AttentionGraph form;
  form.mask = ScoreMask::boolean;
  form.causal = true;
  const std::string text = library::print(call_of(graph_of(form.text()), "b"));
  CHECK(text.find("  %b.0[1, 1, 64, 64 by 4096, 64, 64, 1], %b.1[") != std::string::npos);
  CHECK(text.find(" = gradients of attention %q[1, 1, 64, 64 by 0, 0, 64, 1], %k[") !=
        std::string::npos);
  CHECK(text.find(", plus %m[1, 1, 64, 64 by 0, 0, 64, 1], of %a.0[") != std::string::npos);
  CHECK(text.find(" scale 0.3 causal\n}\n") != std::string::npos);
}

TEST_CASE("CUDA: attention as text", "[codegen][golden][attention]") {
  AttentionGraph form;
  form.batches = 2;
  form.heads = form.key_heads = 12;
  form.queries = form.keys = 1024;
  form.causal = true;
  const Graph graph = graph_of(form.text());
  const std::vector<library::Kernel> kernels{call_of(graph, "a"), call_of(graph, "b")};
  cuda::Options options;
  options.matmul_precision = MatmulPrecision::tf32;
  const cuda::Module module = cuda::emit({}, kernels, options);
  const std::string path = RECUT_SOURCE_DIR "/tests/golden/cuda/attention.cu";
  // Without the device functions, which the emitter copies verbatim.
  const std::string calls = module.text.substr(module.text.find("// kernel a\n"));
  if (test::blessing()) std::ofstream(path, std::ios::binary) << calls;
  INFO("accept it:  RECUT_BLESS=1 build/release/tests/recut_tests \"[golden]CUDA*\"");
  std::ifstream file(path, std::ios::binary);
  CHECK(calls == std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(std::count(module.text.begin(), module.text.end(), '\n') ==
        static_cast<std::ptrdiff_t>(module.locations.size()));
}

}  // namespace
}  // namespace recut
