// Panels on graphs that nobody has in mind: none of them may stumble, whatever is asked of them.
#include <catch2/catch_test_macros.hpp>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

std::string with_name(const std::string& name) {
  return "graph \"odd\" {\n  %x = parameter f32[4]\n  %t = tangent f32[4]\n  %\"" + name +
         "\" = exp(%x) : f32[4]\n  %c = clone(%\"" + name +
         "\") : f32[4]\n  %g = mul.Tensor(%t, %\"" + name +
         "\") : f32[4]\n  results %c\n  gradients %g\n}\n";
}

// Goes through all passes, panels and commands of these rooms.
void use_everything(Window& window) {
  App& app = window.app;
  const auto try_all = [&] {
    for (const char* command :
         {"pass.next", "pass.previous", "text.next", "text.previous", "text.fold", "text.copy",
          "compare.with", "compare.panes", "compare.next", "compare.previous", "baseline.pin",
          "baseline.drop", "pass.idle", "select.clear", "file.report", "check.run"}) {
      (void)app.run(command);
      window.tick();
    }
    for (const auto& [command, argument] :
         {std::pair("text.base", "0"), std::pair("text.base", "99"), std::pair("pass.set", "0"),
          std::pair("compare.with", "pass 0"), std::pair("compare.with", "torch 0.5"),
          std::pair("compare.with", "document 77"), std::pair("compare.panes", "pass 0"),
          std::pair("compare.select", "no such"), std::pair("compare.panes", ""),
          std::pair("compare.with", "nonsense"), std::pair("check.run", "seed 2"),
          std::pair("check.run", "seed x"), std::pair("text.unfold", "3"),
          std::pair("select.at", "0 nobody"), std::pair("select.at", "77 x"),
          std::pair("pass.set", "2")}) {
      (void)app.run(command, argument);
      window.tick();
    }
    window.settle();
  };
  for (const char* panel : {"text", "compare", "check"}) {
    (void)app.run("panel.show", panel);
    try_all();
  }
  if (!app.has_ready()) return;
  // Each node of each pass, as the selection.
  const auto& passes = app.document()->document->passes;
  for (const NodeId id : passes.input.order()) {
    REQUIRE(app.run("select.at", "0 " + passes.input.node_name(id)).ok());
    for (std::size_t pass = 0; pass <= passes.passes.size(); ++pass) {
      REQUIRE(app.run("pass.set", std::to_string(pass)).ok());
      window.tick();
    }
  }
  window.settle();
}

void open_odd(const std::string& text) {
  NullBackend backend = Window::sample_backend();
  backend.files["odd.recut"] = text;
  Window window(bare_options(), backend);
  window.app.open("odd.recut");
  window.settle();
  use_everything(window);
}

TEST_CASE("odd graphs: nothing in it", "[gui]") { open_odd("graph \"none\" {\n  results\n}\n"); }

TEST_CASE("odd graphs: one node", "[gui]") {
  open_odd("graph \"one\" {\n  %x = parameter f32[4]\n  %y = exp(%x) : f32[4]\n  results %y\n}\n");
  open_odd("graph \"input\" {\n  %x = parameter f32[4]\n  results %x\n  gradients none\n}\n");
}

TEST_CASE("odd graphs: names of 10,000 letters", "[gui]") {
  open_odd(with_name(std::string(10'000, 'n')));
  std::string letters;
  for (int i = 0; i < 5'000; ++i) letters += "é";
  open_odd(with_name(letters));
}

TEST_CASE("odd graphs: names that look like other things", "[gui]") {
  open_odd(with_name("a b = c ( d ) : f32[4]  @x #3"));
  open_odd(with_name("%s%n{}{0}"));
}

TEST_CASE("odd graphs: nothing open", "[gui]") {
  Window window(bare_options());
  window.settle();
  use_everything(window);
}

}  // namespace
}  // namespace recut::gui
