// Operators that Recut lacks, by the command: --op-library.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/native/run_command.h"
#include "tests/native/temporary_folder.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

// silu with a factor, and its backward, as a program's custom operators.
constexpr const char* kSwishGraph = R"(graph "g" {
  %x = input f32[2, 3]
  %w = parameter f32[2, 3]
  %m = mul.Tensor(%x, %w)
  %y = external mine.swish.default(%m, 2.0) : f32[2, 3]
  %l = sum(%y)
  results %l
})";
constexpr const char* kWrittenOut = R"(graph "g" {
  %x = input f32[2, 3]
  %w = parameter f32[2, 3]
  %m = mul.Tensor(%x, %w)
  %s = sigmoid(%m)
  %t = mul.Tensor(%m, %s)
  %y = mul.Tensor(%t, 2.0)
  %l = sum(%y)
  results %l
})";
constexpr const char* kSwishRules = R"(rule "swish" {
  pattern {
    %x = any floating
    %y = external mine.swish(%x, ?s)
    results %y
  }
  replacement {
    %s = sigmoid(%x)
    %t = mul.Tensor(%x, %s)
    %z = mul.Tensor(%t, ?s)
    results %z
  }
}
)";

std::vector<std::string> with_library(std::vector<std::string> words, const std::string& library) {
  words.insert(words.end(), {"--op-library", library});
  return words;
}

// The outputs' bytes.
std::string evaluated(const std::string& graph, const std::vector<std::string>& more = {}) {
  const TemporaryFile out("out.safetensors");
  std::vector<std::string> words = {"eval", graph, "--seed", "3", "--out", out.path()};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = run(words);
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  return out.read();
}

TEST_CASE("command: a custom operator is computed, differentiated and compiled by its expansion",
          "[native]") {
  const TemporaryFile graph("g.recut"), plain("plain.recut"), rules("swish.rules");
  graph.write(kSwishGraph);
  plain.write(kWrittenOut);
  rules.write(kSwishRules);
  const Ran without = run({"eval", graph.path(), "--seed", "3"});
  CHECK(without.code != kDone);
  CHECK(without.err.find("give its expansion by --op-library FILE") != std::string::npos);
  CHECK(evaluated(graph.path(), {"--op-library", rules.path()}) == evaluated(plain.path()));
  CHECK(run(with_library({"show", graph.path()}, rules.path())).err ==
        "note: the operator library expands mine.swish (1 call)\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", graph.path(), "--check", "--steps", "1"},
        {"grad", graph.path()},
        {"train", graph.path(), "--steps", "1"},
        {"emit", graph.path(), "--target", "cuda"},
        {"plan", graph.path()},
        {"show", graph.path()},
        {"opt", graph.path()}}) {
    const Ran ran = run(with_library(words, rules.path()));
    INFO(words[0] + "\n" + ran.err);
    CHECK(ran.code == kDone);
    CHECK(ran.out.find("external") == std::string::npos);
  }
}

TEST_CASE("command: the sample of experts gives the grouped products", "[native]") {
  const auto graph_of = [](std::string_view product) {
    return R"(graph "g" {
  %x = input f32[4, 8]
  %w = parameter f32[2, 8, 3]
  %ends = constant i32[2]
  %y = )" + std::string(product) +
           R"(
  results %y
})";
  };
  const TemporaryFile graph("g.recut"), plain("plain.recut");
  graph.write(
      graph_of("external transformers.grouped_mm_fallback.default(%x, %w, %ends) : f32[4, 3]"));
  plain.write(graph_of("_grouped_mm(%x, %w, %ends) : f32[4, 3]"));
  const std::string rules = RECUT_SOURCE_DIR "/samples/rules/experts.rules";
  CHECK(evaluated(graph.path(), {"--op-library", rules}) == evaluated(plain.path()));
}

