// Freezing in the window: its graph, the fates of the weights in the panel, runs and checks by the
// file's values; kept, undone, sent along in links, and done by a helper.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <utility>

#include "engine/eval/inputs.h"
#include "engine/input/bytes.h"
#include "engine/ir/printer.h"
#include "engine/workspace/open_document.h"
#include "gui/app/link.h"
#include "gui/model/pass_steps.h"
#include "gui/model/saved_document.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/stub_executor.h"
#include "tests/gui/window.h"
#include "tests/paths.h"

namespace recut::gui {
namespace {

constexpr const char* kExported = RECUT_SOURCE_DIR "/tests/input/exported/weight_norm.pt2";
constexpr const char* kFoldedWeight = "p_conv_parametrizations_weight_original0";
constexpr const char* kWithoutWeights =
    "graph \"sum\" {\n  %x = input f32[4]\n  %y = sum(%x)\n  results %y\n}\n";

// With an exported program open, whose file has the values of its weights.
struct FreezingWindow : Window {
  explicit FreezingWindow(NullBackend given = sample_backend(), const std::string& path = kExported)
      : Window(bare_options(), std::move(given)) {
    backend.files["sum.recut"] = kWithoutWeights;
    app.open(path);
    settle();
  }
  void does(std::string_view command, std::string_view argument = {}) {
    CAPTURE(command, argument);
    const auto done = app.run(command, argument);
    if (!done) FAIL(format(done.diagnostics()));
    settle();
  }
  const DocumentView& view() { return *app.document(); }
  const Document& document() { return *view().document; }
};

// What the command's --freeze makes of the file.
Document frozen_by_engine() {
  OpenOptions options;
  options.freeze = true;
  auto document = open_document(kExported, options);
  REQUIRE(document.ok());
  return std::move(*document);
}

}  // namespace

TEST_CASE("freezing: the window's graph is the command's, and is taken back", "[gui][freezing]") {
  FreezingWindow window;
  const std::string before = print(window.document().graph());
  window.does("pass.freeze");
  CHECK(window.state("recipe") == "freeze");
  CHECK(window.state("pass_name") == "fold_frozen");
  REQUIRE(window.document().frozen);
  const Document expected = frozen_by_engine();
  CHECK(print(window.document().graph()) == print(expected.graph()));
  CHECK(freeze_json(*window.document().frozen) == freeze_json(*expected.frozen));
  CHECK(window.state("notice") == freeze_text(*expected.frozen));
  CHECK(window.view().shown->document == window.view().document);
  window.does("edit.undo");
  CHECK_FALSE(window.document().frozen);
  CHECK(print(window.document().graph()) == before);
  window.does("edit.redo");
  CHECK(window.document().frozen);
  window.does("pass.toggle", "fold_frozen");  // by the switch of its pass
  CHECK(window.state("recipe").empty());
}

TEST_CASE("freezing: the panel has the stages, the constants, and the fate of each weight",
          "[gui][freezing]") {
  FreezingWindow window;
  CHECK(window.play("expect no item \"transforms/stage joint\"\n"
                    "click transforms/freeze\n"
                    "wait idle\n"
                    "expect no item transforms/freeze\n"
                    "expect item \"transforms/stage joint\"\n"
                    "expect value \"transforms/stage freezing\" contains changed\n"
                    "expect value \"transforms/rule computed\" 2\n"
                    "expect no item \"transforms/weight p_conv_bias\"\n"
                    "click \"transforms/weights kept\"\n"
                    "expect value \"transforms/weight p_conv_bias\" kept\n"
                    "click \"transforms/weights folded\"\n"
                    "expect no item \"transforms/weight p_conv_bias\"\n") == "");
  const std::string row = std::string("\"transforms/weight ") + kFoldedWeight + "\"";
  CHECK(window.play("expect value " + row + " \"folded into mul_1\"\nclick " + row +
                    "\nexpect text \"History of\"\n") == "");
  const SelectionAnchor anchor = anchor_of(window.view());
  CHECK(anchor.pass == 0);
  REQUIRE(anchor.node.valid());
  CHECK(window.document().passes.input.node_name(anchor.node) == kFoldedWeight);
  // The whole list has the passes that don't run before the stage after theirs.
  CHECK(window.play("command scale.set 50\n"
                    "command pass.idle\n"
                    "expect item \"transforms/switch conv_bn_folding\"\n"
                    "click \"transforms/switch conv_bn_folding\"\n"
                    "wait idle\n"
                    "expect state recipe \"freeze -conv_bn_folding\"\n") == "");
  const Item* offered = window.app.items.find("transforms/offered pad_mm");
  const Item* stage = window.app.items.find("transforms/stage freezing");
  REQUIRE(offered != nullptr);
  REQUIRE(stage != nullptr);
  CHECK(offered->rect.top < stage->rect.top);
}

TEST_CASE("freezing and derivatives exclude each other", "[gui][freezing]") {
  FreezingWindow window;
  CHECK(window.play("expect item trade-off/differentiate\n") == "");
  window.does("pass.freeze");
  CHECK(window.play("expect no item trade-off/differentiate\n"
                    "expect no item transforms/differentiate\n"
                    "command pass.idle\n"
                    "expect item transforms/differentiate\n") == "");
  CHECK(window.app.items.find("transforms/differentiate")->hint.find("Switches freezing off") !=
        std::string::npos);
  window.does("pass.differentiate");
  CHECK(window.state("recipe") == "grad");
  CHECK(window.app.items.find("transforms/freeze")->hint.find("Switches the derivatives off") !=
        std::string::npos);
  window.does("pass.freeze");
  CHECK(window.state("recipe") == "freeze");
  // The notice when a frozen graph opens offers no derivatives either.
  Window other(bare_options());
  SavedDocument saved = saved_of(window.view());
  CHECK(saved.plan_settings.transforms.freeze);
  window.does("file.reload");
  CHECK(window.state("notice").find("differentiate") == std::string::npos);

  TransformSettings settings;
  settings.set_freeze(true);
  settings.set_optimizer(OptimizerSettings());
  CHECK_FALSE(settings.freeze);
  settings.set_freeze(true);
  CHECK_FALSE(settings.optimizer);
}

TEST_CASE("freezing: where it can't be, the setting gives the reason", "[gui][freezing]") {
  const auto reason = [](FreezingWindow& window) {
    CHECK_FALSE(window.app.run("pass.freeze").ok());
    const Item* offer = window.app.items.find("transforms/freeze");
    REQUIRE(offer != nullptr);
    CHECK_FALSE(offer->enabled);
    return offer->hint;
  };
  FreezingWindow without(Window::sample_backend(), "samples/mlp.recut");
  without.does("pass.idle");
  CHECK(reason(without).find("gradients") != std::string::npos);
  FreezingWindow empty;
  empty.app.open("sum.recut");
  empty.settle();
  REQUIRE(empty.state("document") == "sum");
  CHECK(reason(empty).find("no weights") != std::string::npos);
}

TEST_CASE("freezing: a check compares with the graph as read, by the file's weights",
          "[gui][freezing]") {
  FreezingWindow window;
  window.does("pass.freeze");
  window.does("check.run", "seed 1");
  CHECK(window.play("expect value check/verdict contains agree\n") == "");
  // Another value of a weight that is folded already.
  const Tensor other = random_tensor(make_type(DType::f32, {2, 1, 1}), 7, "other");
  const std::string bytes = bytes_of(other);
  window.backend.files["other.safetensors"] = write_safetensors(std::vector{
      NamedTensor{std::string("in.") + kFoldedWeight, other.dtype, other.shape, bytes}});
  window.does("check.run", "other.safetensors");
  CHECK(window.play("expect text \"folded into\"\n") == "");
}

TEST_CASE("freezing: kept with the document and in links, which can't ask for derivatives, too",
          "[gui][freezing][link]") {
  SavedDocument saved;
  saved.path = "a.pt2";
  saved.plan_settings.transforms.freeze = true;
  CHECK(read_document(write_document(saved)).plan_settings == saved.plan_settings);
  CHECK_FALSE(read_document(R"({"path": "a", "recipe": {"freeze": true, "differentiate": true}})")
                  .plan_settings.transforms.freeze);
  LinkState state;
  state.file = "a.pt2";
  state.plan_settings.transforms.freeze = true;
  CHECK(write_link(state).find("&freeze=1") != std::string::npos);
  const auto read = read_link(write_link(state));
  REQUIRE(read.ok());
  CHECK(*read == state);
  for (const char* damaged : {"freeze=2", "freeze=1&grad=1", "freeze=1&train=sgd,0.1"})
    CHECK_FALSE(read_link(std::string("v=1&") + damaged).ok());
}

TEST_CASE("freezing: the report names the command", "[gui][freezing]") {
  FreezingWindow window;
  window.does("pass.freeze");
  window.does("file.report", "plan.html");
  const std::string& html = window.backend.files["plan.html"];
  const std::size_t command = html.find("<pre>recut report");
  REQUIRE(command != std::string::npos);
  INFO(html.substr(command, 200));
  CHECK(html.substr(command, 200).find("weight_norm.pt2 --graph model --freeze ") !=
        std::string::npos);
}

TEST_CASE("freezing: a helper has the same graph", "[gui][freezing]") {
  NearHelper helper;
  NullBackend backend = Window::sample_backend();
  backend.helping = &helper;
  FreezingWindow helped(std::move(backend)), alone;
  for (FreezingWindow* window : {&helped, &alone}) {
    window->does("pass.freeze");
    window->does("budget.set", "90%");
    window->does("check.run", "seed 1");
    CHECK(window->play("expect value check/verdict contains agree\n") == "");
  }
  CHECK(helper.begun > 1);
  CHECK(helped.view().shown->planned.plan.forward == alone.view().shown->planned.plan.forward);
}

}  // namespace recut::gui
