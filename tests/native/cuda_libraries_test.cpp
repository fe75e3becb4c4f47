// Steps with library calls, on fake_libraries.h's cuBLASLt and cuDNN: the forms that these get, the
// algorithms that are chosen, and workspaces that harm no other buffer.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "engine/workspace/open_document.h"
#include "tests/codegen/attention_graph.h"
#include "tests/native/fake_gpu.h"
#include "tests/native/fake_step.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut::cuda {
namespace {

using test::FakeLibraries;

TEST_CASE("cuda: products and convolutions are their libraries'", "[native][cuda]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  for (const char* name :
       {"joint/tiny_mlp.json.gz", "mlp.recut", "attention.recut", "joint/tiny_conv.json.gz"}) {
    INFO(name);
    const test::FakeStep step =
        test::fake_step(RECUT_SOURCE_DIR "/samples/" + std::string(name), "none", true);
    CHECK_FALSE(step.ready->step.program().library.empty());
    test::fake_gpu().records = false;  // the libraries' calls are no launches of this GPU
    const auto execution = test::execute_fake(step);
    if (!execution) FAIL(execution.diagnostics().front().message);
    CHECK(execution->agrees());
    CHECK(execution->max_relative_error() < 1e-3);
    CHECK(execution->holds());
    CHECK(execution->scratch_bytes == 0);  // the arena has room for what they write to
  }
}

TEST_CASE("cuda: what was measured of calls is kept between runs", "[native][cuda][cache]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const test::TemporaryFolder folder;
  test::FakeStep step = test::fake_step(RECUT_SOURCE_DIR "/samples/mlp.recut", "none", true);
  const auto inputs = inputs_from(step.document.graph(), {}, 1);
  REQUIRE(inputs.ok());
  // Counts the time measurements of a newly started program.
  const auto measured = [&](const CallOptions& options, std::size_t notes) {
    auto kept = std::make_shared<AlgorithmCache>(cache::Store({folder.path(), 1 << 20, "a build"}),
                                                 *step.ready->step.gpu());
    step.ready->step.set_algorithm_cache(kept);
    test::fake_gpu().elapsed_ms = 500;
    test::fake_gpu().slower_ms = 1;
    auto run = Run::prepare(
        step.ready->step, kernel_inputs(step.document.graph(), step.ready->step.program(), *inputs),
        options);
    if (!run) FAIL(run.diagnostics().front().message);
    const float elapsed_ms = test::fake_gpu().elapsed_ms;
    CHECK(run->run(1).ok());
    const auto compared =
        judge_outputs(step.document.graph(), *inputs, {.seed = 1}, run->outputs());
    REQUIRE(compared.ok());
    CHECK(max_relative_error(compared->outputs) <
          (options.precision == Precision::f32 ? 1e-5 : 2e-3));
    CHECK(kept->notes().size() == notes);
    return static_cast<int>(elapsed_ms - 500);
  };
  const int once = measured({}, 0);
  CHECK(once > 0);
  CHECK(measured({}, 0) == 0);
  CHECK(measured({Precision::tf32, kDefaultWorkspaceBytes, false}, 0) == once);
  CHECK(measured({Precision::f32, 600, false}, 0) > 0);  // fewer algorithms fit
  CHECK(measured({Precision::f32, kDefaultWorkspaceBytes, true}, 0) == once);
  CHECK(measured({}, 0) == 0);

  const cache::Store store({folder.path(), 1 << 20, "a build"});
  REQUIRE(store.list(false).size() == 1);
  const std::string entry =
      folder.path() + "/ways/" + store.list(false).front().key.hex() + ".entry";
  std::filesystem::resize_file(entry, std::filesystem::file_size(entry) - 1);
  CHECK(measured({}, 1) == once);
  CHECK(measured({}, 0) == 0);
  CHECK(store.clear() == 1);
  CHECK(measured({}, 0) == once);
}

