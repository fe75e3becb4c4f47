// The C library through its C functions alone: every status, hostile input and options, callbacks,
// threads, and the same bytes as the command's.
#include <catch2/catch_test_macros.hpp>
#include <clocale>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "native/c_api/recut.h"
#include "tests/effort.h"
#include "tests/native/c_text.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

using CApiJson = nlohmann::json;

// The result of a call; its texts are freed already.
struct Gave {
  recut_status status = RECUT_INTERNAL;
  std::string text;
  std::string error;
};

// Owns a graph for the tests.
class GraphHandle {
 public:
  explicit GraphHandle(const std::string& bytes, const char* options = nullptr,
                       const char* name = "mine.json") {
    char* error = nullptr;
    status = recut_graph_read(bytes.data(), bytes.size(), name, options, &graph_, &error);
    message = taken(error);
  }
  ~GraphHandle() { recut_graph_free(graph_); }
  GraphHandle(const GraphHandle&) = delete;
  GraphHandle& operator=(const GraphHandle&) = delete;
  recut_graph* get() const { return graph_; }

  recut_status status = RECUT_INTERNAL;
  std::string message;

 private:
  recut_graph* graph_ = nullptr;
};

std::string sample_bytes(const std::string& name) { return bytes_of(sample(name)); }

using ToText = recut_status (*)(const recut_plan*, char**, char**);

// A plan as text: its file, or its report. Free of checks, which threads may not make.
Gave plan(const GraphHandle& graph, const char* options, ToText as = recut_plan_json,
          const recut_callbacks* callbacks = nullptr) {
  recut_plan* made = nullptr;
  char *error = nullptr, *json = nullptr;
  Gave gave;
  gave.status = recut_plan_make(graph.get(), options, callbacks, &made, &error);
  gave.error = taken(error);
  if (made == nullptr) return gave;
  if (const recut_status status = as(made, &json, nullptr); status != RECUT_OK)
    gave.status = status;
  gave.text = taken(json);
  recut_plan_free(made);
  return gave;
}

Gave sweep(const GraphHandle& graph, const char* options,
           const recut_callbacks* callbacks = nullptr) {
  char *json = nullptr, *error = nullptr;
  Gave gave;
  gave.status = recut_sweep(graph.get(), options, callbacks, &json, &error);
  gave.text = taken(json);
  gave.error = taken(error);
  return gave;
}

// The JSON without fields that differ from run to run.
CApiJson timeless(const std::string& text) {
  CApiJson json = CApiJson::parse(text);
  for (const char* key : {"solve_ms", "first_ms"}) json.erase(key);
  if (json.contains("points"))
    for (CApiJson& point : json["points"]) {
      point.erase("solve_ms");
      if (point.contains("plan")) point["plan"].erase("solve_ms");
    }
  if (json.contains("torch"))
    for (CApiJson& point : json["torch"]) point.erase("solve_ms");
  return json;
}

TEST_CASE("c_api: a plan file and a report are the command's", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("tiny_lm.json.gz"));
  REQUIRE(graph.status == RECUT_OK);
  const TemporaryFile out("c_api_plan.json");
  const Ran ran = run({"plan", sample("tiny_lm.json.gz"), "--budget", "90%", "--effort", "2",
                       "--search-seed", "7", "--device", "rtx4090", "--out", out.path(), "--json"});
  REQUIRE(ran.code == kDone);
  const char* options = R"({"budget": "90%", "effort": 2, "search_seed": 7, "device": "rtx4090"})";
  const Gave file = plan(graph, options);
  CHECK(file.status == RECUT_OK);
  CHECK(file.error.empty());
  CHECK(timeless(file.text) == timeless(out.read()));
  CHECK(file.text.size() > 100);
  CHECK(timeless(plan(graph, options, recut_report_json).text) == timeless(ran.out));
}

