// From a document to its curve.
#pragma once

#include "engine/support/result.h"
#include "engine/workspace/curve.h"
#include "engine/workspace/document.h"

namespace recut {

// The budgets are evenly spread between the ends.
Result<Curve> sweep_document(const Document& document, const CurveRequest& request);

}  // namespace recut
