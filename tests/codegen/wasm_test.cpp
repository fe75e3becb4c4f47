// WebAssembly as text: what is read in the window, and what leaves loops.
#include <fmt/core.h>

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

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

TEST_CASE("WebAssembly: what meets lanes is loaded into all of them", "[codegen]") {
  const std::string text = text_of(kProducts, {true});
  CHECK(count(text, "v128.load32_splat") == 1);
  CHECK(text.find("f32x4.splat") == std::string::npos);
}

const char* const kColumn = R"(kernel "column" {
  buffer %x : f32[128] read
  buffer %y : f32[128] written
  for %k in 0..32 {
    for %j in 0..4 {
      %a : f32 = load %x[%k + 32*%j]
      store %y[4*%k + %j], %a
    }
  }
}
)";

// Four copies, the last of them three steps beyond the first; the long loop stays one.
TEST_CASE("WebAssembly: short loops are unrolled", "[codegen]") {
  const std::string text = text_of(kColumn);
  CHECK(count(text, "f32.load ") == 4);
  CHECK(text.find("f32.load offset=384") != std::string::npos);
  CHECK(text.find("f32.store offset=12") != std::string::npos);
  CHECK(count(text, "loop") == 1);
}

const char* const kPadded = R"(kernel "padded" {
  buffer %x : f32[64] read
  buffer %y : f32[64] written
  %zero : i64 = constant 0
  %end : i64 = constant 64
  for %i in 0..64 lanes 8 {
    %at : i64 = index %i + -1
    %from : bool = ge %at, %zero
    %to : bool = lt %at, %end
    %inside : bool = and %from, %to
    %a : f32 = load %x[%i + -1] where %inside
    store %y[%i], %a
  }
}
)";

// Places that are only compared are lanes of 32 bits, and padding is masked, not gathered.
TEST_CASE("WebAssembly: padded neighbours are loaded at once", "[codegen]") {
  const std::string text = text_of(kPadded);
  CHECK(text.find("i64x2") == std::string::npos);
  CHECK(count(text, "i32x4.ge_s") == 2);
  CHECK(text.find("v128.load ") < text.find("f32.load "));
  if (!test::has_node()) SKIP("no node in the path: nothing runs WebAssembly here");
  const auto kernels = loop::parse_kernels(kPadded, "k.loop");
  REQUIRE(kernels.ok());
  std::vector<float> x(64), y(64, 5);
  for (std::size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i + 1);
  const std::vector<std::span<std::byte>> buffers{std::as_writable_bytes(std::span(x)),
                                                  std::as_writable_bytes(std::span(y))};
  REQUIRE(test::run_wasm(wasm::emit(*kernels), 0, buffers, 1).ok());
  for (std::size_t i = 0; i < 64; ++i) CHECK(y[i] == static_cast<float>(i));
}

// Long runs of zeros are the engine's to fill; what has steps, a number or fewer places is stored.
TEST_CASE("WebAssembly: zeros side by side are filled", "[codegen]") {
  const auto zeros = [](const char* number, const char* place, const char* extent) {
    return fmt::format(
        "kernel \"zeros\" {{\n  buffer %y : f32[65536] written\n  %z : f32 = constant {}\n"
        "  for %j in 0..2 {{\n    parallel %i in 0..{} lanes 8 {{\n      store %y[{}], %z\n    }}\n"
        "  }}\n}}\n",
        number, extent, place);
  };
  CHECK(count(text_of(zeros("0", "%i + 16384*%j + 7", "16384")), "memory.fill") == 1);
  for (const std::string& stored :
       {zeros("-0.0", "%i + 16384*%j", "16384"), zeros("1", "%i + 16384*%j", "16384"),
        zeros("0", "2*%i + %j", "16384"), zeros("0", "%i + 16384*%j", "8192"),
        zeros("0", "%i + 16384*div(%i, 16384)", "16384")})
    CHECK(count(text_of(stored), "memory.fill") == 0);
  if (!test::has_node()) SKIP("no node in the path: nothing runs WebAssembly here");
  const auto kernels = loop::parse_kernels(zeros("0", "%i + 16384*%j + 7", "16384"), "k.loop");
  REQUIRE(kernels.ok());
  std::vector<float> y(65536, 5);
  const std::vector<std::span<std::byte>> buffers{std::as_writable_bytes(std::span(y))};
  REQUIRE(test::run_wasm(wasm::emit(*kernels), 0, buffers, 1).ok());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (i >= 7 && i < 32768 + 7 ? 0 : 5));
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