TEST_CASE("c_api: options of strategy torch are the command's", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("tiny_lm.json.gz"));
  const Ran ran = run({"plan", sample("tiny_lm.json.gz"), "--strategy", "torch", "--budget", "0.3",
                       "--torch", "solver=greedy", "--torch", "ban_recompute_reductions=off",
                       "--torch", "not_recomputable=gelu,mul", "--json"});
  REQUIRE(ran.code == kDone);
  const char* options =
      R"({"strategy": "torch", "budget": "0.3", "torch": {"solver": "greedy",
          "ban_recompute_reductions": false, "not_recomputable": ["aten.gelu", "mul"]}})";
  const Gave gave = plan(graph, options, recut_report_json);
  INFO(gave.error);
  CHECK(gave.status == RECUT_OK);
  CHECK(timeless(gave.text) == timeless(ran.out));
  const CApiJson json = CApiJson::parse(gave.text);
  CHECK(json["torch_options"]["solver"] == "greedy");
  CHECK(json["torch_options"]["runtime_estimator"] == "flops");
  CHECK(json["torch_options"]["ban_recompute_reductions"] == "off");
  CHECK(json["torch_options"]["not_recomputable"] == "gelu,mul");

  const Ran curve = run({"sweep", sample("tiny_lm.json.gz"), "--points", "3", "--torch",
                         "aggressive_recomputation=on", "--json"});
  REQUIRE(curve.code == kDone);
  const Gave swept = sweep(graph, R"({"points": 3, "torch": {"aggressive_recomputation": true}})");
  CHECK(timeless(swept.text) == timeless(curve.out));
  CHECK(CApiJson::parse(swept.text)["torch_settings"][0] == "aggressive_recomputation=on");
}

TEST_CASE("c_api: keys stand in the command's order", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("mlp.json.gz"));
  const TemporaryFile out("c_api_order.json");
  REQUIRE(run({"plan", sample("mlp.json.gz"), "--budget", "none", "--out", out.path()}).code ==
          kDone);
  const auto without_time = [](std::string text) {
    const std::size_t at = text.find("\"solve_ms\":");
    REQUIRE(at != std::string::npos);
    return text.erase(at, text.find(',', at) - at);
  };
  CHECK(without_time(plan(graph, nullptr).text) == without_time(out.read()));
}

TEST_CASE("c_api: the graph's own options, and text form", "[native][c_api]") {
  const std::string bytes = sample_bytes("mlp.json.gz");
  const GraphHandle after(bytes, R"({"graph": "joint_after_passes"})");
  REQUIRE(after.status == RECUT_OK);
  CHECK(CApiJson::parse(plan(after, nullptr).text)["graph"] == "joint_after_passes");
  const GraphHandle none(bytes, R"({"passes": []})");
  const GraphHandle some(bytes, R"({"passes": ["dead_code"]})");
  CHECK(none.status == RECUT_OK);
  CHECK(some.status == RECUT_OK);
  const GraphHandle text(bytes_of(RECUT_SOURCE_DIR "/samples/mlp.recut"));
  REQUIRE(text.status == RECUT_OK);
  CHECK(CApiJson::parse(plan(text, R"({"budget": 1e9})").text)["holds"] == true);
}

TEST_CASE("c_api: a budget that can't be held still gives the lowest plan", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("mlp.json.gz"));
  const Gave gave = plan(graph, R"({"budget": 1})");
  CHECK(gave.status == RECUT_NOT_HELD);
  CHECK(gave.error.find("least that Recut can plan") != std::string::npos);
  const CApiJson json = CApiJson::parse(gave.text);
  CHECK(json["holds"] == false);
  CHECK(json["least_peak_bytes"] == json["peak_bytes"]);
}

TEST_CASE("c_api: a plan outlives its graph", "[native][c_api]") {
  std::optional<GraphHandle> graph(std::in_place, sample_bytes("mlp.json.gz"));
  recut_plan* made = nullptr;
  REQUIRE(recut_plan_make(graph->get(), nullptr, nullptr, &made, nullptr) == RECUT_OK);
  graph.reset();
  char* json = nullptr;
  CHECK(recut_plan_json(made, &json, nullptr) == RECUT_OK);
  CHECK(CApiJson::parse(taken(json))["forward"].size() > 0);
  recut_plan_free(made);
}

TEST_CASE("c_api: nothing may be freed, and the version is the command's", "[native][c_api]") {
  recut_graph_free(nullptr);
  recut_plan_free(nullptr);
  recut_text_free(nullptr);
  CHECK(run({"--version"}).out.find(recut_version()) != std::string::npos);
}

