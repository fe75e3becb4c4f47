// The C library on forward graphs: they are read, planned as inference, and differentiated.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "native/c_api/recut.h"
#include "tests/native/c_text.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kCApiForwardForward = R"(graph "layer" {
  %w = parameter f32[3, 2]
  %i = input i64[4]
  %x = input f32[4, 3]
  %y = mm(%x, %w)
  %z = tanh(%y)
  %loss = mean(%z)
  results %loss, %z, %i
}
)";

struct OwnedGraph {
  recut_graph* graph = nullptr;
  recut_status status = RECUT_INTERNAL;
  std::string error;

  OwnedGraph() = default;
  OwnedGraph(OwnedGraph&& other) noexcept { *this = std::move(other); }
  OwnedGraph& operator=(OwnedGraph&& other) noexcept {
    std::swap(graph, other.graph);
    status = other.status;
    error = std::move(other.error);
    return *this;
  }
  ~OwnedGraph() { recut_graph_free(graph); }
};

OwnedGraph read(const std::string& bytes, const char* options = R"({"passes": []})") {
  OwnedGraph read;
  char* error = nullptr;
  read.status = recut_graph_read(bytes.data(), bytes.size(), "mine", options, &read.graph, &error);
  read.error = taken(error);
  return read;
}

OwnedGraph differentiate(const OwnedGraph& graph, const char* options) {
  OwnedGraph joint;
  char* error = nullptr;
  joint.status = recut_graph_differentiate(graph.graph, options, &joint.graph, &error);
  joint.error = taken(error);
  return joint;
}

std::string text_of(const OwnedGraph& graph) {
  char* text = nullptr;
  CHECK(recut_graph_text(graph.graph, &text, nullptr) == RECUT_OK);
  return taken(text);
}

TEST_CASE("c_api: an operator library is part of reading a graph", "[native][c_api]") {
  const std::string graph =
      "graph \"g\" {\n%x = input f32[4]\n"
      "%y = external mine.scale(%x, 2) : f32[4]\nresults %y\n}";
  const auto options = [](const nlohmann::json& library) {
    return nlohmann::json{{"passes", nlohmann::json::array()}, {"op_library", library}}.dump();
  };
  const OwnedGraph found =
      read(graph, options({{{"operator", "mine.scale"},
                            {"name", "s.recut"},
                            {"text",
                             "graph \"s\" {\n%a = input f32[4]\n%b = mul.Tensor(%a, 2)\n"
                             "results %b\n}"}}})
                      .c_str());
  CHECK(found.error.empty());
  REQUIRE(found.status == RECUT_OK);
  CHECK(text_of(found).find("%y = mul.Tensor(%x, 2)") != std::string::npos);
  const auto fault = [&](const nlohmann::json& library) {
    const OwnedGraph refused = read(graph, options(library).c_str());
    CHECK(refused.status == RECUT_BAD_OPTION);
    return refused.error;
  };
  CHECK(fault("mine.rules").find("'op_library': expected a list of objects") != std::string::npos);
  CHECK(fault({{{"rules", "x"}}}).find("expected a list of objects") != std::string::npos);
  CHECK(fault({{{"name", "my.rules"}, {"text", "rule 7"}}}).find("my.rules:1:6") !=
        std::string::npos);
}

TEST_CASE("c_api: the graph of a rank of a mesh is planned like any", "[native][c_api]") {
  const OwnedGraph whole = read(kCApiForwardForward);
  REQUIRE(whole.status == RECUT_OK);
  const auto shard = [&](const char* options) {
    OwnedGraph rank;
    char* error = nullptr;
    rank.status = recut_graph_shard(whole.graph, options, &rank.graph, &error);
    rank.error = taken(error);
    return rank;
  };
  const OwnedGraph rank = shard(R"({"mesh": "dp=2", "preset": "dp=ddp", "rank": 1})");
  INFO(rank.error);
  REQUIRE(rank.status == RECUT_OK);
  recut_plan* plan = nullptr;
  REQUIRE(recut_plan_make(rank.graph, nullptr, nullptr, &plan, nullptr) == RECUT_OK);
  recut_plan_free(plan);
  CHECK(text_of(rank).find("_c10d_functional.") != std::string::npos);
  CHECK(shard(nullptr).status == RECUT_BAD_OPTION);
  CHECK(shard(R"({"mesh": "dp"})").error.find("dp") != std::string::npos);
  CHECK(shard(R"({"mesh": "dp=2", "rank": 2})").error.find("has no rank 2") != std::string::npos);
  CHECK(shard(R"({"mesh": "dp=2", "placements": "inputs\n  nobody [S(0)]\n"})").status ==
        RECUT_BAD_OPTION);
  recut_graph* again = nullptr;
  CHECK(recut_graph_shard(rank.graph, R"({"mesh": "dp=2"})", &again, nullptr) == RECUT_BAD_INPUT);
}

