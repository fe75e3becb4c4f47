// Stages by the command: opt and bisect --stage, --with and --rules, plan --emit-graphs.
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "native/commands/command.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

constexpr const char* kStagesCommandGraph = R"(graph "g" {
  %w = parameter f32[3, 4]
  %u = parameter f32[3, 4]
  %x = input f32[2, 3]
  %n = neg(%x)
  %m = neg(%n)
  %p = mm(%m, %w)
  %q = mm(%m, %u)
  %a = relu(%p)
  %b = relu(%q)
  results %a, %b
}
)";

constexpr const char* kStagesCommandRules = R"(rule "twice" {
  pattern {
    %x = any
    %a = neg(%x)
    %y = neg(%a)
    results %y
  }
  where same_type(%x, %y)
  replacement {
    results %x
  }
}
)";

struct Files {
  TemporaryFile graph{"g.recut"}, rules{"my.rules"};
  Files() {
    graph.write(kStagesCommandGraph);
    rules.write(kStagesCommandRules);
  }
  Ran opt(std::vector<std::string> more) const {
    more.insert(more.begin(), {"opt", graph.path(), "--json"});
    return run(more);
  }
};

std::vector<std::string> passes_of(const Ran& ran) {
  REQUIRE(ran.code == kDone);
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(ran.out);
  for (const auto& pass : json["passes"]) names.push_back(pass["name"]);
  return names;
}

TEST_CASE("command: stages, and rules before and after them", "[native][passes]") {
  const Files files;
  const auto names = passes_of(files.opt(
      {"--stage", "pre-grad,freezing", "--rules", "before:pre-grad=" + files.rules.path(),
       "--rules", "after:freezing=" + files.rules.path(), "--rules", files.rules.path()}));
  CHECK(names.front() == "before:pre-grad");
  CHECK(names[names.size() - 2] == "after:freezing");
  CHECK(names.back() == "rules");
  CHECK(std::count(names.begin(), names.end(), "rules") == 1);
  CHECK(std::count(names.begin(), names.end(), "horizontal_matmul_fusion") == 1);
  CHECK(std::count(names.begin(), names.end(), "attention") == 0);
}

TEST_CASE("command: named passes join the usual stage", "[native][passes]") {
  const Files files;
  const auto usual = passes_of(files.opt({}));
  const auto more = passes_of(files.opt({"--with", "attention,horizontal_matmul_fusion"}));
  CHECK(more.size() == usual.size() + 2);
  const Ran wrong = files.opt({"--with", "binary_folding"});
  CHECK(wrong.code == kBadInput);
  CHECK(wrong.err.find("unknown pass 'binary_folding' in the stages that run") !=
        std::string::npos);
}

// The passes of a step for a GPU, and whether they padded its product.
struct OnGpu {
  std::vector<std::string> names;
  bool padded = false;
};
OnGpu on_gpu(const std::function<void(GraphArguments&)>& ask) {
  const TemporaryFile file("gpu.recut");
  file.write(
      "graph \"g\" {\n %a = input f32[4095, 4096]\n %b = input f32[4096, 4094]\n"
      " %y = mm(%a, %b)\n results %y\n}\n");
  GraphArguments graph;
  graph.path = file.path();
  graph.gpu.emplace();
  ask(graph);
  std::ostringstream out, err;
  const auto document = graph.open(Console{out, err});
  if (!document) FAIL(document.diagnostics().front().message);
  OnGpu found;
  for (const PassReport& pass : document->passes.passes) {
    found.names.push_back(pass.name);
    found.padded |= pass.name == "pad_mm" && pass.changed;
  }
  return found;
}

TEST_CASE("command: a GPU's products are padded where stages run", "[native][passes][cuda]") {
  CHECK(on_gpu([](GraphArguments&) {}).padded);
  CHECK(on_gpu([](GraphArguments& graph) { graph.passes = "pad_mm,dead_code"; }).padded);
  CHECK(on_gpu([](GraphArguments& graph) { graph.stages = "pre-grad,joint"; }).padded);
  CHECK_FALSE(on_gpu([](GraphArguments& graph) { graph.skip = "pad_mm"; }).padded);
  CHECK_FALSE(on_gpu([](GraphArguments& graph) { graph.passes = "dead_code"; }).padded);
  CHECK_FALSE(on_gpu([](GraphArguments& graph) { graph.stages = "pre-grad"; }).padded);
  CHECK(on_gpu([](GraphArguments& graph) { graph.no_passes = true; }).names.empty());
  const auto slow = [](GraphArguments& graph) { graph.gpu->slowdown_of(DType::f32) = 1; };
  CHECK_FALSE(on_gpu(slow).padded);
}

TEST_CASE("command: what is wrong with stages is said", "[native][passes]") {
  const Files files;
  const auto refused = [&](std::vector<std::string> more, const std::string& words) {
    const Ran ran = files.opt(std::move(more));
    INFO(ran.err);
    CHECK(ran.code == kBadInput);
    CHECK(ran.err.find(words) != std::string::npos);
  };
  refused({"--stage", "jiont"}, "unknown stage 'jiont'");
  refused({"--rules", "before:joint"}, "expected '=' and a file");
  refused({"--rules", "before:jiont=x"}, "unknown stage 'jiont'");
  refused({"--rules", "before:freezing=" + files.rules.path()}, "which doesn't run");
  refused({"--rules", files.rules.path(), "--rules", files.rules.path()}, "one file alone");
  CHECK(run({"opt", sample("mlp.json.gz"), "--stage", "pre-grad"})
            .err.find("stage pre-grad is for forward graphs") != std::string::npos);
}

TEST_CASE("command: bisect finds a user's rule at its stage", "[native][passes]") {
  const Files files;
  const Ran ran = run({"bisect", files.graph.path(), "--rules",
                       "before:joint=" + files.rules.path(), "--check", "grep -q 'mm(%m' {}"});
  CHECK(ran.code == kCheckFailed);
  CHECK(ran.out.find("before:joint is guilty") != std::string::npos);
}

TEST_CASE("command: plan writes the partitioned graphs", "[native][passes]") {
  const TemporaryFile folder("halves");
  const Ran ran = run({"plan", sample("tiny_mlp.json.gz"), "--emit-graphs", folder.path(), "--with",
                       "decompositions"});
  INFO(ran.err);
  REQUIRE(ran.code == kDone);
  for (const char* half : {"/forward.recut", "/backward.recut"}) {
    const std::string path = folder.path() + half;
    CHECK(run({"opt", path, "--stage", "post-grad"}).code == kDone);
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace recut::native
