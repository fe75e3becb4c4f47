// recut run --mesh: all ranks of a mesh as compiled steps in this process.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/effort.h"
#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut {
namespace {

using Words = std::vector<std::string>;

native::Ran run_mesh(const std::string& file, const std::string& mesh, const std::string& preset,
                     const Words& more = {}) {
  Words words = {"run", file, "--mesh", mesh, "--steps", "1", "--threads", "1"};
  if (!preset.empty()) words.insert(words.end(), {"--preset", preset});
  words.insert(words.end(), more.begin(), more.end());
  return native::run(words);
}

// A checked run: right in all outputs, each rank's peak as planned, within the budget. False where no
// plan holds the budget, which the command says.
bool check_run(const std::string& file, const std::string& mesh, const std::string& preset,
               const std::string& budget) {
  INFO(file << " " << mesh << " " << preset << " " << budget);
  const native::Ran ran =
      run_mesh(file, mesh, preset, {"--budget", budget, "--check", "--json", "--seed", "3"});
  INFO(ran.err);
  if (ran.code == native::kCheckFailed && ran.err.find("can't be held") != std::string::npos)
    return false;
  INFO(ran.out);
  REQUIRE(ran.code == native::kDone);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["ok"] == true);
  CHECK(json["as_planned"] == true);
  CHECK(json["collectives"] > 0);
  CHECK(json["checked"].size() > 0);
  for (const auto& rank : json["ranks"]) {
    CHECK(rank["measured_peak_bytes"] == rank["planned_peak_bytes"]);
    if (budget != "none") CHECK(rank["planned_peak_bytes"] <= json["budget_bytes"]);
  }
  return true;
}

// A sample over a mesh, without a budget and with each of these.
struct SpreadSample {
  const char *name, *mesh, *preset;
  Words budgets;
};

void check_samples(const std::vector<SpreadSample>& samples) {
  for (const auto& [name, mesh, preset, budgets] : test::tried(samples)) {
    CHECK(check_run(native::sample(name), mesh, preset, "none"));
    for (const std::string& budget : budgets) check_run(native::sample(name), mesh, preset, budget);
  }
}

TEST_CASE("run --mesh: a perceptron over meshes and budgets", "[native][mesh]") {
  const Words budgets = {"100%", "70%", "50%"};
  check_samples({{"tiny_mlp.json.gz", "dp=2,tp=2", "dp=fsdp,tp=tp", budgets},
                 {"tiny_mlp.json.gz", "dp=2", "dp=ddp", budgets},
                 {"tiny_mlp.json.gz", "dp=3", "dp=fsdp", budgets},
                 {"tiny_mlp.json.gz", "tp=2", "tp=tp", budgets}});
}

TEST_CASE("run --mesh: a language model over meshes and budgets", "[native][mesh]") {
  check_samples({{"tiny_lm.json.gz", "tp=2", "tp=sp", {"70%"}},
                 {"tiny_lm.json.gz", "dp=2,tp=2", "dp=fsdp,tp=tp", {"70%"}},
                 {"tiny_lm.json.gz", "cp=2", "cp=cp", {"70%"}}});
}

TEST_CASE("run --mesh: convolutions, LSTM cells and many operators", "[native][mesh]") {
  check_samples({{"tiny_lstm.json.gz", "dp=2", "dp=ddp", {}},
                 {"tiny_conv.json.gz", "dp=2", "dp=fsdp", {}},
                 {"tiny_lstm.json.gz", "tp=3", "tp=tp", {"70%"}},
                 {"tiny_ops.json.gz", "dp=3", "dp=fsdp", {"70%"}}});
}

// Kernels of uneven ranks may have one text, and run over different extents.
TEST_CASE("run --mesh: uneven parts of a batch", "[native][mesh]") {
  const std::string file = RECUT_SOURCE_DIR "/samples/recompute.recut";
  for (const char* mesh : test::tried(std::vector<const char*>{"dp=3", "dp=5", "dp=6", "dp=7"}))
    CHECK(check_run(file, mesh, "dp=ddp", "none"));
  CHECK(check_run(file, "dp=3,tp=3", "dp=fsdp,tp=tp", "none"));
}

