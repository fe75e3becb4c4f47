#include "engine/workspace/size_alignment.h"

#include <algorithm>
#include <map>

namespace recut {
namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 27;
// Weights. Size comes first: three agreements that speak for other pairs outweigh none of it.
constexpr int kSameSize = 8, kSameLine = 3, kSameNode = 6, kBothAtPeak = 2, kUsualKind = 3;

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
using UsualKinds = std::map<std::uint32_t, std::uint32_t>;  // the operator of a frame

enum class Move : std::uint8_t { pair, skip_measured, skip_planned };

// The operator that each frame is paired with most often; of equals the first.
UsualKinds usual_kinds(std::span<const SizedItem> measured, std::span<const SizedItem> planned,
                       const Pairs& pairs) {
  std::map<std::uint32_t, std::map<std::uint32_t, int>> counts;
  for (const auto& [i, j] : pairs)
    if (measured[i].kind != 0 && planned[j].kind != 0) ++counts[measured[i].kind][planned[j].kind];
  UsualKinds usual;
  for (const auto& [frame, operators] : counts)
    usual[frame] =
        std::max_element(operators.begin(), operators.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
  return usual;
}

// The weight of a pair; 0 where the sizes differ.
int weight_of(const SizedItem& a, const SizedItem& b, std::uint32_t usual_kind) {
  const std::int64_t bytes = rounded_to_unit(a.bytes);
  if (bytes != rounded_to_unit(b.bytes)) return 0;
  int weight = kSameSize;
  for (std::int64_t units = bytes / kAllocatorUnit; units >= 4; units /= 4) ++weight;
  if (a.line != 0 && a.line == b.line) weight += kSameLine;
  if (a.node != 0 && a.node == b.node) weight += kSameNode;
  if (a.at_peak && b.at_peak) weight += kBothAtPeak;
  if (usual_kind != 0 && usual_kind == b.kind) weight += kUsualKind;
  return weight;
}

// The classic table of common subsequences, within a band around the diagonal. Row i has the
// columns from low(i) to low(i) + width_ - 1; a cell is the best weight of the items before it.
class BandedTable {
 public:
  BandedTable(std::span<const SizedItem> measured, std::span<const SizedItem> planned,
              const UsualKinds& usual)
      : a_(measured), b_(planned) {
    for (const SizedItem& one : measured) {
      const auto found = usual.find(one.kind);
      usual_.push_back(found == usual.end() ? 0 : found->second);
    }
    const std::size_t columns = b_.size() + 1;
    width_ = std::min(columns, std::max<std::size_t>(2, kMaxCells / (a_.size() + 1)));
    moves_.assign(((a_.size() + 1) * width_ + 3) / 4, 0);
  }

  Pairs solve() && {
    std::vector<int> above, row(width_);
    for (std::size_t i = 0; i <= a_.size(); ++i) {
      above.swap(row);
      row.assign(width_, 0);
      for (std::size_t k = 0; k < width_; ++k) row[k] = cell(i, low(i) + k, above, row);
    }
    return walk();
  }

 private:
  std::size_t low(std::size_t i) const {
    const std::size_t columns = b_.size() + 1;
    const std::size_t centre = a_.empty() ? 0 : i * b_.size() / a_.size();
    return std::min(columns - width_, centre - std::min(centre, width_ / 2));
  }
  bool holds(std::size_t i, std::size_t j) const { return j >= low(i) && j < low(i) + width_; }

  // The best of the three predecessors of a cell, without those outside of the band. Of equals a
  // pair is the last, so that pairs stand as early as they can.
  int cell(std::size_t i, std::size_t j, const std::vector<int>& above,
           const std::vector<int>& row) {
    int best = -1;
    Move move = Move::skip_measured;
    const auto offer = [&](int weight, Move one) {
      if (weight <= best) return;
      best = weight;
      move = one;
    };
    if (j > 0 && holds(i, j - 1)) offer(row[j - 1 - low(i)], Move::skip_planned);
    if (i > 0 && holds(i - 1, j)) offer(above[j - low(i - 1)], Move::skip_measured);
    if (i > 0 && j > 0 && holds(i - 1, j - 1)) {
      const int weight = weight_of(a_[i - 1], b_[j - 1], usual_[i - 1]);
      if (weight > 0) offer(above[j - 1 - low(i - 1)] + weight, Move::pair);
    }
    best = std::max(best, 0);
    const std::size_t at = i * width_ + (j - low(i));
    moves_[at / 4] |= static_cast<std::uint8_t>(static_cast<unsigned>(move) << (at % 4 * 2));
    return best;
  }

  Move move_at(std::size_t i, std::size_t j) const {
    const std::size_t at = i * width_ + (j - low(i));
    return static_cast<Move>(moves_[at / 4] >> (at % 4 * 2) & 3);
  }

  Pairs walk() const {
    Pairs pairs;
    std::size_t i = a_.size(), j = b_.size();
    while (i > 0 && j > 0 && holds(i, j)) {
      const Move move = move_at(i, j);
      if (move == Move::pair) pairs.emplace_back(i - 1, j - 1);
      if (move != Move::skip_planned) --i;
      if (move != Move::skip_measured) --j;
    }
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
  }

  std::span<const SizedItem> a_, b_;
  std::vector<std::uint32_t> usual_;  // by measured item; 0: none
  std::size_t width_ = 1;
  std::vector<std::uint8_t> moves_;  // four a byte
};

}  // namespace

Pairs align_sizes(std::span<const SizedItem> measured, std::span<const SizedItem> planned) {
  const Pairs first = BandedTable(measured, planned, {}).solve();
  const UsualKinds usual = usual_kinds(measured, planned, first);
  return usual.empty() ? first : BandedTable(measured, planned, usual).solve();
}

}  // namespace recut
