// CUDA kernels: which threads do what, and that they leave what the interpreter does.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>
#include <tuple>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"
#include "engine/eval/compare.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/input/graph_file_reader.h"
#include "tests/codegen/cuda_on_cpu.h"
#include "tests/codegen/kernel_text.h"
#include "tests/codegen/run_kernels.h"
#include "tests/golden/golden.h"
#include "tests/native/run_command.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// One of each way to share out what is to be done.
std::vector<loop::Kernel> shapes() {
  return kernels_of(contents(RECUT_SOURCE_DIR "/tests/golden/cuda/shapes.loop"));
}

TEST_CASE("CUDA: every way to share out leaves what the interpreter does", "[codegen][cpu]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  const auto kernels = shapes();
  // exp is the library's.
  for (const std::int64_t blocks : {1 << 30, 3, 1})
    CHECK(test::cuda_difference(kernels, 1, 2, {blocks}) == "");
}

TEST_CASE("CUDA: threads, blocks and shared memory of launches", "[codegen]") {
  const auto kernels = shapes();
  const cuda::Module module = cuda::emit(kernels);
  const auto launch = [&](std::size_t kernel) {
    REQUIRE(module.kernels[kernel].size() == 1);
    const cuda::Launch& one = module.kernels[kernel].front();
    return std::tuple(one.blocks, one.threads, one.shared_bytes);
  };
  CHECK(launch(0) == std::tuple(64, 32, 0));     // 8192 items, 4 a thread
  CHECK(launch(1) == std::tuple(8, 32, 0));      // 1003, the last three one by one
  CHECK(launch(2) == std::tuple(12, 32, 0));     // 48 rows of 8 threads
  CHECK(launch(3) == std::tuple(3, 256, 2048));  // a block a row
  CHECK(launch(4) == std::tuple(8, 256, 4224));  // squares of loops that turn out to be independent
  CHECK(launch(5) == std::tuple(1, 32, 0));      // a thread a column
  CHECK(launch(6) == std::tuple(8, 128, 1024));  // scratch: a block
  CHECK(launch(7) == std::tuple(1, 32, 0));      // in order, but for what is inside
  CHECK(launch(8) == std::tuple(16, 32, 0));
  CHECK(std::count(module.text.begin(), module.text.end(), '\n') ==
        static_cast<std::ptrdiff_t>(module.locations.size()));
}

std::vector<loop::Kernel> sums() {
  return kernels_of(contents(RECUT_SOURCE_DIR "/tests/golden/cuda/sums.loop"));
}

TEST_CASE("CUDA: sums in order that threads share out keep every bit", "[codegen][cpu]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  for (const std::int64_t blocks : {1 << 30, 2, 1})
    CHECK(test::cuda_difference(sums(), 1, 0, {blocks}) == "");
}

TEST_CASE("CUDA: tiles of sums in order", "[codegen]") {
  const cuda::Module module = cuda::emit(sums());
  const auto launch = [&](std::size_t kernel) {
    REQUIRE(module.kernels[kernel].size() == 1);
    const cuda::Launch& one = module.kernels[kernel].front();
    return std::tuple(one.blocks, one.threads);
  };
  CHECK(launch(0) == std::tuple(8, 544));
  CHECK(launch(1) == std::tuple(3, 544));
  CHECK(launch(2) == std::tuple(5, 544));
  CHECK(launch(3) == std::tuple(2, 544));
  for (const auto& launches : module.kernels) CHECK(launches.front().shared_bytes <= 48 << 10);
}

std::vector<loop::Kernel> scatters() {
  return kernels_of(contents(RECUT_SOURCE_DIR "/tests/golden/cuda/scatter_add.loop"));
}

TEST_CASE("CUDA: rows that data names, shared out, keep every bit", "[codegen][cpu]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  for (const std::int64_t blocks : {1 << 30, 2, 1})
    CHECK(test::cuda_difference(scatters(), 3, 0, {blocks}) == "");
}

TEST_CASE("CUDA: blocks and shared memory of rows that data names", "[codegen]") {
  const cuda::Module module = cuda::emit(scatters());
  const auto launch = [&](std::size_t kernel) {
    const cuda::Launch& one = module.kernels[kernel].front();
    return std::tuple(one.blocks, one.threads, one.shared_bytes);
  };
  CHECK(launch(0) == std::tuple(18, 64, 4112));    // nine rows, two times 64 columns
  CHECK(launch(1) == std::tuple(2550, 64, 4112));  // two rows each
  CHECK(launch(2) == std::tuple(8, 64, 1040));     // 80 columns
  CHECK(launch(3) == std::tuple(4, 64, 4112));
  CHECK(launch(4) == std::tuple(2, 32, 0));  // not shared out: a thread a column
  CHECK(launch(5) == std::tuple(2, 32, 0));
}

std::vector<loop::Kernel> transposes() {
  return kernels_of(contents(RECUT_SOURCE_DIR "/tests/golden/cuda/transposes.loop"));
}

