// Computes the trade-off curve of a document's graph.
#pragma once

#include "engine/support/result.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/document.h"

namespace recut {

// The budgets are evenly spaced from the minimum peak to the peak without recomputation.
Result<Curve> sweep_document(const Document& document, const CurveRequest& request);

}  // namespace recut
