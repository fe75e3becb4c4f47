#include "gui/text/line_difference.h"

#include <algorithm>
#include <unordered_map>

namespace recut::gui {
namespace {

constexpr std::ptrdiff_t kLineDifferenceMaxSteps =
    512;  // edits from each end before a part is just halved
constexpr std::ptrdiff_t kNowhere = -1;

// A part of both sequences that is still to be compared.
struct LineDifferenceBox {
  std::ptrdiff_t before_from = 0, before_to = 0, after_from = 0, after_to = 0;
};
struct EditPoint {
  std::ptrdiff_t x = 0, y = 0;  // elements of `before` and of `after` that lie behind it
};

using Sequence = std::vector<std::uint32_t>;

// The furthest end of a path of at most `most` edits on each diagonal x - y, from one corner of a
// box.
class Reach {
 public:
  explicit Reach(std::ptrdiff_t most) : offset_(most + 1), furthest_(2 * most + 3) {}

  void begin(std::ptrdiff_t width, std::ptrdiff_t height) {
    low_ = high_ = 0;
    width_ = width;
    height_ = height;
    at(0) = at(-1) = at(1) = kNowhere;
  }
  std::ptrdiff_t low() const { return low_; }
  std::ptrdiff_t high() const { return high_; }
  std::ptrdiff_t& at(std::ptrdiff_t diagonal) {
    return furthest_[static_cast<std::size_t>(diagonal + offset_)];
  }
  bool has(std::ptrdiff_t diagonal) const {
    return diagonal >= low_ && diagonal <= high_ && (diagonal - low_) % 2 == 0;
  }
  // Widens the search by one edit: one diagonal on both sides, as far as the box has them.
  void widen() {
    if (low_ > -height_) {
      at(--low_ - 1) = kNowhere;
    } else {
      ++low_;
    }
    if (high_ < width_) {
      at(++high_ + 1) = kNowhere;
    } else {
      --high_;
    }
  }
  // The end of a path to the diagonal after its last edit, before it slides along equal elements.
  std::ptrdiff_t after_edit(std::ptrdiff_t diagonal) {
    return std::max(at(diagonal - 1) + 1, at(diagonal + 1));
  }

 private:
  std::ptrdiff_t offset_;
  std::vector<std::ptrdiff_t> furthest_;
  std::ptrdiff_t low_ = 0, high_ = 0, width_ = 0, height_ = 0;
};

class LineDifferenceComparer {
 public:
  LineDifferenceComparer(const Sequence& before, const Sequence& after)
      : before_(before),
        after_(after),
        forward_(most(before, after)),
        backward_(most(before, after)),
        removed_(before.size(), false),
        added_(after.size(), false) {}

  void compare() {
    std::vector<LineDifferenceBox> boxes{{0, static_cast<std::ptrdiff_t>(before_.size()), 0,
                                          static_cast<std::ptrdiff_t>(after_.size())}};
    while (!boxes.empty()) {
      const LineDifferenceBox box = trimmed(boxes.back());
      boxes.pop_back();
      if (box.before_from == box.before_to || box.after_from == box.after_to) {
        std::fill(removed_.begin() + box.before_from, removed_.begin() + box.before_to, true);
        std::fill(added_.begin() + box.after_from, added_.begin() + box.after_to, true);
        continue;
      }
      const EditPoint cut = halve(box);
      boxes.push_back({box.before_from, cut.x, box.after_from, cut.y});
      boxes.push_back({cut.x, box.before_to, cut.y, box.after_to});
    }
  }

  const std::vector<bool>& removed() const { return removed_; }
  const std::vector<bool>& added() const { return added_; }

 private:
  static std::ptrdiff_t most(const Sequence& before, const Sequence& after) {
    return static_cast<std::ptrdiff_t>(std::max(before.size(), after.size())) + 1;
  }
  bool equal(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(y)];
  }

  LineDifferenceBox trimmed(LineDifferenceBox box) const {
    while (box.before_from < box.before_to && box.after_from < box.after_to &&
           equal(box.before_from, box.after_from)) {
      ++box.before_from;
      ++box.after_from;
    }
    while (box.before_from < box.before_to && box.after_from < box.after_to &&
           equal(box.before_to - 1, box.after_to - 1)) {
      --box.before_to;
      --box.after_to;
    }
    return box;
  }

  // A point on a shortest path through the box, near its middle; after kMaxSteps the point that
  // was reached furthest. Never a corner at which both halves aren't smaller than the box.
  EditPoint halve(const LineDifferenceBox& box) {
    const std::ptrdiff_t width = box.before_to - box.before_from;
    const std::ptrdiff_t height = box.after_to - box.after_from;
    forward_.begin(width, height);
    backward_.begin(width, height);
    forward_.at(0) = backward_.at(0) = 0;
    EditPoint met;
    for (std::ptrdiff_t steps = 0; steps < kLineDifferenceMaxSteps; ++steps) {
      if (steps > 0) forward_.widen();
      if (step(box, forward_, backward_, true, steps == 0, met)) return met;
      if (steps > 0) backward_.widen();
      if (step(box, backward_, forward_, false, steps == 0, met)) return met;
    }
    return furthest(box);
  }

