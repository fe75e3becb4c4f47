// recut plan on node-link graphs: what it prints and writes, and that the order is what it says.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

// A chain of forward steps, each of which a backward step reads again in reverse: the shape in
// which recomputation pays. Ids are numbers or strings.
std::string mirrored_chain(int length, bool words) {
  const auto id = [&](int n) { return words ? fmt::format("\"n{}\"", n) : fmt::format("{}", n); };
  std::string nodes, links;
  for (int n = 0; n < 2 * length; ++n)
    nodes += fmt::format("{}{{\"id\": {}, \"cost_ram\": 10, \"cost_cpu\": {}}}", n == 0 ? "" : ", ",
                         id(n), n + 1);
  for (int n = 1; n < 2 * length; ++n) {
    links +=
        fmt::format("{}{{\"source\": {}, \"target\": {}}}", n == 1 ? "" : ", ", id(n - 1), id(n));
    if (n > length)
      links += fmt::format(", {{\"source\": {}, \"target\": {}}}", id(2 * length - 1 - n), id(n));
  }
  return fmt::format("{{\"graph\": {{\"name\": \"chain\"}}, \"nodes\": [{}], \"links\": [{}]}}",
                     nodes, links);
}

// Whether the independent script finds the plan's peak and duration.
bool agrees(const TemporaryFile& graph, const TemporaryFile& plan) {
  const std::string command =
      fmt::format("python3 -B '{}/tests/partition/check_order.py' '{}' '{}' > /dev/null",
                  RECUT_SOURCE_DIR, graph.path(), plan.path());
  return std::system(command.c_str()) == 0;
}

TEST_CASE("node-link: a plan that holds, its order confirmed by a script", "[native]") {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) SKIP("no python3");
  for (const bool words : {false, true}) {
    const TemporaryFile graph("chain.json"), plan("order.json");
    graph.write(mirrored_chain(20, words));
    const Ran ran = run({"plan", graph.path(), "--budget", "60%", "--json", "--out", plan.path()});
    REQUIRE(ran.code == kDone);
    const auto json = nlohmann::json::parse(ran.out);
    CHECK(json["holds"] == true);
    CHECK(json["peak"] <= json["budget"]);
    CHECK(json["budget"] == json["start_peak"].get<std::int64_t>() * 60 / 100);
    CHECK(json["extra"] > 0);
    CHECK(json["duration"] == 820 + json["extra"].get<std::int64_t>());
    CHECK(json["peak_bound"] <= json["peak"]);
    CHECK(json["extra_bound"] <= json["extra"]);
    CHECK(json.contains("solve_ms"));
    const auto written = nlohmann::json::parse(plan.read());
    CHECK(written["order"][0].is_string() == words);
    CHECK(written["order"].size() == json["runs"]);
    CHECK(agrees(graph, plan));
  }
}

TEST_CASE("node-link: what can't be held comes with the least that can", "[native]") {
  const TemporaryFile graph("chain.json"), plan("order.json");
  graph.write(mirrored_chain(20, false));
  const Ran ran = run({"plan", graph.path(), "--budget", "25", "--json", "--out", plan.path()});
  CHECK(ran.code == kCheckFailed);
  CHECK(ran.err.find("a peak of 25 can't be held: the least that Recut can plan is") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["holds"] == false);
  CHECK(json["least_peak_bytes"] > 25);
  CHECK(json["peak_bound_bytes"] <= json["least_peak_bytes"]);
  CHECK(plan.read().empty());
  const Ran held = run(
      {"plan", graph.path(), "--budget", fmt::format("{}", json["least_peak_bytes"].get<int>())});
  CHECK(held.code == kDone);
  CHECK(held.out.find("chain · node-link graph") == 0);
}

TEST_CASE("node-link: what makes no sense for it is refused with a message", "[native]") {
  const TemporaryFile graph("chain.json");
  graph.write(mirrored_chain(3, false));
  CHECK(run({"plan", graph.path(), "--strategy", "torch"}).code == kBadInput);
  CHECK(run({"plan", graph.path(), "--svg", "x.svg"}).code == kBadInput);
  for (const char* budget : {"-1", "nan", "0", "5XB", ""})
    CHECK(run({"plan", graph.path(), "--budget=" + std::string(budget)}).code == kBadInput);
  graph.write(R"({"nodes": [{"id": 1}], "links": []})");
  const Ran broken = run({"plan", graph.path()});
  CHECK(broken.code == kBadInput);
  CHECK(broken.err.find("node '1'") != std::string::npos);
  graph.write(R"({"nodes": [], "links": []})");
  CHECK(run({"plan", graph.path()}).code == kDone);
}

}  // namespace
}  // namespace recut::native
