// WebAssembly as text: what is read in the window, and what leaves loops.
#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/wasm/emit.h"
#include "tests/codegen/wasm_code.h"
#include "tests/golden/golden.h"
#include "tests/paths.h"

namespace recut {
namespace {

std::string text_of(const std::string& kernel, const wasm::Options& options = {}) {
  const auto kernels = loop::parse_kernels(kernel, "k.loop");
  if (!kernels) FAIL(format(kernels.diagnostics()));
  std::string text;
  for (const wasm::Line& line : wasm::emit_text(*kernels, options)) text += line.text + "\n";
  return text;
}

const char* const kRelu = R"(kernel "relu" {
  note "%y = relu"
  buffer %x : f32[64] read
  buffer %y : f32[64] written
  %zero : f32 = constant 0
  parallel %i in 0..64 lanes 8 {
    %a : f32 = load %x[%i]
    %b : f32 = max %a, %zero
    store %y[%i], %b
  }
}
)";

// The addresses of buffers are found once, before the loop; the loop is of vectors alone.
TEST_CASE("WebAssembly: a kernel in the text form", "[codegen]") {
  const std::string path = RECUT_SOURCE_DIR "/tests/golden/wasm/relu.wat";
  const std::string text = text_of(kRelu);
  if (test::blessing()) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  INFO("accept it:  RECUT_BLESS=1, the same test");
  CHECK(text == std::string(std::istreambuf_iterator<char>(file), {}));
}

const char* const kProducts = R"(kernel "products" {
  buffer %x : f32[64] read
  buffer %w : f32[512] read
  buffer %y : f32[8] written
  %zero : f32 = constant 0
  for %j in 0..8 lanes 8 {
    %s : f32 = accumulator add from %zero
    for %k in 0..64 {
      %a : f32 = load %x[%k]
      %b : f32 = load %w[8*%k + %j]
      update %s, %a * %b
    }
    %t : f32 = read %s
    store %y[%j], %t
  }
}
)";

TEST_CASE("WebAssembly: relaxed multiply-adds where they are asked for", "[codegen]") {
  CHECK(text_of(kProducts).find("relaxed") == std::string::npos);
  const std::string relaxed = text_of(kProducts, {true});
  CHECK(relaxed.find("f32x4.relaxed_madd") != std::string::npos);
  CHECK(relaxed.find("f32x4.mul") == std::string::npos);
}

// Whether the tests that run kernels in node do; and that what is wrong with one is found.
TEST_CASE("WebAssembly: node runs kernels, and tells of those that it can't", "[codegen]") {
  if (!test::has_node()) SKIP("no node in the path: nothing runs WebAssembly here");
  const auto kernels = loop::parse_kernels(kRelu, "k.loop");
  REQUIRE(kernels.ok());
  wasm::Module module = wasm::emit(*kernels);
  std::vector<float> x(64, -1), y(64, 5);
  x[3] = 2;
  const auto run = [&](std::size_t written) {
    const std::vector<std::span<std::byte>> buffers{
        std::as_writable_bytes(std::span(x)),
        std::as_writable_bytes(std::span(y)).subspan(0, written)};
    return test::run_wasm(module, 0, buffers, 1);
  };
  const auto done = run(256);
  REQUIRE(done.ok());
  CHECK(*done == 0);
  CHECK(y[2] == 0);
  CHECK(y[3] == 2);
  const auto beyond = run(128);
  REQUIRE_FALSE(beyond.ok());
  CHECK(format(beyond.diagnostics()).find("beyond a buffer") != std::string::npos);
  module.bytes.resize(module.bytes.size() - 1);
  const auto broken = run(256);
  REQUIRE_FALSE(broken.ok());
  CHECK(format(broken.diagnostics()).find("CompileError") != std::string::npos);
}

}  // namespace
}  // namespace recut