// Recut's kernels are tried first, and each later algorithm is quicker here. cuDNN's backward is
// chosen only where nondeterminism is allowed.
TEST_CASE("cuda: attention of 16 bits is cuDNN's where that is quicker",
          "[native][cuda][attention]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  for (const char* dtype : {"f16", "bf16"})
    for (const bool causal : {false, true})
      for (const std::int64_t key_heads : {2, 1}) {
        INFO(dtype << (causal ? ", causal, " : ", ") << key_heads);
        test::AttentionGraph form;
        form.dtype = dtype;
        form.batches = 2;
        form.heads = 2;
        form.key_heads = key_heads;
        form.queries = form.keys = 32;
        form.features = 16;
        form.value_features = 24;
        form.causal = causal;
        const native::TemporaryFile file("attention.recut");
        file.write(form.joint_text());
        const test::FakeStep step = test::fake_step(file.path(), "none", true);
        const auto launches = [&](float slower_ms, bool allows_nondeterminism) {
          test::fake_gpu().records = false;
          test::fake_gpu().elapsed_ms = 500;
          test::fake_gpu().slower_ms = slower_ms;
          const int before = test::fake_gpu().launches;
          const auto execution = test::execute_fake(step, Precision::f32, allows_nondeterminism);
          if (!execution) FAIL(execution.diagnostics().front().message);
          CHECK(execution->agrees());
          CHECK(execution->max_relative_error() <= execution->allowed_error);
          return test::fake_gpu().launches - before;
        };
        const int own = launches(1, false), forward = launches(-1, false),
                  both = launches(-1, true);
        CHECK(own > forward);
        CHECK(forward > both);
        CHECK(test::fake_gpu().cleared > 0);  // the seeds of a dropout that isn't
      }
}

// Products with all possible addends, and a convolution forward and backward, of one dtype.
std::string every_call(std::string_view dtype) {
  return fmt::format(
      "graph \"every call\" {{\n"
      "  %w = parameter {0}[24, 24]\n  %b = parameter {0}[24]\n"
      "  %k = parameter {0}[6, 4, 3, 3]\n  %kb = parameter {0}[6]\n"
      "  %x = input {0}[16, 24]\n  %c = input {0}[2, 4, 9, 9]\n"
      "  %t = tangent {0}[16, 24]\n  %tc = tangent {0}[2, 6, 9, 9]\n"
      "  %h = addmm(%b, %x, %w)\n"
      "  %y = addmm(%x, %h, %w, beta=0.5, alpha=-2)\n"
      "  %r = view(%h, [2, 8, 24])\n  %s = permute(%r, [0, 2, 1])\n"
      "  %q = bmm(%r, %s)\n  %u = baddbmm(%r, %q, %r, beta=2)\n"
      "  %p = _addmm_activation(%b, %x, %w)\n"
      "  %z = convolution(%c, %k, %kb, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)\n"
      "  %wt = permute(%w, [1, 0])\n  %th = mm(%t, %wt)\n"
      "  %ht = permute(%h, [1, 0])\n  %gw = mm(%ht, %t)\n  %gb = sum.dim_IntList(%th, [0])\n"
      "  %g = convolution_backward(%tc, %c, %k, [6], [1, 1], [1, 1], [1, 1], false, [0, 0], 1, "
      "[true, true, true])\n"
      "  %gc = getitem(%g, 0)\n  %gk = getitem(%g, 1)\n  %gkb = getitem(%g, 2)\n"
      "  results %y, %u, %z, %p\n  gradients %gw, %gb, %gk, %gkb, %th, %gc\n}}\n",
      dtype);
}

TEST_CASE("cuda: products and convolutions of 16 bits are their libraries'", "[native][cuda]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  for (const std::string_view dtype : {"f32", "f16", "bf16"}) {
    INFO(dtype);
    const native::TemporaryFile file("every_call.recut");
    file.write(every_call(dtype));
    const test::FakeStep step = test::fake_step(file.path(), "none", true);
    const Program& program = step.ready->step.program();
    CHECK(program.library.size() == (dtype == "bf16" ? 9 : 10));  // a bias' gradient by loops
    for (const library::Kernel& kernel : program.library)
      for (const loop::Buffer& buffer : kernel.buffers) CHECK(short_name(buffer.dtype) == dtype);
    test::fake_gpu().records = false;
    const auto execution = test::execute_fake(step);
    if (!execution) FAIL(execution.diagnostics().front().message);
    CHECK(execution->agrees());
    CHECK(execution->holds());
    CHECK(execution->max_relative_error() <= execution->allowed_error + 1e-5);
    CHECK(execution->allowed_error == (dtype == "f32" ? 0 : dtype == "f16" ? 2e-3 : 2e-2));
  }
}