TEST_CASE("c_api: hostile bytes are bad input, with the command's messages", "[native][c_api]") {
  const std::string sound = sample_bytes("mlp.json.gz");
  const TemporaryFile file("c_api_hostile.json");
  for (const std::string& bytes :
       {std::string(), std::string("{"), std::string("nonsense"), sound.substr(0, sound.size() / 2),
        std::string(2000, '['), std::string("\0\0\0", 3), std::string(R"({"format": 7})"),
        std::string(R"({"format": "fx-joint-graph", "version": 1, "num_fwd_outputs": 1,
                       "joint": [{"name": "a", "op": "call_function", "target": "nope"}]})")}) {
    INFO(bytes.substr(0, 60));
    file.write(bytes);
    const GraphHandle graph(bytes, nullptr, file.path().c_str());
    CHECK(graph.status == RECUT_BAD_INPUT);
    CHECK(graph.get() == nullptr);
    CHECK(graph.message + "\n" == run({"show", file.path()}).err);
  }
  recut_graph* graph = nullptr;
  CHECK(recut_graph_read(nullptr, 5, nullptr, nullptr, &graph, nullptr) == RECUT_BAD_INPUT);
  CHECK(graph == nullptr);
}

TEST_CASE("c_api: every prefix of a file is refused or read", "[native][c_api]") {
  const std::string sound = bytes_of(RECUT_SOURCE_DIR "/samples/mlp.recut");
  for (std::size_t size = 0; size < sound.size(); size += 7) {
    const GraphHandle graph(sound.substr(0, size));
    CHECK((graph.status == RECUT_OK) == graph.message.empty());
  }
}

struct BadOption {
  const char* json;
  const char* words[3];  // in the message: key, found, expected
};

TEST_CASE("c_api: what is wrong with a plan's options is told", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("mlp.json.gz"));
  const BadOption bad[] = {
      {"", {"options", "", ""}},
      {"[1]", {"a list", "an object", ""}},
      {"{\"budget\": ", {"options:1:", "", ""}},
      {R"({"bugdet": "1GiB"})", {"bugdet", "budget", "expected"}},
      {R"({"budget": "5XB"})", {"'budget'", "5XB", "3GiB"}},
      {R"({"budget": ""})", {"'budget'", "''", "none"}},
      {R"({"strategy": "torch", "budget": ""})", {"'budget'", "''", "fraction"}},
      {R"({"budget": 0})", {"'budget'", "'0'", "more than 0"}},
      {R"({"budget": -3})", {"'budget'", "-3", "bytes"}},
      {R"({"budget": true})", {"'budget'", "a bool", "a number"}},
      {R"({"budget": null})", {"'budget'", "null", "a number"}},
      {R"({"budget": 99999999999999999999})", {"'budget'", "", ""}},
      {R"({"budget": 1e300})", {"'budget'", "", ""}},
      {R"({"budget": "1GiB", "budget": "2GiB"})", {"'budget'", "twice", ""}},
      {R"({"strategy": "torch", "budget": 1.5})", {"'budget'", "1.5", "fraction"}},
      {R"({"strategy": "best"})", {"'strategy'", "best", "peak"}},
      {R"({"strategy": 1})", {"'strategy'", "", "a string"}},
      {R"({"effort": 0})", {"'effort'", "0", "above 0"}},
      {R"({"effort": 1e300})", {"'effort'", "1e+300", "at most"}},
      {R"({"effort": "2"})", {"'effort'", "a string", ""}},
      {R"({"seconds": -1})", {"'seconds'", "-1", "above 0"}},
      {R"({"search_seed": 1.5})", {"'search_seed'", "a float", "an int"}},
      {R"({"search_seed": -1})", {"'search_seed'", "-1", "0 or more"}},
      {R"({"device": "abacus"})", {"'device'", "abacus", "h100"}},
      {R"({"device": {"name": "mine"}})", {"'device'", "'title' is missing", "bytes_per_second"}},
      {R"({"device": 3})", {"'device'", "", "a string"}},
      {R"({"model": "magic"})", {"'model'", "magic", "eager or fused"}},
      {R"({"save": "relu"})", {"'save'", "a string", "a list"}},
      {R"({"save": [1]})", {"'save'", "", "names of nodes"}},
      {R"({"save": ["no_such_node"]})", {"no_such_node", "", ""}},
      {R"({"strategy": "default", "save": ["mm"]})", {"", "", ""}},
      {R"({"strategy": "torch", "torch": 3})", {"'torch'", "an object", ""}},
      {R"({"strategy": "torch", "torch": {"solver": "best"}})", {"'torch'", "'best'", "greedy"}},
      {R"({"strategy": "torch", "torch": {"solver": 3}})", {"'torch'", "solver", "greedy"}},
      {R"({"strategy": "torch", "torch": {"sover": "dp"}})", {"'sover'", "solver", "expected"}},
      {R"({"strategy": "torch", "torch": {"recomputable": ["mmm"]}})", {"'mmm'", "", ""}},
      {R"({"torch": {"solver": "greedy"}})", {"'peak'", "--torch", "'torch'"}},
      {R"({"points": 3})", {"points", "unknown", ""}}};
  for (const BadOption& option : bad) {
    const Gave gave = plan(graph, option.json);
    INFO(option.json << "\n" << gave.error);
    CHECK(gave.status == RECUT_BAD_OPTION);
    CHECK(gave.text.empty());
    CHECK_FALSE(gave.error.empty());
    for (const char* word : option.words) CHECK(gave.error.find(word) != std::string::npos);
  }
}

