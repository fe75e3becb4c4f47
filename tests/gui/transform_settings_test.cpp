// Transforms of a graph before it is planned: the user's rules, derivatives, passes switched
// on and off; taken back, kept, sent along in links, and done by a helper.
#include "gui/model/transform_settings.h"
#include "engine/ir/data_flow.h"

#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "gui/app/link.h"
#include "gui/model/node_trace.h"
#include "gui/model/saved_document.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

constexpr const char* kRules = R"(rule "permutation of a matrix" {
  pattern {
    %x = any
    %y = permute(%x, ?p)
    results %y
  }
  where rank(%x) == 2 and wrapped(?p, 2) == [1, 0]
  replacement {
    %t = transpose.int(%x, 0, 1)
    results %t
  }
}
)";
constexpr const char* kNoHits = R"(rule "negation twice" {
  pattern {
    %x = any
    %a = neg(%x)
    %b = neg(%a)
    results %b
  }
  replacement {
    results %x
  }
}
)";

// With samples/mlp.recut open and a file of rules in reach.
struct RecipeOpened : Window {
  explicit RecipeOpened(const std::string& path = "samples/mlp.recut",
                        NullBackend given = sample_backend())
      : Window(bare_options(), std::move(given)) {
    backend.files["my.rules"] = kRules;
    app.open(path);
    settle();
  }
  const DocumentView& document() { return *app.document(); }
  const PassReport* pass(std::string_view name) {
    for (const PassReport& report : document().document->passes.passes)
      if (report.name == name) return &report;
    return nullptr;
  }
};

TEST_CASE("window: another graph of a file is opened, and goes with links and documents",
          "[transforms]") {
  constexpr std::string_view kGraph =
      "\tclass inner_f(torch.nn.Module):\n"
      "\t    def forward(self, x: \"f32[4][1]cpu\"):\n"
      "\t        y: \"f32[4][1]cpu\" = torch.ops.aten.exp.default(x)\n"
      "\t        return (y,)\n";
  std::string trace;
  for (const char* kind : {"aot_forward_graph", "aot_backward_graph", "inductor_post_grad_graph"})
    trace += fmt::format(
        "V0102 10:00:00.123000 77 torch/x.py:1619] {{\"{}\": {{}}, \"frame_id\": 0, "
        "\"frame_compile_id\": 0, \"has_payload\": \"0\"}}\n{}",
        kind, kGraph);
  NullBackend backend = Window::sample_backend();
  backend.files["a.log"] = trace;
  Window window(bare_options(), std::move(backend));
  window.app.open("a.log");
  window.settle();
  const auto file = [&]() -> const GraphFile& { return window.app.document()->document->file; };
  REQUIRE(file().graph_keys.size() == 3);
  const std::string first = file().key, other = file().graph_keys.back();
  REQUIRE(first != other);
  const auto refused = window.app.run("file.graph", "nope");
  REQUIRE_FALSE(refused.ok());
  CHECK(format(refused.diagnostics()).find(other) != std::string::npos);
  CHECK_FALSE(window.app.run("file.graph").ok());
  CHECK_FALSE(window.app.run("file.graph", "_graph").ok());  // the end of all three

  REQUIRE(window.app.run("file.graph", "post_grad_graph").ok());
  window.settle();
  CHECK(file().key == other);
  CHECK(window.state("recipe") == "graph=" + other);
  const auto link = read_link(write_link(link_of(window.app)));
  REQUIRE(link.ok());
  CHECK(link->plan_settings.transforms.graph == other);
  const TransformSettings& now = window.app.document()->plan_settings.transforms;
  CHECK(transform_settings_of(json_of(now)) == now);
  REQUIRE(window.app.run("edit.undo").ok());
  window.settle();
  CHECK(file().key == first);
}

TEST_CASE("window: former names of passes in links and documents are understood", "[transforms]") {
  const auto link = read_link("v=1&sample=mlp&off=copies&on=roundings");
  REQUIRE(link.ok());
  const TransformSettings& linked = link->plan_settings.transforms;
  CHECK(linked.off == std::vector<std::string>{"merge_clones"});
  CHECK(linked.on == std::vector<std::string>{"elide_rounding_casts"});
  const TransformSettings saved =
      transform_settings_of(Json::parse(R"({"on": ["known_values"], "off": ["conversions"]})"));
  CHECK(saved.on == std::vector<std::string>{"constant_folding"});
  CHECK(saved.off == std::vector<std::string>{"merge_casts"});
}

}  // namespace

