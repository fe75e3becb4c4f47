#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/units.h"
#include "engine/workspace/reasons.h"

namespace recut {
namespace {

constexpr std::size_t kMaxNamed = 4;

std::string what_it_is(const Reason& r, bool inference) {
  const std::string module = r.module.empty() ? "" : ", " + r.module;
  const std::string_view decision = r.decision != RematDecision::neither ? name_of(r.decision)
                                    : inference                          ? "isn't recomputed"
                                                : "is neither saved nor recomputed";
  return fmt::format("{}  {} {}, {}{}\n  {}{}{}", r.node, r.op, r.type, format_bytes(r.bytes),
                     module, r.decision == RematDecision::neither ? "" : "is ", decision,
                     r.overridden ? ", by an override" : "");
}

std::string names_of_inputs(const Reason& r) {
  const std::size_t shown = std::min(kMaxNamed, r.inputs.size());
  std::string names = fmt::format(
      "{}",
      fmt::join(r.inputs.begin(), r.inputs.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < r.inputs.size()) names += fmt::format(" and {} more", r.inputs.size() - shown);
  return names;
}

std::string saving(const Reason& r, bool inference) {
  if (r.peak_at.empty()) return {};
  const char* saving = inference ? "keeping" : "saving";
  if (r.saving_bytes == 0)
    return fmt::format("\n  {} it costs nothing at the peak, at {}: it isn't needed then", saving,
                       r.peak_at);
  return fmt::format("\n  {} it {} {} at the peak, at {}", saving,
                     r.decision == RematDecision::recomputed ? "would cost" : "costs",
                     format_bytes(r.saving_bytes), r.peak_at);
}

std::string recomputing(const Reason& r) {
  if (r.recompute_us + r.inputs_us <= 0 && r.inputs.empty()) return {};
  std::string text = fmt::format("\n  recomputing it {} {}",
                                 r.decision == RematDecision::recomputed ? "costs" : "would cost",
                                 format_micros(r.recompute_us + r.inputs_us));
  if (!r.inputs.empty())
    text += fmt::format(", of which {} for what it needs and isn't there by then: {}",
                        format_micros(r.inputs_us), names_of_inputs(r));
  if (r.extra_runs > 1) text += fmt::format("; it runs {} times more", r.extra_runs);
  return text;
}

std::string difference(double after, double before) {
  const double change = after - before;
  if (std::abs(change) < 1e-6) return "as much as now";
  return fmt::format("{} {} than now", format_micros(std::abs(change)),
                     change > 0 ? "more" : "less");
}

std::string flipped(const Explanation& e, const PlanReport& report) {
  const Reason& r = e.reason;
  if (!r.why_not.empty()) return fmt::format("\n  no other choice: it {}", r.why_not);
  if (!e.flip) return {};
  const char* other = r.decision == RematDecision::recomputed ? "saved" : "recomputed";
  if (!e.flip->holds)
    return fmt::format("\n  if it were {}, the budget couldn't be held: the least peak is {}",
                       other, format_bytes(e.flip->min_peak_bytes));
  return fmt::format("\n  if it were {}, the plan would peak at {} and recompute {}, {}", other,
                     format_bytes(e.flip->peak_bytes), format_micros(e.flip->recompute_us),
                     difference(e.flip->recompute_us, report.recompute_us));
}

}  // namespace

std::string explanation_text(const Explanation& e, const PlanReport& report) {
  std::string text = what_it_is(e.reason, report.inference);
  if (e.reason.decision != RematDecision::neither)
    text += saving(e.reason, report.inference) + recomputing(e.reason);
  return text + flipped(e, report) + "\n";
}

}  // namespace recut
