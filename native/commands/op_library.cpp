// The files of --op-library.
#include "engine/workspace/op_library.h"

#include <algorithm>
#include <filesystem>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/external_operator.h"
#include "native/commands/command.h"

namespace recut::native {
namespace {

// The files of a folder, by name; a file is itself.
std::vector<std::string> files_at(const std::string& path) {
  std::error_code wrong;
  if (!std::filesystem::is_directory(path, wrong)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, wrong))
    if (entry.is_regular_file(wrong)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// "mine.scale3=scale3.recut"; a path without a name of an operator before '=' is whole.
std::pair<std::string, std::string> parse_argument(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  const std::string op = external_name(text.substr(0, equals));
  if (op.empty()) return {"", text};
  return {op, text.substr(equals + 1)};
}

}  // namespace

Result<std::shared_ptr<const OpLibrary>> read_op_library(
    const std::vector<std::string>& arguments) {
  std::vector<OpLibrarySource> sources;
  Diagnostics faults;
  for (const std::string& argument : arguments) {
    const auto [op, path] = parse_argument(argument);
    for (const std::string& file : files_at(path)) {
      auto bytes = read_graph_file_bytes(file);
      if (bytes)
        sources.push_back({op, file, std::move(*bytes)});
      else
        faults.insert(faults.end(), bytes.diagnostics().begin(), bytes.diagnostics().end());
    }
  }
  if (!faults.empty()) return faults;
  return recut::read_op_library(sources);
}

}  // namespace recut::native
