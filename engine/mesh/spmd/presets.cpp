#include "engine/mesh/spmd/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/ir/graph_signature.h"
#include "engine/mesh/sharding_text.h"
#include "engine/mesh/spmd/product_pairs.h"
#include "engine/support/text.h"

namespace recut::mesh {
namespace {

constexpr std::pair<std::string_view, ParallelStyle> kStyles[] = {{"ddp", ParallelStyle::ddp},
                                                                  {"fsdp", ParallelStyle::fsdp},
                                                                  {"tp", ParallelStyle::tp},
                                                                  {"sp", ParallelStyle::sp},
                                                                  {"cp", ParallelStyle::cp}};

std::optional<ParallelStyle> style_of(std::string_view name) {
  for (const auto& [style_name, style] : kStyles)
    if (style_name == name) return style;
  return std::nullopt;
}

bool cuts_batch(ParallelStyle style) {
  return style == ParallelStyle::ddp || style == ParallelStyle::fsdp;
}
bool cuts_sequence(ParallelStyle style) {
  return style == ParallelStyle::sp || style == ParallelStyle::cp;
}
bool cuts_products(ParallelStyle style) {
  return style == ParallelStyle::tp || style == ParallelStyle::sp;
}

class PresetWriter {
 public:
  PresetWriter(const Graph& graph, const AxisStyles& styles) : graph_(graph), styles_(styles) {
    find_batch();
    if (std::any_of(styles.begin(), styles.end(),
                    [](const auto& style) { return style && cuts_products(*style); }))
      products_ = product_pairs(graph);
  }

  std::string run() {
    std::string parameters, inputs, outputs;
    for (const NodeId id : graph_.order()) {
      if (!graph_.is_input(id)) continue;
      if (graph_.input_kind(id) == InputKind::parameter)
        add(parameters, id, parameter(id));
      else
        add(inputs, id, data(graph_.type(id)));
    }
    std::vector<NodeId> placed;
    for (std::size_t i = 0; i < graph_.results.size(); ++i) {
      const NodeId id = graph_.results[i];
      const bool written = mutation_of(graph_, i) != nullptr;  // lies as its input does
      if (!id.valid() || written || std::find(placed.begin(), placed.end(), id) != placed.end())
        continue;
      placed.push_back(id);
      add(outputs, id, data(graph_.type(id)));
    }
    return section("parameters", parameters) + section("inputs", inputs) +
           section("outputs", outputs);
  }

 private:
  using Placements = std::vector<Placement>;

  static std::string section(std::string_view title, const std::string& lines) {
    return lines.empty() ? "" : fmt::format("{}\n{}", title, lines);
  }

  void add(std::string& lines, NodeId id, const Placements& placements) const {
    std::vector<ListedPlacement> list;
    for (const Placement& placement : placements) list.push_back({placement, 1});
    if (std::any_of(placements.begin(), placements.end(),
                    [](const Placement& placement) { return !placement.is_replicate(); }))
      lines += fmt::format("  {} {}\n", graph_.node_name(id), format(list));
  }

  void find_batch() {
    std::int64_t most = 0;
    for (const NodeId id : graph_.inputs()) {
      const TensorType& type = graph_.type(id);
      if (graph_.input_kind(id) != InputKind::input || type.rank() < 1) continue;
      const std::int64_t elements = element_count(type.shape) * (type.rank() > 1 ? 2 : 1);
      if (elements <= most) continue;
      most = elements;
      batch_ = type.shape[0];
      sequence_ = type.rank() > 1 ? type.shape[1] : 0;
    }
  }

  Placements data(const TensorType& type) const {
    Placements placements(styles_.size());
    const bool batch = type.rank() > 0 && type.shape[0] == batch_ && batch_ > 1;
    const bool sequence =
        type.rank() > 1 && type.shape[0] == batch_ && type.shape[1] == sequence_ && sequence_ > 1;
    for (std::size_t a = 0; a < styles_.size(); ++a) {
      if (!styles_[a]) continue;
      if (batch && cuts_batch(*styles_[a])) placements[a] = Placement::shard(0);
      if (sequence && cuts_sequence(*styles_[a])) placements[a] = Placement::shard(1);
    }
    return placements;
  }

  // Axes of products come first, so that others keep off their dimension.
  Placements parameter(NodeId id) const {
    const Shape& shape = graph_.type(id).shape;
    Placements placements(styles_.size());
    std::vector<bool> taken(shape.size(), false);
    const auto product = products_.find(id);
    for (std::size_t a = 0; a < styles_.size(); ++a)
      if (styles_[a] && cuts_products(*styles_[a]) && product != products_.end()) {
        placements[a] = Placement::shard(product->second);
        taken[static_cast<std::size_t>(product->second)] = true;
      }
    for (std::size_t a = 0; a < styles_.size(); ++a) {
      if (styles_[a] != ParallelStyle::fsdp) continue;
      const auto free = std::find(taken.begin(), taken.end(), false);
      const auto dim = static_cast<int>(free - taken.begin());
      if (free != taken.end() && shape[static_cast<std::size_t>(dim)] > 1) {
        placements[a] = Placement::shard(dim);
        taken[static_cast<std::size_t>(dim)] = true;
      }
    }
    return placements;
  }

  const Graph& graph_;
  const AxisStyles& styles_;
  std::map<NodeId, int> products_;
  std::int64_t batch_ = 0, sequence_ = 0;
};

}  // namespace

Result<AxisStyles> parse_styles(std::string_view text, const DeviceMesh& mesh) {
  AxisStyles styles(static_cast<std::size_t>(mesh.ndim()));
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      return error(fmt::format("{} is no style of an axis, expected AXIS=STYLE, as in dp=fsdp",
                               quote(word)));
    const auto axis = mesh.axis(word.substr(0, equals));
    if (!axis) return axis.diagnostics();
    auto& style = styles[static_cast<std::size_t>(*axis)];
    if (style)
      return error(
          fmt::format("the axis {} has two styles, expected one", quote(word.substr(0, equals))));
    style = style_of(word.substr(equals + 1));
    if (!style)
      return error(fmt::format("{} is no style, expected ddp, fsdp, tp, sp or cp",
                               quote(word.substr(equals + 1))));
  }
  return styles;
}

std::string preset_placements(const Graph& graph, const AxisStyles& styles) {
  return PresetWriter(graph, styles).run();
}

}  // namespace recut::mesh
