// Commands that train the model by the shown plan.
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/conditions.h"
#include "gui/app/train_view.h"

namespace recut::gui {
namespace {

bool has_optimizer(const App& app) {
  return app.has_ready() && app.document()->plan_settings.transforms.optimizer.has_value();
}
bool can_train(const App& app) {
  return has_plan(app) && app.document()->document->loss.has_value() &&
         !is_training(app, *app.document());
}
bool trains(const App& app) { return has_plan(app) && is_training(app, *app.document()); }
bool has_trained(const App& app) {
  return has_plan(app) && shown_training(*app.document()) != nullptr;
}

// Chooses the optimiser: "adam", "sgd 0.1".
Result<Done> choose_train(App& app, std::string_view argument) {
  const std::size_t space = std::min(argument.find(' '), argument.size());
  const std::string_view rate = argument.substr(std::min(space + 1, argument.size()));
  const auto choice = read_optimizer(argument.substr(0, space), rate);
  if (!choice) return choice.diagnostics();
  TransformSettings wanted = app.document()->plan_settings.transforms;
  wanted.set_optimizer(*choice);
  const Result<Done> taken = app.document()->request_transforms(std::move(wanted));
  return taken ? app.run("panel.show", "train") : taken;
}
bool train_is_chosen(const App& app, std::string_view argument) {
  const auto& optimizer = app.document()->plan_settings.transforms.optimizer;
  return optimizer && optimizer->name == argument;
}

Result<Done> remove_train(App& app, std::string_view) {
  app.document()->plan_settings.transforms.set_optimizer(std::nullopt);
  return Done{};
}

Result<Done> begin(App& app, std::string_view argument) {
  std::int64_t steps = kUsualSteps;
  if (!argument.empty()) {
    char* end = nullptr;
    const std::string digits(argument);
    steps = std::strtoll(digits.c_str(), &end, 10);
    if (*end != '\0' || steps < 1 || steps > kMaxTrainingSteps)
      return error("steps are a whole number, 1 to 100000");
  }
  const Result<Done> begun = start_training(app, *app.document(), steps);
  return begun ? app.run("panel.show", "train") : begun;
}

Result<Done> stop_train(App& app, std::string_view) {
  stop_training(*app.document());
  return Done{};
}

Result<Done> again(App& app, std::string_view argument) {
  forget_training(app, *app.document());
  return begin(app, argument);
}

constexpr Command kTrainRows[] = {
    {"train.optimizer", "Make the step a training step, by an optimiser", "",
     "sgd, adam or adamw, and a learning rate", has_plan, choose_train, "adam", train_is_chosen},
    {"train.none", "Make it a step without an optimiser again", "", "", has_optimizer,
     remove_train},
    {"train.begin", "Train, or go on", "Ctrl+Shift+Enter", "how many steps", can_train, begin},
    {"train.stop", "Stop training", "", "", trains, stop_train},
    {"train.again", "Train from the beginning", "", "how many steps", has_trained, again},
};

}  // namespace

std::span<const Command> train_commands() { return kTrainRows; }

}  // namespace recut::gui
