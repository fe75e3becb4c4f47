#include "gui/app/command.h"

#include <algorithm>
#include <cctype>

namespace recut::gui {
namespace {

char lower_command(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool starts_word(std::string_view text, std::size_t at) {
  return at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
}

}  // namespace

std::vector<const Command*> all_commands() {
  std::vector<const Command*> all;
  for (const std::span<const Command> subject : registered_commands())
    for (const Command& command : subject) all.push_back(&command);
  return all;
}

const Command* find_command(std::string_view id) {
  for (const std::span<const Command> subject : registered_commands())
    for (const Command& command : subject)
      if (command.id == id) return &command;
  return nullptr;
}

int fuzzy_score(std::string_view typed, std::string_view text) {
  int score = 0;
  std::size_t at = 0, last = std::string_view::npos;
  for (const char raw : typed) {
    if (raw == ' ') continue;
    const char c = lower_command(raw);
    // The start of a word further on is worth more than a letter in the middle of this one.
    std::size_t found = std::string_view::npos;
    for (std::size_t i = at; i < text.size(); ++i) {
      if (lower_command(text[i]) != c) continue;
      if (found == std::string_view::npos) found = i;
      if (i == last + 1 || starts_word(text, i)) {
        found = i;
        break;
      }
    }
    if (found == std::string_view::npos) return -1;
    score += 1 + (starts_word(text, found) ? 6 : 0) + (found == last + 1 ? 4 : 0);
    last = found;
    at = found + 1;
  }
  return score;
}

std::vector<const Command*> matching_commands(const App& app, std::string_view typed) {
  struct Match {
    const Command* command;
    int score;
  };
  std::vector<Match> matches;
  for (const Command* command : all_commands()) {
    if (command->title.empty() || (command->enabled != nullptr && !command->enabled(app))) continue;
    const int title = fuzzy_score(typed, command->title);
    const int score = std::max(title * 2, fuzzy_score(typed, command->id));
    if (score >= 0) matches.push_back({command, score});
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.score > b.score; });
  std::vector<const Command*> commands;
  for (const Match& match : matches) commands.push_back(match.command);
  return commands;
}

}  // namespace recut::gui
