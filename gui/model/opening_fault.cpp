#include "gui/model/opening_fault.h"

#include <algorithm>
#include <utility>

#include "engine/support/typo_correction.h"
#include "gui/backend/paths.h"

namespace recut::gui {
namespace {

constexpr std::size_t kMaxNear = 6;

std::string folder_before(const std::string& path) {
  const std::size_t cut = path.find_last_of("/\\");
  return cut == std::string::npos ? "" : path.substr(0, cut + 1);
}

// The file name without the ending of its format.
std::string_view stem_of(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

std::vector<std::string> near_files(Backend& backend, const std::string& path) {
  const std::string folder = folder_before(path), requested = file_name(path);
  const auto entries = backend.list(folder.empty() ? backend.home() : folder);
  std::vector<std::string> near;
  if (!entries) return near;
  const auto other = [&](const FolderEntry& entry) {
    return !entry.folder && is_readable_name(entry.name) && entry.name != requested;
  };
  TypoCorrection nearest(stem_of(requested));
  for (const FolderEntry& entry : *entries)
    if (other(entry)) nearest.consider(stem_of(entry.name), entry.name);
  if (!nearest.name().empty()) near.push_back(folder + nearest.name());
  for (const FolderEntry& entry : *entries) {
    const bool begins = !stem_of(requested).empty() && entry.name.starts_with(stem_of(requested));
    if (other(entry) && begins && entry.name != nearest.name() && near.size() < kMaxNear)
      near.push_back(folder + entry.name);
  }
  return near;
}

namespace {

// Names of values that messages ask to fix, as "--dim sr=N", without names of dimensions.
std::vector<std::string> fixable_values(const OpeningFault& fault) {
  constexpr std::string_view kOption = "--dim ";
  std::vector<std::string> names;
  const auto listed = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (const Diagnostic& one : fault.diagnostics)
    for (std::size_t at = 0; (at = one.message.find(kOption, at)) != std::string::npos;) {
      at += kOption.size();
      const std::size_t end = one.message.find("=N", at);
      if (end == std::string::npos) break;
      std::string name = one.message.substr(at, end - at);
      const bool one_name = name.find('=') == std::string::npos;  // "--dim a=5 … --dim b=N"
      if (one_name && !listed(fault.dimensions, name) && !listed(names, name))
        names.push_back(std::move(name));
    }
  return names;
}

}  // namespace

OpeningFault explain_fault(Backend& backend, const std::string& path, const std::string* bytes,
                           Diagnostics diagnostics) {
  OpeningFault fault;
  fault.diagnostics = std::move(diagnostics);
  if (bytes != nullptr) {
    fault.lines = excerpts_of(*bytes, fault.diagnostics);
    fault.dimensions = backend.open_dimensions(path, *bytes);
    fault.values = fixable_values(fault);
  } else {
    fault.lines.resize(fault.diagnostics.size());
    if (!is_sample(path)) fault.near = near_files(backend, path);
  }
  return fault;
}

std::string text_of(const OpeningFault& fault) { return format(fault.diagnostics, fault.lines); }

std::vector<std::string> commands_in(const OpeningFault& fault) {
  std::vector<std::string> commands;
  for (const Diagnostic& one : fault.diagnostics) {
    const std::size_t begin = one.message.find('`');
    const std::size_t end = begin == std::string::npos ? begin : one.message.find('`', begin + 1);
    if (end == std::string::npos) continue;
    std::string quoted = one.message.substr(begin + 1, end - begin - 1);
    if (quoted.starts_with("recut ")) commands.push_back(std::move(quoted));
  }
  return commands;
}

}  // namespace recut::gui
