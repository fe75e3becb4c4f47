#include "gui/app/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/lesson_figure.h"

namespace recut::gui {

Result<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
    } else if (line[i] == '#') {
      break;
    } else if (line[i] == '"') {
      std::string word;
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) ++i;
        word += line[i];
      }
      if (i == line.size()) return error("a quote that doesn't close");
      ++i;
      words.push_back(std::move(word));
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t\r", i), line.size());
      words.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

bool agrees(const std::string& found, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return found.empty();
  const std::string& verb = wanted.front();
  if (wanted.size() < 2) return found == verb;
  if (verb == "contains") return found.find(wanted[1]) != std::string::npos;
  if (verb == "not") return found != wanted[1];
  const double number = std::strtod(found.c_str(), nullptr);
  const double bound = std::strtod(wanted[1].c_str(), nullptr);
  if (verb == "below") return !found.empty() && number < bound;
  if (verb == "above") return !found.empty() && number > bound;
  return false;
}

namespace {

// Of "figure", "peak", "<", "start_peak": both sides may be several words.
Result<Condition> read_comparison(const std::vector<std::string>& words) {
  const auto sign = std::find_if(words.begin(), words.end(),
                                 [](const std::string& word) { return is_comparing_sign(word); });
  if (sign == words.end() || sign == words.begin() + 1 || sign + 1 == words.end())
    return error("expected two figures with <, <=, =, >= or > between them");
  Condition condition;
  condition.kind = Condition::Kind::figure;
  condition.name = fmt::format("{}", fmt::join(words.begin() + 1, sign, " "));
  condition.wanted = {*sign, fmt::format("{}", fmt::join(sign + 1, words.end(), " "))};
  return condition;
}

}  // namespace

Result<Condition> read_condition(std::string_view line) {
  auto read = words_of(line);
  if (!read) return read.diagnostics();
  std::vector<std::string>& words = *read;
  Condition condition;
  if (!words.empty() && words.front() == "no") {
    condition.no = true;
    words.erase(words.begin());
  }
  const std::string what = words.empty() ? "nothing" : words.front();
  if (what == "figure" && !condition.no) return read_comparison(words);
  if (what == "value") {
    condition.kind = Condition::Kind::value;
  } else if (what == "item") {
    condition.kind = Condition::Kind::item;
  } else if (what != "state") {
    return error(fmt::format("expected 'state', 'value', 'item' or 'figure'; found '{}'", what));
  }
  const bool item = condition.kind == Condition::Kind::item;
  if (condition.no && !item) return error("'no' stands before 'item' alone");
  if (words.size() < 2) return error(fmt::format("expected a name after '{}'", what));
  condition.name = words[1];
  condition.wanted.assign(words.begin() + 2, words.end());
  if (item && !condition.wanted.empty())
    return error(fmt::format("expected nothing after the label; found '{}'", words[2]));
  if (condition.wanted.size() > 2)
    return error(fmt::format("expected one value; found '{}' after it", words[4]));
  return condition;
}

namespace {

// "70%" and "100MiB" as bytes.
std::vector<std::string> resolved(const App& app, std::vector<std::string> wanted) {
  const bool bound = wanted.size() == 2 && (wanted[0] == "below" || wanted[0] == "above");
  if (bound && app.has_ready() && !wanted[1].empty() &&
      (wanted[1].back() == '%' || wanted[1].back() == 'B'))
    if (const auto bytes = read_budget(wanted[1], *app.document()))
      wanted[1] = fmt::format("{}", *bytes);
  return wanted;
}

}  // namespace

bool holds(const App& app, const Condition& condition) {
  if (condition.kind == Condition::Kind::state) {
    const auto found = app.state(condition.name);
    return found && agrees(*found, resolved(app, condition.wanted));
  }
  if (condition.kind == Condition::Kind::figure)
    return compares(app, condition.name, condition.wanted.front(), condition.wanted.back());
  const Item* item = app.items.find(condition.name);
  const bool seen = item != nullptr && item->visible();
  if (condition.kind == Condition::Kind::item) return seen != condition.no;
  return seen && agrees(item->value, resolved(app, condition.wanted));
}

}  // namespace recut::gui
