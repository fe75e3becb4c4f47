#include "gui/layout/partners.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "engine/ir/data_flow.h"

namespace recut::gui::layout {
namespace {

constexpr std::uint32_t kPartnersNone = Scene::kNone;
constexpr std::size_t kFewInputs = 8;  // as many inputs stand in the picture; more go to the shelf
constexpr std::size_t kFewUsers = 16;
constexpr std::uint32_t kFewMates = 64;

// Files call a module's buffers inputs, too, and there may be hundreds: then only those stay in
// the picture that are about as large as the largest, which are the data.
void shelve_inputs(const Graph& graph, std::vector<Side>& side) {
  std::size_t inputs = 0;
  std::int64_t largest = 0;
  for (const NodeId id : graph.inputs()) {
    if (graph.input_kind(id) == InputKind::parameter) side[graph.position(id)] = Side::shelf;
    if (graph.input_kind(id) != InputKind::input) continue;
    ++inputs;
    largest = std::max(largest, byte_size(graph.type(id)));
  }
  if (inputs <= kFewInputs) return;
  std::size_t kept = 0;
  for (const NodeId id : graph.inputs())
    if (graph.input_kind(id) == InputKind::input)
      if (byte_size(graph.type(id)) < largest / 4 || ++kept > kFewInputs)
        side[graph.position(id)] = Side::shelf;
}

// The sides of nodes (forward, backward or floating) by data flow.
struct Sides {
  std::vector<Side> side;      // by position
  std::vector<bool> floating;  // backward without needing a tangent
};

Sides sides_of(const Graph& graph) {
  const std::vector<bool> tangent = needs_tangent(graph);
  const std::vector<bool> claimed = needed_nodes(graph, graph.results);
  const std::size_t count = tangent.size();
  Sides sides{std::vector<Side>(count, Side::forward), std::vector<bool>(count, false)};
  std::size_t border = count;  // where backward begins in the file
  for (std::size_t p = 0; p < count && border == count; ++p)
    if (tangent[p] && !graph.op(graph.order()[p]).is(kInput)) border = p;
  std::size_t forward = 0;
  for (std::size_t p = 0; p < count; ++p) {
    const bool input = graph[graph.order()[p]].op == Op::placeholder;
    sides.floating[p] = !tangent[p] && !claimed[p] && !input && p > border;
    if (tangent[p] || sides.floating[p])
      sides.side[p] = Side::backward;
    else if (!input)
      ++forward;
  }
  shelve_inputs(graph, sides.side);
  if (forward > 0) return sides;
  // Without forward nodes there is nothing to mirror, so all nodes are in the forward column.
  std::fill(sides.floating.begin(), sides.floating.end(), false);
  for (Side& side : sides.side)
    if (side == Side::backward) side = Side::forward;
  return sides;
}

// Finds the forward partner of every backward node by the rules in scene_of.h. A first walk, in
// program order, gives gradients their partner, at most the least forward_index among the gradients
// that they read: so data flows upwards. A second one, from the last node to the first, puts nodes
// without a tangent beside their readers. Then each forward node with backward nodes gets one
// mirror, the most similar one, to share its row.
class Partners {
 public:
  explicit Partners(const Graph& graph)
      : graph_(graph), users_(graph), sides_(sides_of(graph)), placements_(graph.order().size()) {
    for (std::uint32_t p = 0; p < placements_.size(); ++p) {
      placements_[p].side = sides_.side[p];
      placements_[p].floating = sides_.floating[p];
      if (sides_.side[p] != Side::forward) continue;
      placements_[p].forward_index = static_cast<std::uint32_t>(forward_.size());
      const std::int64_t number = graph.origin(node(p)).seq_nr;
      if (number >= 0) {
        const auto [it, fresh] = by_number_.try_emplace(
            number, Run{placements_[p].forward_index, placements_[p].forward_index});
        if (!fresh) it->second.last = placements_[p].forward_index;
      }
      forward_.push_back(p);
    }
  }

