// `recut emit --target loop` of the samples, as goldens in tests/golden/loop. RECUT_BLESS=1 writes
// them anew. A change of the lowering that claims to change nothing leaves them as they are.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/codegen/loop/parser.h"
#include "engine/codegen/loop/verifier.h"
#include "native/cli.h"
#include "tests/golden/golden.h"
#include "tests/paths.h"

namespace recut::test {
namespace {

struct EmitSample {
  const char* sample;
  const char* model;
  const char* golden;
};

constexpr EmitSample kSamples[] = {
    {"mlp.recut", "fused", "mlp.fused.loop"},
    {"mlp.recut", "eager", "mlp.eager.loop"},
    {"dropout.recut", "fused", "dropout.fused.loop"},
    {"recompute.recut", "fused", "recompute.fused.loop"},
    {"attention.recut", "fused", "attention.fused.loop"},
    {"joint/tiny_mlp.json.gz", "fused", "tiny_mlp.fused.loop"},
};

std::string emit(const EmitSample& sample) {
  const std::string path = fmt::format("{}/samples/{}", RECUT_SOURCE_DIR, sample.sample);
  std::ostringstream out, err;
  const int code =
      native::run_command({"emit", path, "--target", "loop", "--model", sample.model}, {out, err});
  INFO(err.str());
  CHECK(code == native::kDone);
  return out.str();
}

TEST_CASE("loop form of the samples", "[codegen][golden]") {
  for (const EmitSample& sample : kSamples) {
    DYNAMIC_SECTION(sample.golden) {
      const std::string text = emit(sample);
      const auto kernels = loop::parse_kernels(text, sample.golden);
      if (!kernels) FAIL(format(kernels.diagnostics()));
      for (const loop::Kernel& kernel : *kernels) CHECK(format(loop::verify(kernel)) == "");
      const std::string path =
          fmt::format("{}/tests/golden/loop/{}", RECUT_SOURCE_DIR, sample.golden);
      if (blessing()) {
        std::ofstream(path) << text;
        continue;
      }
      std::ifstream file(path);
      const std::string expected((std::istreambuf_iterator<char>(file)), {});
      INFO(
          "accept it:  RECUT_BLESS=1 build/release/tests/recut_tests \"loop form of the samples\"");
      CHECK(text == expected);
    }
  }
}

TEST_CASE("emit says what it can't do", "[codegen]") {
  const auto run = [](std::vector<std::string> words) {
    std::ostringstream out, err;
    words.insert(words.begin(), {"emit", RECUT_SOURCE_DIR "/samples/mlp.recut"});
    const int code = native::run_command(words, {out, err});
    return std::pair(code, err.str());
  };
  CHECK(run({"--target", "loop", "--kernel", "0"}).first == native::kDone);
  const auto [code, message] = run({"--target", "loop", "--kernel", "99"});
  CHECK(code == native::kBadInput);
  CHECK(message.find("--kernel 99: the step has kernels 0 to ") != std::string::npos);
  CHECK(run({"--target", "fortran"}).first == native::kBadInput);
  CHECK(run({}).first == native::kBadInput);
}

}  // namespace
}  // namespace recut::test
