// The kernels of a plan, for sentences that count them: which calls each computes, and the bytes
// that it moves. Found from the plan alone, with no schedule and no addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/model/document_view.h"

namespace recut::gui {

struct PlanKernel {
  std::vector<NodeId> calls;  // in order, without views; inlined calls come first
  std::size_t inlined = 0;    // how many
  std::int64_t moved = 0;     // bytes read and written
};

struct PlanKernels {
  SharedPlanView plan;
  std::vector<PlanKernel> all;  // that run, in order

  std::int64_t moved() const;
  // The first kernel that computes a call and hands the value on; null if none does.
  const PlanKernel* of(NodeId call) const;
};
PlanKernels kernels_of(const SharedPlanView& plan);

// The counted kernels of a document's shown plan and of its pinned baseline.
struct CountedKernels {
  PlanKernels shown, baseline;
};
inline constexpr std::string_view kCountedMemory = "counted kernels";
// Counts the kernels, unless that was done already.
void count_kernels(DocumentView& document);
// The counted kernels of a plan; null if it wasn't counted.
const PlanKernels* counted_kernels(const DocumentView& document, const SharedPlanView& plan);

}  // namespace recut::gui
