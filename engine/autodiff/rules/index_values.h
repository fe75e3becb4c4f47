// The gradient of the values of index_put, for indices and for masks.
#pragma once

#include "engine/autodiff/row.h"

namespace recut::autodiff {

Value indexed_values(Site& s);

}  // namespace recut::autodiff