TEST_CASE("c_api: a forward graph is planned as the command plans it", "[native][c_api]") {
  const OwnedGraph forward = read(kCApiForwardForward);
  REQUIRE(forward.status == RECUT_OK);
  const TemporaryFile file("c_api_inference.recut");
  file.write(kCApiForwardForward);
  recut_plan* plan = nullptr;
  char *error = nullptr, *json = nullptr;
  REQUIRE(recut_plan_make(forward.graph, nullptr, nullptr, &plan, &error) == RECUT_OK);
  CHECK(recut_plan_json(plan, &json, nullptr) == RECUT_OK);
  const auto orders = nlohmann::json::parse(taken(json));
  CHECK(orders["forward"] == nlohmann::json{"y", "z", "loss"});
  CHECK(orders["saved"].empty());
  CHECK(orders["backward"].empty());
  CHECK(recut_report_json(plan, &json, nullptr) == RECUT_OK);
  auto report = nlohmann::json::parse(taken(json));
  auto of_command = nlohmann::json::parse(run({"plan", file.path(), "--no-passes", "--json"}).out);
  for (nlohmann::json* each : {&report, &of_command}) each->erase("solve_ms");
  CHECK(report == of_command);
  CHECK(report["inference"] == true);
  CHECK(report["weights_bytes"] == 3 * 2 * 4);
  CHECK(report["inputs_bytes"] == 4 * 3 * 4 + 4 * 8);  // %i is a result itself
  CHECK_FALSE(report.contains("saved_bytes"));
  recut_plan_free(plan);
  CHECK(recut_sweep(forward.graph, nullptr, nullptr, &json, nullptr) == RECUT_OK);
  const auto curve = nlohmann::json::parse(taken(json));
  CHECK(curve["inference"] == true);
  CHECK(curve["torch"].empty());
  CHECK_FALSE(curve["points"].empty());
  // what is wrong with the options is told
  for (const char* options : {R"({"budget": true})", R"({"strategy": "torch"})"}) {
    CHECK(recut_plan_make(forward.graph, options, nullptr, &plan, &error) == RECUT_BAD_OPTION);
    CHECK(plan == nullptr);
    CHECK_FALSE(taken(error).empty());
  }
}

TEST_CASE("c_api: its joint graph is the command's, and is planned", "[native][c_api]") {
  const OwnedGraph forward = read(kCApiForwardForward);
  const TemporaryFile file("c_api_forward.recut");
  file.write(kCApiForwardForward);
  const OwnedGraph joint = differentiate(forward, R"({"passes": []})");
  INFO(joint.error);
  REQUIRE(joint.status == RECUT_OK);
  CHECK(text_of(joint) == run({"grad", file.path()}).out);
  CHECK(text_of(forward) == run({"show", file.path(), "--no-passes"}).out);
  const OwnedGraph some = differentiate(forward, R"({"passes": [], "wrt": ["x"], "results": [1]})");
  REQUIRE(some.status == RECUT_OK);
  CHECK(text_of(some) == run({"grad", file.path(), "--wrt", "x", "--result", "1"}).out);
  recut_plan* plan = nullptr;
  CHECK(recut_plan_make(joint.graph, R"({"budget": "90%"})", nullptr, &plan, nullptr) !=
        RECUT_INTERNAL);
  REQUIRE(plan != nullptr);
  char* json = nullptr;
  CHECK(recut_plan_json(plan, &json, nullptr) == RECUT_OK);
  CHECK(nlohmann::json::parse(taken(json))["backward"].size() > 0);
  recut_plan_free(plan);
  // of a joint graph the forward half
  CHECK(text_of(differentiate(joint, R"({"passes": []})")) == text_of(joint));
  CHECK(differentiate(joint, nullptr).status == RECUT_OK);
}

