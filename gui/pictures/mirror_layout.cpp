#include "gui/pictures/mirror_layout.h"

#include <algorithm>
#include <unordered_map>

namespace recut::gui {
namespace {

// By position: whether a node depends on a tangent.
std::vector<bool> needs_tangent(const Graph& graph) {
  std::vector<bool> needs(graph.order().size(), false);
  for (std::size_t p = 0; p < needs.size(); ++p) {
    const NodeId id = graph.order()[p];
    needs[p] = graph[id].op == Op::placeholder && graph.input_kind(id) == InputKind::tangent;
    for (const NodeId operand : graph[id].operands)
      needs[p] = needs[p] || needs[graph.position(operand)];
  }
  return needs;
}

struct Band {
  std::vector<NodeId> forward;
  std::vector<NodeId> backward;  // in program order
};

// Consecutive forward nodes of one sequence number are a band.
std::vector<Band> make_bands(const Graph& graph, const std::vector<bool>& backward) {
  std::vector<Band> bands(1);
  std::unordered_map<std::int64_t, std::size_t> band_of;
  std::int64_t last = -1;
  for (std::size_t p = 0; p < backward.size(); ++p) {
    const NodeId id = graph.order()[p];
    if (backward[p]) continue;
    const std::int64_t number = graph.origin(id).seq_nr;
    if (number != last && !bands.back().forward.empty()) bands.emplace_back();
    last = number;
    bands.back().forward.push_back(id);
    if (number >= 0) band_of[number] = bands.size() - 1;
  }
  std::size_t current = bands.size() - 1;
  for (std::size_t p = 0; p < backward.size(); ++p) {
    const NodeId id = graph.order()[p];
    if (!backward[p]) continue;
    const auto partner = band_of.find(graph.origin(id).seq_nr);
    if (partner != band_of.end()) current = partner->second;
    bands[current].backward.push_back(id);
  }
  return bands;
}

}  // namespace

MirrorLayout mirror_layout(const Graph& graph) {
  MirrorLayout layout;
  layout.placed.resize(graph.order().size());
  for (const Band& band : make_bands(graph, needs_tangent(graph))) {
    const std::size_t height = std::max(band.forward.size(), band.backward.size());
    for (std::size_t i = 0; i < band.forward.size(); ++i)
      layout.placed[graph.position(band.forward[i])] = {band.forward[i], false, layout.rows + i};
    for (std::size_t i = 0; i < band.backward.size(); ++i)
      layout.placed[graph.position(band.backward[i])] = {band.backward[i], true,
                                                         layout.rows + height - 1 - i};
    layout.rows += height;
  }
  return layout;
}

}  // namespace recut::gui