  std::vector<NodePlacement> find() && {
    if (forward_.empty()) return std::move(placements_);
    for (std::uint32_t p = 0; p < placements_.size(); ++p)
      if (placements_[p].side == Side::backward && !placements_[p].floating)
        placements_[p].forward_index = partner_of(p);
    for (std::uint32_t p = static_cast<std::uint32_t>(placements_.size()); p-- > 0;)
      if (placements_[p].floating) placements_[p].forward_index = index_of_readers(p);
    choose_mirrors();
    return std::move(placements_);
  }

 private:
  struct Run {
    std::uint32_t first, last;  // forward indices of one sequence number
  };

  NodeId node(std::uint32_t p) const { return graph_.order()[p]; }
  std::uint32_t last_index() const { return static_cast<std::uint32_t>(forward_.size()) - 1; }
  bool is_forward_call(std::uint32_t p) const {
    return placements_[p].side == Side::forward && !graph_.op(node(p)).is(kInput);
  }

  std::uint32_t partner_of(std::uint32_t p) const {
    const std::uint32_t cap = lowest_gradient(p);
    const auto run = by_number_.find(graph_.origin(node(p)).seq_nr);
    if (run != by_number_.end()) {
      if (run->second.first > cap) return summed_value(p, cap);
      return std::min(cap, within(p, run->second));
    }
    const std::uint32_t named = by_name(p, cap);
    if (named != kPartnersNone) return named;
    const std::uint32_t read = last_read(p, 0, cap);
    return read != kPartnersNone ? read : cap;
  }

  // The least forward_index among the gradients that a node reads; the last of all where there are
  // none.
  std::uint32_t lowest_gradient(std::uint32_t p) const {
    std::uint32_t cap = last_index();
    for (const NodeId operand : graph_[node(p)].operands) {
      const NodePlacement& placement = placements_[graph_.position(operand)];
      if (placement.side == Side::backward && !placement.floating)
        cap = std::min(cap, placement.forward_index);
    }
    return cap;
  }

  // Of the forward nodes of one sequence number: the node that it is named after; else, within its
  // module if it has nodes there, the last operand, or just the last. Nodes that autograd doesn't
  // see come later with the same number.
  std::uint32_t within(std::uint32_t p, Run run) const {
    const std::uint32_t named = by_name(p, run.last);
    if (named != kPartnersNone && named >= run.first) return named;
    const std::string& module = graph_.origin(node(p)).module;
    const std::uint32_t from = std::max(run.first, run.last < kFewMates ? 0 : run.last - kFewMates);
    std::uint32_t mate = kPartnersNone;
    for (std::uint32_t i = run.last + 1; i-- > from && mate == kPartnersNone;)
      if (graph_.origin(node(forward_[i])).module == module) mate = i;
    const std::uint32_t last = mate == kPartnersNone ? run.last : mate;
    const std::uint32_t read = last_read(p, run.first, last);
    return read != kPartnersNone ? read : last;
  }

  std::uint32_t last_read(std::uint32_t p, std::uint32_t first, std::uint32_t last) const {
    std::uint32_t found = kPartnersNone;
    for (const NodeId operand : graph_[node(p)].operands) {
      const auto q = static_cast<std::uint32_t>(graph_.position(operand));
      if (!is_forward_call(q)) continue;
      const std::uint32_t index = placements_[q].forward_index;
      if (index >= first && index <= last && (found == kPartnersNone || index > found))
        found = index;
    }
    return found;
  }

  // A sum of gradients stands beside its value: the operand of that type of the last summand's
  // forward node.
  std::uint32_t summed_value(std::uint32_t p, std::uint32_t cap) const {
    const std::int64_t number = graph_.origin(node(forward_[cap])).seq_nr;
    const auto run = by_number_.find(number);
    const Run range = run == by_number_.end() ? Run{cap, cap} : run->second;
    std::uint32_t found = kPartnersNone;
    for (std::uint32_t i = range.first; i <= range.last && i < range.first + kFewUsers; ++i)
      for (const NodeId operand : graph_[node(forward_[i])].operands) {
        const auto q = static_cast<std::uint32_t>(graph_.position(operand));
        if (!is_forward_call(q) || graph_.type(operand).shape != graph_.type(node(p)).shape)
          continue;
        const std::uint32_t index = placements_[q].forward_index;
        if (index < range.first && (found == kPartnersNone || index > found)) found = index;
      }
    return found == kPartnersNone ? cap : std::min(found, cap);
  }

