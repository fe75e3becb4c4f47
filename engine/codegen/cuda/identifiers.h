// C++ identifiers for a kernel's parts: their own names, made valid and unique.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/codegen/loop/kernel.h"

namespace recut::cuda {

class Identifiers {
 public:
  explicit Identifiers(const loop::Kernel& kernel);

  const std::string& of(loop::BufferId id) const { return buffers_[id.index]; }
  const std::string& of(loop::LoopId id) const { return loops_[id.index]; }
  const std::string& of(loop::ValueId id) const { return values_[id.index]; }
  const std::string& of(loop::AccumulatorId id) const { return accumulators_[id.index]; }

  // A new unique identifier, derived from this one.
  std::string fresh(const std::string& hint);

 private:
  std::set<std::string> taken_;
  std::vector<std::string> buffers_, loops_, values_, accumulators_;
};

}  // namespace recut::cuda
