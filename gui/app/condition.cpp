#include "gui/app/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "gui/app/app.h"
#include "gui/app/lesson_figure.h"

namespace recut::gui {

Result<std::vector<std::string>> split_quoted(std::string_view line) {
  std::vector<std::string> tokens;
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
      tokens.push_back(std::move(word));
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t\r", i), line.size());
      tokens.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return tokens;
}

bool agrees(const std::string& found, const std::vector<std::string>& requested) {
  if (requested.empty()) return found.empty();
  const std::string& verb = requested.front();
  if (requested.size() < 2) return found == verb;
  if (verb == "contains") return found.find(requested[1]) != std::string::npos;
  if (verb == "not") return found != requested[1];
  const double number = std::strtod(found.c_str(), nullptr);
  const double bound = std::strtod(requested[1].c_str(), nullptr);
  if (verb == "below") return !found.empty() && number < bound;
  if (verb == "above") return !found.empty() && number > bound;
  return false;
}

namespace {

// Reads "figure", "peak", "<", "start_peak": both sides may have several words.
Result<Condition> read_comparison(const std::vector<std::string>& tokens) {
  const auto sign = std::find_if(tokens.begin(), tokens.end(),
                                 [](const std::string& word) { return is_comparing_sign(word); });
  if (sign == tokens.end() || sign == tokens.begin() + 1 || sign + 1 == tokens.end())
    return error("expected two figures with <, <=, =, >= or > between them");
  Condition condition;
  condition.kind = Condition::Kind::figure;
  condition.name = fmt::format("{}", fmt::join(tokens.begin() + 1, sign, " "));
  condition.requested = {*sign, fmt::format("{}", fmt::join(sign + 1, tokens.end(), " "))};
  return condition;
}

}  // namespace

Result<Condition> read_condition(std::string_view line) {
  auto read = split_quoted(line);
  if (!read) return read.diagnostics();
  std::vector<std::string>& tokens = *read;
  Condition condition;
  if (!tokens.empty() && tokens.front() == "no") {
    condition.no = true;
    tokens.erase(tokens.begin());
  }
  const std::string what = tokens.empty() ? "nothing" : tokens.front();
  if (what == "figure" && !condition.no) return read_comparison(tokens);
  if (what == "value") {
    condition.kind = Condition::Kind::value;
  } else if (what == "item") {
    condition.kind = Condition::Kind::item;
  } else if (what != "state") {
    return error(fmt::format("expected 'state', 'value', 'item' or 'figure'; found '{}'", what));
  }
  const bool item = condition.kind == Condition::Kind::item;
  if (condition.no && !item) return error("'no' stands before 'item' alone");
  if (tokens.size() < 2) return error(fmt::format("expected a name after '{}'", what));
  condition.name = tokens[1];
  condition.requested.assign(tokens.begin() + 2, tokens.end());
  if (item && !condition.requested.empty())
    return error(fmt::format("expected nothing after the label; found '{}'", tokens[2]));
  if (condition.requested.size() > 2)
    return error(fmt::format("expected one value; found '{}' after it", tokens[4]));
  return condition;
}

namespace {

// Replaces budgets such as "70%" and "100MiB" by bytes.
std::vector<std::string> resolved(const App& app, std::vector<std::string> requested) {
  const bool bound = requested.size() == 2 && (requested[0] == "below" || requested[0] == "above");
  if (bound && app.has_ready() && !requested[1].empty() &&
      (requested[1].back() == '%' || requested[1].back() == 'B'))
    if (const auto bytes = read_budget(requested[1], *app.document()))
      requested[1] = fmt::format("{}", *bytes);
  return requested;
}

}  // namespace

bool holds(const App& app, const Condition& condition) {
  if (condition.kind == Condition::Kind::state) {
    const auto found = app.state(condition.name);
    return found && agrees(*found, resolved(app, condition.requested));
  }
  if (condition.kind == Condition::Kind::figure)
    return compares(app, condition.name, condition.requested.front(), condition.requested.back());
  const Item* item = app.items.find(condition.name);
  const bool seen = item != nullptr && item->visible();
  if (condition.kind == Condition::Kind::item) return seen != condition.no;
  return seen && agrees(item->value, resolved(app, condition.requested));
}

}  // namespace recut::gui
