// recut compare-memory: tables, JSON, the picture, and faults of the snapshot.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

const std::string kMlp = RECUT_SOURCE_DIR "/samples/mlp.recut";
const std::string kMlpSnapshot = RECUT_SOURCE_DIR "/samples/snapshots/mlp.pickle";

TEST_CASE("compare-memory: the step that is planned, and that of a plan", "[native]") {
  const Ran eager = run({"compare-memory", kMlp, kMlpSnapshot, "--json"});
  REQUIRE(eager.code == kDone);
  const auto json = nlohmann::json::parse(eager.out);
  CHECK(json["order"] == "program order, nothing recomputed");
  CHECK(json["measured_rise_bytes"] == json["planned_peak_bytes"]);
  CHECK(json["difference_bytes"] == 0);
  CHECK(json["step"] == 2);
  CHECK(json["modules"][0]["measured_bytes"] == json["modules"][0]["planned_bytes"]);

  // A plan takes the place of the program order.
  const Ran plan = run({"compare-memory", kMlp, kMlpSnapshot, "--model", "fused", "--json"});
  REQUIRE(plan.code == kDone);
  const auto planned = nlohmann::json::parse(plan.out);
  CHECK(planned["order"] == "strategy peak, budget none");
  CHECK(planned["planned_blocks"] < json["planned_blocks"]);
  CHECK(planned["only_measured"].size() > 0);
  CHECK(planned["measured_rise_bytes"] == json["measured_rise_bytes"]);

  const Ran impossible = run({"compare-memory", kMlp, kMlpSnapshot, "--budget", "1"});
  CHECK(impossible.code == kCheckFailed);
  CHECK(impossible.err.find("can't be held") != std::string::npos);
}

TEST_CASE("compare-memory: a picture of both curves", "[native]") {
  const TemporaryFile svg("measured.svg");
  const Ran ran = run({"compare-memory", kMlp, kMlpSnapshot, "--svg", svg.path()});
  REQUIRE(ran.code == kDone);
  const std::string picture = svg.read();
  CHECK(picture.find("measured +3.64 KiB") != std::string::npos);
  CHECK(picture.find("planned +3.64 KiB") != std::string::npos);
  CHECK(picture.find("backward") != std::string::npos);
}

TEST_CASE("compare-memory: snapshots that can't be read", "[native]") {
  const auto fault = [](const std::string& bytes) {
    const TemporaryFile file("snapshot.pickle");
    file.write(bytes);
    const Ran ran = run({"compare-memory", kMlp, file.path()});
    CHECK(ran.code == kBadInput);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(file.path()) != std::string::npos);
    return ran.err;
  };
  CHECK(fault("graph").find("this is no memory snapshot") != std::string::npos);
  CHECK(fault("\x80\x04"
              "cos\nsystem\n\x8c\x01x\x85R.")
            .find("opcode GLOBAL would import") != std::string::npos);
  CHECK(fault(bytes_of(kMlpSnapshot).substr(0, 1000)).find("cut off") != std::string::npos);
  CHECK(run({"compare-memory", kMlp, "/no/such.pickle"}).code == kBadInput);
  CHECK(run({"compare-memory", kMlp}).code == kBadInput);
  const Ran step = run({"compare-memory", kMlp, kMlpSnapshot, "--step", "7"});
  CHECK(step.code == kBadInput);
  CHECK(step.err.find("expected one from 1 to 2") != std::string::npos);
}

}  // namespace
}  // namespace recut::native
