// Transposed convolutions as plain nests.
#pragma once

#include "engine/codegen/lower/nest.h"

namespace recut::loop {

// True for a transposed convolution of any form, forward or backward.
bool is_transposed(const Call& call);

void transposed_convolution(const Nest& nest);
void transposed_convolution_backward(const Nest& nest);

}  // namespace recut::loop
