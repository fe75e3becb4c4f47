// recut grad as scripts see it.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

std::filesystem::path written(const char* name, const char* text) {
  const auto path = std::filesystem::temp_directory_path() / name;
  std::ofstream(path) << text;
  return path;
}

TEST_CASE("grad: a forward graph becomes a joint graph that evaluates and plans", "[native]") {
  const auto forward = written("recut_grad_forward.recut", R"(graph "layer" {
  %w = parameter f32[3, 2]
  %unused = parameter f32[2]
  %x = input f32[4, 3]
  %y = mm(%x, %w)
  %z = tanh(%y)
  %loss = mean(%z)
  results %loss
}
)");
  const auto joint = std::filesystem::temp_directory_path() / "recut_grad_joint.recut";
  const Ran ran = run({"grad", forward, "--out", joint});
  INFO(ran.err);
  CHECK(ran.code == kDone);
  CHECK(ran.out.find("%unused gets no gradient") != std::string::npos);
  CHECK(run({"plan", joint, "--budget", "none"}).code == kDone);
  const Ran again = run({"grad", joint, "--json"});
  REQUIRE(again.code == kDone);
  const auto figures = nlohmann::json::parse(again.out);
  CHECK(figures["forward_of_joint"] == true);
  CHECK(figures["with_gradient"] == nlohmann::json{"w"});
  CHECK(figures["nodes_before"] == 3);
  CHECK(figures["rules"] == nlohmann::json{{"mean", 1}, {"mm", 1}, {"tanh", 1}});
  const Ran steps = run({"grad", joint, "--out", joint, "--verbose"});
  CHECK(steps.code == kDone);
  CHECK(steps.out.find("tanh: %z = tanh(%y)") != std::string::npos);
  CHECK(steps.out.find("gradient of %w: %") != std::string::npos);
  // forward mode of a joint graph: Hessian-vector products
  const Ran products = run({"grad", joint, "--mode", "jvp", "--wrt", "w"});
  CHECK(products.code == kDone);
  CHECK(products.out.find("%w_tangent = input f32[3, 2]") != std::string::npos);
  std::filesystem::remove(forward);
  std::filesystem::remove(joint);
}

TEST_CASE("grad: what can't be differentiated is exit code 2, with the file's name", "[native]") {
  const Ran name = run({"grad", sample("tiny_mlp.json.gz"), "--wrt", "nonsense"});
  CHECK(name.code == kBadInput);
  CHECK(name.err.find("tiny_mlp") != std::string::npos);
  CHECK(name.err.find("there is no input nonsense") != std::string::npos);
  CHECK(run({"grad", sample("tiny_mlp.json.gz"), "--mode", "sideways"}).code == kBadInput);
  CHECK(run({"grad", sample("tiny_mlp.json.gz"), "--result", "7"}).code == kBadInput);
  CHECK(run({"grad"}).code == kBadInput);
}

}  // namespace
}  // namespace recut::native