TEST_CASE("c_api: what is wrong with other options is told", "[native][c_api]") {
  const std::string bytes = sample_bytes("mlp.json.gz");
  for (const char* options :
       {R"({"graph": "third"})", R"({"graph": 3})", R"({"passes": "dead_code"})",
        R"({"passes": ["no_such_pass"]})", R"({"budget": "1GiB"})", "7", "{"}) {
    INFO(options);
    const GraphHandle graph(bytes, options);
    CHECK(graph.status == RECUT_BAD_OPTION);
    CHECK(graph.get() == nullptr);
    CHECK_FALSE(graph.message.empty());
  }
  const GraphHandle graph(bytes);
  for (const char* options :
       {R"({"points": 1})", R"({"points": 100000})", R"({"plans": 1})", R"({"budget": "1GiB"})",
        R"({"seconds": 1})", R"({"effort": -1})", R"({"device": "abacus"})"}) {
    INFO(options);
    const Gave gave = sweep(graph, options);
    CHECK(gave.status == RECUT_BAD_OPTION);
    CHECK(gave.text.empty());
    CHECK_FALSE(gave.error.empty());
  }
}

TEST_CASE("c_api: a device profile may come as an object", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("mlp.json.gz"));
  const std::string h200 = bytes_of(RECUT_SOURCE_DIR "/samples/devices/h200.json");
  const CApiJson by_name = CApiJson::parse(plan(graph, R"({"device": "h200"})").text);
  const CApiJson as_object =
      CApiJson::parse(plan(graph, ("{\"device\": " + h200 + "}").c_str()).text);
  CHECK(as_object["device"] == "h200");
  CHECK(as_object["step_us"] == by_name["step_us"]);
}

TEST_CASE("c_api: a sweep is the command's, and its plans peak where its points do",
          "[native][c_api]") {
  const GraphHandle graph(sample_bytes("mlp.json.gz"));
  const Ran ran = run({"sweep", sample("mlp.json.gz"), "--points", "6", "--json"});
  const Gave bare = sweep(graph, R"({"points": 6})");
  REQUIRE(bare.status == RECUT_OK);
  CHECK(timeless(bare.text) == timeless(ran.out));
  const CApiJson with = CApiJson::parse(sweep(graph, R"({"points": 6, "plans": true})").text);
  REQUIRE_FALSE(with["points"].empty());
  for (const CApiJson& point : with["points"]) {
    CHECK(point["plan"]["peak_bytes"] == point["peak_bytes"]);
    CHECK(point["plan"]["step_us"] == point["step_us"]);
    CHECK(point["plan"]["holds"] == true);
    CHECK(point["plan"]["forward"].size() > 0);
  }
}

// Counts its calls and cancels from the n-th on.
struct Watching {
  int told = 0, asked = 0, end_at = 1 << 30;
  double last = -2;
  std::thread::id thread;
  recut_callbacks callbacks{this, &on_progress, &on_asked};

