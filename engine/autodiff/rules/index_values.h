// What the values of index_put get, also where indices are masks.
#pragma once

#include "engine/autodiff/row.h"

namespace recut::autodiff {

Value indexed_values(Site& s);

}  // namespace recut::autodiff