TEST_CASE("run --mesh: the outputs are the whole graph's", "[native][mesh]") {
  const test::TemporaryFolder folder;
  const std::string file = folder.path() + "/out.safetensors";
  const native::Ran ran =
      run_mesh(native::sample("tiny_mlp.json.gz"), "dp=2", "dp=fsdp", {"--out-tensors", file});
  CHECK(ran.code == native::kDone);
  CHECK(ran.out.find("the worst of 2") != std::string::npos);
  CHECK(native::bytes_of(file).find("out.0") != std::string::npos);
}

// A rank's part, as torch.compile gives it: its file doesn't tell the ranks of a group.
const char* const kPart = R"(graph "part" {
  %x = input f32[4, 6]
  %g = _c10d_functional.all_gather_into_tensor(%x, 3, "0")
  %w = _c10d_functional.wait_tensor(%g)
  %y = tanh(%w)
  %s = _c10d_functional.reduce_scatter_tensor(%y, "sum", 3, "0")
  %r = _c10d_functional.wait_tensor(%s)
  %z = mul.Tensor(%r, %x)
  results %z
}
)";

TEST_CASE("run --mesh: a graph with collectives runs on all ranks", "[native][mesh]") {
  native::TemporaryFile file("part.recut");
  file.write(kPart);
  const native::Ran ran = run_mesh(file.path(), "tp=3", "", {"--check", "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == native::kDone);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["ok"] == true);
  CHECK(json["collectives"] == 2);
  CHECK(json["checked"].size() == 3);
  CHECK(run_mesh(file.path(), "tp=2", "", {"--check"}).code == native::kBadInput);
  const native::Ran two = run_mesh(file.path(), "dp=1,tp=3", "");
  CHECK(two.code == native::kBadInput);
  CHECK(two.err.find("doesn't say which ranks") != std::string::npos);
  const native::Ran alone = native::run({"run", file.path()});
  CHECK(alone.code == native::kBadInput);
  CHECK(alone.err.find("expected --mesh") != std::string::npos);
}

TEST_CASE("run --mesh: what isn't there is refused", "[native][mesh]") {
  const std::string file = native::sample("tiny_mlp.json.gz");
  const native::Ran cuda = run_mesh(file, "dp=2", "dp=ddp", {"--device", "cuda"});
  CHECK(cuda.code == native::kBadInput);
  CHECK(cuda.err.find("not on GPUs yet") != std::string::npos);
  CHECK(run_mesh(file, "dp=2", "dp=ddp", {"--ranks", "mpi"}).code == native::kBadInput);
  CHECK(native::run({"run", file, "--ranks", "local"}).code == native::kBadInput);
  CHECK(native::run({"run", file, "--preset", "dp=ddp"}).code == native::kBadInput);
  CHECK(run_mesh(file, "dp=0", "").code == native::kBadInput);
  CHECK(run_mesh(file, "dp=2", "tp=tp").code == native::kBadInput);
}

TEST_CASE("emit --mesh shows collectives between the launches", "[native][mesh]") {
  for (const char* target : {"loop", "llvm", "cuda"}) {
    const native::Ran ran = native::run({"emit", native::sample("tiny_mlp.json.gz"), "--target",
                                         target, "--mesh", "dp=2", "--preset", "dp=fsdp"});
    CHECK(ran.code == native::kDone);
    CHECK(ran.out.find("start 0: ") != std::string::npos);
    CHECK(ran.out.find("all_gather_into_tensor of group 'dp'") != std::string::npos);
    CHECK(ran.out.find("wait for start 0") != std::string::npos);
  }
}

}  // namespace
}  // namespace recut
