// Operator traits of PyTorch's min-cut partitioner (torch/_functorch/partitioners.py,
// get_default_op_list). They belong to overload packets: all overloads of a name are alike.
#pragma once

#include "engine/ir/operator.h"
#include "engine/ir/operator_map.h"
#include "engine/partition/torch_options.h"

namespace recut::torch {

struct OpTraits {
  bool view = false;               // free to recompute, never banned
  bool recomputable = false;       // on the allowlist
  bool fusible = false;            // recomputable or random
  bool random = false;             //
  bool compute_intensive = false;  // never recomputed while the allowlist is off
  bool concatenation = false;      // may end a fusion, but not begin one
  bool lifted_constant = false;    // always recomputed
};

// The traits of all operators, with the options' changes to the allowlist.
OperatorMap<OpTraits> traits_by_operator(const TorchOptions& options);

}  // namespace recut::torch
