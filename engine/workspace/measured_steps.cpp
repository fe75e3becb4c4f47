// The training steps of a trace, and the lines of the program that asked for its blocks.
//
// PyTorch marks each Optimizer.step by a START and an END. Forward and backward, as a joint graph
// plans them, lie between an END and the next START. Without marks, a trace of several steps
// repeats the sizes of its allocations: the period is found by the prefix function of the sizes,
// last first (Knuth, Morris, Pratt 1977). The period doesn't give the start of a step; it is taken
// where the fewest bytes are allocated. Cost: O(events).
#include <fmt/core.h>

#include <algorithm>

#include "engine/workspace/measured_memory.h"

namespace recut {
namespace {

constexpr std::string_view kOptimizerStep = "Optimizer.step#";
constexpr std::size_t kMinPeriod = 4;  // allocations of a step that is told from chance

struct OptimizerRun {
  std::int64_t start = INT64_MIN, end = INT64_MAX;
  std::string name;
};

std::vector<OptimizerRun> optimizer_runs(const MemorySnapshot& snapshot, std::size_t device) {
  std::vector<SnapshotAnnotation> marks;
  for (const SnapshotAnnotation& one : snapshot.annotations)
    if (snapshot.text(one.name).starts_with(kOptimizerStep) &&
        (one.device < 0 || one.device == static_cast<std::int64_t>(device)))
      marks.push_back(one);
  std::stable_sort(marks.begin(), marks.end(),
                   [](const auto& a, const auto& b) { return a.time_us < b.time_us; });
  std::vector<OptimizerRun> runs;
  bool open = false;
  for (const SnapshotAnnotation& mark : marks) {
    if (!open || !mark.end) runs.push_back({});
    OptimizerRun& run = runs.back();
    run.name = snapshot.text(mark.name);
    (mark.end ? run.end : run.start) = mark.time_us;
    open = !mark.end;
  }
  return runs;
}

class StepFinder {
 public:
  StepFinder(const MemorySnapshot& snapshot, const MeasuredMemory& memory)
      : snapshot_(snapshot), memory_(memory), events_(snapshot.traces[memory.device]) {}

  std::vector<MeasuredStep> find() && {
    by_optimizer();
    if (steps_.empty()) by_period();
    if (steps_.empty()) add(0, events_.size(), "the whole trace");
    return std::move(steps_);
  }

 private:
  void add(std::size_t first, std::size_t end, std::string name) {
    while (first < end && events_[first].action != SnapshotAction::alloc) ++first;
    if (first < end)
      steps_.push_back({first, end, std::move(name), memory_.allocated_before(first)});
  }

  void by_optimizer() {
    const std::vector<OptimizerRun> runs = optimizer_runs(snapshot_, memory_.device);
    std::size_t from = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::size_t to = from;
      while (to < events_.size() && events_[to].time_us < runs[i].start) ++to;
      add(from, to, fmt::format("before {} ({} of {})", runs[i].name, i + 1, runs.size()));
      while (to < events_.size() && events_[to].time_us <= runs[i].end) ++to;
      from = to;
    }
    if (!runs.empty())
      add(from, events_.size(), fmt::format("after the last {}", runs.back().name));
  }

  void by_period() {
    std::vector<std::size_t> allocations;  // last first
    for (std::size_t i = events_.size(); i-- > 0;)
      if (events_[i].action == SnapshotAction::alloc) allocations.push_back(i);
    const auto [length, period] = repeated(allocations);
    if (period == 0) return;
    std::reverse(allocations.begin(), allocations.end());
    const std::size_t begin = allocations.size() - length;
    std::size_t cut = begin;
    for (std::size_t i = begin; i < begin + period; ++i)
      if (memory_.allocated_before(allocations[i]) < memory_.allocated_before(allocations[cut]))
        cut = i;
    const std::size_t count = (allocations.size() - cut) / period;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t next = cut + (k + 1) * period;
      add(allocations[cut + k * period],
          next < allocations.size() ? allocations[next] : events_.size(),
          fmt::format("repetition {} of {}", k + 1, count));
    }
  }

  struct Repetition {
    std::size_t length = 0, period = 0;  // in allocations, at the trace's end
  };
  // The longest end of the trace that holds its period at least twice.
  Repetition repeated(const std::vector<std::size_t>& allocations) const {
    const auto size = [&](std::size_t i) { return events_[allocations[i]].bytes; };
    std::vector<std::size_t> border(allocations.size(), 0);
    Repetition best;
    for (std::size_t i = 1; i < allocations.size(); ++i) {
      std::size_t k = border[i - 1];
      while (k > 0 && size(i) != size(k)) k = border[k - 1];
      border[i] = size(i) == size(k) ? k + 1 : 0;
      const std::size_t length = i + 1, period = length - border[i];
      if (period >= kMinPeriod && 2 * period <= length) best = {length, period};
    }
    return best;
  }

  const MemorySnapshot& snapshot_;
  const MeasuredMemory& memory_;
  const std::vector<SnapshotEvent>& events_;
  std::vector<MeasuredStep> steps_;
};

// PyTorch's own files, C++, and files that exist in Python's memory alone.
bool is_library(std::string_view file) {
  return !file.ends_with(".py") || file.find("/torch/") != std::string_view::npos ||
         file.starts_with("torch/");
}

const SnapshotFrame* own_frame(const MemorySnapshot& snapshot, SnapshotStack stack) {
  for (const SnapshotFrame& frame : snapshot.frames(stack))
    if (!is_library(snapshot.text(frame.file))) return &frame;
  return nullptr;
}

}  // namespace

std::vector<MeasuredStep> steps_of(const MemorySnapshot& snapshot, const MeasuredMemory& memory) {
  return StepFinder(snapshot, memory).find();
}

std::string line_of(const MemorySnapshot& snapshot, SnapshotStack stack) {
  const SnapshotFrame* frame = own_frame(snapshot, stack);
  if (frame == nullptr) return "";
  const std::string_view file = snapshot.text(frame->file);
  return fmt::format("{}:{}", file.substr(file.find_last_of("/\\") + 1), frame->line);
}

std::string place_of(const MemorySnapshot& snapshot, SnapshotStack stack) {
  const SnapshotFrame* frame = own_frame(snapshot, stack);
  if (frame != nullptr)
    return fmt::format("{} {}", snapshot.text(frame->name), line_of(snapshot, stack));
  const auto frames = snapshot.frames(stack);
  return frames.empty() ? "" : std::string(snapshot.text(frames.front().name));
}

}  // namespace recut
