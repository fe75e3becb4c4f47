// --for-inference, and graphs as TorchScript.
#include <catch2/catch_test_macros.hpp>

#include "tests/native/run_command.h"

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
