// The gradient of the values of index_put, for indices and for masks.
#pragma once

#include "engine/autodiff/derivative_rule.h"

namespace recut::autodiff {

Value indexed_values(VjpContext& ctx);

}  // namespace recut::autodiff
