#include "tests/conformance/exceptions.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace recut::conformance {
namespace {

// Parses "CHECK CASE VERDICT REASON…"; the reason is the rest of the line.
Exception exception_in(const std::string& line, std::uint32_t number) {
  Exception found;
  std::istringstream fields(line);
  fields >> found.check >> found.name >> found.verdict >> std::ws;
  std::getline(fields, found.reason);
  found.line = number;
  return found;
}

// The fault of an exception, or "".
std::string exception_fault(const Exception& found,
                            std::set<std::pair<std::string, std::string>>& seen) {
  if (found.reason.empty()) return "expected a check, a case, a verdict and a reason";
  if (found.check != "values" && found.check != "gradients")
    return fmt::format("the check '{}' found, expected 'values' or 'gradients'", found.check);
  if (!seen.emplace(found.check, found.name).second)
    return fmt::format("an earlier line has the {} of {}", found.check, found.name);
  return "";
}

std::string surprise_of(const Finding& finding, const Exception* listed, const std::string& file) {
  const std::string found = fmt::format("found {}{}{}", finding.verdict,
                                        finding.detail.empty() ? "" : ": ", finding.detail);
  if (listed == nullptr)
    return finding.good ? "" : fmt::format("{}: expected no difference, {}", finding.name, found);
  if (listed->verdict == finding.verdict) return "";
  return fmt::format("{}: expected {} ({}:{}), {}", finding.name, listed->verdict, file,
                     listed->line, found);
}

}  // namespace

Result<ExceptionList> parse_exceptions(std::string_view text, const std::string& file) {
  ExceptionList list{file, {}};
  Diagnostics faults;
  std::set<std::pair<std::string, std::string>> seen;
  std::istringstream lines{std::string(text)};
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    list.entries.push_back(exception_in(line, number));
    const std::string fault = exception_fault(list.entries.back(), seen);
    if (!fault.empty()) faults.push_back({fault, file, number, 1});
  }
  if (!faults.empty()) return faults;
  return list;
}

std::vector<std::string> surprises(const std::vector<Finding>& findings, const ExceptionList& list,
                                   std::string_view check, std::string_view filter) {
  std::map<std::string, const Exception*> listed;
  for (const Exception& entry : list.entries)
    if (entry.check == check && entry.name.find(filter) != std::string::npos)
      listed[entry.name] = &entry;
  std::vector<std::string> messages;
  for (const Finding& finding : findings) {
    const auto at = listed.find(finding.name);
    const Exception* expected = at == listed.end() ? nullptr : at->second;
    const std::string message = surprise_of(finding, expected, list.file);
    if (!message.empty()) messages.push_back(message);
    if (expected != nullptr) listed.erase(at);
  }
  for (const auto& [name, entry] : listed)
    messages.push_back(fmt::format("{}: expected {} ({}:{}), found no such case", name,
                                   entry->verdict, list.file, entry->line));
  return messages;
}

}  // namespace recut::conformance