TEST_CASE("cuda: what precisions round, and how far off that may be", "[native][cuda]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const native::TemporaryFile file("every_call.recut");
  file.write(every_call("f32"));
  const test::FakeStep step = test::fake_step(file.path(), "none", true);
  for (const auto& [precision, least, most] :
       {std::tuple(Precision::f32, 0.0, 1e-5), std::tuple(Precision::tf32, 1e-4, 2e-3),
        std::tuple(Precision::bf16, 1e-3, 2e-2)}) {
    test::fake_gpu().records = false;
    const auto execution = test::execute_fake(step, precision);
    if (!execution) FAIL(execution.diagnostics().front().message);
    CHECK(execution->agrees());
    CHECK(execution->max_relative_error() >= least);
    CHECK(execution->max_relative_error() <= most);
    // cuDNN has no bf16 for f32: its outputs are tf32's.
    for (const OutputComparison& output : execution->accuracy.outputs)
      if (output.name == "z") CHECK(output.comparison.relative_error <= 2e-3);
  }
}

// Depthwise convolutions, forward and backward.
TEST_CASE("cuda: convolutions of single channels round no factors", "[native][cuda]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const native::TemporaryFile file("depthwise.recut");
  file.write(
      "graph \"depthwise\" {\n"
      "  %k = parameter f32[6, 1, 3, 3]\n"
      "  %x = input f32[2, 6, 9, 9]\n  %t = tangent f32[2, 6, 9, 9]\n"
      "  %y = convolution(%x, %k, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 6)\n"
      "  %g = convolution_backward(%t, %x, %k, [0], [1, 1], [1, 1], [1, 1], false, [0, 0], 6, "
      "[true, true, false])\n"
      "  %gx = getitem(%g, 0)\n  %gk = getitem(%g, 1)\n"
      "  results %y\n  gradients %gk, %gx\n}\n");
  const test::FakeStep step = test::fake_step(file.path(), "none", true);
  CHECK_FALSE(step.ready->step.program().library.empty());
  test::fake_gpu().records = false;
  const auto execution = test::execute_fake(step, Precision::tf32);
  if (!execution) FAIL(execution.diagnostics().front().message);
  CHECK(execution->max_relative_error() <= 1e-5);
}

// The nodes that a step leaves to libraries.
std::vector<std::string> left_to_libraries(const test::FakeStep& step) {
  std::vector<std::string> names;
  for (const library::Kernel& kernel : step.ready->step.program().library)
    names.push_back(kernel.name);
  std::sort(names.begin(), names.end());
  return names;
}

