// Steps of the samples as CUDA, and CUDA's own compiler, where there is one: it takes the text.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/codegen/cuda/emit.h"
#include "engine/input/text.h"
#include "engine/runtime/program.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "tests/codegen/attention_graph.h"
#include "tests/codegen/kernel_text.h"
#include "tests/effort.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

// "" where there is none, in the path or where CUDA is installed.
std::string find_nvcc() {
  for (const char* name : {"nvcc", "/usr/local/cuda/bin/nvcc"})
    if (runs(fmt::format("{} --version", name))) return name;
  return "";
}

Program cuda_tools_program_of(const std::string& sample) {
  const auto document = open_document(native::sample(sample), {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto scheduled = schedule_document(*document, request);
  REQUIRE(scheduled.ok());
  auto program = program_of(*document, *scheduled);
  REQUIRE(program.ok());
  return std::move(*program);
}

TEST_CASE("CUDA: nvcc takes the steps of samples", "[codegen]") {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) SKIP("no nvcc: nothing compiles CUDA for a GPU here");
  if (test::kSanitized) SKIP("what nvcc says is the release build's business");
  const test::TemporaryFolder folder;
  for (const char* sample :
       {"tiny_conv.json.gz", "tiny_lm.json.gz", "tiny_lstm.json.gz", "tiny_mlp.json.gz",
        "tiny_ops.json.gz", "mlp.json.gz", "gpt2.json.gz", "resnet50.json.gz", "unet.json.gz"}) {
    CAPTURE(sample);
    const std::string path = folder.path() + "/step.cu";
    std::ofstream(path) << cuda::emit(cuda_tools_program_of(sample).kernels).text;
    CHECK(runs(fmt::format("{} -ptx -arch=sm_80 --fmad=false -o {}.ptx {}", nvcc, path, path)));
  }
}

TEST_CASE("CUDA: nvcc takes the files that text is made of", "[codegen]") {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) SKIP("no nvcc: nothing compiles CUDA for a GPU here");
  if (test::kSanitized) SKIP("what nvcc says is the release build's business");
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/all.cu";
  {
    std::ofstream all(path);
    for (const char* of : {"engine/codegen/cuda/device", "native/cuda"})
      for (const auto& file :
           std::filesystem::directory_iterator(fmt::format("{}/{}", RECUT_SOURCE_DIR, of)))
        if (file.path().extension() == ".cuh") all << "#include " << file.path() << "\n";
  }
  CHECK(runs(fmt::format("{} -ptx -arch=sm_90 -std=c++17 --Werror all-warnings -I {} -o {}.ptx {}",
                         nvcc, RECUT_SOURCE_DIR, path, path)));
}

// What its functions take of a GPU, by the assembler's words; without memory for what registers
// don't hold.
void check_attention(const std::string& nvcc, int capability, std::int64_t width,
                     const std::string& dtype, cuda::MatmulPrecision matmul_precision) {
  CAPTURE(capability, width, dtype, static_cast<int>(matmul_precision));
  test::AttentionGraph form;
  form.dtype = dtype;
  form.batches = 2;
  form.heads = form.key_heads = 12;
  form.queries = form.keys = 1000;
  form.features = form.value_features = width;
  form.causal = true;
  const auto graph = parse_graph_text(form.text(), "attention.recut");
  REQUIRE(graph.ok());
  std::vector<library::Kernel> kernels;
  for (const char* name : {"a", "b"})
    kernels.push_back(*library::library_kernel(*graph, StorageModel(*graph), graph->find(name)));
  cuda::Options options;
  options.matmul_precision = matmul_precision;
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/attention.cu", said = folder.path() + "/said";
  std::ofstream(path) << cuda::emit({}, kernels, options).text;
  CHECK(
      runs(fmt::format("{} -cubin -arch=sm_{} --fmad=false -std=c++17 -Xptxas -v -o {}.cubin {} "
                       ">{} 2>&1; cat {}",
                       nvcc, capability, path, path, said, said)));
  std::ifstream file(said);
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  std::size_t functions = 0;
  for (std::size_t at = words.find("bytes stack frame"); at != std::string::npos;
       at = words.find("bytes stack frame", at + 1))
    ++functions;
  CHECK(functions == 4);
  CHECK(words.find("0 bytes spill stores") != std::string::npos);
  for (const char* spilt : {" bytes spill stores", " bytes spill loads"})
    for (std::size_t at = words.find(spilt); at != std::string::npos;
         at = words.find(spilt, at + 1))
      CHECK(words.substr(at - 2, 2) == " 0");
}

TEST_CASE("CUDA: attention's functions fit into registers", "[codegen][attention]") {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) SKIP("no nvcc: nothing compiles CUDA for a GPU here");
  if (test::kSanitized) SKIP("what nvcc says is the release build's business");
  for (const int capability : {80, 90}) {
    check_attention(nvcc, capability, 64, "f32", cuda::MatmulPrecision::tf32);
    check_attention(nvcc, capability, 64, "f32", cuda::MatmulPrecision::f32);
    check_attention(nvcc, capability, 64, "bf16", cuda::MatmulPrecision::tf32);
  }
  check_attention(nvcc, 90, 128, "f32", cuda::MatmulPrecision::f32);
  check_attention(nvcc, 90, 128, "f16", cuda::MatmulPrecision::tf32);
}

}  // namespace
}  // namespace recut
