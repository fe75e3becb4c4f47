// Weights that the library reads from a copy in its own layout: which inputs these are, and that
// each launch of a shared kernel has its own.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "engine/runtime/step_execution.h"
#include "engine/workspace/open_document.h"
#include "native/cpu/execution.h"
#include "native/cpu/object_code.h"
#include "tests/native/run_command.h"
#include "tests/paths.h"

namespace recut::cpu {
namespace {

// Two convolutions of one shape share a kernel; oneDNN has a layout of its own for such weights.
constexpr const char* kTwoLayers = R"(graph "two" on cpu {
  %x = input f32[1, 32, 8, 8]
  %a = parameter f32[32, 32, 3, 3]
  %b = parameter f32[32, 32, 3, 3]
  %y = convolution(%x, %a, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1) : f32[1, 32, 8, 8]
  %z = convolution(%y, %b, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1) : f32[1, 32, 8, 8]
  results %z, %b
)";

struct PreparedSample {
  Document document;
  ReadyStep step;

  std::vector<bool> constant() const {
    return constant_inputs(document.graph(), step.step.program());
  }
};

PreparedSample prepared(const std::string& text) {
  auto document = open_document_bytes(text, "two.recut", {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  ProgramOptions options;
  options.library = true;
  options.library_takes = onednn_takes;
  auto step = StepCache(std::nullopt, options).compile(*document, request, *plan);
  REQUIRE(step.ok());
  return {std::move(*document), std::move(*step)};
}

Inputs inputs_of(const PreparedSample& sample) {
  auto inputs = inputs_from(sample.document.graph(), {}, 7);
  REQUIRE(inputs.ok());
  return std::move(*inputs);
}

TEST_CASE("packed weights: each launch of a shared kernel has its own", "[native][cpu]") {
  const PreparedSample sample = prepared(std::string(kTwoLayers) + "}\n");
  const Program& program = sample.step.step.program();
  REQUIRE(program.library.size() == 1);
  REQUIRE(program.launches.size() >= 2);
  const Inputs inputs = inputs_of(sample);
  const auto outputs = [&](const std::vector<bool>& constant, std::int64_t& bytes) {
    auto run =
        Run::prepare(sample.step.step, kernel_inputs(sample.document.graph(), program, inputs), 1,
                     loop::kMinParallelWork, constant);
    REQUIRE(run.ok());
    bytes = run->packed_bytes();
    std::vector<std::string> values;
    for (int round = 0; round < 2; ++round) {
      run->paint(std::byte{0xff});
      REQUIRE(run->run(1).ok());
      for (const Tensor& output : run->outputs()) values.push_back(recut::bytes_of(output));
    }
    return values;
  };
  std::int64_t none = -1, packed = -1;
  const auto expected = outputs({}, none);
  CHECK(outputs(sample.constant(), packed) == expected);
  CHECK(none == 0);
  CHECK(packed == 2 * 32 * 32 * 9 * 4);
}

TEST_CASE("packed weights: only weights that no step changes are constant", "[native][cpu]") {
  const auto count = [](const PreparedSample& sample) {
    std::int64_t constant = 0;
    for (const bool one : sample.constant()) constant += one ? 1 : 0;
    return constant;
  };
  CHECK(count(prepared(std::string(kTwoLayers) + "}\n")) == 2);
  CHECK(count(prepared(std::string(kTwoLayers) + "  mutation 1 %b\n}\n")) == 1);
  auto joint = open_document(RECUT_SOURCE_DIR "/samples/joint/tiny_conv.json.gz", {});
  REQUIRE(joint.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  auto plan = schedule_document(*joint, request);
  REQUIRE(plan.ok());
  auto step = StepCache(std::nullopt, {}).compile(*joint, request, *plan);
  REQUIRE(step.ok());
  CHECK(count({std::move(*joint), std::move(*step)}) == 0);
}

// oneDNN chooses the layout of a factor that no launch of its kernel changes.
TEST_CASE("command: run packs factors that are weights in every launch", "[native][cpu]") {
  const auto checked = [](const std::string& second, const std::string& more) {
    const native::TemporaryFile file("products.recut");
    file.write(
        "graph \"products\" on cpu {\n  %x = input f32[64, 256]\n  %v = input f32[256, 256]\n"
        "  %a = parameter f32[256, 256]\n  %b = parameter f32[256, 256]\n"
        "  %y = mm(%x, %a)\n  %z = mm(%y, " +
        second + ")\n  results %z, %v, %b\n" + more + "}\n");
    const native::Ran ran =
        native::run({"run", file.path(), "--no-cache", "--steps", "1", "--check", "--json"});
    INFO(ran.err << ran.out);
    CHECK(ran.code == native::kDone);
    return nlohmann::json::parse(ran.out)["packed_bytes"].get<std::int64_t>();
  };
  CHECK(checked("%v", "") == 0);
  CHECK(checked("%b", "  mutation 2 %b\n") == 0);
  // oneDNN has a layout of its own for products where there is AVX-512.
  const bool wide = this_machine().features.find("+avx512vl") != std::string::npos;
  CHECK(checked("%b", "") == (wide ? 2 * 256 * 256 * 4 : 0));
}

TEST_CASE("command: run says how much memory its packed weights take", "[native][cpu]") {
  const native::TemporaryFile file("two.recut");
  file.write(std::string(kTwoLayers) + "}\n");
  const native::Ran ran =
      native::run({"run", file.path(), "--no-cache", "--steps", "1", "--check", "--json"});
  REQUIRE(ran.code == native::kDone);
  CHECK(nlohmann::json::parse(ran.out)["packed_bytes"] == 2 * 32 * 32 * 9 * 4);
  const native::Ran text = native::run({"run", file.path(), "--no-cache", "--steps", "1"});
  CHECK(text.out.find("73,728 bytes of weights in the layout of oneDNN") != std::string::npos);
}

}  // namespace
}  // namespace recut::cpu
