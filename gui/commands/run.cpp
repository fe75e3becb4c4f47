// Commands that run the shown plan as machine code.
#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/run_target.h"
#include "gui/app/run_view.h"

namespace recut::gui {
namespace {

constexpr long kRunMaxSteps = 100'000;

bool is_running(const App& app) {
  if (!has_plan(app)) return false;
  const auto* view = find_memory<RunView>(app.document()->memories, kRunMemory);
  return view != nullptr && app.jobs.is_alive(view->job);
}

template <bool kCheck>
Result<Done> run_run(App& app, std::string_view steps) {
  StepRunOptions order;
  order.check = kCheck;
  if (!steps.empty()) {
    char* end = nullptr;
    const std::string digits(steps);
    const long requested = std::strtol(digits.c_str(), &end, 10);
    if (*end != '\0' || requested < 1 || requested > kRunMaxSteps)
      return error("steps are a whole number, 1 to 100000");
    order.steps = static_cast<int>(requested);
  }
  const Result<Done> begun = start_run(app, *app.document(), order);
  return begun ? app.run("panel.show", "run") : begun;
}

Result<Done> cancel_run(App& app, std::string_view) {
  app.jobs.cancel(run_view(*app.document()).job);
  return Done{};
}

bool has_choice(const App& app) { return app.backend.executors().size() > 1; }
bool run_is_chosen(const App& app, std::string_view id) {
  const Executor* executor = chosen_executor(app);
  return executor != nullptr && executor->id() == id;
}

// Chooses the named executor, or the next one.
Result<Done> choose_run(App& app, std::string_view id) {
  if (!id.empty()) return choose_runner(app, id);
  const std::vector<Executor*> executors = app.backend.executors();
  const auto at =
      std::find(executors.begin(), executors.end(), chosen_executor(app)) - executors.begin();
  return choose_runner(app, executors[(static_cast<std::size_t>(at) + 1) % executors.size()]->id());
}

Result<Done> toggle_times(App& app, std::string_view) {
  app.settings.set_flag("graph.times", !app.settings.flag("graph.times", false));
  return Done{};
}
bool shows_times(const App& app, std::string_view) {
  return app.settings.flag("graph.times", false);
}

constexpr Command kRunRows[] = {
    {"run.step", "Run the step as machine code", "Ctrl+Enter", "how many steps are timed", has_plan,
     run_run<false>},
    {"run.check", "Run the step, and compare its outputs with the interpreter's", "",
     "how many steps are timed", has_plan, run_run<true>},
    {"run.cancel", "Stop the run", "", "", is_running, cancel_run},
    {"run.on", "What steps run on", "", "cpu, cuda, cuda-tf32, or cuda-bf16", has_choice,
     choose_run, "", run_is_chosen},
    {"run.times", "Colour the graph by measured times, or by the plan", "h", "", has_plan,
     toggle_times, "", shows_times},
};

}  // namespace

std::span<const Command> run_commands() { return kRunRows; }

}  // namespace recut::gui