TEST_CASE("rules: a file that is dropped becomes a pass, and is taken back", "[gui][transforms]") {
  RecipeOpened window;
  const std::string peak = window.state("peak");
  window.backend.give(FileGiven{"my.rules", std::nullopt});
  window.settle();
  CHECK(window.state("recipe") == "my.rules");
  CHECK(window.state("pass_name") == "rules");
  REQUIRE(window.pass("rules") != nullptr);
  CHECK(window.pass("rules")->changes.size() == 3);
  REQUIRE(window.pass("rules")->rules.statistics.size() == 1);
  CHECK(window.pass("rules")->rules.statistics[0].tries == 3);
  CHECK(window.document().graph().op(window.document().find("w2_t")).name == "transpose.int");
  CHECK(window.document().shown->document == window.document().document);
  CHECK(window.document().curve->report.complete);
  CHECK(window.state("peak") == peak);  // a view is a view

  REQUIRE(window.run("edit.undo").ok());
  CHECK(window.state("recipe").empty());
  CHECK(window.pass("rules") == nullptr);
  REQUIRE(window.run("edit.redo").ok());
  CHECK(window.pass("rules") != nullptr);
  REQUIRE(window.run("rules.remove").ok());
  CHECK(window.pass("rules") == nullptr);
  CHECK_FALSE(window.run("rules.reload").ok());
}

TEST_CASE("rules: a file for an operator that Recut lacks expands it", "[gui][transforms]") {
  NullBackend given = Window::sample_backend();
  given.files["custom.recut"] =
      "graph \"custom\" {\n  %x = input f32[4]\n  %w = parameter f32[4]\n"
      "  %m = mul.Tensor(%x, %w)\n  %y = external mine.scale(%m, 2) : f32[4]\n"
      "  %l = sum(%y)\n  results %l\n}\n";
  RecipeOpened window("custom.recut", std::move(given));
  const auto calls_external = [&] {
    return window.document().graph().op(window.document().find("y")).name == "mine.scale";
  };
  CHECK(calls_external());
  window.backend.files["scale.rules"] =
      "rule \"scale\" {\n  pattern {\n    %x = any\n    %y = external mine.scale(%x, ?s)\n"
      "    results %y\n  }\n  replacement {\n    %z = mul.Tensor(%x, ?s)\n    results %z\n  }\n}\n";
  window.backend.give(FileGiven{"scale.rules", std::nullopt});
  window.settle();
  CHECK_FALSE(calls_external());
  REQUIRE(window.run("pass.differentiate").ok());
  CHECK(is_joint(window.document().graph()));
  REQUIRE(window.run("edit.undo").ok());
  REQUIRE(window.run("rules.remove").ok());
  CHECK(calls_external());
}

TEST_CASE("rules: the same file again replaces what it was", "[gui][transforms]") {
  RecipeOpened window;
  REQUIRE(window.run("rules.load", "my.rules").ok());
  CHECK(window.pass("rules")->changed);
  window.backend.files["my.rules"] = kNoHits;
  REQUIRE(window.run("rules.reload").ok());
  CHECK_FALSE(window.pass("rules")->changed);
  CHECK(window.play("expect item \"transforms/rule negation twice\"\n"
                    "expect value \"transforms/rule negation twice\" 0\n") == "");
  window.backend.files["my.rules"] = kRules;
  REQUIRE(window.run("file.reload").ok());
  CHECK(window.pass("rules")->changed);
}

TEST_CASE("rules: what is wrong in a file is said with its place, and changes nothing",
          "[gui][transforms]") {
  RecipeOpened window;
  REQUIRE(window.run("rules.load", "my.rules").ok());
  window.backend.files["my.rules"] = "rule \"one\" {\n  pattern {\n    %x = anything\n  }\n}\n";
  CHECK_FALSE(window.run("rules.reload").ok());
  CHECK(window.state("recipe_faults").find("my.rules:3:") == 0);
  CHECK(window.pass("rules")->changes.size() == 3);
  CHECK(window.play("expect item \"transforms/fault 0\"\n"
                    "expect value \"transforms/fault 0\" contains my.rules:3:\n") == "");
  window.backend.files["my.rules"] = kRules;
  REQUIRE(window.run("rules.reload").ok());
  CHECK(window.state("recipe_faults").empty());
  CHECK_FALSE(window.run("rules.load", "no such.rules").ok());
}

TEST_CASE("rules: without a graph they wait for one", "[gui][transforms]") {
  Window window(bare_options());
  window.backend.files["my.rules"] = kRules;
  window.backend.give(FileGiven{"my.rules", std::nullopt});
  window.settle();
  CHECK(window.state("notice").find("waits for a graph") != std::string::npos);
  window.app.open("samples/mlp.recut");
  window.settle();
  CHECK(window.state("recipe") == "my.rules");
}

