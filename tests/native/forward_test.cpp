// Forward graphs on the command line: shown, passed, evaluated, and planned as inference.
#include <catch2/catch_test_macros.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kTheForward = R"({"format": "fx-joint-graph", "version": 1, "model": "net",
  "parameters": ["primals_1"], "forward": [
  {"name": "primals_1", "op": "placeholder", "target": "primals_1", "args": [],
   "val": {"dtype": "float32", "shape": [3]}},
  {"name": "primals_2", "op": "placeholder", "target": "primals_2", "args": [],
   "val": {"dtype": "float32", "shape": [3]}},
  {"name": "y", "op": "call_function", "target": "aten.mul.Tensor",
   "args": [{"node": "primals_2"}, {"node": "primals_1"}]},
  {"name": "output", "op": "output", "target": "output", "args": [[{"node": "y"}]]}]})";

TEST_CASE("command: a forward graph is shown, passed and evaluated", "[native]") {
  const TemporaryFile file("forward.json");
  file.write(kTheForward);
  const Ran shown = run({"show", file.path()});
  CHECK(shown.code == kDone);
  CHECK(shown.out.find("%primals_1 = parameter f32[3]") != std::string::npos);
  CHECK(run({"opt", file.path()}).code == kDone);
  CHECK(run({"eval", file.path(), "--seed", "1"}).code == kDone);
}

// Words of training that no output on inference may have.
void check_words(const std::string& text) {
  INFO(text);
  for (const char* word : {"backward", "saved", "gradient", "training", "forward ("})
    CHECK(text.find(word) == std::string::npos);
}

TEST_CASE("command: a forward graph is planned as inference, without words of training",
          "[native]") {
  const TemporaryFile file("forward.json"), report("forward.html"), picture("forward.svg");
  file.write(kTheForward);
  const Ran planned = run({"plan", file.path(), "--svg", picture.path(), "--budget", "100%"});
  CHECK(planned.code == kDone);
  check_words(planned.out);
  CHECK(planned.out.find("weights") != std::string::npos);
  CHECK(planned.out.find("time per call") != std::string::npos);
  check_words(picture.read());
  for (const char* command : {"schedule", "sweep"}) {
    const Ran ran = run({command, file.path()});
    CHECK(ran.code == kDone);
    check_words(ran.out);
  }
  CHECK(run({"report", file.path(), "--points", "4", "--out", report.path()}).code == kDone);
  const std::string html = report.read();
  for (const char* word : {"Saved for backward", "saved for backward", "or gradient", "PyTorch's"})
    CHECK(html.find(word) == std::string::npos);
  CHECK(run({"eval", file.path(), "--budget", "100%", "--seed", "1"}).code == kDone);
}

TEST_CASE("command: what needs a backward refuses a forward graph in words", "[native]") {
  const TemporaryFile file("forward.json");
  file.write(kTheForward);
  const auto refuses = [&](std::vector<std::string> arguments, const std::string& words) {
    arguments.insert(arguments.begin() + 1, file.path());
    const Ran ran = run(arguments);
    INFO(ran.err);
    CHECK(ran.code == kBadInput);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(words) != std::string::npos);
  };
  refuses({"plan", "--strategy", "torch"}, "a forward graph has no backward: expected strategy");
  refuses({"plan", "--strategy", "torch", "--budget", "0.5"}, "a forward graph has no backward");
  refuses({"plan", "--save", "y"}, "'y' is of a forward graph");
  refuses({"plan", "--recompute", "y"}, "'y' is of a forward graph");
  refuses({"plan", "--halves", "halves"}, "a forward graph has no backward");
  CHECK(run({"plan", file.path(), "--strategy", "default"}).code == kDone);
}

}  // namespace
}  // namespace recut::native
