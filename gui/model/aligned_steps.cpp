// A plan's steps on the axis of another plan of the same graph.
#include <algorithm>

#include "gui/model/memory_stack.h"

namespace recut::gui {
namespace {

// A step of the other plan at a step of this one: the same node runs for the first time.
struct StepAnchor {
  std::size_t step = 0;
  double position = 0;
};

// The longest run of anchors, in order, whose places rise: orders differ in parts, and one step
// that moved far must not drag all others along. Patience sorting, as in a diff.
std::vector<StepAnchor> rising(const std::vector<StepAnchor>& all) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> tails, before(all.size(), kNone);  // into `all`; tails by length
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = std::lower_bound(
        tails.begin(), tails.end(), all[i].position,
        [&](std::size_t tail, double position) { return all[tail].position < position; });
    if (at != tails.begin()) before[i] = *std::prev(at);
    if (at == tails.end()) {
      tails.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<StepAnchor> chosen;
  for (std::size_t i = tails.empty() ? kNone : tails.back(); i != kNone; i = before[i])
    chosen.push_back(all[i]);
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

// The first step of backward.
std::size_t boundary_of(const PlanView& plan) {
  const auto& steps = plan.replay().steps;
  const auto at = std::find_if(steps.begin(), steps.end(),
                               [](const PlanStep& step) { return step.phase == Phase::backward; });
  return static_cast<std::size_t>(at - steps.begin());
}

// Of the other plan's steps from … to that first run where this plan first runs them, between
// `low` and `high`.
std::vector<StepAnchor> anchors(const PlanView& other, std::size_t from, std::size_t to,
                                const std::vector<double>& first_run, double low, double high) {
  std::vector<StepAnchor> found;
  for (std::size_t step = from; step < to; ++step) {
    const PlanStep& it = other.replay().steps[step];
    const double position = first_run[other.graph().position(it.node)];
    if (!it.again && position >= low && position < high) found.push_back({step, position});
  }
  return rising(found);
}

}  // namespace

std::vector<double> aligned_steps(const PlanView& plan, const PlanView& other) {
  const auto& steps = plan.replay().steps;
  std::vector<double> first_run(plan.graph().order().size(), -1);
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (!steps[step].again)
      first_run[plan.graph().position(steps[step].node)] = static_cast<double>(step);
  const std::size_t count = other.replay().steps.size(), turn = boundary_of(other);
  const auto boundary = static_cast<double>(boundary_of(plan)),
             end = static_cast<double>(steps.size());
  std::vector<StepAnchor> fixed{{0, 0}};
  const auto add = [&](const std::vector<StepAnchor>& more) {
    for (const StepAnchor& anchor : more)
      if (anchor.step > fixed.back().step) fixed.push_back(anchor);
  };
  add(anchors(other, 0, turn, first_run, 0, boundary));
  add({{turn, boundary}});
  add(anchors(other, turn + 1, count, first_run, boundary, end));
  add({{count, end}});
  // Steps without an anchor stand evenly between their neighbours.
  std::vector<double> positions(count, 0);
  for (std::size_t i = 0; i + 1 < fixed.size(); ++i) {
    const StepAnchor &a = fixed[i], &b = fixed[i + 1];
    const double by = (b.position - a.position) / static_cast<double>(b.step - a.step);
    for (std::size_t step = a.step; step < b.step; ++step)
      positions[step] = a.position + by * static_cast<double>(step - a.step);
  }
  return positions;
}

}  // namespace recut::gui
