// Messages where CUDA's libraries or a GPU are missing, and NVRTC's code of texts.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "engine/codegen/cuda/emit.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "native/cuda/gpu.h"
#include "native/cuda/library_calls.h"
#include "native/cuda/nvrtc.h"
#include "native/cuda/shared_library.h"
#include "native/cuda/step.h"
#include "tests/codegen/attention_graph.h"
#include "tests/effort.h"
#include "tests/environment_variable.h"
#include "tests/native/run_command.h"

namespace recut::cuda {
namespace {

template <class T>
std::string error_text_cuda_loading(const Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  REQUIRE(result.diagnostics().size() == 1);
  return result.diagnostics().front().message;
}

TEST_CASE("cuda: without a driver it says so", "[native][cuda]") {
  CHECK(error_text_cuda_loading(Gpu::open("libno_such_driver.so.1")) ==
        "this machine has no CUDA driver: libno_such_driver.so.1 isn't found");
  CHECK(error_text_cuda_loading(Gpu::open("libm.so.6")) ==
        "libm.so.6 has no function cuInit: another version of it is needed");
}

TEST_CASE("cuda: a missing library is named, with where it was looked for", "[native][cuda]") {
  const test::EnvironmentVariable path("RECUT_CUDA_PATH", "/no/such/folder:/nor/this");
  CHECK(library_folders() == std::vector<std::string>{"/no/such/folder", "/nor/this"});
  CHECK(error_text_cuda_loading(Nvrtc::load(13)) ==
        "CUDA's compiler isn't found: libnvrtc.so.13 or libnvrtc.so.12 in /no/such/folder, "
        "/nor/this");
  CHECK(error_text_cuda_loading(Nvrtc::load(12)) ==
        "CUDA's compiler isn't found: libnvrtc.so.12 in /no/such/folder, /nor/this");
}

TEST_CASE("cuda: a library that can't be loaded is told in the loader's words", "[native][cuda]") {
  const native::TemporaryFile file("libnvrtc.so.12");
  file.write("no library");
  const std::string& whole = file.path();
  const std::size_t slash = whole.rfind('/');
  const std::vector<std::string> names = {whole.substr(slash + 1)},
                                 folders = {whole.substr(0, slash)};
  const std::string said =
      error_text_cuda_loading(SharedLibrary::open("CUDA's compiler", names, folders));
  CHECK(said.find("CUDA's compiler can't be loaded: ") == 0);
  CHECK(said.find(whole) != std::string::npos);
}

TEST_CASE("cuda: the kernel of a compiler's first error", "[native][cuda]") {
  const std::string text =
      "int helper;\n"
      "extern \"C\" __global__ void k0(int* a) {\n  a[0] = 1;\n}\n"
      "extern \"C\" __global__ void __launch_bounds__(128) k1(int* a) {\n  a[0] = b;\n}\n";
  CHECK(function_of_error(text, "step.cu(6): error: identifier \"b\" is undefined") == "k1");
  CHECK(function_of_error(text, "step.cu(3): error: …") == "k0");
  CHECK(function_of_error(text, "step.cu(1): error: …") == "");
  CHECK(function_of_error(text, "step.cu(99): error: …") == "");
  CHECK(function_of_error(text, "nothing of the kind") == "");
}

TEST_CASE("cuda: NVRTC makes code without a GPU", "[native][cuda]") {
  const auto compiler = Nvrtc::load(13);
  if (!compiler) SKIP(compiler.diagnostics().front().message);
  const auto code =
      compiler->compile("extern \"C\" __global__ void k0(float* a) { a[0] = 1; }\n", 90);
  REQUIRE(code.ok());
  CHECK(code->substr(1, 3) == "ELF");
  const std::string refused = error_text_cuda_loading(
      compiler->compile("extern \"C\" __global__ void k7(float* a) {\n  b; }\n", 80));
  CHECK(refused.find("kernel k7 doesn't compile, NVRTC says: step.cu(2)") == 0);
  CHECK(error_text_cuda_loading(compiler->compile("", 11)).find("makes no code for sm_11") !=
        std::string::npos);
}

// The text that NVRTC gets for a step of a sample.
std::string text_of_sample(const std::string& path, bool library) {
  const auto document = open_document(path, {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto scheduled = schedule_document(*document, request);
  REQUIRE(scheduled.ok());
  auto program = program_of(*document, *scheduled,
                            {.library = library,
                             .library_takes = library_takes(Precision::f32),
                             .lower = lower_options({true})});
  REQUIRE(program.ok());
  return emit_step(*program, MatmulPrecision::tf32).text;
}

// RECUT_CUDA_GRAPHS=FILE:…: of these, too.
TEST_CASE("cuda: NVRTC takes the kernels of whole steps", "[native][cuda]") {
  const auto compiler = Nvrtc::load(13);
  if (!compiler) SKIP(compiler.diagnostics().front().message);
  std::vector<std::string> files;
  for (const char* name : {"tiny_mlp", "tiny_conv", "tiny_lm", "tiny_lstm", "tiny_ops"})
    files.push_back(native::sample(name + std::string(".json.gz")));
  const native::TemporaryFile attention("nvrtc_attention.recut");
  attention.write(test::AttentionGraph().joint_text());
  files.push_back(attention.path());
  const char* const given = std::getenv("RECUT_CUDA_GRAPHS");
  std::istringstream more(given == nullptr ? "" : given);
  for (std::string file; std::getline(more, file, ':');) files.push_back(file);
  for (const bool library : {true, false})
    for (const std::string& file : test::tried(files)) {
      INFO(file);
      const auto code = compiler->compile(text_of_sample(file, library), 80);
      if (!code) FAIL(code.diagnostics().front().message);
    }
}

TEST_CASE("cuda: recut run and recut train say what is missing", "[native][cuda]") {
  if (Gpu::open().ok()) SKIP("there is a GPU");
  for (const char* command : {"run", "train"}) {
    CAPTURE(command);
    const native::Ran ran =
        native::run({command, native::sample("tiny_mlp.json.gz"), "--device", "cuda"});
    CHECK(ran.code == native::kBadInput);
    CHECK(ran.err.find("error: ") == 0);
    CHECK(ran.out.empty());
    for (const char* precision : {"tf32", "bf16"})
      CHECK(native::run({command, native::sample("tiny_mlp.json.gz"), "--device", "cuda",
                         "--precision", precision})
                .err == ran.err);
    const native::Ran refused =
        native::run({command, native::sample("tiny_mlp.json.gz"), "--precision", "tf32"});
    CHECK(refused.code == native::kBadInput);
    CHECK(refused.err.find("--precision: for --device cuda alone") != std::string::npos);
  }
}

}  // namespace
}  // namespace recut::cuda
