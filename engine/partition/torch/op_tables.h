// What PyTorch's min-cut partitioner knows about operators (torch/_functorch/partitioners.py,
// get_default_op_list). It asks by overload packet: all overloads of a name are alike.
#pragma once

#include "engine/ir/operator.h"

namespace recut::torch {

struct OpTraits {
  bool view = false;               // free to recompute, and never banned from it
  bool recomputable = false;       // on the allowlist
  bool fusible = false;            // recomputable or random
  bool random = false;             //
  bool compute_intensive = false;  // never recomputed while the allowlist is off
  bool concatenation = false;      // may end a fusion, but not begin one
  bool lifted_constant = false;    // always recomputed
};

const OpTraits& traits_of(Op op);

}  // namespace recut::torch
