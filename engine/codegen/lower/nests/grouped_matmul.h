// Matrix products of groups, whose ends along one dimension are data.
#pragma once

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// The loops of _grouped_mm with offs.
void multiply_groups(const Nest& nest);

}  // namespace recut::loop
