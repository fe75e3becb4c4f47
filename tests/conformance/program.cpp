#include "tests/conformance/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "engine/input/bytes.h"
#include "tests/paths.h"

namespace recut::conformance {
namespace {

namespace fs = std::filesystem;

// The folder's last name, with or without a trailing slash.
std::string folder_name(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

Result<ExceptionList> exceptions_of(const std::string& folder) {
  const std::string name = "tests/conformance/exceptions/" + folder_name(folder) + ".txt";
  const std::string path = std::string(RECUT_SOURCE_DIR "/") + name;
  if (!fs::exists(path)) return ExceptionList{name, {}};
  const auto bytes = read_file(path);
  if (!bytes) return bytes.diagnostics();
  return parse_exceptions(*bytes, name);
}

}  // namespace

std::optional<Request> read_request(int argc, char** argv, std::ostream& out, int& status) {
  Request request;
  bool if_present = false;
  std::vector<std::string> arguments;
  for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (argument == "--all") {
      request.all = true;
    } else if (argument == "--if-present") {
      if_present = true;
    } else {
      arguments.push_back(argument);
    }
  }
  request.folder = arguments.empty() ? RECUT_SOURCE_DIR "/tests/conformance/samples" : arguments[0];
  request.filter = arguments.size() > 1 ? arguments[1] : "";
  if (fs::is_directory(request.folder)) return request;
  status = if_present ? kSkipped : 1;
  out << fmt::format("{}there is no folder {}\n", if_present ? "skipped: " : "", request.folder);
  return std::nullopt;
}

std::vector<std::string> stems_in(const std::string& folder, const std::string& filter) {
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".json" && path.stem().string().find(filter) != std::string::npos)
      stems.push_back((path.parent_path() / path.stem()).string());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

int judge(const Request& request, std::string_view check, const std::vector<Finding>& findings,
          std::ostream& out) {
  if (findings.empty()) {
    out << fmt::format("{} has no case{}\n", request.folder,
                       request.filter.empty() ? "" : " whose name contains " + request.filter);
    return 1;
  }
  const auto list = exceptions_of(request.folder);
  if (!list) {
    out << format(list.diagnostics());
    return 1;
  }
  const auto messages = surprises(findings, *list, check, request.filter);
  for (const std::string& message : messages) out << "UNEXPECTED " << message << "\n";
  const auto differing = std::count_if(findings.begin(), findings.end(),
                                       [](const Finding& finding) { return !finding.good; });
  out << fmt::format("{} cases, {} of them differ, {} unexpected\n", findings.size(), differing,
                     messages.size());
  return messages.empty() ? 0 : 1;
}

}  // namespace recut::conformance
