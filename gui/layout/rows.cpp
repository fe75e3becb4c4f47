#include "gui/layout/rows.h"

#include <algorithm>

namespace recut::gui::layout {
namespace {

constexpr std::uint32_t kRowsNone = Scene::kNone;

// Wires between vertices, upper to lower, as lists both ways.
class Arcs {
 public:
  Arcs(std::size_t count, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& arcs)
      : first_lower_(count + 1, 0), first_upper_(count + 1, 0) {
    for (const auto& [upper, lower] : arcs) {
      ++first_lower_[upper + 1];
      ++first_upper_[lower + 1];
    }
    for (std::size_t i = 0; i < count; ++i) {
      first_lower_[i + 1] += first_lower_[i];
      first_upper_[i + 1] += first_upper_[i];
    }
    lower_.resize(arcs.size());
    upper_.resize(arcs.size());
    std::vector<std::uint32_t> l = first_lower_, u = first_upper_;
    for (const auto& [upper, lower] : arcs) {
      lower_[l[upper]++] = lower;
      upper_[u[lower]++] = upper;
    }
  }
  std::span<const std::uint32_t> below(std::uint32_t v) const {
    return std::span(lower_).subspan(first_lower_[v], first_lower_[v + 1] - first_lower_[v]);
  }
  std::span<const std::uint32_t> over(std::uint32_t v) const {
    return std::span(upper_).subspan(first_upper_[v], first_upper_[v + 1] - first_upper_[v]);
  }

 private:
  std::vector<std::uint32_t> first_lower_, first_upper_, lower_, upper_;
};

class Rows {
 public:
  Rows(const Scene& scene, const Group& group, const Vertices& vertices)
      : group_(group),
        v_(vertices),
        holds_groups_(group.items() > 0 && scene.items_of(group)[0].is_group),
        row_(group.items(), 0),
        arcs_(make_arcs(scene)) {}

  std::vector<std::uint32_t> find() && {
    longest_paths();
    pull_down();
    hang_below_readers();
    divide_rows();
    for (std::uint32_t i = 0; i < row_.size(); ++i) row_[i] = row_[v_.vertex_of[i]];
    return std::move(row_);
  }

 private:
  Arcs make_arcs(const Scene& scene) const {
    std::vector<std::uint32_t> position(group_.items(), 0);
    for (std::uint32_t i = 0; i < v_.order.size(); ++i) position[v_.order[i]] = i;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
    for (const Wire& wire : scene.wires_of(group_)) {
      const std::uint32_t from = v_.vertex_of[wire.from], to = v_.vertex_of[wire.to];
      const std::uint32_t upper = wire.backward ? to : from, lower = wire.backward ? from : to;
      if (position[upper] < position[lower]) arcs.emplace_back(upper, lower);
    }
    return {group_.items(), arcs};
  }

  bool is_backward(std::uint32_t v) const { return v >= group_.forward_items; }

  void longest_paths() {
    for (const std::uint32_t v : v_.order) {
      if (is_backward(v) && !v_.above[v] && v_.beside[v] != kRowsNone)
        row_[v] = std::max(row_[v], row_[v_.beside[v]]);
      for (const std::uint32_t lower : arcs_.below(v))
        row_[lower] = std::max(row_[lower], row_[v] + 1);
    }
  }

  // A node that nothing holds up goes down to its users: forward constants, and backward nodes to
  // the gradients that they read.
  void pull_down() {
    for (std::size_t i = v_.order.size(); i-- > 0;) {
      const std::uint32_t v = v_.order[i];
      if (is_backward(v) ? v_.floating[v] : !v_.floating[v]) continue;
      std::uint32_t limit = kRowsNone;
      for (const std::uint32_t lower : arcs_.below(v))
        if (!is_backward(lower) || !v_.floating[lower]) limit = std::min(limit, row_[lower] - 1);
      if (is_backward(v) && v_.above[v]) limit = std::min(limit, row_[v_.beside[v]]);
      if (limit != kRowsNone) row_[v] = std::max(row_[v], limit);
    }
  }

  void hang_below_readers() {
    for (const std::uint32_t v : v_.order) {
      if (!is_backward(v) || !v_.floating[v]) continue;
      std::uint32_t row = 0;
      for (const std::uint32_t reader : arcs_.over(v)) row = std::max(row, row_[reader] + 1);
      row_[v] = arcs_.over(v).empty() && v_.beside[v] != kRowsNone ? row_[v_.beside[v]] : row;
    }
  }

  // Numbers the rows again without gaps; one with more boxes than fit becomes several.
  void divide_rows() {
    const std::uint32_t rows = row_.empty() ? 0 : *std::max_element(row_.begin(), row_.end()) + 1;
    std::vector<std::uint32_t> forward(rows, 0), backward(rows, 0), parts(rows, 0);
    std::vector<std::uint32_t> part(row_.size(), 0);
    std::vector<bool> mirrored(row_.size(), false);
    for (std::uint32_t i = 0; i < row_.size(); ++i)
      if (v_.vertex_of[i] != i) mirrored[v_.vertex_of[i]] = true;
    // The parts of a long shelf stand below each other.
    const std::uint32_t most = group_.shelf && holds_groups_ ? 1 : kMaxInRow;
    for (const std::uint32_t v : v_.order) {
      std::uint32_t taken = 0;
      if (!is_backward(v)) taken = forward[row_[v]]++;
      if (is_backward(v) || mirrored[v]) taken = std::max(taken, backward[row_[v]]++);
      part[v] = taken / most;
      parts[row_[v]] = std::max(parts[row_[v]], part[v] + 1);
    }
    std::uint32_t next = 0;
    for (std::uint32_t& first : parts) next += std::exchange(first, next);
    for (const std::uint32_t v : v_.order) row_[v] = parts[row_[v]] + part[v];
  }

  const Group& group_;
  const Vertices& v_;
  bool holds_groups_;
  std::vector<std::uint32_t> row_;
  Arcs arcs_;
};

}  // namespace

std::vector<std::uint32_t> rows_of(const Scene& scene, const Group& group,
                                   const Vertices& vertices) {
  return Rows(scene, group, vertices).find();
}

}  // namespace recut::gui::layout
