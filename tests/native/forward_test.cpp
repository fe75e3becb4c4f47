// Forward graphs on the command line: shown, passed and evaluated; not planned.
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

TEST_CASE("command: what plans says that a forward graph is none to plan", "[native]") {
  const TemporaryFile file("forward.json");
  file.write(kTheForward);
  const std::vector<std::vector<std::string>> refused = {{"plan", file.path()},
                                                         {"sweep", file.path()},
                                                         {"report", file.path()},
                                                         {"eval", file.path(), "--budget", "50%"}};
  for (const auto& arguments : refused) {
    INFO(arguments.front());
    const Ran ran = run(arguments);
    CHECK(ran.code == kBadInput);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(file.path()) != std::string::npos);
    CHECK(ran.err.find("needs a joint graph; `recut grad` makes one") != std::string::npos);
  }
}

}  // namespace
}  // namespace recut::native