TEST_CASE("rules: as the window's command line names them", "[gui][transforms]") {
  NullBackend backend = Window::sample_backend();
  backend.files["my.rules"] = kRules;
  AppOptions options = bare_options();
  options.files = {"samples/mlp.recut"};
  options.rules = "my.rules";
  Window window(options, std::move(backend));
  window.settle();
  CHECK(window.state("recipe") == "my.rules");
  CHECK(window.app.document()->plan_settings.budget_bytes > 0);  // as without them
}

TEST_CASE("a forward graph is differentiated: steps are the pass's changes", "[gui][transforms]") {
  RecipeOpened window("samples/blocks/residual_block.recut");
  REQUIRE(window.document().is_forward());
  CHECK(window.play("expect item transforms/differentiate\n"
                    "expect item trade-off/differentiate\n") == "");
  REQUIRE(window.run("pass.differentiate").ok());
  REQUIRE(window.state("pass_name") == "grad");
  CHECK(window.play("expect no item transforms/differentiate\n") == "");
  const PassReport& grad = *window.pass("grad");
  CHECK(grad.changed);
  CHECK(is_joint(window.document().graph()));
  CHECK(window.document().basis->baseline_cost.peak_bytes >= window.document().start->peak());
  CHECK(window.state("holds") == "yes");

  // A step's node stays itself; what its row made goes back to it.
  const PipelineReport& passes = window.document().document->passes;
  std::size_t made = 0;
  for (const Change& change : grad.changes) {
    CHECK(passes.input.contains(change.before));
    CHECK(trace_node(passes, change.before, 0, 1) == change.before);
    for (const NodeId after : change.after)
      if (after != change.before) {
        ++made;
        CHECK(trace_node(passes, after, 1, 0) == change.before);
      }
  }
  CHECK(made > 10);
  for (const Change& change : grad.changes)
    if (change.after.size() > 1 && change.after.front() == change.before)
      CHECK(changed_together(passes, change.before, 1).size() == change.after.size());

  REQUIRE(window.run("edit.undo").ok());
  CHECK_FALSE(is_joint(window.document().graph()));
}

TEST_CASE("a check of a graph that was differentiated is against its joint graph",
          "[gui][transforms]") {
  RecipeOpened window("samples/blocks/softmax.recut");
  REQUIRE(window.run("pass.differentiate").ok());
  REQUIRE(window.run("check.run").ok());
  CHECK(window.play("expect value check/verdict contains agree\n") == "");
}

TEST_CASE("passes are switched off and named ones on", "[gui][transforms]") {
  RecipeOpened window("sample:tiny_conv");
  const std::string nodes = window.state("nodes");
  REQUIRE(window.run("pass.toggle", "noop removal").ok());
  CHECK(window.state("recipe") == "-noop_removal");
  CHECK(window.pass("noop_removal")->skipped);
  CHECK(window.state("nodes") != nodes);
  REQUIRE(window.run("pass.toggle", "scaled_softmax").ok());
  CHECK(window.state("recipe") == "+scaled_softmax -noop_removal");
  REQUIRE(window.pass("scaled_softmax") != nullptr);
  // At its place in the table.
  const auto& passes = window.document().document->passes.passes;
  for (std::size_t i = 0; i < passes.size(); ++i)
    if (passes[i].name == "scaled_softmax") CHECK(passes[i - 1].name == "view_chains");
  REQUIRE(window.run("edit.undo").ok());
  REQUIRE(window.run("edit.undo").ok());
  CHECK(window.state("recipe").empty());
  CHECK(window.state("nodes") == nodes);
  CHECK_FALSE(window.run("pass.toggle", "no such pass").ok());

  // In the panel, where all are listed; and the key of the pass that is shown.
  CHECK(window.play("command pass.idle\n"
                    "expect value \"transforms/switch attention\" off\n"
                    "click \"transforms/switch attention\"\n"
                    "wait idle\n"
                    "expect state recipe +attention\n"
                    "expect value \"transforms/switch attention\" on\n"
                    "click \"transforms/switch attention\"\n"
                    "wait idle\n"
                    "expect state recipe \"\"\n"
                    "click \"transforms/pass splat_constants\"\n"
                    "key t\n"
                    "wait idle\n"
                    "expect state recipe -splat_constants\n") == "");
}