// The fake cuDNN has no gradient of grouped dilated kernels, and no planes of three dimensions.
TEST_CASE("cuda: what cuDNN has no algorithm for is computed by loops", "[native][cuda]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const auto graph = [](const char* dtype, bool transposed) {
    return fmt::format(
        "graph \"refused\" {{\n"
        "  %k = parameter {0}[6, 1, 3, 3]\n  %d = parameter {0}[6, 6, 3, 3]\n"
        "  %c = parameter {0}[2, 2, 2, 2, 2]\n"
        "  %x = input {0}[2, 6, 9, 9]\n  %z = input {0}[1, 2, 4, 4, 4]\n"
        "  %t = tangent {0}[2, 6, {1}, {1}]\n  %u = tangent {0}[2, 6, 7, 7]\n"
        "  %y = convolution(%x, %k, none, [1, 1], [1, 1], [2, 2], {2}, [0, 0], 6)\n"
        "  %w = convolution(%x, %d, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1)\n"
        "  %solid = convolution(%z, %c, none, [1, 1, 1], [0, 0, 0], [1, 1, 1], false, "
        "[0, 0, 0], 1)\n"
        "  %g = convolution_backward(%t, %x, %k, [0], [1, 1], [1, 1], [2, 2], {2}, [0, 0], 6, "
        "[true, true, false])\n"
        "  %gx = getitem(%g, 0)\n  %gk = getitem(%g, 1)\n"
        "  %h = convolution_backward(%u, %x, %d, [0], [1, 1], [0, 0], [1, 1], false, [0, 0], 1, "
        "[false, true, false])\n"
        "  %gd = getitem(%h, 1)\n"
        "  results %y, %w, %solid\n  gradients %gk, %gd, none, %gx, none\n}}\n",
        dtype, transposed ? 11 : 7, transposed);
  };
  using Names = std::vector<std::string>;
  for (const char* dtype : {"f32", "f16"})
    for (const bool transposed : {false, true}) {
      INFO(dtype << (transposed ? ", transposed" : ""));
      const native::TemporaryFile file("refused.recut");
      file.write(graph(dtype, transposed));
      const test::FakeStep step = test::fake_step(file.path(), "none", true);
      // A transposed convolution is a gradient to cuDNN, and its input's gradient is none.
      CHECK(left_to_libraries(step) ==
            (transposed ? Names{"convolution_backward", "h", "w"} : Names{"h", "w", "y"}));
      test::fake_gpu().records = false;
      const auto execution = test::execute_fake(step);
      if (!execution) FAIL(execution.diagnostics().front().message);
      CHECK(execution->agrees());
      CHECK(execution->holds());
      CHECK(execution->max_relative_error() <= execution->allowed_error + 1e-5);
    }
}

// A missing library refuses nothing here: the run of the call reports it.
TEST_CASE("cuda: a library that isn't there refuses nothing", "[native][cuda]") {
  const test::TemporaryFolder nowhere;
  const test::EnvironmentVariable path("RECUT_CUDA_PATH", nowhere.path());
  const native::TemporaryFile file("every_call.recut");
  file.write(every_call("f32"));
  const auto document = open_document(file.path(), {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  const auto kernel = library::library_kernel(graph, StorageModel(graph), graph.find("z"));
  REQUIRE(kernel);
  test::fake_gpu() = test::FakeGpu();
  const library::SupportsKernel takes = library_takes(test::open_fake_gpu(), CallOptions());
  CHECK(takes(*kernel) == library_takes(Precision::f32)(*kernel));
}

// No algorithm is within so few bytes.
TEST_CASE("cuda: what libraries may take decides what they are asked for", "[native][cuda]") {
  const FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  const native::TemporaryFile file("every_call.recut");
  file.write(every_call("f32"));
  const auto document = open_document(file.path(), {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  const auto takes = [&](const char* node, std::int64_t most) {
    const auto kernel = library::library_kernel(graph, StorageModel(graph), graph.find(node));
    REQUIRE(kernel);
    test::fake_gpu() = test::FakeGpu();
    return library_takes(test::open_fake_gpu(), {Precision::f32, most, false})(*kernel);
  };
  CHECK(takes("z", 4096));
  CHECK(takes("convolution_backward", 4096));
  CHECK_FALSE(takes("z", 63));
  CHECK_FALSE(takes("convolution_backward", 63));
  CHECK(takes("q", 0));  // a product has a way without any
}

TEST_CASE("cuda: the error that is allowed is that of the fewest bits", "[native][cuda]") {
  const auto allowed = [](std::string_view dtype, Precision precision) {
    const native::TemporaryFile file("every_call.recut");
    file.write(every_call(dtype));
    const auto document = open_document(file.path(), {});
    REQUIRE(document.ok());
    return allowed_error(document->graph(), precision);
  };
  CHECK(allowed("f32", Precision::f32) == 0);
  CHECK(allowed("f32", Precision::tf32) == 2e-3);
  CHECK(allowed("f32", Precision::bf16) == 2e-2);
  CHECK(allowed("f16", Precision::f32) == 2e-3);
  CHECK(allowed("bf16", Precision::tf32) == 2e-2);
}

}  // namespace
}  // namespace recut::cuda
