// Nested graphs on the command line: run, planned and compiled without a named pass.
#include <catch2/catch_test_macros.hpp>

#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kCondition = R"(graph "g" {
  %p = input bool[]
  %x = parameter f32[8, 8]
  %c = external torch.ops.higher_order.cond(%p, "yes", "no", [%x]) : (f32[8, 8])
  %y = getitem(%c, 0)
  %s = external torch.ops.higher_order.scan("step", [%y], [%x], []) : (f32[8, 8], f32[8])
  %last = getitem(%s, 0)
  %loss = sum(%last)
  results %loss
  region "yes" {
    %a = input f32[8, 8]
    %r = sin(%a)
    results %r
  }
  region "no" {
    %a = input f32[8, 8]
    %r = mm(%a, %a)
    results %r
  }
  region "step" {
    %a = input f32[8, 8]
    %b = input f32[8]
    %m = mul.Tensor(%a, %b)
    %t = tanh(%m)
    %q = sum(%t)
    results %t, %q
  }
})";

TEST_CASE("command: nested graphs run, and a note counts conditions", "[native]") {
  const TemporaryFile file("nested.recut"), joint("nested_joint.recut"), saved("joint.recut");
  file.write(kCondition);
  for (const char* command : {"run", "plan", "schedule"}) {
    CAPTURE(command);
    const Ran ran = run({command, file.path()});
    INFO(ran.err);
    CHECK(ran.code == kDone);
    CHECK(
        ran.err.find("note: both branches are computed, and their results selected: 1 condition") !=
        std::string::npos);
  }
  const Ran checked = run({"run", file.path(), "--check"});
  CHECK(checked.out.find("1 outputs agree") != std::string::npos);
  for (const char* target : {"wasm", "cuda", "llvm"})
    CHECK(run({"emit", file.path(), "--target", target}).code == kDone);

  CHECK(run({"grad", file.path(), "--out", joint.path()}).code == kDone);
  const Ran trained = run({"run", joint.path(), "--check", "--budget", "80%"});
  INFO(trained.out + trained.err);
  CHECK(trained.code == kDone);
  CHECK(trained.out.find("2 outputs agree") != std::string::npos);
}

TEST_CASE("command: a plan leaves nested graphs to PyTorch where their passes are skipped",
          "[native]") {
  const std::string file = RECUT_SOURCE_DIR "/tests/input/graphs/cond.json.gz";
  const Ran whole = run({"plan", file, "--skip", "inline_regions"});
  CHECK(whole.out.find("at cond_1 (backward)") != std::string::npos);
  const Ran refused = run({"run", file, "--skip", "inline_regions"});
  CHECK(refused.code != kDone);
  CHECK(refused.err.find("the passes inline_regions and expand_flex_attention make calls") !=
        std::string::npos);
  CHECK(run({"run", file, "--check"}).code == kDone);
}

TEST_CASE("command: a loop that can't be unrolled is refused with its reason", "[native]") {
  const TemporaryFile file("loop.recut");
  file.write(R"(graph "g" {
  %x = input f32[2]
  %l = external torch.ops.higher_order.while_loop("test", "body", [%x], []) : (f32[2])
  %y = getitem(%l, 0)
  results %y
  region "test" {
    %a = input f32[2]
    %s = sum(%a)
    %r = lt.Scalar(%s, 9)
    results %r
  }
  region "body" {
    %a = input f32[2]
    %r = add.Tensor(%a, 1)
    results %r
  }
})");
  const Ran ran = run({"run", file.path()});
  CHECK(ran.code != kDone);
  CHECK(ran.err.find("node 'l': operator 'while_loop' has no lowering yet: its number of trips "
                     "depends on data: the condition 'test' reads 'a'; `recut eval` computes it") !=
        std::string::npos);
}

// Printed joint graphs with PyTorch's values (tests/input/make_flex_graphs.py): a bias by position, a
// learned one, grouped queries, and rows without any key.
TEST_CASE("command: flex_attention has PyTorch's values, whole and expanded", "[native]") {
  for (const char* name : {"alibi", "gqa", "relbias", "lse", "doc"}) {
    CAPTURE(name);
    const std::string file = RECUT_SOURCE_DIR "/tests/input/printed/flex_" + std::string(name);
    const std::vector<std::string> eval = {"eval", file + ".txt.gz", "--tensors",
                                           file + ".safetensors", "--check"};
    const Ran expanded = run(eval);
    INFO(expanded.out << expanded.err);
    CHECK(expanded.code == kDone);
    std::vector<std::string> whole = eval;
    whole.push_back("--no-passes");
    CHECK(run(whole).code == kDone);
    const Ran compiled =
        run({"run", file + ".txt.gz", "--tensors", file + ".safetensors", "--check"});
    INFO(compiled.err);
    CHECK(compiled.code == kDone);
  }
}

}  // namespace
}  // namespace recut::native
