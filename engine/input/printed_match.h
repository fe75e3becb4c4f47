// PyTorch's forward and backward graphs of one compilation, matched into the joint graph that they
// were partitioned from. PyTorch's saved values are known then.
//
//   forward(primals…)                   → results…, saved tensors…, saved sizes…
//   backward(sizes…, tensors…, tangents…) → a gradient or None for each primal
//   joint(primals…, tangents…)          → results…, gradients…
#pragma once

#include <deque>
#include <string>

#include "engine/input/printed_joint.h"
#include "engine/input/printed_module.h"
#include "engine/support/result.h"

namespace recut {

struct MatchedGraph {
  PrintedModule joint;  // has views of both graphs' lines, and of `names`
  std::deque<std::string> names;
  SavedNames torch;
};

// Backward's inputs that are no tangents are forward's saved values: the last of its outputs, by
// their names, or by their order where a pass renamed some. Dtypes and sizes have to agree. A node
// of backward that forward computes, by name, operator and arguments, is one node of the joint
// graph; another one of a name in use is renamed. Fails where the graphs are no such pair, and
// names the mismatch. Faults name no file.
Result<MatchedGraph> match_modules(const PrintedModule& forward, const PrintedModule& backward);

}  // namespace recut
