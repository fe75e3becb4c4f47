// The same step, whoever runs it: command and window make one program of the same settings, and
// text is of the program that runs.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/codegen/target.h"
#include "engine/runtime/program_text.h"
#include "native/c_api/recut.h"
#include "native/executors/cpu_executor.h"
#include "tests/gui/window.h"
#include "tests/native/c_text.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

std::string program_of_command(const std::string& file, const std::string& budget) {
  const Ran ran = run({"run", file, "--profile", "reference", "--budget", budget, "--steps", "1",
                       "--no-cache", "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  return nlohmann::json::parse(ran.out)["program"];
}

std::string program_of_window(const std::string& sample, const std::string& budget) {
  CpuExecutor executor;
  gui::NullBackend backend = gui::Window::sample_backend();
  backend.running = {&executor};
  gui::Window window(gui::bare_options(), backend);
  window.app.open("sample:" + sample);
  window.settle();
  REQUIRE(window.app.run("model.set", "fused").ok());
  REQUIRE(window.app.run("budget.set", budget).ok());
  window.settle();
  REQUIRE(window.app.run("run.step", "1").ok());
  window.settle();
  REQUIRE(window.state("run") == "done");
  return window.state("run_program");
}

// A program whose text `recut emit` shows; its second line names it.
std::string program_of_text(const std::string& target, const std::string& file,
                            const std::string& budget) {
  const Ran ran = run({"emit", file, "--target", target, "--budget", budget});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  const std::size_t at = ran.out.find(", program ");
  REQUIRE(at != std::string::npos);
  return ran.out.substr(at + 10, 16);
}

// The program that the C library emits.
std::string program_of_library(const std::string& target, const std::string& file,
                               const std::string& budget) {
  const std::string bytes = bytes_of(file);
  const std::string options = nlohmann::json{{"target", target}, {"budget", budget}}.dump();
  recut_graph* graph = nullptr;
  char *json = nullptr, *error = nullptr;
  REQUIRE(recut_graph_read(bytes.data(), bytes.size(), "mine", nullptr, &graph, nullptr) ==
          RECUT_OK);
  const recut_status status = recut_emit(graph, options.c_str(), nullptr, &json, &error);
  INFO(taken(error));
  REQUIRE(status == RECUT_OK);
  recut_graph_free(graph);
  return nlohmann::json::parse(taken(json))["program"];
}

}  // namespace

TEST_CASE("the same step: command and window run one program", "[native][gui][cpu]") {
  for (const auto& [name, budget] :
       {std::pair("tiny_conv", "none"), std::pair("tiny_conv", "90%"), std::pair("mlp", "none")}) {
    CAPTURE(name, budget);
    const std::string program = program_of_command(sample(std::string(name) + ".json.gz"), budget);
    CHECK(program.size() == 16);
    CHECK(program == program_of_window(name, budget));
  }
}

TEST_CASE("the same step: targets of one lowering show one program", "[native]") {
  const std::string file = sample("tiny_lm.json.gz");
  const std::string loops = program_of_text("loop", file, "none");
  CHECK(program_of_text("llvm", file, "none") == loops);
  CHECK(program_of_text("loop", file, "none") == loops);
  CHECK(program_of_text("loop", file, "98%") != loops);
  CHECK(program_of_text("cuda", file, "none") != loops);  // other lanes, attention as a call
}

TEST_CASE("the same step: command and C library emit one program", "[native][c_api]") {
  const std::string file = sample("tiny_lm.json.gz");
  for (const Target& target : targets())
    for (const char* budget : {"none", "98%"}) {
      const std::string id(target.id);
      CAPTURE(id, budget);
      CHECK(program_of_library(id, file, budget) == program_of_text(id, file, budget));
    }
}

TEST_CASE("the same step: the C library refuses what it can't emit", "[native][c_api]") {
  const std::string bytes = bytes_of(sample("tiny_lm.json.gz"));
  recut_graph* graph = nullptr;
  REQUIRE(recut_graph_read(bytes.data(), bytes.size(), "mine", nullptr, &graph, nullptr) ==
          RECUT_OK);
  char *json = nullptr, *error = nullptr;
  CHECK(recut_emit(graph, R"({"budget": "1B"})", nullptr, &json, &error) == RECUT_NOT_HELD);
  CHECK(json == nullptr);
  CHECK(taken(error).find("can't be held") != std::string::npos);
  CHECK(recut_emit(graph, R"({"target": "vhdl"})", nullptr, &json, &error) == RECUT_BAD_OPTION);
  CHECK(taken(error).find("'target': 'vhdl' found, expected one of: loop, llvm") !=
        std::string::npos);
  recut_graph_free(graph);
}

}  // namespace recut::native
