// Chooses the top modules by which a graph's memory is shown.
#include <algorithm>
#include <map>
#include <string_view>

#include "gui/model/memory_stack.h"

namespace recut::gui {
namespace {

constexpr double kMain = 0.8;  // a module with that much of the bytes is looked into
constexpr double kLayerBandsMin =
    0.08;  // of the largest module: a smaller one has no band of its own
constexpr std::size_t kDeepest = 8;

// The part of a path below `depth` dots: "L['s'].layer1.0" at depth 1 is "layer1"; "" past its end.
std::string_view part_of(std::string_view path, std::size_t depth) {
  for (; depth > 0; --depth) {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return {};
    path.remove_prefix(dot + 1);
  }
  return path.substr(0, path.find('.'));
}

// Modules of one depth with their bytes, in the order of the graph.
struct Module {
  std::string_view name;
  double bytes = 0;
};

struct Level {
  std::vector<Module> modules;
  std::map<std::string_view, std::size_t> index;

  void add(std::string_view name, double bytes) {
    const auto [it, first] = index.emplace(name, modules.size());
    if (first) modules.push_back({name, 0});
    modules[it->second].bytes += bytes;
  }
};

// The bytes that forward makes, by position.
std::vector<double> forward_bytes(const PlanView& start) {
  const Graph& graph = start.graph();
  std::vector<double> bytes(graph.order().size(), 0);
  for (const StorageInstance& instance : start.replay().instances)
    if (start.replay().steps[instance.birth].phase == Phase::forward)
      bytes[graph.position(instance.owner)] += static_cast<double>(instance.bytes);
  return bytes;
}

class Finder {
 public:
  explicit Finder(const PlanView& start) : graph_(start.graph()), bytes_(forward_bytes(start)) {}

  LayerBands find() {
    Level level = level_at();
    while (prefix_.size() < kDeepest) {
      const Module* main = main_of(level);
      if (main == nullptr) break;
      prefix_.push_back(main->name);
      Level below = level_at();
      if (below.modules.empty()) {
        prefix_.pop_back();
        break;
      }
      level = std::move(below);
    }
    return bands_of(level);
  }

 private:
  bool is_below(std::string_view path) const {
    for (std::size_t depth = 0; depth < prefix_.size(); ++depth)
      if (part_of(path, depth) != prefix_[depth]) return false;
    return true;
  }

  std::string_view name_at_level(NodeId id) const {
    if (graph_.is_input(id)) return {};  // its path is no module's
    const std::string_view path = graph_.origin(id).module;
    return is_below(path) ? part_of(path, prefix_.size()) : std::string_view();
  }

  Level level_at() const {
    Level level;
    for (const NodeId id : graph_.order()) {
      const std::string_view name = name_at_level(id);
      if (!name.empty()) level.add(name, bytes_[graph_.position(id)]);
    }
    return level;
  }

  const Module* main_of(const Level& level) const {
    double all = 0;
    for (const double bytes : bytes_) all += bytes;
    for (const Module& module : level.modules)
      if (module.bytes >= kMain * all) return &module;
    return nullptr;
  }

  // The title of a band: "h.0", or "h.0 – 3" if neighbours share it.
  static std::string title(std::string_view above, std::string_view first, std::string_view last) {
    const bool number = !first.empty() && first.find_first_not_of("0123456789") == first.npos;
    const std::string before = number ? std::string(short_module(above)) + "." : "";
    const std::string name = before + std::string(short_module(first));
    return first == last ? name : name + " – " + std::string(short_module(last));
  }

  LayerBands bands_of(const Level& level) const {
    double largest = 0;
    for (const Module& module : level.modules) largest = std::max(largest, module.bytes);
    std::vector<std::string_view> chosen;
    for (const Module& module : level.modules)
      if (module.bytes > kLayerBandsMin * largest) chosen.push_back(module.name);
    LayerBands bands;
    const std::size_t count = std::min(chosen.size(), LayerBands::kMax);
    std::map<std::string_view, std::size_t> band;
    const std::string_view above = prefix_.empty() ? std::string_view() : prefix_.back();
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t first = b * chosen.size() / count;
      const std::size_t end = (b + 1) * chosen.size() / count;
      for (std::size_t i = first; i < end; ++i) band.emplace(chosen[i], b);
      bands.names.push_back(title(above, chosen[first], chosen[end - 1]));
    }
    for (const NodeId id : graph_.order()) {
      const auto found = band.find(name_at_level(id));
      bands.band.push_back(static_cast<std::uint8_t>(found == band.end() ? count : found->second));
    }
    return bands;
  }

  const Graph& graph_;
  const std::vector<double> bytes_;
  std::vector<std::string_view> prefix_;  // modules that were looked into
};

}  // namespace

LayerBands layer_bands(const PlanView& start) { return Finder(start).find(); }

}  // namespace recut::gui
