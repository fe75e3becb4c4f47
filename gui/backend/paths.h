// Paths as the window knows them: a file's, "sample:NAME" for a graph that comes with the program,
// or "pasted:NAME" for one that was pasted, which nothing can read again.
#pragma once

#include <string>
#include <string_view>

namespace recut::gui {

inline constexpr std::string_view kSamplePath = "sample:";

inline bool is_sample(std::string_view path) { return path.rfind(kSamplePath, 0) == 0; }
inline std::string sample_path(std::string_view name) {
  return std::string(kSamplePath) + std::string(name);
}
// The name of a sample, from its path.
inline std::string sample_name(std::string_view path) {
  return std::string(path.substr(kSamplePath.size()));
}

inline constexpr std::string_view kPastedPath = "pasted:";
inline bool is_pasted(std::string_view path) { return path.starts_with(kPastedPath); }

// Without its folder, or the "sample:" before it.
inline std::string file_name(std::string_view path) {
  const std::size_t cut = path.find_last_of("/\\:");
  return std::string(cut == std::string_view::npos ? path : path.substr(cut + 1));
}

// A model's name as a file name, without characters that file systems refuse.
std::string plain_name(std::string name);

// True if Recut reads files of such a name: graphs, models, rules, snapshots.
bool is_readable_name(std::string_view path);

// True if two paths may be one file's: its name, however a browser that saved it packed or numbered
// it ("net.json (1).gz").
bool is_same_file(std::string_view a, std::string_view b);

}  // namespace recut::gui