TEST_CASE(
    "transform settings go along with what is selected, and drop overrides of nodes that are gone",
    "[gui][transforms]") {
  RecipeOpened window;
  REQUIRE(window.run("select.node", "w2_t").ok());
  REQUIRE(window.run("pin.save", "hidden").ok());
  REQUIRE(window.run("rules.load", "my.rules").ok());
  CHECK(window.state("selection") == "w2_t");
  CHECK(window.state("pins") == "save hidden");
  CHECK(window.app.document()->selection.node ==
        window.app.document()->graph_at_pass().find("w2_t"));
}

TEST_CASE("transform settings are kept with their document, and damaged ones are left out",
          "[gui][transforms]") {
  SavedDocument saved;
  saved.path = "a.recut";
  saved.plan_settings.transforms.differentiate = GradMode::reverse;
  saved.plan_settings.transforms.optimizer = OptimizerSettings{"sgd", 0.05};
  saved.plan_settings.transforms.on = {"attention"};
  saved.plan_settings.transforms.off = {"merge_clones", "rules"};
  saved.plan_settings.transforms.rules = RuleFile{"rules/my.rules", kRules};
  CHECK(read_document(write_document(saved)).plan_settings == saved.plan_settings);
  saved.plan_settings.transforms.rules->text = "rule {";
  CHECK_FALSE(read_document(write_document(saved)).plan_settings.transforms.rules);
  CHECK(read_document(R"({"path": "a", "recipe": [1]})").plan_settings.transforms ==
        TransformSettings());
  CHECK(
      read_document(R"({"path": "a", "recipe": {"optimizer": {"name": "x", "learning_rate": 1}}})")
          .plan_settings.transforms == TransformSettings());
  CHECK(read_document(R"({"path": "a", "recipe": {"on": 7, "rules": "x"}})")
            .plan_settings.transforms == TransformSettings());
}

TEST_CASE("transform settings are a part of links; long rules by their name alone",
          "[gui][transforms][link]") {
  LinkState state;
  state.sample = "tiny_conv";
  state.plan_settings.transforms.differentiate = GradMode::reverse;
  state.plan_settings.transforms.optimizer = OptimizerSettings{"adamw", 0.002};
  state.plan_settings.transforms.on = {"attention", "elide_rounding_casts"};
  state.plan_settings.transforms.off = {"merge_clones"};
  state.plan_settings.transforms.rules = RuleFile{"my.rules", kRules};
  const auto read = read_link(write_link(state));
  REQUIRE(read.ok());
  CHECK(*read == state);
  CHECK_FALSE(read_link("v=1&grad=2").ok());
  for (const char* train : {"adam", "adam,fast", "x,0.1", "sgd,0", "sgd,0.1,1"})
    CHECK_FALSE(read_link("v=1&train=" + std::string(train)).ok());
  CHECK_FALSE(read_link("v=1&rule-text=x").ok());

  Window window(bare_options());
  REQUIRE(follow_link(window.app, write_link(state)).ok());
  window.settle();
  CHECK(window.state("recipe") ==
        "grad adamw 0.002 +attention +elide_rounding_casts -merge_clones my.rules");

  state.plan_settings.transforms.rules->text = std::string(5000, ' ');
  REQUIRE(follow_link(window.app, write_link(state)).ok());
  window.settle();
  CHECK(window.state("recipe") ==
        "grad adamw 0.002 +attention +elide_rounding_casts -merge_clones");
  CHECK(window.state("notice").find("my.rules") != std::string::npos);

  // To a small graph that is a part of the program.
  REQUIRE(follow_link(window.app, "v=1&sample=softmax&grad=1").ok());
  window.settle();
  CHECK(window.state("document") == "softmax");
  CHECK(is_joint(window.app.document()->graph()));

  state.plan_settings.transforms.rules->text = "rule {";
  CHECK_FALSE(follow_link(window.app, write_link(state)).ok());
}

TEST_CASE("a helper makes the same of a graph, and other transform settings are another file to it",
          "[gui][transforms]") {
  NearHelper helper;
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  RecipeOpened helped("samples/blocks/residual_block.recut", std::move(backend));
  RecipeOpened alone("samples/blocks/residual_block.recut");
  for (RecipeOpened* window : {&helped, &alone}) {
    REQUIRE(window->run("pass.differentiate").ok());
    REQUIRE(window->run("rules.load", "my.rules").ok());
    REQUIRE(window->run("budget.set", "80%").ok());
  }
  CHECK(helper.begun > 3);
  const Plan& with = helped.document().shown->planned.plan;
  const Plan& without = alone.document().shown->planned.plan;
  CHECK(with.forward == without.forward);
  CHECK(with.backward == without.backward);
}

}  // namespace recut::gui
