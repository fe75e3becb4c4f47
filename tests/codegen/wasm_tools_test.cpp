// Modules of whole steps and WebAssembly's own tools (wabt): they take the bytes, and make the same
// bytes of the text.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "engine/codegen/wasm/emit.h"
#include "engine/runtime/program.h"
#include "engine/workspace/compile.h"
#include "engine/workspace/open_document.h"
#include "engine/workspace/scheduling.h"
#include "tests/codegen/kernel_text.h"
#include "tests/effort.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut {
namespace {

std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Program wasm_tools_program_of(const std::string& sample) {
  const auto document = open_document(native::sample(sample), {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto scheduled = schedule_document(*document, request);
  REQUIRE(scheduled.ok());
  auto program = program_of(*document, *scheduled, {.lower = wasm::lower_options()});
  REQUIRE(program.ok());
  return std::move(*program);
}

TEST_CASE("WebAssembly: other tools take the bytes and the text, and find them equal",
          "[codegen]") {
  if (!runs("wat2wasm --version")) SKIP("no wabt in the path (.setup/packages-tests.txt)");
  const test::TemporaryFolder folder;
  const std::string bytes = folder.path() + "/step.wasm", text = folder.path() + "/step.wat",
                    made = folder.path() + "/made.wasm";
  const std::vector<const char*> samples{"tiny_conv.json.gz", "tiny_lm.json.gz",
                                         "tiny_lstm.json.gz", "tiny_ops.json.gz", "unet.json.gz"};
  for (const char* sample : test::tried(samples))
    for (const bool relaxed : {false, true}) {
      CAPTURE(sample, relaxed);
      const Program program = wasm_tools_program_of(sample);
      const wasm::Options options{relaxed};
      const wasm::Module module = wasm::emit(program.kernels, options);
      std::ofstream(bytes, std::ios::binary) << module.bytes;
      std::ofstream lines(text);
      for (const wasm::Line& line : wasm::emit_text(program.kernels, options))
        lines << line.text << "\n";
      lines.close();
      CHECK(runs(fmt::format("wasm-validate --enable-relaxed-simd {}", bytes)));
      CHECK(runs(fmt::format("wat2wasm --enable-relaxed-simd {} -o {}", text, made)));
      CHECK(bytes_in(made) == module.bytes);
    }
}

TEST_CASE("WebAssembly: what the command prints is a module's text", "[codegen]") {
  if (!runs("wat2wasm --version")) SKIP("no wabt in the path (.setup/packages-tests.txt)");
  const native::Ran ran =
      native::run({"emit", native::sample("tiny_mlp.json.gz"), "--target", "wasm"});
  REQUIRE(ran.code == native::kDone);
  CHECK(ran.out.find(" launches of ") != std::string::npos);
  const test::TemporaryFolder folder;
  const std::string text = folder.path() + "/step.wat", made = folder.path() + "/made.wasm";
  std::ofstream(text, std::ios::binary) << ran.out;
  CHECK(runs(fmt::format("wat2wasm {} -o {}", text, made)));
}

}  // namespace
}  // namespace recut