TEST_CASE("c_api: its tangents are the command's, and levels nest", "[native][c_api]") {
  const OwnedGraph forward = read(kCApiForwardForward);
  const TemporaryFile file("c_api_jvp.recut"), of_tangents("c_api_jvp_1.recut");
  file.write(kCApiForwardForward);
  const OwnedGraph first = differentiate(forward, R"({"passes": [], "mode": "jvp"})");
  INFO(first.error);
  REQUIRE(first.status == RECUT_OK);
  CHECK(text_of(first) == run({"grad", file.path(), "--mode", "jvp"}).out);
  CHECK(text_of(first).find("dual_result 0, 3 level 0\n") != std::string::npos);
  const OwnedGraph second =
      differentiate(first, R"({"passes": [], "mode": "jvp", "wrt": ["w", "x"], "level": 4})");
  INFO(second.error);
  REQUIRE(second.status == RECUT_OK);
  of_tangents.write(text_of(first));
  CHECK(text_of(second) ==
        run({"grad", of_tangents.path(), "--mode", "jvp", "--wrt", "w", "x", "--level", "4"}).out);
  CHECK(text_of(second).find("dual_input %w, %w_tangent_1 level 4\n") != std::string::npos);
  // reverse over forward
  CHECK(differentiate(first, R"({"passes": []})").status == RECUT_OK);

  const auto fault = [](const OwnedGraph& graph, const char* options) {
    const OwnedGraph refused = differentiate(graph, options);
    CHECK(refused.status == RECUT_BAD_OPTION);
    return refused.error;
  };
  CHECK(fault(second, R"({"mode": "jvp", "level": 4})")
            .find("'level': 4 found, expected 5 or above: the graph has tangents below") !=
        std::string::npos);
  CHECK(fault(forward, R"({"mode": "forward"})").find("expected one of: reverse, jvp") !=
        std::string::npos);
  CHECK(fault(forward, R"({"mode": "jvp", "level": -1})").find("-1 found, expected 0 to 1000") !=
        std::string::npos);
  CHECK(fault(forward, R"({"level": 1})").find("'level': expected mode 'jvp'") !=
        std::string::npos);
  CHECK(fault(forward, R"({"mode": "jvp", "results": [0]})")
            .find("'results': expected mode 'reverse'") != std::string::npos);
}

TEST_CASE("c_api: a graph's own dual numbers are plain calls", "[native][c_api]") {
  const OwnedGraph found = read(
      "graph \"g\" {\n%x = input f32[4]\n%v = input f32[4]\n"
      "%d = external aten._make_dual.default(%x, %v, 0) : f32[4]\n%y = sin(%d)\nresults %y\n}");
  CHECK(found.error.empty());
  REQUIRE(found.status == RECUT_OK);
  CHECK(text_of(found).find("external") == std::string::npos);
  CHECK(text_of(found).find("dual_result 0, 1 level 0\n") != std::string::npos);
}

TEST_CASE("c_api: what can't be differentiated is told", "[native][c_api]") {
  const OwnedGraph forward = read(kCApiForwardForward);
  for (const char* options :
       {R"({"wrt": "w"})", R"({"wrt": ["nobody"]})", R"({"wrt": ["i"]})", R"({"wrt": ["y"]})",
        R"({"results": [2]})", R"({"results": [9]})", R"({"results": [-1]})",
        R"({"results": ["loss"]})", R"({"results": 0})", R"({"passes": ["no_such_pass"]})",
        R"({"budget": "1GiB"})", "7", "{"}) {
    INFO(options);
    const OwnedGraph joint = differentiate(forward, options);
    CHECK(joint.status == RECUT_BAD_OPTION);
    CHECK(joint.graph == nullptr);
    CHECK_FALSE(joint.error.empty());
  }
  const OwnedGraph gap = read(R"(graph "gap" {
  %q = parameter f32[1, 2, 3, 4]
  %y = scaled_dot_product_attention(%q, %q, %q, none, 0.5)
  results %y
}
)");
  REQUIRE(gap.status == RECUT_OK);
  const OwnedGraph joint = differentiate(gap, nullptr);
  CHECK(joint.status == RECUT_BAD_INPUT);
  CHECK(joint.error.find("%y (scaled_dot_product_attention): with dropout") != std::string::npos);
}

// Each call makes nodes: none of them may be another caller's, nor the given graph's.
TEST_CASE("c_api: threads differentiate one graph while others read it", "[native][c_api]") {
  const OwnedGraph forward = read(kCApiForwardForward);
  REQUIRE(forward.status == RECUT_OK);
  const std::vector<const char*> options = {R"({"passes": []})", R"({"passes": [], "wrt": ["x"]})",
                                            "{}"};
  const auto all = [&] {
    std::vector<std::string> texts;
    for (const char* each : options) {
      OwnedGraph joint;
      texts.emplace_back("refused");
      if (recut_graph_differentiate(forward.graph, each, &joint.graph, nullptr) != RECUT_OK)
        continue;
      for (const OwnedGraph* graph : std::array<const OwnedGraph*, 2>{&forward, &joint}) {
        char* text = nullptr;
        if (recut_graph_text(graph->graph, &text, nullptr) == RECUT_OK)
          texts.push_back(taken(text));
      }
    }
    return texts;
  };
  const std::vector<std::string> alone = all();
  REQUIRE(alone.size() == 3 * options.size());
  std::vector<std::vector<std::string>> together(4);
  std::vector<std::thread> threads;
  threads.reserve(together.size());
  for (std::vector<std::string>& mine : together)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) mine = all();
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::string>& mine : together) CHECK(mine == alone);
}

}  // namespace
}  // namespace recut::native