  // The partner by name: for "convolution_backward", the convolution among its operands, or among
  // their users.
  std::uint32_t by_name(std::uint32_t p, std::uint32_t cap) const {
    const std::string_view packet = graph_.op(node(p)).packet;
    const std::size_t suffix = packet.rfind("_backward");
    if (suffix == std::string_view::npos || suffix == 0) return kPartnersNone;
    std::uint32_t found = kPartnersNone;
    const auto consider = [&](NodeId id) {
      const auto q = static_cast<std::uint32_t>(graph_.position(id));
      const std::uint32_t index = placements_[q].forward_index;
      if (is_forward_call(q) && index <= cap && resembles(graph_.op(id).packet, packet, suffix) &&
          (found == kPartnersNone || index > found))
        found = index;
    };
    for (const NodeId operand : graph_[node(p)].operands) {
      consider(operand);
      const std::span<const NodeId> users = users_.of(operand);
      for (std::size_t i = 0; i < std::min(users.size(), kFewUsers); ++i) consider(users[i]);
    }
    return found;
  }

  static bool resembles(std::string_view forward, std::string_view backward, std::size_t suffix) {
    const std::string_view stem = backward.substr(0, suffix);
    return forward.substr(0, stem.size()) == stem || stem.substr(0, forward.size()) == forward;
  }

  std::uint32_t index_of_readers(std::uint32_t p) const {
    std::uint32_t found = kPartnersNone;
    for (const NodeId user : users_.of(node(p))) {
      const NodePlacement& placement = placements_[graph_.position(user)];
      if (found == kPartnersNone || placement.forward_index > found)
        found = placement.forward_index;
    }
    if (found != kPartnersNone) return found;
    const std::uint32_t read = last_read(p, 0, last_index());
    return read != kPartnersNone ? read : last_index();
  }

  // Of the backward nodes of one partner, the one in its row: named after it, else the heaviest,
  // else the first to run that does more than a view.
  void choose_mirrors() {
    struct Best {
      std::uint32_t position = kPartnersNone;
      int score = -1;
    };
    std::vector<Best> best(forward_.size());
    for (std::uint32_t p = 0; p < placements_.size(); ++p) {
      const NodePlacement& placement = placements_[p];
      if (placement.side != Side::backward) continue;
      Best& known = best[placement.forward_index];
      const int score = likeness(p, forward_[placement.forward_index]);
      if (score > known.score) known = {p, score};
    }
    for (const Best& one : best)
      if (one.position != kPartnersNone) placements_[one.position].mirrors = true;
  }

  int likeness(std::uint32_t backward, std::uint32_t forward) const {
    const Operator& b = graph_.op(node(backward));
    const Operator& f = graph_.op(node(forward));
    const std::size_t suffix = b.packet.rfind("_backward");
    if (suffix != std::string_view::npos && resembles(f.packet, b.packet, suffix)) return 5;
    if (placements_[backward].floating || b.is(kInput)) return 0;
    if (b.is(kMatrixProduct | kConvolution | kAttention | kRecurrent)) return 4;
    if (b.is(kView) && f.is(kView)) return 3;
    return b.is(kView) ? 1 : 2;
  }

  const Graph& graph_;
  Users users_;
  Sides sides_;
  std::vector<NodePlacement> placements_;
  std::vector<std::uint32_t> forward_;  // positions of the forward nodes
  std::unordered_map<std::int64_t, Run> by_number_;
};

}  // namespace

std::vector<NodePlacement> place_nodes(const Graph& graph) { return Partners(graph).find(); }

}  // namespace recut::gui::layout
