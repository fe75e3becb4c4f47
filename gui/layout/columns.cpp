#include "gui/layout/columns.h"

#include <algorithm>
#include <cstdlib>

namespace recut::gui::layout {
namespace {

constexpr std::uint32_t kColumnsNone = 0xffffffff;
constexpr int kSweeps = 3;
constexpr std::uint32_t kLongestGap = 3;  // rows between two boxes of one path

// Places paths, not single boxes. The heaviest chain from top to bottom is the spine (column 0).
// Every box that is left begins a chain of the nearest free boxes below it. Three barycentre
// sweeps, from the top, the bottom and the top again, give each path the free column nearest to the
// mean of its neighbours' columns; boxes with a hint keep that column. Invariant: two paths of one
// column share no row. Cost: n log n for sorting, plus the walk to a free column.
class Columns {
 public:
  explicit Columns(const ColumnTask& task)
      : task_(task),
        count_(static_cast<std::uint32_t>(task.row.size())),
        path_of_(count_, kColumnsNone) {
    by_row_.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i) by_row_[i] = i;
    std::stable_sort(by_row_.begin(), by_row_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return task.row[a] < task.row[b]; });
    lists(task.arcs);
  }

  std::vector<Path> find() && {
    if (count_ == 0) return {};
    find_spine();
    find_paths();
    for (int sweep = 0; sweep < kSweeps; ++sweep) place_paths(sweep % 2 == 1, sweep > 0);
    close_gaps();
    return std::move(paths_);
  }

 private:
  void lists(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& arcs) {
    lower_.resize(count_);
    upper_.resize(count_);
    for (const auto& [upper, lower] : arcs) {
      lower_[upper].push_back(lower);
      upper_[lower].push_back(upper);
    }
  }

  // Finds the heaviest path from top to bottom; the first in order among equals.
  void find_spine() {
    std::vector<std::uint64_t> weight(count_, 0);
    std::vector<std::uint32_t> from(count_, kColumnsNone);
    std::uint32_t end = by_row_[0];
    for (const std::uint32_t box : by_row_) {
      for (const std::uint32_t upper : upper_[box])
        if (from[box] == kColumnsNone || weight[upper] > weight[from[box]]) from[box] = upper;
      weight[box] = own_weight(box) + (from[box] == kColumnsNone ? 0 : weight[from[box]]);
      if (weight[box] > weight[end]) end = box;
    }
    Path spine;
    for (std::uint32_t box = end; box != kColumnsNone; box = from[box]) spine.boxes.push_back(box);
    std::reverse(spine.boxes.begin(), spine.boxes.end());
    spine.column = 0;
    add(std::move(spine));
  }

  // The weight of a box by itself; the former spine's boxes weigh more, so that it stays the spine.
  std::uint64_t own_weight(std::uint32_t box) const {
    const bool was_spine = !task_.hint.empty() && task_.hint[box] == 0;
    return task_.weight[box] + (was_spine ? std::uint64_t{1} << 32 : 0);
  }

  void find_paths() {
    for (const std::uint32_t start : by_row_) {
      if (path_of_[start] != kColumnsNone) continue;
      Path path{0, 0, kColumnsNone, {}};
      for (std::uint32_t box = start; box != kColumnsNone; box = next_of(box)) {
        path.boxes.push_back(box);
        path_of_[box] = static_cast<std::uint32_t>(paths_.size());
      }
      add(std::move(path));
    }
  }

  std::uint32_t next_of(std::uint32_t box) const {
    std::uint32_t next = kColumnsNone;
    for (const std::uint32_t lower : lower_[box])
      if (path_of_[lower] == kColumnsNone && task_.row[lower] <= task_.row[box] + kLongestGap &&
          (next == kColumnsNone || task_.row[lower] < task_.row[next]))
        next = lower;
    return next;
  }

  void add(Path path) {
    path.first = task_.row[path.boxes.front()];
    path.last = task_.row[path.boxes.back()];
    for (const std::uint32_t box : path.boxes)
      path_of_[box] = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back(std::move(path));
  }

  // Takes the paths from the top (or from the bottom) and gives each the free column nearest to
  // the mean of its neighbours.
  void place_paths(bool from_bottom, bool both) {
    std::vector<std::uint32_t> turn;
    for (std::uint32_t p = 1; p < paths_.size(); ++p) turn.push_back(p);
    std::stable_sort(turn.begin(), turn.end(), [&](std::uint32_t a, std::uint32_t b) {
      return from_bottom ? paths_[a].last > paths_[b].last : paths_[a].first < paths_[b].first;
    });
    std::vector<std::int64_t> taken;  // by column: up to which row (counted from the start)
    for (const std::uint32_t p : turn) {
      const std::uint32_t hint = hinted(paths_[p], both);
      const std::int64_t begin = from_bottom ? -std::int64_t{paths_[p].last} : paths_[p].first;
      const std::int64_t end = from_bottom ? -std::int64_t{paths_[p].first} : paths_[p].last;
      const std::uint32_t column = nearest_free(paths_[p], hint, begin, taken);
      while (taken.size() <= column) taken.push_back(INT64_MIN);
      taken[column] = end;
      paths_[p].column = column;
    }
  }

  std::uint32_t hinted(const Path& path, bool both) const {
    std::int64_t sum = 0, count = 0;
    for (const std::uint32_t box : path.boxes) {
      if (!task_.hint.empty() && task_.hint[box] != ColumnTask::kNoHint) return task_.hint[box];
      for (const auto* list : {&upper_[box], &lower_[box]}) {
        if (list == &lower_[box] && !both) continue;
        for (const std::uint32_t other : *list) {
          const Path& neighbour = paths_[path_of_[other]];
          if (&neighbour == &path || neighbour.column == kColumnsNone) continue;
          sum += neighbour.column;
          ++count;
        }
      }
    }
    return count == 0 ? 0 : static_cast<std::uint32_t>((sum + count / 2) / count);
  }

  std::uint32_t nearest_free(const Path& path, std::uint32_t hint, std::int64_t begin,
                             const std::vector<std::int64_t>& taken) const {
    const auto is_free = [&](std::uint32_t column) {
      if (column == 0 && path.first <= paths_[0].last && path.last >= paths_[0].first) return false;
      return column >= taken.size() || taken[column] < begin;
    };
    for (std::uint32_t step = 0;; ++step) {
      if (step <= hint && is_free(hint - step)) return hint - step;
      if (is_free(hint + step)) return hint + step;
    }
  }

  // Numbers the columns that are in use, and orders the paths by them.
  void close_gaps() {
    std::stable_sort(paths_.begin(), paths_.end(), [](const Path& a, const Path& b) {
      return a.column != b.column ? a.column < b.column : a.first < b.first;
    });
    if (!task_.hint.empty()) return;  // columns keep their numbers
    std::uint32_t next = 0, last = 0;
    for (Path& path : paths_) {
      if (path.column != last) {
        last = path.column;
        ++next;
      }
      path.column = next;
    }
  }

  const ColumnTask& task_;
  std::uint32_t count_;
  std::vector<std::uint32_t> by_row_, path_of_;
  std::vector<std::vector<std::uint32_t>> lower_, upper_;
  std::vector<Path> paths_;
};

}  // namespace

std::vector<Path> paths_of(const ColumnTask& task) { return Columns(task).find(); }

}  // namespace recut::gui::layout
