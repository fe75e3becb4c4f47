// The command on programs of torch.export: from an archive to values, to a joint graph and a plan.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "native/console.h"
#include "tests/native/run_command.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

const std::string kPrograms = RECUT_SOURCE_DIR "/tests/input/exported/";

TEST_CASE("exported programs: eval needs the caller's inputs alone", "[native]") {
  const std::string file = kPrograms + "conv_bn_train";
  const Ran ran =
      run({"eval", file + ".pt2", "--tensors", file + ".safetensors", "--check", "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  CHECK(ran.err.find("values that are written to inputs follow the results: 3") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["ok"] == true);
  CHECK(json["outputs"][0]["name"] == "linear");
  const Ran without = run({"eval", file + ".pt2"});
  CHECK(without.code == kBadInput);
  CHECK(without.err.find("tensor 'in.input' is missing, expected f32[2, 3, 16, 16]") !=
        std::string::npos);
}

TEST_CASE("exported programs: composite operators have PyTorch's values", "[native]") {
  for (const char* name : {"fft", "stft", "windows", "fake_quantized", "linear_algebra", "losses",
                           "cells", "weight_norm"}) {
    CAPTURE(name);
    const std::string file = kPrograms + name;
    const Ran ran = run({"eval", file + ".pt2", "--tensors", file + ".safetensors", "--check"});
    INFO(ran.err);
    CHECK(ran.code == kDone);
  }
}

// The straight-through estimator passes the gradient where the rounded value is in range.
TEST_CASE("exported programs: fake quantisation has the gradient of its operand", "[native]") {
  const Ran grad = run({"grad", kPrograms + "fake_quantized.pt2", "--result", "0", "--wrt", "*"});
  INFO(grad.err);
  REQUIRE(grad.code == kDone);
  const std::string gradient = " = where.self(%logical_and, %tangents_1, %full_";
  const std::size_t at = grad.out.find(gradient);
  REQUIRE(at != std::string::npos);
  const std::size_t begin = grad.out.rfind('%', at);
  CHECK(grad.out.ends_with("gradients " + grad.out.substr(begin, at - begin) + "\n}\n"));
}

TEST_CASE("exported programs: grad makes a joint graph, and its step is planned", "[native]") {
  const TemporaryFile joint("joint.recut"), weights("weights.safetensors");
  const Ran grad = run({"grad", kPrograms + "conv_bn_train.pt2", "--out", joint.path(),
                        "--out-tensors", weights.path()});
  INFO(grad.err);
  REQUIRE(grad.code == kDone);
  CHECK(grad.out.find("1 results with a tangent, 6 gradients") != std::string::npos);
  const Ran plan = run({"plan", joint.path(), "--budget", "90%", "--json"});
  INFO(plan.err);
  CHECK(plan.code == kDone);
  const Ran step =
      run({"eval", joint.path(), "--tensors", weights.path(), "--seed", "1", "--budget", "90%"});
  INFO(step.err);
  CHECK(step.code == kDone);
}

TEST_CASE("exported programs: symbols are bound as those of joint graphs", "[native]") {
  const std::string file = kPrograms + "mlp_batch.pt2";
  const Ran hint = run({"show", file});
  CHECK(hint.err.find("sizes by the file's hints: s31=6") != std::string::npos);
  const Ran given = run({"show", file, "--dim", "s31=9"});
  CHECK(given.code == kDone);
  CHECK(given.out.find("%input = input f32[9, 12]") != std::string::npos);
  const Ran beyond = run({"show", file, "--dim", "s31=5000"});
  CHECK(beyond.code == kBadInput);
  CHECK(beyond.err.find("/models/model.json: error: --dim s31=5000: the graph was traced for s31 "
                        "from 1 to 4096") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
