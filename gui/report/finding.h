// The finding of a report: a sentence or three, each figure from the plan or the trade-off.
#pragma once

#include <string>

#include "engine/workspace/curve.h"
#include "engine/workspace/plan_report.h"

namespace recut::gui {

// The cheapest of PyTorch's plans that peaks no higher than this one, of the same kernels; null
// where there is none. `curve` may be null.
const CurvePoint* torch_at_peak(const PlanReport& plan, const CurveReport* curve);

// PyTorch's plan of the lowest peak, of the same kernels; null where there is none. `curve` may be
// null.
const CurvePoint* lowest_of_torch(const PlanReport& plan, const CurveReport* curve);

// The text "; Recut there: +1.02 ms" of the cheapest plan of the curve at the peak of a point of
// PyTorch's, of the same kernels; "" where the plan peaks there itself, or no plan is known.
std::string recut_there_text(const PlanReport& plan, const CurveReport& curve,
                             const CurvePoint& torch);

// The name of PyTorch's plans: "PyTorch", or "strategy torch" if PyTorch's own choice wasn't
// recorded.
std::string torch_name(const CurveReport& curve);

// The finding: "At 4.25 GiB this step recomputes 312 of its 2,325 nodes: +8.70 ms (15.4 %), within
// 0.8 % of the proved bound. PyTorch's partitioner needs +18.2 ms, at a peak of 4.08 GiB; Recut
// there: +9.51 ms." `curve` may be null.
std::string finding_of(const PlanReport& plan, const CurveReport* curve);

}  // namespace recut::gui
