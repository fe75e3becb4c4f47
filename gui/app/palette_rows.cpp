#include "gui/app/palette_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "gui/app/app.h"
#include "gui/app/command_subject.h"
#include "gui/app/condition.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxUsed = 6;
constexpr std::string_view kUsedSetting = "palette.used";

std::vector<std::string> used_ids(const App& app) {
  const auto ids = split_quoted(app.settings.text(kUsedSetting));
  return ids ? *ids : std::vector<std::string>();
}

}  // namespace

std::vector<PaletteRow> palette_rows(const App& app, std::string_view typed) {
  std::vector<const Command*> commands = matching_commands(app, typed);
  std::vector<PaletteRow> rows;
  if (!typed.empty()) {
    for (const Command* command : commands) rows.push_back({{}, command});
    return rows;
  }
  for (const std::string& id : used_ids(app)) {
    const auto at = std::find_if(commands.begin(), commands.end(),
                                 [&](const Command* command) { return command->id == id; });
    if (at == commands.end()) continue;
    if (rows.empty()) rows.push_back({"Used last", nullptr});
    rows.push_back({{}, *at});
    commands.erase(at);
  }
  for (const CommandGroup& group : by_subject(commands)) {
    rows.push_back({group.title, nullptr});
    for (const Command* command : group.commands) rows.push_back({{}, command});
  }
  return rows;
}

void remember_used(App& app, std::string_view command) {
  std::vector<std::string> ids = used_ids(app);
  std::erase(ids, command);
  ids.insert(ids.begin(), std::string(command));
  ids.resize(std::min(ids.size(), kMaxUsed));
  app.settings.set(kUsedSetting, fmt::format("{}", fmt::join(ids, " ")));
}

}  // namespace recut::gui