  static void on_progress(void* user, double fraction, const char* message) {
    auto& self = *static_cast<Watching*>(user);
    ++self.told;
    self.last = fraction;
    self.thread = std::this_thread::get_id();
    CHECK(std::strlen(message) > 0);
    CHECK(fraction <= 1);
  }
  static int on_asked(void* user) {
    auto& self = *static_cast<Watching*>(user);
    return ++self.asked >= self.end_at ? 1 : 0;
  }
};

TEST_CASE("c_api: progress is told on the caller's thread, to the end", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("mlp.json.gz"));
  for (const bool whole : {false, true}) {
    Watching watching;
    const Gave gave =
        whole ? sweep(graph, R"({"points": 4})", &watching.callbacks)
              : plan(graph, R"({"budget": "100%"})", recut_plan_json, &watching.callbacks);
    CHECK(gave.status == RECUT_OK);
    CHECK(watching.told >= 2);
    CHECK(watching.last == 1);
    CHECK(watching.thread == std::this_thread::get_id());
    CHECK(watching.asked >= 2);
  }
  const recut_callbacks nothing{};
  CHECK(plan(graph, nullptr, recut_plan_json, &nothing).status == RECUT_OK);
}

TEST_CASE("c_api: cancelled work ends soon and gives nothing", "[native][c_api]") {
  const GraphHandle graph(sample_bytes("gpt2.json.gz"));
  REQUIRE(graph.status == RECUT_OK);
  for (const int end_at : {1, 2, 5}) {
    Watching watching;
    watching.end_at = end_at;
    const Gave planned =
        plan(graph, R"({"budget": "40%", "effort": 1000})", recut_plan_json, &watching.callbacks);
    CHECK(planned.status == RECUT_CANCELLED);
    CHECK(planned.text.empty());
    CHECK_FALSE(planned.error.empty());
    CHECK(watching.asked == end_at);
    Watching other;
    other.end_at = end_at;
    const Gave swept = sweep(graph, R"({"effort": 1000})", &other.callbacks);
    CHECK(swept.status == RECUT_CANCELLED);
    CHECK(swept.text.empty());
    CHECK(other.asked == end_at);
  }
}

// Sets a locale with a decimal comma while it lives; not every machine has one.
struct CommaLocale {
  CommaLocale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"})
      found = found || std::setlocale(LC_ALL, name) != nullptr;
  }
  ~CommaLocale() { std::setlocale(LC_ALL, before.c_str()); }
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool found = false;
};

TEST_CASE("c_api: the host's locale changes nothing, and isn't changed", "[native][c_api]") {
  const std::string bytes = bytes_of(RECUT_SOURCE_DIR "/samples/mlp.recut");
  const char* options = R"({"strategy": "torch", "budget": "0.4"})";
  const CApiJson plain = timeless(plan(GraphHandle(bytes), options).text);
  const CommaLocale comma;
  if (!comma.found) SKIP("this machine has no locale whose numbers have a comma");
  const GraphHandle graph(bytes);
  REQUIRE(graph.status == RECUT_OK);
  CHECK(timeless(plan(graph, options).text) == plain);
  CHECK(std::localeconv()->decimal_point == std::string(","));
}

TEST_CASE("c_api: threads that share a graph get the same plans", "[native][c_api]") {
  const GraphHandle graph(sample_bytes(test::kSanitized ? "tiny_mlp.json.gz" : "tiny_lm.json.gz"));
  const std::vector<std::string> options = {R"({"budget": "90%"})", R"({"budget": "85%"})",
                                            R"({"strategy": "torch", "budget": 0.5})",
                                            R"({"budget": 1})"};
  const auto all = [&] {
    std::vector<CApiJson> plans;
    for (const std::string& each : options)
      plans.push_back(timeless(plan(graph, each.c_str()).text));
    plans.push_back(timeless(sweep(graph, R"({"points": 3})").text));
    return plans;
  };
  const std::vector<CApiJson> alone = all();
  std::vector<std::vector<CApiJson>> together(4);
  std::vector<std::thread> threads;
  threads.reserve(together.size());
  for (std::vector<CApiJson>& mine : together) threads.emplace_back([&] { mine = all(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<CApiJson>& mine : together) CHECK(mine == alone);
}

}  // namespace
}  // namespace recut::native