TEST_CASE("command: a folder is a library of its files", "[native]") {
  const test::TemporaryFolder folder;
  const TemporaryFile graph("g.recut");
  graph.write(kSwishGraph);
  std::ofstream(folder.path() + "/swish.rules") << kSwishRules;
  CHECK(run(with_library({"eval", graph.path(), "--seed", "1"}, folder.path())).code == kDone);
}

// The joint graph of a layer with a custom operator, as PyTorch traced it: backward calls it, too.
std::string joint_with(const std::string& scale) {
  const auto call = [&](const std::string& operand) {
    return scale == "mul" ? "mul.Tensor(%" + operand + ", 3.0)\n"
                          : "external mine.scale3.default(%" + operand + ") : f32[32, 8]\n";
  };
  return R"(graph "custom_op" {
  %primals_1 = parameter f32[8, 8]
  %primals_2 = parameter f32[8]
  %primals_3 = input f32[32, 8]
  %tangents_1 = tangent f32[]
  %permute = permute(%primals_1, [1, 0])
  %addmm = addmm(%primals_2, %primals_3, %permute)
  %scale3 = )" +
         call("addmm") + R"(  %relu = relu(%scale3)
  %mean = mean(%relu)
  %expand = expand(%tangents_1, [32, 8])
  %div = div.Scalar(%expand, 256)
  %le = le.Scalar(%relu, 0)
  %scalar_tensor = scalar_tensor(0, dtype=f32, layout="strided")
  %where = where.self(%le, %scalar_tensor, %div)
  %scale3_1 = )" +
         call("where") + R"(  %permute_1 = permute(%scale3_1, [1, 0])
  %mm = mm(%permute_1, %primals_3)
  %sum_1 = sum.dim_IntList(%scale3_1, [0], true)
  %view = view(%sum_1, [8])
  results %mean
  gradients %mm, %view, none
})";
}

TEST_CASE("command: forward and backward calls of a joint graph are expanded", "[native]") {
  const TemporaryFile graph("j.recut"), plain("p.recut"), rules("scale3.rules");
  graph.write(joint_with("external"));
  plain.write(joint_with("mul"));
  rules.write(R"(rule "scale3" {
  pattern {
    %x = any floating
    %y = external mine.scale3(%x)
    results %y
  }
  replacement {
    %z = mul.Tensor(%x, 3.0)
    results %z
  }
}
)");
  CHECK(evaluated(graph.path(), {"--op-library", rules.path()}) == evaluated(plain.path()));
  for (const char* command : {"plan", "run"})
    CHECK(run(with_library({command, graph.path(), "--budget", "100%"}, rules.path())).code ==
          kDone);
}

TEST_CASE("command: an operator's graph is named on the command line", "[native]") {
  const TemporaryFile graph("g.recut"), swish("swish.recut"), plain("plain.recut");
  graph.write(kSwishGraph);
  plain.write(kWrittenOut);
  swish.write(R"(graph "any" {
  %a = input f32[2, 3]
  %s = sigmoid(%a)
  %t = mul.Tensor(%a, %s)
  %y = mul.Tensor(%t, 2.0)
  results %y
})");
  CHECK(evaluated(graph.path(), {"--op-library", "mine.swish=" + swish.path()}) ==
        evaluated(plain.path()));
}

TEST_CASE("command: faults of an operator library are diagnostics", "[native]") {
  const TemporaryFile graph("g.recut"), rules("swish.rules");
  graph.write(kSwishGraph);
  const auto fault = [&](const std::string& library) {
    const Ran ran = run(with_library({"show", graph.path()}, library));
    CHECK(ran.code == kBadInput);
    return ran.err;
  };
  CHECK(fault("/nowhere.rules").find("/nowhere.rules: error: ") != std::string::npos);
  rules.write(std::string(kSwishRules).replace(6, 7, "\"s\" x"));
  CHECK(fault(rules.path()).find("swish.rules:1:") != std::string::npos);
  rules.write(
      std::string(kSwishRules).replace(std::string(kSwishRules).find("floating"), 8, "integral"));
  CHECK(fault(rules.path()).find("g.recut: error: node 'y': found %y = external mine.swish") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::native