  // Extends all paths by one edit; true if one of them meets a path from the other corner, at
  // `met`.
  bool step(const LineDifferenceBox& box, Reach& mine, Reach& other, bool from_start, bool first,
            EditPoint& met) {
    const std::ptrdiff_t width = box.before_to - box.before_from;
    const std::ptrdiff_t height = box.after_to - box.after_from;
    for (std::ptrdiff_t k = mine.high(); k >= mine.low(); k -= 2) {
      std::ptrdiff_t x = first ? 0 : mine.after_edit(k);
      std::ptrdiff_t y = x - k;
      while (x < width && y < height && equal_from(box, x, y, from_start)) {
        ++x;
        ++y;
      }
      mine.at(k) = x;
      const std::ptrdiff_t across = width - height - k;  // the same diagonal from the other corner
      if (x > width || y > height || y < 0 || !other.has(across)) continue;
      if (other.at(across) < 0 || x + other.at(across) < width) continue;
      met = from_start ? EditPoint{box.before_from + x, box.after_from + y}
                       : EditPoint{box.before_to - x, box.after_to - y};
      return true;
    }
    return false;
  }

  bool equal_from(const LineDifferenceBox& box, std::ptrdiff_t x, std::ptrdiff_t y,
                  bool from_start) const {
    return from_start ? equal(box.before_from + x, box.after_from + y)
                      : equal(box.before_to - 1 - x, box.after_to - 1 - y);
  }

  EditPoint furthest(const LineDifferenceBox& box) {
    EditPoint best;
    for (std::ptrdiff_t k = forward_.low(); k <= forward_.high(); k += 2) {
      const EditPoint here{forward_.at(k), forward_.at(k) - k};
      if (here.x > box.before_to - box.before_from || here.y > box.after_to - box.after_from)
        continue;
      if (here.y >= 0 && here.x + here.y > best.x + best.y) best = here;
    }
    return {box.before_from + best.x, box.after_from + best.y};
  }

  const Sequence &before_, &after_;
  Reach forward_, backward_;
  std::vector<bool> removed_, added_;
};

// Elements that only one side has can't be common: they are set aside, so that a text that was
// written again costs nothing.
struct Filtered {
  Sequence elements;
  std::vector<std::size_t> positions;
};

Filtered those_in_both(std::span<const std::uint32_t> elements, const std::vector<char>& sides) {
  Filtered kept;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (sides[elements[i]] != 3) continue;
    kept.elements.push_back(elements[i]);
    kept.positions.push_back(i);
  }
  return kept;
}

// One flag an element of the whole sequence: true if it stays.
std::vector<bool> staying(std::size_t size, const Filtered& filtered,
                          const std::vector<bool>& changed) {
  std::vector<bool> stays(size, false);
  for (std::size_t i = 0; i < filtered.positions.size(); ++i)
    stays[filtered.positions[i]] = !changed[i];
  return stays;
}

void append(std::vector<EditRun>& runs, EditRun run) {
  if (run.count > 0) runs.push_back(run);
}

}  // namespace

std::vector<EditRun> difference(std::span<const std::uint32_t> before,
                                std::span<const std::uint32_t> after) {
  std::uint32_t most = 0;
  for (const auto* side : {&before, &after})
    for (const std::uint32_t element : *side) most = std::max(most, element);
  std::vector<char> sides(std::size_t{most} + 1, 0);
  for (const std::uint32_t element : before) sides[element] |= 1;
  for (const std::uint32_t element : after) sides[element] |= 2;
  const Filtered first = those_in_both(before, sides), second = those_in_both(after, sides);
  LineDifferenceComparer comparer(first.elements, second.elements);
  comparer.compare();
  const std::vector<bool> kept = staying(before.size(), first, comparer.removed());
  const std::vector<bool> came = staying(after.size(), second, comparer.added());

  std::vector<EditRun> runs;
  std::size_t x = 0, y = 0;
  while (x < before.size() || y < after.size()) {
    const std::size_t x0 = x, y0 = y;
    while (x < before.size() && y < after.size() && kept[x] && came[y]) ++x, ++y;
    append(runs, {Edit::same, x0, y0, x - x0});
    const std::size_t x1 = x, y1 = y;
    while (x < before.size() && !kept[x]) ++x;
    append(runs, {Edit::removed, x1, y1, x - x1});
    while (y < after.size() && !came[y]) ++y;
    append(runs, {Edit::added, x, y1, y - y1});
  }
  return runs;
}

std::vector<EditRun> line_difference(std::span<const std::string_view> before,
                                     std::span<const std::string_view> after) {
  std::unordered_map<std::string_view, std::uint32_t> numbers;  // looked up only
  const auto numbered = [&](std::span<const std::string_view> lines) {
    Sequence sequence;
    sequence.reserve(lines.size());
    for (const std::string_view line : lines)
      sequence.push_back(
          numbers.try_emplace(line, static_cast<std::uint32_t>(numbers.size())).first->second);
    return sequence;
  };
  const Sequence first = numbered(before);
  const Sequence second = numbered(after);
  return difference(first, second);
}

}  // namespace recut::gui
