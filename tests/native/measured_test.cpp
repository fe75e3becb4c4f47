// Plans by measured times, from a file to the command's output.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "engine/workspace/open_document.h"
#include "engine/workspace/planning.h"
#include "tests/golden/golden.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

using MeasuredJson = nlohmann::ordered_json;

const std::string kFile = RECUT_SOURCE_DIR "/tests/golden/measured/step.json";
const std::string kExpected = RECUT_SOURCE_DIR "/tests/golden/measured/plan.json";

// The file with a piece of it replaced.
std::string changed(const std::string& piece, const std::string& by) {
  std::string text = bytes_of(kFile);
  const std::size_t at = text.find(piece);
  REQUIRE(at != std::string::npos);
  return text.replace(at, piece.size(), by);
}

MeasuredJson plan(const std::string& path, std::vector<std::string> words) {
  words.insert(words.begin(), {"plan", path});
  words.push_back("--json");
  const Ran ran = run(words);
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  return MeasuredJson::parse(ran.out);
}

TEST_CASE("measured: the plan of a small file by its own times", "[native][measured]") {
  MeasuredJson json = plan(kFile, {"--device", "measured", "--budget", "90%"});
  json.erase("solve_ms");
  const std::string text = json.dump(2) + "\n";
  if (test::blessing()) std::ofstream(kExpected, std::ios::binary) << text;
  INFO("accept it:  RECUT_BLESS=1, the same test");
  CHECK(text == bytes_of(kExpected));
}

TEST_CASE("measured: the report says so, and names workspaces", "[native][measured]") {
  const MeasuredJson json = plan(kFile, {"--device", "measured"});
  CHECK(json["device"] == "measured");
  CHECK(json["device_title"] == "measured on h100; what wasn't is priced by h100");
  int workspaces = 0;
  std::int64_t alive = 0;
  for (const MeasuredJson& row : json["at_peak"]) {
    workspaces += row["name"].get<std::string>().starts_with("workspace of mm_") ? 1 : 0;
    alive += row["bytes"].get<std::int64_t>();
    CHECK(row["bytes"].get<std::int64_t>() % 512 == 0);
  }
  CHECK(workspaces == 1);
  CHECK(alive == json["peak_bytes"]);
  CHECK(run({"plan", kFile, "--device", "measured"}).out.find("measured on h100") !=
        std::string::npos);
}

TEST_CASE("measured: workspaces count on any device, times on this one only",
          "[native][measured]") {
  const MeasuredJson measured = plan(kFile, {"--device", "measured"});
  const MeasuredJson reference = plan(kFile, {});
  CHECK(measured["peak_bytes"] == reference["peak_bytes"]);
  CHECK(measured["step_us"] > 10 * reference["step_us"].get<double>());
  CHECK_FALSE(reference.contains("device_title"));
}

TEST_CASE("measured: what the file doesn't name is priced by the reference", "[native][measured]") {
  const TemporaryFile file("measured_elsewhere.json");
  file.write(changed(R"("measured_on": "h100")", R"("measured_on": "../some/where.json")"));
  const MeasuredJson elsewhere = plan(file.path(), {"--device", "measured"});
  CHECK(elsewhere["device_title"] ==
        "measured on ../some/where.json; what wasn't is priced by reference");
  file.write(changed(R"("measured_on": "h100", )", ""));
  const MeasuredJson nowhere = plan(file.path(), {"--device", "measured"});
  CHECK(nowhere["device_title"] == "measured; what wasn't is priced by reference");
  CHECK(nowhere["step_us"] == elsewhere["step_us"]);
  CHECK(nowhere["step_us"] < plan(kFile, {"--device", "measured"})["step_us"]);
}

TEST_CASE("measured: a file without times is refused", "[native][measured]") {
  for (const char* command : {"plan", "sweep"}) {
    const Ran ran = run({command, sample("mlp.json.gz"), "--device", "measured"});
    CHECK(ran.code == kBadInput);
    CHECK(ran.err.find("it has none") != std::string::npos);
  }
}

TEST_CASE("measured: the interpreter's peak is that of the values alone", "[native][measured]") {
  const Ran ran = run({"eval", kFile, "--budget", "90%", "--seed", "3"});
  INFO(ran.out << ran.err);
  CHECK(ran.out.find("as planned") != std::string::npos);
}

TEST_CASE("measured: what passes keep has its measurement, what they make has none",
          "[native][measured]") {
  const std::string bytes =
      changed(R"({"name": "mul", "op": "call_function", "target": "aten.mul.Tensor", "args": [)"
              R"({"node": "exp"}, {"node": "sigmoid"}]})",
              R"({"name": "one", "op": "call_function", "target": "aten.mul.Tensor", "args": [)"
              R"({"node": "sigmoid"}, 1], "measured": {"us": 100}},)"
              R"({"name": "mul", "op": "call_function", "target": "aten.mul.Tensor", "args": [)"
              R"({"node": "exp"}, {"node": "one"}], "measured": {"us": 50}})");
  const auto document = open_document_bytes(bytes, "f", {});
  REQUIRE(document.ok());
  const Graph& graph = document->graph();
  REQUIRE(graph.measurement(graph.find("mm")) != nullptr);
  CHECK(graph.measurement(graph.find("mm"))->micros == 8.5);
  const Measurement* made = graph.measurement(graph.find("mul"));
  CHECK((made == nullptr || !made->micros));
  PlanningRequest request;
  request.device = "measured";
  CHECK(plan_document(*document, request).ok());
}

TEST_CASE("measured: the curve and PyTorch's points count the same bytes", "[native][measured]") {
  const Ran ran = run({"sweep", kFile, "--device", "measured", "--points", "4", "--json"});
  REQUIRE(ran.code == kDone);
  const MeasuredJson json = MeasuredJson::parse(ran.out);
  REQUIRE_FALSE(json["points"].empty());
  for (const MeasuredJson& point : json["points"])
    CHECK(point["peak_bytes"].get<std::int64_t>() % 512 == 0);
  for (const MeasuredJson& point : json["torch"]) {
    CHECK(point["peak_bytes"].get<std::int64_t>() % 512 == 0);
    CHECK(point["peak_bytes"] >= json["peak_bound_bytes"]);
  }
}

}  // namespace
}  // namespace recut::native
