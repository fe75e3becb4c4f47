// --for-inference, and graphs as TorchScript.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"

namespace recut::native {
namespace {

const std::string kModel = RECUT_SOURCE_DIR "/tests/onnx/models/tiny_gpt.onnx";

TEST_CASE("for-inference: weights are frozen, and the step computes the same", "[native]") {
  const Ran opt = run({"opt", kModel, "--for-inference"});
  INFO(opt.err);
  REQUIRE(opt.code == kDone);
  for (const char* pass : {"conv_bn_eval", "constant_folding", "merge_casts", "prepacked_weights"})
    CHECK(opt.out.find(pass) != std::string::npos);
  CHECK(opt.out.find("frozen: 3 constants computed") != std::string::npos);
  CHECK(run({"run", kModel, "--for-inference", "--check"}).code == kDone);
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Layers whose images are larger than what enters and leaves them.
constexpr const char* kLayers = R"(graph "layers" on cpu {
  %x = input f32[2, 3, 16, 16]
  %a = parameter f32[16, 3, 3, 3]
  %b = parameter f32[16, 16, 3, 3]
  %p = convolution(%x, %a, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
  %q = convolution(%p, %b, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
  %r = relu(%q)
  %s = convolution(%r, %b, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1)
  %y = sum(%s)
  results %y
}
)";

bool laid_out(const std::string& option, const std::vector<std::string>& more) {
  const TemporaryFile model("layers.recut");
  model.write(kLayers);
  const test::TemporaryFolder dump;
  std::vector<std::string> words{"run", model.path(), option,   "--no-cache", "--steps",
                                 "1",   "--check",    "--dump", dump.path()};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run(words);
  INFO(ran.err << ran.out);
  CHECK(ran.code == kDone);
  for (const auto& file : std::filesystem::directory_iterator(dump.path()))
    if (file.path().filename().string().ends_with("-channels_last.recut"))
      return text_of(file.path()).find("x.last = clone(%x") != std::string::npos;
  return false;
}

TEST_CASE("for-inference: the processor's library gets convolutions channels last", "[native]") {
  for (const std::string option : {"--for-inference", "--freeze"}) {
    CHECK(laid_out(option, {}));
    CHECK_FALSE(laid_out(option, {"--skip", "channels_last"}));
    CHECK_FALSE(laid_out(option, {"--no-library"}));
  }
}

TEST_CASE("for-inference: joint graphs and lists of passes are refused", "[native]") {
  const Ran joint = run({"opt", sample("tiny_mlp.json.gz"), "--for-inference"});
  CHECK(joint.code == kBadInput);
  CHECK(joint.err.find("stage pre-grad is for forward graphs") != std::string::npos);
  CHECK(run({"show", kModel, "--for-inference", "--no-passes"}).code == kBadInput);
  CHECK(run({"show", kModel, "--for-inference", "--stage", "joint"}).code == kBadInput);
}

TEST_CASE("for-inference: TorchScript's text has the frozen graph's inputs", "[native]") {
  const Ran shown = run({"show", kModel, "--for-inference", "--format", "torchscript"});
  INFO(shown.err);
  REQUIRE(shown.code == kDone);
  CHECK(shown.out.starts_with("graph(%"));
  CHECK(shown.out.find("aten::native_layer_norm(") != std::string::npos);
  CHECK(shown.out.find(".default") == std::string::npos);
  CHECK(shown.out.find("\n  return (%") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