TEST_CASE("CUDA: squares that are turned in shared memory", "[codegen][cpu]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  for (const std::int64_t blocks : {1 << 30, 5, 1})
    CHECK(test::cuda_difference(transposes(), 1, 0, {blocks}) == "");
}

TEST_CASE("CUDA: blocks and shared memory of squares that are turned", "[codegen]") {
  const cuda::Module module = cuda::emit(transposes());
  const auto launch = [&](std::size_t kernel) {
    const cuda::Launch& one = module.kernels[kernel].front();
    return std::tuple(one.blocks, one.threads, one.shared_bytes);
  };
  constexpr int kLine = 33 * 32;
  CHECK(launch(0) == std::tuple(6, 256, 4 * kLine));
  CHECK(launch(1) == std::tuple(8, 256, 2 * kLine));
  CHECK(launch(2) == std::tuple(16, 256, 12 * kLine));
  CHECK(launch(3) == std::tuple(30, 32, 0));
}

void check_golden(const std::string& text, const std::string& name) {
  const std::string path = RECUT_SOURCE_DIR "/tests/golden/cuda/" + name;
  if (test::blessing()) std::ofstream(path, std::ios::binary) << text;
  INFO("accept it:  RECUT_BLESS=1 build/release/tests/recut_tests \"[golden]CUDA*\"");
  CHECK(text == contents(path));
}

TEST_CASE("CUDA: every way to share out as text", "[codegen][golden]") {
  check_golden(cuda::emit(shapes()).text, "shapes.cu");
  check_golden(cuda::emit(sums()).text, "sums.cu");
  check_golden(cuda::emit(scatters()).text, "scatter_add.cu");
  check_golden(cuda::emit(transposes()).text, "transposes.cu");
  const auto cooperative =
      kernels_of(contents(RECUT_SOURCE_DIR "/tests/golden/cuda/cooperative.loop"));
  check_golden(cuda::emit(cooperative).text, "cooperative.cu");
}

void check_command(std::vector<std::string> words, const std::string& name) {
  words.insert(words.begin(), "emit");
  words.insert(words.end(), {"--target", "cuda", "--model", "fused"});
  const native::Ran ran = native::run(words);
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  check_golden(ran.out, name);
}

TEST_CASE("CUDA: what the command prints, as text", "[codegen][golden]") {
  const std::string samples = RECUT_SOURCE_DIR "/samples/";
  check_command({samples + "mlp.recut"}, "mlp.cu");
  // A softmax.
  check_command({samples + "attention.recut", "--kernel", "3"}, "softmax.cu");
  // Random numbers.
  check_command({samples + "dropout.recut", "--kernel", "4"}, "dropout.cu");
}

// Whole steps, beside machine code, which rounds alike but for the functions of a library.
TEST_CASE("CUDA: steps of samples give what machine code gives", "[codegen][cpu]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  for (const char* name : {"tiny_mlp", "tiny_conv", "tiny_ops", "tiny_lm", "tiny_lstm"}) {
    CAPTURE(name);
    const auto file =
        read_graph_file(fmt::format("{}/samples/joint/{}.json.gz", RECUT_SOURCE_DIR, name));
    REQUIRE(file.ok());
    const StorageModel storages(file->graph, StorageModel::Sizes::values);
    test::KernelRunOptions options;
    options.groups = fuse_pointwise(file->graph, storages);
    const Inputs inputs = test::inputs_for(file->graph, 1, test::Values::ordinary);
    options.executor = test::Executor::machine_code;
    const test::KernelRun expected = test::run_kernels(file->graph, inputs, options);
    options.executor = test::Executor::cuda;
    const test::KernelRun run = test::run_kernels(file->graph, inputs, options);
    REQUIRE(expected.problem == "");
    REQUIRE(run.problem == "");
    for (std::size_t i = 0; i < run.outputs.size(); ++i)
      if (run.outputs[i].exists())
        CHECK(compare(run.outputs[i], expected.outputs[i]).problem == "");
  }
}

// Every kernel in an own numbering of launches: with the grid as large as it is, and with so few
// blocks that each takes several items.
TEST_CASE("CUDA: the kernels of random graphs do what the interpreter does",
          "[codegen][cpu][random]") {
  if (!test::has_compiler()) SKIP("no c++ in the path: nothing compiles CUDA for the processor");
  for (std::uint64_t group = 0; group < 6; ++group) {
    std::vector<loop::Kernel> kernels;
    for (std::uint64_t seed = 10 * group + 1; seed <= 10 * group + 10; ++seed)
      for (loop::Kernel& kernel : test::lowered_kernels(test::random_graph(seed)))
        kernels.push_back(std::move(kernel));
    INFO("seeds from " << 10 * group + 1);
    REQUIRE(kernels.size() > 40);
    REQUIRE(test::cuda_difference(kernels, group, 4, {group % 2 == 0 ? 1 << 30 : 3}) == "");
  }
}

}  // namespace
}  // namespace recut
