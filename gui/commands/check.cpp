// Commands that run the shown plan through the interpreter.
#include <fmt/core.h>

#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/check_view.h"
#include "gui/app/conditions.h"

namespace recut::gui {
namespace {

const CheckView* check_view_of(const App& app) {
  if (!has_plan(app)) return nullptr;
  return find_memory<CheckView>(app.document()->memories, kCheckMemory);
}

bool is_checking(const App& app) {
  const CheckView* view = check_view_of(app);
  return view != nullptr && app.jobs.is_alive(view->job);
}

// Checks the plan on inputs: "seed 7", a file's path, or by default the file beside the graph's,
// else seed 1.
Result<Done> run_check(App& app, std::string_view argument) {
  DocumentView& document = *app.document();
  CheckInputs inputs;
  if (argument.rfind("seed ", 0) == 0) {
    char* end = nullptr;
    const std::string digits(argument.substr(5));
    inputs.seed = std::strtoull(digits.c_str(), &end, 10);
    if (end == digits.c_str() || *end != '\0') return error("a seed is a whole number");
  } else if (argument.empty()) {
    inputs.path = tensors_beside(document.path);
    inputs.may_lack = true;
  } else {
    inputs.path = std::string(argument);
  }
  start_check(app, document, inputs);
  return app.run("panel.show", "check");
}

Result<Done> cancel_check(App& app, std::string_view) {
  app.jobs.cancel(check_view(*app.document()).job);
  return Done{};
}

Result<Done> open_check(App& app, std::string_view) {
  if (!app.backend.ask_for_file()) app.overlay = "open";
  return Done{};
}

constexpr Command kCheckRows[] = {
    {"check.run", "Check the plan: run it and compare its outputs", "",
     "a file of tensors, or 'seed 1'", has_plan, run_check},
    {"check.open", "Check the plan on tensors of a file", "", "", has_plan, open_check},
    {"check.cancel", "Stop the check", "", "", is_checking, cancel_check},
};

}  // namespace

std::span<const Command> check_commands() { return kCheckRows; }

}  // namespace recut::gui
